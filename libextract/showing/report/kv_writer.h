// SPDX-License-Identifier: MIT
// report: the key-value writer, for everything in a report that is neither an event nor a table.
//
// A caller names keys and values once, and the writer prints them in one of two forms: "key: value"
// lines of text, or the members of a JSON object (RFC 8259). A key such as "timer mask" becomes
// "timer_mask" in JSON. Notes in parentheses after a value are for people only, so that JSON leaves
// them out.
#ifndef EXTRACT_REPORT_KV_WRITER_H
#define EXTRACT_REPORT_KV_WRITER_H

#include <extract/report.h>

// What the writer needs to place the next separator. Errors are sticky in text->code.
struct kv_writer {
    struct extract_text *text; // not owned
    bool is_json;
    bool is_first; // nothing was written yet: the next key needs no separator
};

// Starts the lines, or the JSON object, of a whole report. kv_close ends it with a newline.
void kv_open(struct kv_writer *kv, struct extract_text *text, bool json);
void kv_close(struct kv_writer *kv);

// Starts and ends a JSON object as the value of a key or an item of an array.
struct kv_writer kv_open_object(struct extract_text *text);
void kv_close_object(struct kv_writer *kv);

// Writes a key; the caller writes the value to kv->text.
void kv_put_key(struct kv_writer *kv, const char *key);

void kv_put_number(struct kv_writer *kv, const char *key, uint64_t value);
// Writes a number, or "unknown" unless it is known.
void kv_put_optional(struct kv_writer *kv, const char *key, bool is_known, uint64_t value);
void kv_put_hex(struct kv_writer *kv, const char *key, uint64_t value); // decimal in JSON
void kv_put_bool(struct kv_writer *kv, const char *key, bool value);    // "yes" and "no" in text
void kv_put_string(struct kv_writer *kv, const char *key, const char *string); // escaped
void kv_put_unknown(struct kv_writer *kv, const char *key);                    // null in JSON

// Writes " (NOTE)" after a value, in text only; at most 159 bytes of NOTE.
void kv_put_note(struct kv_writer *kv, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Writes " (0.000001234 s)" after a number of ticks, in text only. Writes nothing if hz is 0.
void kv_put_seconds(struct kv_writer *kv, uint64_t ticks, uint64_t hz);
// Writes the period that the clock of a trace is likely to have: a note in text, if there is one; a
// key of its own in JSON.
void kv_put_likely_modulus(struct kv_writer *kv, uint64_t modulus, uint64_t above);
// Writes whether the clock stands still: in text, as a note, and only if it does.
void kv_put_still_clock(struct kv_writer *kv, bool is_still);
// Writes " (2026-01-31T12:00:00Z)" after nanoseconds since 1970, in text only.
void kv_put_date(struct kv_writer *kv, uint64_t nanoseconds);

#endif
