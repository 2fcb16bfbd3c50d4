// SPDX-License-Identifier: MIT
// report: the key-value writer. Prints keys and values as lines of text or as members of a JSON
// object. Text needs a newline before every key but the first, JSON a comma.
#include "report/kv_writer.h"
#include "base/text_writer.h"
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

void kv_open(struct kv_writer *kv, struct extract_text *text, bool json)
{
    *kv = (struct kv_writer){text, json, true};
    if (json)
        extract_text_putc(text, '{');
}

void kv_close(struct kv_writer *kv)
{
    extract_text_puts(kv->text, kv->is_json ? "}\n" : "\n");
}

struct kv_writer kv_open_object(struct extract_text *text)
{
    struct kv_writer kv;

    kv_open(&kv, text, true);
    return kv;
}

void kv_close_object(struct kv_writer *kv)
{
    extract_text_putc(kv->text, '}');
}

void kv_put_key(struct kv_writer *kv, const char *key)
{
    struct extract_text *text = kv->text;

    if (!kv->is_first)
        extract_text_putc(text, kv->is_json ? ',' : '\n');
    kv->is_first = false;
    if (!kv->is_json) {
        extract_text_printf(text, "%s: ", key);
        return;
    }
    extract_text_putc(text, '"');
    for (; *key; key++)
        extract_text_putc(text, *key == ' ' ? '_' : *key);
    extract_text_puts(text, "\":");
}

void kv_put_number(struct kv_writer *kv, const char *key, uint64_t value)
{
    kv_put_key(kv, key);
    extract_text_dec(kv->text, value);
}

void kv_put_optional(struct kv_writer *kv, const char *key, bool is_known, uint64_t value)
{
    if (is_known)
        kv_put_number(kv, key, value);
    else
        kv_put_unknown(kv, key);
}

void kv_put_hex(struct kv_writer *kv, const char *key, uint64_t value)
{
    kv_put_key(kv, key);
    if (kv->is_json)
        extract_text_dec(kv->text, value);
    else
        extract_text_hex(kv->text, value, 8);
}

void kv_put_bool(struct kv_writer *kv, const char *key, bool value)
{
    kv_put_key(kv, key);
    if (kv->is_json)
        extract_text_puts(kv->text, value ? "true" : "false");
    else
        extract_text_puts(kv->text, value ? "yes" : "no");
}

void kv_put_string(struct kv_writer *kv, const char *key, const char *string)
{
    kv_put_key(kv, key);
    if (kv->is_json)
        extract_text_json(kv->text, string);
    else
        extract_text_escaped(kv->text, string);
}

void kv_put_unknown(struct kv_writer *kv, const char *key)
{
    kv_put_key(kv, key);
    extract_text_puts(kv->text, kv->is_json ? "null" : "unknown");
}

void kv_put_note(struct kv_writer *kv, const char *format, ...)
{
    char note[160];
    va_list args;

    if (kv->is_json)
        return;
    va_start(args, format);
    vsnprintf(note, sizeof note, format, args);
    va_end(args);
    extract_text_printf(kv->text, " (%s)", note);
}

void kv_put_seconds(struct kv_writer *kv, uint64_t ticks, uint64_t hz)
{
    if (!hz)
        return;
    struct text_writer_seconds seconds = text_writer_split(ticks, hz);
    kv_put_note(kv, "%llu.%09u s", (unsigned long long)seconds.whole, seconds.nano);
}

void kv_put_likely_modulus(struct kv_writer *kv, uint64_t modulus, uint64_t above)
{
    if (kv->is_json) {
        kv_put_optional(kv, "clock modulus likely", modulus != 0, modulus);
        kv_put_optional(kv, "clock modulus above", above != 0, above);
    } else if (modulus) {
        kv_put_note(kv, "the clock is likely to wrap at %llu: use --modulus %llu",
                    (unsigned long long)modulus, (unsigned long long)modulus);
    } else if (above) {
        kv_put_note(kv, "the clock is likely to wrap at less, but above %llu: use --modulus",
                    (unsigned long long)above);
    }
}

void kv_put_still_clock(struct kv_writer *kv, bool is_still)
{
    if (kv->is_json)
        kv_put_bool(kv, "clock stands still", is_still);
    else if (is_still)
        kv_put_note(kv, "all timestamps are equal: the clock stands still, or is too slow");
}

void kv_put_date(struct kv_writer *kv, uint64_t nanoseconds)
{
    char date[32];
    time_t seconds = (time_t)(nanoseconds / TEXT_WRITER_NANO);
    struct tm utc;

    if (gmtime_r(&seconds, &utc) && strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc))
        kv_put_note(kv, "%s", date);
}
