// SPDX-License-Identifier: MIT
// base: expressions, which are conditions that users write: `info1 == 0x5dc && !(dt > 1ms)`.
//
//   expression = and { "||" and }
//   and        = not { "&&" not }
//   not        = "!" not | "(" expression ")" | comparison
//   comparison = operand ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) operand
//   operand    = name | number | string          at least one of the two is a name
//   name       = a letter or _, then letters, digits, _ and .
//                and, if the binding has calls: "(" arguments ")" [ "." letters ]
//   number     = ["-"] ( digits [ "." digits ] [ unit ] | "0x" digits )
//   string     = "text" | 'text'                 compared by == or != with a name
//
// Expressions do not know what the names mean: a binding looks each name up once, when the
// expression is compiled. The result is a list of steps. A source provides the values of the names
// whenever the list is run.
#ifndef EXTRACT_BASE_EXPRESSION_H
#define EXTRACT_BASE_EXPRESSION_H

#include <extract/error.h>
#include <stdbool.h>

enum {
    EXPRESSION_MAX_BYTES = 4096,
    EXPRESSION_MAX_DEPTH = 64,        // parentheses and ! inside each other
    EXPRESSION_MAX_COMPARISONS = 256, // each may cost the binding a table
    EXPRESSION_FRACTION_BITS = 32     // of an expression_number
};

// A number with a fraction. Any integer of 64 bits has an exact value, with either sign.
typedef __int128 expression_number;

static inline expression_number expression_integer(uint64_t value)
{
    return (expression_number)value << EXPRESSION_FRACTION_BITS;
}

// What a name or a unit measures. A name can be compared with a number without a unit, with one
// whose unit measures the same, and with a name that measures the same. ANY goes with all of them,
// and a TRUTH with nothing: it stands alone.
enum expression_quantity {
    EXPRESSION_ANY = 0,
    EXPRESSION_COUNT,
    EXPRESSION_TIME,
    EXPRESSION_PERCENT,
    EXPRESSION_TRUTH
};

// A unit of numbers. A number with the unit is multiplied and then divided. If `multiply` is 0, the
// value of the unit is not known, so its use is an error.
struct expression_unit {
    const char *name;
    uint64_t multiply, divide;
    enum expression_quantity quantity;
};

// What a name can be compared with. A name without numbers gets numbers as texts, too, since they
// may be addresses or ids.
struct expression_name {
    unsigned index;
    bool has_numbers, has_texts;
    enum expression_quantity quantity; // a TRUTH is true unless it is 0
};

// What an expression is compiled with. If a callback fails, it fills in `why` and `hint` of the
// error, and the message gets the column.
struct expression_binding {
    void *context;
    // Finds a name.
    enum extract_code (*find)(void *context, const char *name, struct expression_name *found,
                              struct extract_error *error);
    // Makes the test of whether the name with that index matches a text. Sets *test to its index.
    enum extract_code (*match)(void *context, unsigned name, const char *text, unsigned *test,
                               struct extract_error *error);
    const struct expression_unit *units;
    size_t unit_count;
    bool has_calls;        // names may have arguments, which the binding parses
    const char *unit_hint; // the action for a unit that is not known
};

enum expression_answer { EXPRESSION_NO_VALUE, EXPRESSION_DIFFERS, EXPRESSION_MATCHES };

// What an expression is run on.
struct expression_source {
    void *context;
    // Sets *value to the value of a name. Returns false if it has none.
    bool (*number)(void *context, unsigned name, expression_number *value);
    enum expression_answer (*test)(void *context, unsigned test);
};

// What is known of the values of names: each is between two bounds.
struct expression_bounds {
    void *context;
    void (*number)(void *context, unsigned name, expression_number *low, expression_number *high);
};

enum expression_truth { EXPRESSION_FALSE, EXPRESSION_TRUE, EXPRESSION_UNDECIDED };

struct expression;

// Compiles an expression. `what` is the subject of error messages. Errors: USAGE (with the column),
// NOMEM, those of the binding.
enum extract_code expression_compile(struct expression **expression, const char *text,
                                     const char *what, const struct expression_binding *binding,
                                     struct extract_error *error);
void expression_free(struct expression *expression);

// Runs an expression. A comparison with a name that has no value is false, also by !=.
bool expression_is_true(const struct expression *expression,
                        const struct expression_source *source);

// Runs an expression, without texts, on bounds. UNDECIDED: other values between the bounds may give
// another result.
enum expression_truth expression_decide(const struct expression *expression,
                                        const struct expression_bounds *bounds);

#endif
