// SPDX-License-Identifier: MIT
// report/rkh: names as the stream has told them so far. In: events, one after the other. Out: the
// name of an address or a number.
#include "report/rkh/trazer.h"

bool trazer_names_init(struct trazer_names *names)
{
    extract_text_init(&names->bytes, NULL, NULL);
    extract_text_init(&names->raw, NULL, NULL);
    return extract_map_init(&names->by_key, 0);
}

void trazer_names_free(struct trazer_names *names)
{
    extract_map_free(&names->by_key);
    extract_text_free(&names->bytes);
    extract_text_free(&names->raw);
}

static bool clear(struct trazer_names *names)
{
    trazer_names_free(names);
    return trazer_names_init(names);
}

bool trazer_names_take(struct trazer_names *names, const struct extract_event *event)
{
    struct extract_name_entry told = {.restarted = false};
    if (!rkh_read_name(event, &told))
        return true;
    if (told.restarted)
        return clear(names);
    if (!told.name || names->bytes.used >= UINT32_MAX / 2)
        return true;
    names->raw.used = 0;
    extract_text_put(&names->raw, (const char *)told.name, told.name_bytes);
    extract_text_putc(&names->raw, 0);
    if (names->raw.code)
        return false;
    uint64_t key = told.object.address;
    if (told.kind != EXTRACT_KIND_OBJECT)
        key = extract_number_key(told.kind, key);
    uint32_t *place = extract_map_at(&names->by_key, key);
    if (!place)
        return false;
    *place = (uint32_t)names->bytes.used + 1;
    extract_text_escaped(&names->bytes, names->raw.data);
    extract_text_putc(&names->bytes, 0);
    return !names->bytes.code;
}

const char *trazer_names_find(const struct trazer_names *names, uint64_t key)
{
    uint32_t place = extract_map_get(&names->by_key, key);
    return place ? names->bytes.data + place - 1 : NULL;
}
