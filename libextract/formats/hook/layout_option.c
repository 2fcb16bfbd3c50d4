// SPDX-License-Identifier: MIT
// formats/hook: parses the layout of a raw stream from a user's option.
#include <extract/filter.h>
#include <extract/ring.h>
#include <string.h>

enum { VALUE_BYTES = 32 };

static bool set_bits(struct extract_hook_stream *stream, uint64_t number)
{
    stream->bits = (unsigned)number;
    return number == 32 || number == 64;
}

static bool set_tid(struct extract_hook_stream *stream, uint64_t number)
{
    stream->tid_known = true;
    stream->tid = (unsigned)number;
    return number == 0 || number == 4 || number == 8;
}

static bool set_stamp(struct extract_hook_stream *stream, uint64_t number)
{
    stream->stamp_known = true;
    stream->stamp = (unsigned)number;
    return number == 0 || number == 4 || number == 8;
}

static bool set_hz(struct extract_hook_stream *stream, uint64_t number)
{
    stream->hz = number;
    return number && number <= UINT32_MAX;
}

static bool set_number(struct extract_hook_stream *stream, const char *key, const char *value)
{
    static const struct {
        const char *key;
        bool (*set)(struct extract_hook_stream *, uint64_t);
    } numbers[] = {{"bits", set_bits}, {"tid", set_tid}, {"stamp", set_stamp}, {"hz", set_hz}};
    uint64_t number;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(key, numbers[i].key) == 0)
            return extract_number_parse(value, &number) && numbers[i].set(stream, number);
    return false;
}

static bool set_word(struct extract_hook_stream *stream, const char *key, const char *value)
{
    bool is_order = strcmp(key, "order") == 0, is_stamps = strcmp(key, "stamps") == 0;

    if (is_order && strcmp(value, "big") == 0)
        stream->order = EXTRACT_BIG;
    else if (is_order && strcmp(value, "little") == 0)
        stream->order = EXTRACT_LITTLE;
    else if (is_stamps && (strcmp(value, "all") == 0 || strcmp(value, "typed") == 0))
        stream->all_stamped = value[0] == 'a';
    else
        return set_number(stream, key, value);
    return true;
}

enum extract_code extract_hook_stream_parse(struct extract_hook_stream *stream, const char *words,
                                            struct extract_error *error)
{
    *stream = (struct extract_hook_stream){0};
    while (*words) {
        char pair[VALUE_BYTES];
        size_t length = strcspn(words, ",");
        bool fits = length < sizeof pair;
        memcpy(pair, words, fits ? length : sizeof pair - 1);
        pair[fits ? length : sizeof pair - 1] = 0;
        char *value = strchr(pair, '=');
        if (value)
            *value++ = 0;
        if (!fits || !value || !set_word(stream, pair, value))
            return extract_error_set(error, EXTRACT_USAGE, "stream of hook words",
                                     "use bits=32|64, order=big|little, tid=0|4|8, "
                                     "stamp=0|4|8, stamps=typed|all, hz=N, with commas between",
                                     "\"%.*s\" is not allowed", (int)length, words);
        words += length + (words[length] == ',');
    }
    return EXTRACT_OK;
}
