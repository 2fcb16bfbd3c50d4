// SPDX-License-Identifier: MIT
// formats/hook: parses the layout of a raw stream from a user's option.
#include <extract/filter.h>
#include <extract/ring.h>
#include <string.h>

enum { VALUE_BYTES = 32 };

// Applies one setting. Returns false if the key is unknown or does not allow the value.
static bool apply_setting(struct extract_hook_stream *stream, const char *key, const char *value)
{
    uint64_t number;

    if (strcmp(key, "order") == 0) {
        bool is_big = strcmp(value, "big") == 0;
        stream->order = is_big ? EXTRACT_BIG : EXTRACT_LITTLE;
        return is_big || strcmp(value, "little") == 0;
    }
    if (strcmp(key, "stamps") == 0) {
        stream->all_stamped = strcmp(value, "all") == 0;
        return stream->all_stamped || strcmp(value, "typed") == 0;
    }
    if (!extract_number_parse(value, &number))
        return false;
    bool is_field_width = number == 0 || number == 4 || number == 8;
    if (strcmp(key, "bits") == 0) {
        stream->bits = (unsigned)number;
        return number == 32 || number == 64;
    }
    if (strcmp(key, "tid") == 0) {
        stream->tid_known = true;
        stream->tid = (unsigned)number;
        return is_field_width;
    }
    if (strcmp(key, "stamp") == 0) {
        stream->stamp_known = true;
        stream->stamp = (unsigned)number;
        return is_field_width;
    }
    stream->hz = number;
    return strcmp(key, "hz") == 0 && number && number <= UINT32_MAX;
}

enum extract_code extract_hook_stream_parse(struct extract_hook_stream *stream,
                                            const char *settings, struct extract_error *error)
{
    *stream = (struct extract_hook_stream){0};
    while (*settings) {
        char pair[VALUE_BYTES];
        size_t length = strcspn(settings, ",");
        bool fits = length < sizeof pair;
        memcpy(pair, settings, fits ? length : sizeof pair - 1);
        pair[fits ? length : sizeof pair - 1] = 0;
        char *value = strchr(pair, '=');
        if (value)
            *value++ = 0;
        if (!fits || !value || !apply_setting(stream, pair, value))
            return extract_error_set(error, EXTRACT_USAGE, "stream of hook words",
                                     "use bits=32|64, order=big|little, tid=0|4|8, "
                                     "stamp=0|4|8, stamps=typed|all, hz=N, with commas between",
                                     "\"%.*s\" is not allowed", (int)length, settings);
        settings += length + (settings[length] == ',');
    }
    return EXTRACT_OK;
}
