// SPDX-License-Identifier: MIT
// base: compiles and runs expressions.
//
// The parser descends once through the grammar in expression.h and writes steps on its way. A
// comparison sets the result. `a && b` becomes: a, SKIP_IF_FALSE to the end, b. So the right side
// runs only if it matters, and no stack is needed when the steps run. Only parentheses and `!` make
// the parser call itself, at most EXPRESSION_MAX_DEPTH times.
#include "base/expression.h"
#include "base/grow.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The outcomes of comparing two numbers that make a relation true.
enum relation {
    LESS = 1,
    EQUAL = 2,
    GREATER = 4,
    NOT_EQUAL = LESS | GREATER,
    LESS_OR_EQUAL = LESS | EQUAL,
    GREATER_OR_EQUAL = GREATER | EQUAL
};

enum step_kind { COMPARE, TEST, NEGATE, SKIP_IF_FALSE, SKIP_IF_TRUE };

// One side of a comparison of numbers.
struct side {
    bool is_name;
    unsigned name;
    expression_number number;
};

struct step {
    enum step_kind kind;
    enum relation relation; // of COMPARE and TEST
    size_t target;          // of SKIP_…: the next step
    unsigned test;          // of TEST
    struct side left, right;
};

struct expression {
    struct step *steps;
    size_t count, capacity;
};

enum token_kind { END, NAME, NUMBER, STRING, RELATION, AND, OR, NOT, OPEN, CLOSE };

struct token {
    enum token_kind kind;
    const char *text; // of a STRING, without its quotes
    size_t length;
    const char *place; // where it begins, for the column of errors
    enum relation relation;
};

// An operand of a comparison, as the parser found it.
struct operand {
    struct token token;
    struct expression_name name;
};

struct parser {
    const char *what, *start, *at;
    const struct expression_binding *binding;
    struct expression *expression;
    struct token token; // the next one
    unsigned depth;
    size_t comparisons;
    struct extract_error *error;
};

// ---- errors ----

// Returns the number of the character at a place, from 1 on.
static unsigned column_of(const struct parser *p, const char *place)
{
    unsigned column = 1;

    for (const char *at = p->start; at < place; at++)
        column += (*at & 0xC0) != 0x80; // bytes inside a character of UTF-8 do not count
    return column;
}

static enum extract_code fail(const struct parser *p, const char *place, const char *hint,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

static enum extract_code fail(const struct parser *p, const char *place, const char *hint,
                              const char *format, ...)
{
    char why[200];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return extract_error_set(p->error, EXTRACT_USAGE, p->what, hint, "column %u: %s",
                             column_of(p, place), why);
}

static enum extract_code out_of_memory(const struct parser *p)
{
    return extract_error_set(p->error, EXTRACT_NOMEM, p->what, NULL, "out of memory");
}

// Adds subject and column to an error of the binding.
static enum extract_code fail_by_binding(const struct parser *p, const char *place,
                                         enum extract_code code, const struct extract_error *error)
{
    return extract_error_set(p->error, code, p->what, error->hint, "column %u: %s",
                             column_of(p, place), error->why);
}

// Returns the length of a token for a message, which quotes long ones in part.
static int shown_length(const struct token *token)
{
    return token->length < 40 ? (int)token->length : 40;
}

// Fails because something other than the next token was expected.
static enum extract_code fail_expecting(const struct parser *p, const char *expected,
                                        const char *hint)
{
    const struct token *token = &p->token;

    if (token->kind == END)
        return fail(p, token->place, hint, "%s expected at the end", expected);
    return fail(p, token->place, hint, "%s expected before \"%.*s\"", expected, shown_length(token),
                token->text);
}

// ---- tokens ----

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Bytes above 0x7f are letters: they belong to names in UTF-8.
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

// Returns the length of the word at a place: letters, digits and points.
static size_t word_length(const char *at)
{
    size_t length = 0;

    while (is_letter(at[length]) || is_digit(at[length]) || at[length] == '.')
        length++;
    return length;
}

// Reads a string. A backslash before a quote makes it a part of the string; the backslash stays,
// since it means the same in patterns.
static enum extract_code read_string(struct parser *p)
{
    struct token *token = &p->token;
    char quote = *p->at++;

    token->kind = STRING;
    token->text = p->at;
    for (; *p->at != quote; p->at++) {
        p->at += *p->at == '\\' && p->at[1];
        if (!*p->at)
            return fail(p, token->place, "add the closing quote", "string without an end");
    }
    token->length = (size_t)(p->at++ - token->text);
    return EXTRACT_OK;
}

static enum extract_code read_operator(struct parser *p)
{
    static const struct {
        const char *text;
        enum token_kind kind;
        enum relation relation;
    } operators[] = {
        {"==", RELATION, EQUAL},
        {"!=", RELATION, NOT_EQUAL},
        {"<=", RELATION, LESS_OR_EQUAL},
        {">=", RELATION, GREATER_OR_EQUAL},
        {"<", RELATION, LESS},
        {">", RELATION, GREATER},
        {"&&", AND, EQUAL},
        {"||", OR, EQUAL},
        {"!", NOT, EQUAL},
        {"(", OPEN, EQUAL},
        {")", CLOSE, EQUAL},
    };
    struct token *token = &p->token;

    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        size_t length = strlen(operators[i].text);
        if (strncmp(p->at, operators[i].text, length) != 0)
            continue;
        token->kind = operators[i].kind;
        token->relation = operators[i].relation;
        token->length = length;
        p->at += length;
        return EXTRACT_OK;
    }
    const char *hint = *p->at == '='   ? "use == to compare"
                       : *p->at == '&' ? "use && between conditions"
                       : *p->at == '|' ? "use || between conditions"
                       : *p->at == '`' ? "use _ for each blank of a name"
                                       : "use names, numbers, strings, == != < <= > >= && || ! ( )";
    return fail(p, p->at, hint, "unexpected \"%c\"", *p->at);
}

// Reads the arguments of a call, up to their closing parenthesis, and the letters after it.
static enum extract_code read_call(struct parser *p)
{
    unsigned depth = 0;
    char quote = 0;

    do {
        char c = *p->at;
        if (!c)
            return fail(p, p->token.place, "add the closing parenthesis",
                        quote ? "string without an end" : "\"(\" without \")\"");
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else
            depth += (unsigned)(c == '(') - (unsigned)(c == ')');
        p->at++;
    } while (depth);
    p->at += *p->at == '.' ? word_length(p->at) : 0;
    return EXTRACT_OK;
}

// Moves to the next token.
static enum extract_code advance(struct parser *p)
{
    struct token *token = &p->token;

    p->at += strspn(p->at, " \t\r\n");
    *token = (struct token){END, p->at, 0, p->at, EQUAL};
    if (!*p->at)
        return EXTRACT_OK;
    if (*p->at == '"' || *p->at == '\'')
        return read_string(p);
    bool is_negative = *p->at == '-' && is_digit(p->at[1]);
    if (!is_letter(*p->at) && !is_digit(*p->at) && !is_negative)
        return read_operator(p);
    token->kind = is_letter(*p->at) ? NAME : NUMBER;
    p->at += is_negative;
    p->at += word_length(p->at);
    size_t blanks = token->kind == NUMBER ? strspn(p->at, " ") : 0; // as in "14 %"
    p->at += token->kind == NUMBER && p->at[blanks] == '%' ? blanks + 1 : 0;
    enum extract_code code = EXTRACT_OK;
    if (token->kind == NAME && p->binding->has_calls && *p->at == '(')
        code = read_call(p);
    token->length = (size_t)(p->at - token->text);
    return code;
}

// ---- numbers ----

// A decimal number as written: digits / divisor, and the unit after it.
struct decimal {
    uint64_t digits, divisor;
    const char *unit;
};

// Reads the digits of a number. Returns false if they have more than 64 bits or 18 decimals.
static bool read_decimal(const char *at, struct decimal *decimal)
{
    enum { MAX_DECIMALS = 18 };
    unsigned decimals = 0;
    bool has_point = false;

    *decimal = (struct decimal){0, 1, NULL};
    for (; is_digit(*at) || (*at == '.' && !has_point && is_digit(at[1])); at++) {
        if (*at == '.') {
            has_point = true;
            continue;
        }
        if (__builtin_mul_overflow(decimal->digits, 10, &decimal->digits) ||
            __builtin_add_overflow(decimal->digits, (uint64_t)(*at - '0'), &decimal->digits) ||
            (has_point && ++decimals > MAX_DECIMALS))
            return false;
        decimal->divisor *= has_point ? 10 : 1;
    }
    decimal->unit = at;
    return true;
}

// Returns the value of a decimal number in a unit. A fraction that is too small for the type is not
// rounded to 0, so that no number becomes equal to an integer.
static expression_number scale(const struct decimal *decimal, const struct expression_unit *unit)
{
    const unsigned __int128 most = (unsigned __int128)1 << 90;
    unsigned __int128 product = (unsigned __int128)decimal->digits * unit->multiply;
    unsigned __int128 divisor = (unsigned __int128)decimal->divisor * unit->divide;
    unsigned __int128 whole = product / divisor, rest = product % divisor;
    unsigned __int128 fraction = (rest << EXPRESSION_FRACTION_BITS) / divisor;

    if (whole > most)
        whole = most;
    return (expression_number)(whole << EXPRESSION_FRACTION_BITS |
                               (rest && !fraction ? 1 : fraction));
}

// Fails because a name is compared with something that measures another quantity.
static enum extract_code fail_for_quantity(const struct parser *p, const struct token *token,
                                           enum expression_quantity quantity,
                                           const struct operand *name)
{
    static const struct {
        const char *is, *hint;
    } words[] = {[EXPRESSION_ANY] = {"a number", NULL},
                 [EXPRESSION_COUNT] = {"a count", "use a number without a unit"},
                 [EXPRESSION_TIME] = {"a time", "use ticks, or a time in s, ms, us or ns"},
                 [EXPRESSION_PERCENT] = {"a percentage", "use a number with or without %"}};
    const char *is = words[name->name.quantity].is, *hint = words[name->name.quantity].hint;

    return fail(p, token->place, hint, "\"%.*s\" is %s, but \"%.*s\" is %s", shown_length(token),
                token->text, words[quantity].is, shown_length(&name->token), name->token.text, is);
}

static bool fits(enum expression_quantity a, enum expression_quantity b)
{
    return a == b || a == EXPRESSION_ANY || b == EXPRESSION_ANY;
}

// Finds the unit of a number that is compared with a name.
static enum extract_code find_unit(const struct parser *p, const struct token *token,
                                   const char *text, const struct operand *name,
                                   struct expression_unit *unit)
{
    const struct expression_binding *binding = p->binding;
    size_t length = token->length - (size_t)(text - token->text);

    for (; length && *text == ' '; length--)
        text++;
    *unit = (struct expression_unit){"", 1, 1, EXPRESSION_ANY};
    if (!length)
        return EXTRACT_OK;
    for (size_t i = 0; i < binding->unit_count; i++) {
        *unit = binding->units[i];
        if (strlen(unit->name) != length || strncmp(unit->name, text, length) != 0)
            continue;
        if (!fits(unit->quantity, name->name.quantity))
            return fail_for_quantity(p, token, unit->quantity, name);
        if (unit->multiply)
            return EXTRACT_OK;
        return fail(p, token->place, binding->unit_hint, "\"%.*s\": the clock's rate is not known",
                    shown_length(token), token->text);
    }
    return fail(p, token->place, "use a decimal or 0x number, or a time such as 1.5s, 20ms or 7us",
                "\"%.*s\" is not a number", shown_length(token), token->text);
}

// Reads the digits after 0x. Returns false if there are none or other characters.
static bool read_hexadecimal(const struct token *token, size_t at, uint64_t *value, bool *is_large)
{
    *value = 0;
    *is_large = false;
    if (at == token->length)
        return false;
    for (; at < token->length; at++) {
        static const char digits[] = "0123456789abcdef";
        char c = token->text[at];
        const char *digit = strchr(digits, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c);
        if (!digit)
            return false;
        *is_large |= *value >> 60 != 0;
        *value = *value << 4 | (uint64_t)(digit - digits);
    }
    return true;
}

// Reads a number that is compared with a name.
static enum extract_code parse_number(const struct parser *p, const struct token *token,
                                      const struct operand *name, expression_number *number)
{
    static const struct expression_unit none = {"", 1, 1, EXPRESSION_ANY};
    bool is_negative = *token->text == '-', is_large = false, is_valid = true;
    const char *digits = token->text + is_negative;
    struct expression_unit unit = none;
    struct decimal decimal = {0, 1, NULL};
    enum extract_code code = EXTRACT_OK;

    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
        is_valid = read_hexadecimal(token, (size_t)is_negative + 2, &decimal.digits, &is_large);
    else if (read_decimal(digits, &decimal))
        code = find_unit(p, token, decimal.unit, name, &unit);
    else
        is_large = true;
    if (!is_valid)
        return fail(p, token->place, "use digits from 0 to 9 and from a to f after 0x",
                    "\"%.*s\" is not a number", shown_length(token), token->text);
    if (is_large)
        return fail(p, token->place, "use at most 64 bits, and at most 18 decimals",
                    "\"%.*s\" has too many digits", shown_length(token), token->text);
    if (!code)
        *number = is_negative ? -scale(&decimal, &unit) : scale(&decimal, &unit);
    return code;
}

// ---- comparisons ----

static struct step *add_step(struct parser *p, enum step_kind kind)
{
    struct expression *e = p->expression;
    struct step *steps = extract_grow(e->steps, &e->capacity, e->count, sizeof *steps);

    if (!steps)
        return NULL;
    e->steps = steps;
    struct step *step = &e->steps[e->count++];
    memset(step, 0, sizeof *step);
    step->kind = kind;
    return step;
}

// Copies a token as a string, to be freed by the caller; NULL if memory ran out.
static char *copy_token(const struct token *token)
{
    char *copy = malloc(token->length + 1);

    if (copy) {
        memcpy(copy, token->text, token->length);
        copy[token->length] = 0;
    }
    return copy;
}

static enum extract_code find_name(struct parser *p, struct operand *operand)
{
    struct extract_error error = {.code = EXTRACT_OK};
    char *name = copy_token(&operand->token);

    if (!name)
        return out_of_memory(p);
    enum extract_code code = p->binding->find(p->binding->context, name, &operand->name, &error);
    free(name);
    return code ? fail_by_binding(p, operand->token.place, code, &error) : EXTRACT_OK;
}

static enum extract_code parse_operand(struct parser *p, struct operand *operand)
{
    if (p->token.kind != NAME && p->token.kind != NUMBER && p->token.kind != STRING)
        return fail_expecting(p, "name, number or string", "compare a name, as in info1 == 5");
    operand->token = p->token;
    enum extract_code code = advance(p);
    if (!code && operand->token.kind == NAME)
        code = find_name(p, operand);
    return code;
}

static enum extract_code make_side(const struct parser *p, const struct operand *operand,
                                   const struct operand *other, struct side *side)
{
    *side = (struct side){operand->token.kind == NAME, operand->name.index, 0};
    return side->is_name ? EXTRACT_OK : parse_number(p, &operand->token, other, &side->number);
}

static enum extract_code add_comparison(struct parser *p, const struct operand *left,
                                        enum relation relation, const struct operand *right)
{
    struct side from, to;
    bool has_names = left->token.kind == NAME && right->token.kind == NAME;

    if (has_names && !fits(left->name.quantity, right->name.quantity))
        return fail_for_quantity(p, &right->token, right->name.quantity, left);
    enum extract_code code = make_side(p, left, right, &from);
    if (!code)
        code = make_side(p, right, left, &to);
    if (code)
        return code;
    struct step *step = add_step(p, COMPARE);
    if (!step)
        return out_of_memory(p);
    step->relation = relation;
    step->left = from;
    step->right = to;
    return EXTRACT_OK;
}

// Adds the condition that a name is not 0.
static enum extract_code add_truth(struct parser *p, const struct operand *name)
{
    struct step *step = add_step(p, COMPARE);

    if (!step)
        return out_of_memory(p);
    step->relation = NOT_EQUAL;
    step->left = (struct side){true, name->name.index, 0};
    return EXTRACT_OK;
}

static enum extract_code add_test(struct parser *p, const struct operand *name,
                                  const struct token *relation, const struct operand *constant)
{
    struct extract_error error = {.code = EXTRACT_OK};
    unsigned test = 0;

    if (relation->relation != EQUAL && relation->relation != NOT_EQUAL)
        return fail(p, relation->place, "use == or !=", "\"%.*s\" has no order",
                    shown_length(&name->token), name->token.text);
    char *text = copy_token(&constant->token);
    if (!text)
        return out_of_memory(p);
    enum extract_code code =
        p->binding->match(p->binding->context, name->name.index, text, &test, &error);
    free(text);
    if (code)
        return fail_by_binding(p, constant->token.place, code, &error);
    struct step *step = add_step(p, TEST);
    if (!step)
        return out_of_memory(p);
    step->relation = relation->relation;
    step->test = test;
    return EXTRACT_OK;
}

// Adds the comparison of a name with a string or a number.
static enum extract_code compare_with_constant(struct parser *p, const struct operand *left,
                                               const struct token *relation,
                                               const struct operand *right)
{
    const struct operand *name = left->token.kind == NAME ? left : right;
    const struct operand *constant = name == left ? right : left;

    if (constant->token.kind == NUMBER && name->name.has_numbers)
        return add_comparison(p, left, relation->relation, right);
    if (!name->name.has_texts)
        return fail(p, constant->token.place, "compare it with a number", "\"%.*s\" has no names",
                    shown_length(&name->token), name->token.text);
    return add_test(p, name, relation, constant);
}

static enum extract_code parse_comparison(struct parser *p)
{
    struct operand left = {0}, right = {0};
    enum extract_code code = parse_operand(p, &left);
    const struct token relation = p->token;

    if (code)
        return code;
    if (relation.kind != RELATION && left.token.kind == NAME &&
        left.name.quantity == EXPRESSION_TRUTH)
        return add_truth(p, &left);
    if (relation.kind != RELATION)
        return fail_expecting(p, "comparison",
                              relation.kind != END ? "use == != < <= > or >= after it"
                              : p->binding->has_calls
                                  ? "compare it with a number, as in 'count(E) < 10'"
                                  : "put the expression in quotes: 'info1 == 5'");
    code = advance(p);
    if (!code)
        code = parse_operand(p, &right);
    if (code)
        return code;
    if (++p->comparisons > EXPRESSION_MAX_COMPARISONS)
        return fail(p, left.token.place, "split it into several expressions",
                    "more than %d comparisons", EXPRESSION_MAX_COMPARISONS);
    const struct operand *truth = left.name.quantity == EXPRESSION_TRUTH ? &left : &right;
    if (truth->name.quantity == EXPRESSION_TRUTH)
        return fail(p, truth->token.place, "leave out the comparison",
                    "\"%.*s\" is true or false, and cannot be compared",
                    shown_length(&truth->token), truth->token.text);
    bool has_names = left.token.kind == NAME && right.token.kind == NAME;
    if (left.token.kind != NAME && right.token.kind != NAME)
        return fail(p, left.token.place, "compare a name, as in info1 == 5",
                    "comparison of two constants");
    if (!has_names)
        return compare_with_constant(p, &left, &relation, &right);
    const struct operand *other = left.name.has_numbers ? &right : &left;
    if (!left.name.has_numbers || !right.name.has_numbers)
        return fail(p, other->token.place, "compare it with a string or a number",
                    "\"%.*s\" cannot be compared with another name", shown_length(&other->token),
                    other->token.text);
    return add_comparison(p, &left, relation.relation, &right);
}

// ---- conditions ----

static enum extract_code parse_or(struct parser *p);

static enum extract_code parse_parentheses(struct parser *p)
{
    const char *place = p->token.place;
    enum extract_code code = advance(p);

    if (!code)
        code = parse_or(p);
    if (code)
        return code;
    if (p->token.kind == END)
        return fail(p, place, "add the closing parenthesis", "\"(\" without \")\"");
    if (p->token.kind != CLOSE)
        return fail_expecting(p, "&&, || or \")\"", NULL);
    return advance(p);
}

static enum extract_code parse_not(struct parser *p);

static enum extract_code parse_negation(struct parser *p)
{
    enum extract_code code = advance(p);

    if (!code)
        code = parse_not(p);
    if (code)
        return code;
    return add_step(p, NEGATE) ? EXTRACT_OK : out_of_memory(p);
}

static enum extract_code parse_not(struct parser *p)
{
    enum token_kind kind = p->token.kind;

    if (kind != NOT && kind != OPEN)
        return parse_comparison(p);
    if (p->depth == EXPRESSION_MAX_DEPTH)
        return fail(p, p->token.place, "split it into several expressions",
                    "more than %d parentheses and ! inside each other", EXPRESSION_MAX_DEPTH);
    p->depth++;
    enum extract_code code = kind == NOT ? parse_negation(p) : parse_parentheses(p);
    p->depth--;
    return code;
}

// Parses one or more conditions with an operator between them. From each operator, `skip` leads to
// the step after the next condition, if that condition cannot change the result.
static enum extract_code parse_chain(struct parser *p, enum token_kind operator,
                                     enum step_kind skip,
                                     enum extract_code (*parse)(struct parser *p))
{
    enum extract_code code = parse(p);

    while (!code && p->token.kind == operator) {
        size_t at = p->expression->count;
        code = advance(p);
        if (!code && !add_step(p, skip))
            code = out_of_memory(p);
        if (!code)
            code = parse(p);
        if (!code)
            p->expression->steps[at].target = p->expression->count;
    }
    return code;
}

static enum extract_code parse_and(struct parser *p)
{
    return parse_chain(p, AND, SKIP_IF_FALSE, parse_not);
}

static enum extract_code parse_or(struct parser *p)
{
    return parse_chain(p, OR, SKIP_IF_TRUE, parse_and);
}

static enum extract_code parse(struct parser *p)
{
    if (strnlen(p->start, EXPRESSION_MAX_BYTES + 1) > EXPRESSION_MAX_BYTES)
        return fail(p, p->start + EXPRESSION_MAX_BYTES, "split it into several expressions",
                    "longer than %d bytes", EXPRESSION_MAX_BYTES);
    enum extract_code code = advance(p);
    if (!code)
        code = parse_or(p);
    if (code || p->token.kind == END)
        return code;
    if (p->token.kind == CLOSE)
        return fail(p, p->token.place, "remove it, or add \"(\"", "\")\" without \"(\"");
    if (p->token.kind == RELATION)
        return fail(p, p->token.place, "use && between two comparisons",
                    "comparison of a comparison");
    return fail_expecting(p, "&& or ||", NULL);
}

enum extract_code expression_compile(struct expression **expression, const char *text,
                                     const char *what, const struct expression_binding *binding,
                                     struct extract_error *error)
{
    struct parser p = {what, text, text, binding, calloc(1, sizeof **expression), {0}, 0, 0, error};

    *expression = NULL;
    if (!p.expression)
        return out_of_memory(&p);
    enum extract_code code = parse(&p);
    if (code)
        expression_free(p.expression);
    else
        *expression = p.expression;
    return code;
}

void expression_free(struct expression *expression)
{
    if (!expression)
        return;
    free(expression->steps);
    free(expression);
}

// ---- running ----

static bool get_number(const struct side *side, const struct expression_source *source,
                       expression_number *value)
{
    *value = side->number;
    return !side->is_name || source->number(source->context, side->name, value);
}

static bool compare(const struct step *step, const struct expression_source *source)
{
    expression_number left, right;

    if (!get_number(&step->left, source, &left) || !get_number(&step->right, source, &right))
        return false;
    unsigned outcome = left < right ? LESS : left > right ? GREATER : EQUAL;
    return step->relation & outcome;
}

static bool test(const struct step *step, const struct expression_source *source)
{
    enum expression_answer answer = source->test(source->context, step->test);

    return answer == (step->relation == EQUAL ? EXPRESSION_MATCHES : EXPRESSION_DIFFERS);
}

bool expression_is_true(const struct expression *expression, const struct expression_source *source)
{
    bool result = false;

    for (size_t at = 0; at < expression->count; at++) {
        const struct step *step = &expression->steps[at];
        if (step->kind == COMPARE)
            result = compare(step, source);
        else if (step->kind == TEST)
            result = test(step, source);
        else if (step->kind == NEGATE)
            result = !result;
        else if (result == (step->kind == SKIP_IF_TRUE))
            at = step->target - 1;
    }
    return result;
}

// ---- running on bounds ----

static void get_bounds(const struct side *side, const struct expression_bounds *bounds,
                       expression_number *low, expression_number *high)
{
    *low = *high = side->number;
    if (side->is_name)
        bounds->number(bounds->context, side->name, low, high);
}

// Returns whether a comparison is true for all values, for none, or for some.
static enum expression_truth compare_bounds(const struct step *step,
                                            const struct expression_bounds *bounds)
{
    expression_number low, high, other_low, other_high;

    get_bounds(&step->left, bounds, &low, &high);
    get_bounds(&step->right, bounds, &other_low, &other_high);
    unsigned possible = low < other_high ? LESS : 0;
    possible |= high > other_low ? GREATER : 0;
    possible |= low <= other_high && high >= other_low ? EQUAL : 0;
    if (!(possible & ~(unsigned)step->relation))
        return EXPRESSION_TRUE;
    return possible & step->relation ? EXPRESSION_UNDECIDED : EXPRESSION_FALSE;
}

// Runs the steps. The i-th comparison that is undecided has the result of bit i of `chosen`.
static bool run_choice(const struct expression *expression, const enum expression_truth *truths,
                       uint64_t chosen)
{
    bool result = false;

    for (size_t at = 0; at < expression->count; at++) {
        const struct step *step = &expression->steps[at];
        unsigned undecided = 0;
        for (size_t i = 0; i < at; i++)
            undecided += truths[i] == EXPRESSION_UNDECIDED;
        if (step->kind == COMPARE || step->kind == TEST)
            result = truths[at] == EXPRESSION_UNDECIDED ? chosen >> undecided & 1
                                                        : truths[at] == EXPRESSION_TRUE;
        else if (step->kind == NEGATE)
            result = !result;
        else if (result == (step->kind == SKIP_IF_TRUE))
            at = step->target - 1;
    }
    return result;
}

enum expression_truth expression_decide(const struct expression *expression,
                                        const struct expression_bounds *bounds)
{
    enum { MAX_STEPS = 128, MAX_UNDECIDED = 10 };
    enum expression_truth truths[MAX_STEPS] = {EXPRESSION_FALSE};
    unsigned undecided = 0;

    if (expression->count > MAX_STEPS)
        return EXPRESSION_UNDECIDED;
    for (size_t i = 0; i < expression->count; i++) {
        if (expression->steps[i].kind == TEST)
            truths[i] = EXPRESSION_UNDECIDED;
        else if (expression->steps[i].kind == COMPARE)
            truths[i] = compare_bounds(&expression->steps[i], bounds);
        undecided += truths[i] == EXPRESSION_UNDECIDED;
    }
    if (undecided > MAX_UNDECIDED)
        return EXPRESSION_UNDECIDED;
    bool first = run_choice(expression, truths, 0);
    for (uint64_t chosen = 1; chosen < UINT64_C(1) << undecided; chosen++)
        if (run_choice(expression, truths, chosen) != first)
            return EXPRESSION_UNDECIDED;
    return first ? EXPRESSION_TRUE : EXPRESSION_FALSE;
}
