// SPDX-License-Identifier: MIT
// formats/hook: reads role files. A file comes in, and the lines of struct extract_hook_roles go
// out.
//
//     106  dispatch  thread=D2 old=D4  when D1[0:7] == 3  # comment
//     id   role      values            conditions
//
// ringside-roles(5) specifies the language. The table `roles` below is its list of roles, and
// `values` its list of values.
#include "base/file.h"
#include "base/grow.h"
#include "formats/hook/roles.h"
#include <extract/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = 1024 * 1024, LINE_BYTES = 1000, MAX_OFFSET = 65536, WHAT_BYTES = 128 };

static const char blanks[] = " \t\r\v\f";

static const char aix[] =
#include "aix_roles.inc"
    ;

// ---- the language ----

#define BIT(value) (1u << HOOK_##value)

enum {
    LEVEL = HOOK_VALUES,
    NAME,
    NEEDS_LEVEL = 1 << LEVEL,
    TAKES_NAME = 1 << NAME,
    LOCK_VALUES = BIT(LOCK) | BIT(THREAD) | BIT(CALLER)
};

static const char *const value_names[] = {
    [HOOK_THREAD] = "thread", [HOOK_OLD] = "old",       [HOOK_PROCESS] = "process",
    [HOOK_KERNEL] = "kernel", [HOOK_LOCK] = "lock",     [HOOK_NUMBER] = "number",
    [HOOK_ERROR] = "error",   [HOOK_CALLER] = "caller", [HOOK_READY] = "ready",
    [LEVEL] = "level",        [NAME] = "name"};

static const struct role_word {
    const char *name;
    enum extract_role role;
    unsigned takes, needs; // bits of values; `takes` includes `needs`
} role_words[] = {
    {"none", EXTRACT_ROLE_NONE, 0, 0},
    {"dispatch", EXTRACT_ROLE_SWITCH,
     BIT(THREAD) | BIT(OLD) | BIT(PROCESS) | BIT(KERNEL) | BIT(READY), 0},
    {"idle", EXTRACT_ROLE_SWITCH, BIT(OLD) | BIT(READY), 0},
    {"interrupt-entry", EXTRACT_ROLE_ISR_ENTER, BIT(NUMBER) | NEEDS_LEVEL, NEEDS_LEVEL},
    {"interrupt-exit", EXTRACT_ROLE_ISR_EXIT, 0, 0},
    {"resume", EXTRACT_ROLE_ISR_RETURN, 0, 0},
    {"syscall-entry", EXTRACT_ROLE_SYSCALL_ENTER, BIT(NUMBER), 0},
    {"syscall-exit", EXTRACT_ROLE_SYSCALL_EXIT, BIT(NUMBER) | BIT(ERROR), 0},
    {"suspend", EXTRACT_ROLE_SUSPEND, BIT(THREAD), 0},
    {"ready", EXTRACT_ROLE_RESUME, BIT(THREAD), BIT(THREAD)},
    {"thread", EXTRACT_ROLE_THREAD, BIT(THREAD) | BIT(PROCESS) | BIT(KERNEL) | TAKES_NAME, 0},
    {"exec", EXTRACT_ROLE_EXEC, BIT(THREAD) | BIT(PROCESS) | BIT(KERNEL) | TAKES_NAME, 0},
    {"fork", EXTRACT_ROLE_FORK, BIT(THREAD) | BIT(PROCESS) | BIT(KERNEL), 0},
    {"exit", EXTRACT_ROLE_EXIT, BIT(THREAD), 0},
    {"lock-get", EXTRACT_ROLE_LOCK_GET, LOCK_VALUES, BIT(LOCK)},
    {"lock-miss", EXTRACT_ROLE_LOCK_MISS, LOCK_VALUES, BIT(LOCK)},
    {"lock-wait", EXTRACT_ROLE_LOCK_WAIT, LOCK_VALUES, BIT(LOCK)},
    {"lock-busy", EXTRACT_ROLE_LOCK_BUSY, LOCK_VALUES, BIT(LOCK)},
    {"lock-release", EXTRACT_ROLE_LOCK_RELEASE, LOCK_VALUES, BIT(LOCK)},
};

// ---- errors ----

// A file that is being read.
struct source {
    const char *name;
    size_t line;     // number of the present line
    unsigned number; // of the file, from 0
    struct extract_error *error;
};

static enum extract_code refuse(const struct source *source, const char *word, const char *why,
                                const char *hint)
{
    char what[WHAT_BYTES];

    snprintf(what, sizeof what, "%.100s:%zu", source->name, source->line);
    return word ? extract_error_set(source->error, EXTRACT_BAD, what, hint, "\"%.60s\" %s", word,
                                    why)
                : extract_error_set(source->error, EXTRACT_BAD, what, hint, "%s", why);
}

// Lists the values that a role takes, for a message.
static void list_values(unsigned bits, char *list, size_t size)
{
    size_t used = 0;

    *list = 0;
    for (unsigned i = 0; i <= NAME; i++)
        if (bits & 1u << i && used < size)
            used += (size_t)snprintf(list + used, size - used, "%s%s=", used ? ", " : "",
                                     value_names[i]);
}

// Lists all roles, for a message.
static void list_roles(char *list, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < sizeof role_words / sizeof *role_words && used < size; i++)
        used += (size_t)snprintf(list + used, size - used, "%s%s", i ? ", " : "use ",
                                 role_words[i].name);
}

// ---- expressions ----

static const char expression_hint[] =
    "use D1 to D8, HD, TID, @OFFSET.BYTES (1, 2, 4 or 8 bytes) or a number; bits are [LOW:HIGH], "
    "from 0 to 63";

// Reads a decimal or hexadecimal number of at most `limit`, up to one of the characters `ends` or
// the end of the text. Returns what follows it; NULL if there is no such number.
static const char *read_number(const char *text, const char *ends, uint64_t limit, uint64_t *value)
{
    char digits[24];
    size_t length = strcspn(text, ends);

    if (length >= sizeof digits)
        return NULL;
    memcpy(digits, text, length);
    digits[length] = 0;
    return extract_number_parse(digits, value) && *value <= limit ? text + length : NULL;
}

// Reads bits such as [0:7] or [5].
static bool parse_bits(const char *text, struct hook_expression *expression)
{
    uint64_t low, high;

    if (*text != '[')
        return *text == 0;
    text = read_number(text + 1, ":]", 63, &low);
    if (!text)
        return false;
    high = low;
    if (*text == ':')
        text = read_number(text + 1, "]", 63, &high);
    if (!text || strcmp(text, "]") != 0 || high < low)
        return false;
    expression->shift = (uint8_t)low;
    expression->mask = UINT64_MAX >> (63 - (high - low));
    return true;
}

static bool parse_expression(const char *text, struct hook_expression *expression)
{
    uint64_t offset, length;

    *expression = (struct hook_expression){.mask = UINT64_MAX};
    if (text[0] == 'D' && text[1] >= '1' && text[1] <= '8') {
        expression->source = HOOK_WORD;
        expression->index = (uint32_t)(text[1] - '1');
        return parse_bits(text + 2, expression);
    }
    if (strncmp(text, "HD", 2) == 0) {
        expression->source = HOOK_DATA;
        return parse_bits(text + 2, expression);
    }
    if (strncmp(text, "TID", 3) == 0) {
        expression->source = HOOK_TID;
        return parse_bits(text + 3, expression);
    }
    if (*text != '@') {
        expression->source = HOOK_CONSTANT;
        return extract_number_parse(text, &expression->constant);
    }
    expression->source = HOOK_BYTES;
    text = read_number(text + 1, ".", MAX_OFFSET, &offset);
    text = text && *text == '.' ? read_number(text + 1, "[", 8, &length) : NULL;
    if (!text || (length != 1 && length != 2 && length != 4 && length != 8))
        return false;
    expression->index = (uint32_t)offset;
    expression->length = (uint8_t)length;
    return parse_bits(text, expression);
}

// ---- lines ----

// Returns the next word of a line, and moves *rest behind it; NULL at the end.
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, blanks);

    if (!*word)
        return NULL;
    *rest = word + strcspn(word, blanks);
    if (**rest)
        *(*rest)++ = 0;
    return word;
}

static enum extract_code parse_condition(struct source *source, struct hook_role *role, char **rest)
{
    static const char hint[] = "use `when EXPRESSION == NUMBER` or `!= NUMBER`, with `and` between";
    struct hook_condition condition = {.is_unequal = false};
    const char *left = next_word(rest), *comparison = next_word(rest), *right = next_word(rest);

    if (!right)
        return refuse(source, NULL, "a condition is not complete", hint);
    if (!parse_expression(left, &condition.left))
        return refuse(source, left, "is not an expression", expression_hint);
    condition.is_unequal = strcmp(comparison, "!=") == 0;
    if (!condition.is_unequal && strcmp(comparison, "==") != 0)
        return refuse(source, comparison, "does not compare", hint);
    if (!extract_number_parse(right, &condition.right))
        return refuse(source, right, "is not a number of at most 64 bits", hint);
    if (role->condition_count == HOOK_MAX_CONDITIONS)
        return refuse(source, NULL, "more than 4 conditions",
                      "use more lines, or fewer conditions");
    role->conditions[role->condition_count++] = condition;
    return EXTRACT_OK;
}

static enum extract_code parse_conditions(struct source *source, struct hook_role *role, char *rest)
{
    enum extract_code code = parse_condition(source, role, &rest);
    const char *word = code ? NULL : next_word(&rest);

    while (word) {
        if (strcmp(word, "and") != 0)
            return refuse(source, word, "is not expected behind a condition", "use `and`, or a #");
        code = parse_condition(source, role, &rest);
        word = code ? NULL : next_word(&rest);
    }
    return code;
}

// Reads a value such as thread=D2, and notes its bit in *given.
static enum extract_code parse_value(struct source *source, const struct role_word *word,
                                     struct hook_role *role, char *text, unsigned *given)
{
    char list[WHAT_BYTES], hint[WHAT_BYTES + 32];
    char *value = strchr(text, '=');
    unsigned kind = 0;
    uint64_t offset;

    if (value)
        *value++ = 0;
    while (value && kind <= NAME && strcmp(text, value_names[kind]) != 0)
        kind++;
    list_values(word->takes, list, sizeof list);
    snprintf(hint, sizeof hint, word->takes ? "%s takes %s" : "%s takes no values", word->name,
             list);
    if (!value)
        return refuse(source, text, "is not a value", hint);
    if (kind > NAME || !(word->takes & 1u << kind))
        return refuse(source, text, "is not a value of this role", hint);
    if (*given & 1u << kind)
        return refuse(source, text, "is given twice", "omit one");
    *given |= 1u << kind;
    if (kind == LEVEL) {
        role->fields.second_level = strcmp(value, "second") == 0;
        return role->fields.second_level || strcmp(value, "first") == 0
                   ? EXTRACT_OK
                   : refuse(source, value, "is not a level", "use first or second");
    }
    if (kind == NAME) {
        const char *end = *value == '@' ? read_number(value + 1, "", MAX_OFFSET, &offset) : NULL;
        if (!end)
            return refuse(source, value, "is not the place of a text",
                          "use name=@OFFSET, in bytes behind the hook word");
        role->fields.has_name = true;
        role->name_at = (uint32_t)offset;
        return EXTRACT_OK;
    }
    return parse_expression(value, &role->values[kind])
               ? EXTRACT_OK
               : refuse(source, value, "is not an expression", expression_hint);
}

// Sets the fields that a line's values fill in.
static void set_fields(struct hook_role *role, const struct role_word *word, unsigned given)
{
    struct extract_role_fields *fields = &role->fields;
    bool is_switch = word->role == EXTRACT_ROLE_SWITCH;
    bool is_idle = is_switch && !(word->takes & BIT(THREAD));
    uint8_t place[HOOK_VALUES];

    for (unsigned i = 0; i < HOOK_VALUES; i++)
        place[i] = given & 1u << i ? (uint8_t)(hook_field(i) + 1) : 0;
    if (is_idle) { // nothing runs next: the value is 0
        role->values[HOOK_THREAD] = (struct hook_expression){.source = HOOK_CONSTANT};
        place[HOOK_THREAD] = HOOK_THREAD + 1;
    }
    fields->role = word->role;
    fields->thread = place[is_switch ? HOOK_OLD : HOOK_THREAD];
    fields->next = is_switch ? place[HOOK_THREAD] : 0;
    fields->process = place[HOOK_PROCESS];
    fields->kernel = place[HOOK_KERNEL];
    fields->object = place[HOOK_LOCK];
    fields->number = place[HOOK_NUMBER];
    fields->error = place[HOOK_ERROR];
    fields->caller = place[HOOK_CALLER];
    fields->ready = place[HOOK_READY];
    fields->may_switch = is_switch || word->role == EXTRACT_ROLE_ISR_RETURN;
    fields->begins = word->role == EXTRACT_ROLE_SUSPEND     ? EXTRACT_WAIT_SUSPENDED
                     : word->role == EXTRACT_ROLE_LOCK_WAIT ? EXTRACT_WAIT_LOCK
                                                            : 0;
    fields->ends = word->role == EXTRACT_ROLE_LOCK_RELEASE ? EXTRACT_WAIT_LOCK : 0;
}

// Reads a hook id of three or four hexadecimal digits. Three digits hhh stand for hhh0.
static bool parse_id(const char *text, uint16_t *id)
{
    size_t length = strlen(text);

    if ((length != 3 && length != 4) || strspn(text, "0123456789abcdefABCDEF") != length)
        return false;
    unsigned long value = strtoul(text, NULL, 16);
    *id = (uint16_t)(length == 3 ? value << 4 : value);
    return *id;
}

static const struct role_word *find_role(const char *name)
{
    for (size_t i = 0; i < sizeof role_words / sizeof *role_words; i++)
        if (strcmp(role_words[i].name, name) == 0)
            return &role_words[i];
    return NULL;
}

// Appends a line to those of its hook id. The first line of a file replaces those of other files.
static enum extract_code add_role(struct source *source, struct extract_hook_roles *roles,
                                  uint16_t id, const struct hook_role *role)
{
    struct hook_role *list =
        extract_grow(roles->list, &roles->capacity, roles->count, sizeof *list);
    uint16_t *link = &roles->first[id];

    if (!list)
        return extract_error_set(source->error, EXTRACT_NOMEM, source->name, NULL, "out of memory");
    roles->list = list;
    if (roles->count == HOOK_MAX_ROLES)
        return refuse(source, NULL, "more than 4096 lines with roles", "remove lines");
    if (*link && list[*link - 1].file != source->number)
        *link = 0;
    while (*link) {
        if (!list[*link - 1].condition_count)
            return refuse(source, NULL, "this hook id has a line without a condition before",
                          "remove one, or move the line without a condition to the end");
        link = &list[*link - 1].next;
    }
    list[roles->count++] = *role;
    *link = (uint16_t)roles->count;
    return EXTRACT_OK;
}

static enum extract_code parse_line(struct source *source, struct extract_hook_roles *roles,
                                    char *line)
{
    struct hook_role role = {.file = source->number};
    char list[400], *rest = line, *word;
    unsigned given = 0;
    uint16_t id;
    enum extract_code code = EXTRACT_OK;

    line[strcspn(line, "#")] = 0;
    const char *first = next_word(&rest);
    if (!first)
        return EXTRACT_OK;
    if (!parse_id(first, &id))
        return refuse(source, first, "is not a hook id",
                      "begin the line with three or four hexadecimal digits, not all 0");
    const char *name = next_word(&rest);
    if (!name)
        return refuse(source, first, "has no role", "use `none` if it has no meaning");
    const struct role_word *found = find_role(name);
    if (!found) {
        list_roles(list, sizeof list);
        return refuse(source, name, "is not a role", list);
    }
    while (!code && (word = next_word(&rest))) {
        if (strcmp(word, "when") == 0) {
            code = parse_conditions(source, &role, rest);
            break;
        }
        code = parse_value(source, found, &role, word, &given);
    }
    if (code)
        return code;
    list_values(found->needs & ~given, list, sizeof list);
    if (*list)
        return refuse(source, name, "lacks a value that it needs", list);
    set_fields(&role, found, given);
    return add_role(source, roles, id, &role);
}

// ---- files ----

enum extract_code hook_roles_add(struct extract_hook_roles *roles, unsigned number,
                                 const char *name, const char *text, size_t length,
                                 struct extract_error *error)
{
    struct source source = {.name = name, .number = number, .error = error};
    char line[LINE_BYTES + 1];
    enum extract_code code = EXTRACT_OK;

    for (size_t at = 0; at < length && !code;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t bytes = end ? (size_t)(end - text) - at : length - at;
        source.line++;
        if (bytes > LINE_BYTES)
            return refuse(&source, NULL, "the line has more than 1000 bytes", "shorten it");
        if (memchr(text + at, 0, bytes))
            return refuse(&source, NULL, "the line contains a byte 0", "use a text file");
        memcpy(line, text + at, bytes);
        line[bytes] = 0;
        code = parse_line(&source, roles, line);
        at += bytes + 1;
    }
    return code;
}

static enum extract_code add_file(struct extract_hook_roles *roles, unsigned number,
                                  const char *path, struct extract_error *error)
{
    uint8_t *bytes;
    size_t length;

    if (strcmp(path, "aix") == 0)
        return hook_roles_add(roles, number, "(built-in)/aix.roles", aix, sizeof aix - 1, error);
    enum extract_code code = extract_file_read_in_time(path, FILE_BYTES, &bytes, &length, error);
    if (code)
        return code;
    code =
        hook_roles_add(roles, number, extract_file_name(path), (const char *)bytes, length, error);
    free(bytes);
    return code;
}

// Returns whether a line that is in use has a role.
static bool has_role(const struct extract_hook_roles *roles, enum extract_role role)
{
    for (unsigned id = 0; id < HOOK_IDS; id++)
        for (uint16_t i = roles->first[id]; i; i = roles->list[i - 1].next)
            if (roles->list[i - 1].fields.role == role)
                return true;
    return false;
}

// If there is an event when the dispatcher ends, the time before it is the dispatcher's.
void hook_roles_complete(struct extract_hook_roles *roles)
{
    bool has_resume = has_role(roles, EXTRACT_ROLE_ISR_RETURN);

    roles->shows_waits = has_role(roles, EXTRACT_ROLE_SUSPEND);
    for (size_t i = 0; i < roles->count; i++)
        roles->list[i].fields.dispatches =
            has_resume && roles->list[i].fields.role == EXTRACT_ROLE_SWITCH;
}

enum extract_code extract_hook_roles_open(struct extract_hook_roles **roles,
                                          const char *const *names, size_t count,
                                          struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    *roles = calloc(1, sizeof **roles);
    if (!*roles)
        return extract_error_set(error, EXTRACT_NOMEM, "roles", NULL, "out of memory");
    for (size_t i = 0; i < count && !code; i++)
        code = add_file(*roles, (unsigned)i, names[i], error);
    if (!code) {
        hook_roles_complete(*roles);
        return EXTRACT_OK;
    }
    extract_hook_roles_close(*roles);
    *roles = NULL;
    return code;
}

void extract_hook_roles_close(struct extract_hook_roles *roles)
{
    if (!roles)
        return;
    free(roles->list);
    free(roles);
}
