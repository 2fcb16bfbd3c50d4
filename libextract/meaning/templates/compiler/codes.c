// SPDX-License-Identifier: MIT
// templates: codes such as X4 or B0.1: determines whether a word is a code, and which operation it
// stands for.
#include "templates/compiler/compile.h"
#include <string.h>

enum { MAX_BYTES = 65535, MAX_PLACE = INT32_MAX };

// The numbers of a code: before and after its point. `word`: it has a W instead.
struct numbers {
    uint64_t whole, part;
    bool has_point, word;
};

static bool read_digits(const char **at, const char *end, uint64_t *number)
{
    const char *from = *at;

    *number = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
        if (*number <= MAX_PLACE)
            *number = *number * 10 + (uint64_t)(**at - '0');
    return *at > from;
}

static bool read_numbers(const char *word, size_t length, struct numbers *n)
{
    const char *at = word + 1, *end = word + length;

    *n = (struct numbers){0};
    if (length == 2 && *at == 'W' && strchr("SXDUoTEP", word[0])) {
        n->word = true;
        return true;
    }
    if (!read_digits(&at, end, &n->whole))
        return false;
    if (at < end && *at == '.' && strchr("ABGO", word[0])) {
        n->has_point = true;
        at++;
        if (!read_digits(&at, end, &n->part))
            return false;
    }
    return at == end;
}

// Sets the operation to a code of a kind. Returns whether its width is one of `widths`, as bits
// 1 << width.
static bool set_sized(struct template_op *op, const struct numbers *n, enum template_kind kind,
                      unsigned widths)
{
    op->kind = (uint8_t)kind;
    op->width = (uint32_t)n->whole;
    return n->word || (n->whole < 32 && (widths >> n->whole & 1));
}

// Sets the operation of a code. Returns whether its numbers are in range.
static bool set_operation(struct template_op *op, char letter, const struct numbers *n)
{
    uint64_t bits = n->whole * 8 + n->part;

    switch (letter) {
    case 'A':
        op->flags = n->has_point || n->whole == 0 ? OP_OPEN : 0;
        op->kind = KIND_ASCII;
        op->width = n->whole ? (uint32_t)n->whole : 1;
        op->value = n->part;
        if (n->has_point && n->whole == 0) {
            op->code = OP_BLANKS;
            op->width = 0;
        }
        return n->whole <= MAX_BYTES && n->part <= MAX_BYTES;
    case 'S':
        op->flags = n->word || n->whole ? 0 : OP_OPEN;
        op->kind = KIND_COUNTED;
        op->width = n->word ? 0 : n->whole == 3 ? 4 : n->whole == 2 ? 2 : 1;
        return n->whole <= 3;
    case 'B':
        op->kind = KIND_BITS;
        op->width = (uint32_t)bits;
        return bits >= 1 && n->whole <= MAX_BYTES && n->part <= MAX_BYTES;
    case 'X':
        if (!set_sized(op, n, KIND_HEX, 0x1ffff))
            return false;
        if (!n->word && n->whole == 0) {
            op->width = 1;
            op->flags = OP_OPEN;
        }
        return true;
    case 'D':
        return set_sized(op, n, KIND_SIGNED, 0x1fe);
    case 'U':
        return set_sized(op, n, KIND_UNSIGNED, 0x1fe);
    case 'o':
        return set_sized(op, n, KIND_OCTAL, 0x1fe);
    case 'F':
        return set_sized(op, n, KIND_FLOAT, 0x110);
    case 'T':
        return set_sized(op, n, KIND_TIME, 0x110);
    case 'E':
        return set_sized(op, n, KIND_ERROR, 0x116);
    case 'P':
        return set_sized(op, n, KIND_NAME, 0x110);
    default: // G, O, R and W move the data pointer
        op->code = letter == 'G'   ? OP_GO_TO
                   : letter == 'O' ? OP_FORWARD
                   : letter == 'R' ? OP_BACK
                                   : OP_WORD;
        op->value = letter == 'W' ? n->whole : bits;
        return n->whole <= MAX_PLACE && n->part < 8;
    }
}

enum code_word code_parse(const char *word, size_t length, struct template_op *op)
{
    struct numbers n;

    *op = (struct template_op){.code = OP_PUT};
    if (length < 2 || !word[0] || !strchr("ASBXDUoFTEPGORWH", word[0]))
        return CODE_NONE;
    if (word[0] == 'H') {
        op->kind = word[1] == 'B' ? KIND_LENGTH : KIND_TYPE;
        return length == 2 && (word[1] == 'B' || word[1] == 'T') ? CODE_GOOD : CODE_NONE;
    }
    if (!read_numbers(word, length, &n))
        return CODE_NONE;
    return set_operation(op, word[0], &n) ? CODE_GOOD : CODE_OUT_OF_RANGE;
}

bool code_fits(const struct template_op *op)
{
    return op->kind == KIND_BITS ? op->width <= 64 : op->kind != KIND_HEX || op->width <= 8;
}

const char *code_hint(char letter)
{
    switch (letter) {
    case 'A':
        return "use at most A65535.65535, or quote the text";
    case 'S':
        return "use S0 to S3 or SW, or quote the text";
    case 'B':
        return "use B1 for 8 bits, B0.1 for one, or quote the text";
    case 'X':
        return "use X0 to X16 or XW, or quote the text";
    case 'D':
    case 'U':
    case 'o':
        return "use 1 to 8 bytes or W, or quote the text";
    case 'F':
        return "use F4 or F8, or quote the text";
    case 'E':
        return "use 1, 2, 4 or 8 bytes or W, or quote the text";
    case 'T':
    case 'P':
        return "use 4 or 8 bytes or W, or quote the text";
    default:
        return "use bits 0 to 7, or quote the text";
    }
}

bool code_fault(struct compiler *c, size_t at, size_t length)
{
    return compile_fault(c, at, "E-CODE-RANGE", code_hint(c->bytes[at]), "code %s is out of range",
                         lexer_show(c, at, length));
}

unsigned code_base(const struct template_op *op)
{
    switch (op->kind) {
    case KIND_SIGNED:
    case KIND_UNSIGNED:
    case KIND_LENGTH:
        return 10;
    case KIND_OCTAL:
        return 8;
    case KIND_BITS:
        return 2;
    case KIND_ASCII:
    case KIND_COUNTED:
        return 0;
    default:
        return 16;
    }
}
