// SPDX-License-Identifier: MIT
// tests: logs of synthetic rings. In: rings of ring_builder.h, what a recorder found of them, and
// damage. Out: log files, and traces and texts over them.
#include "tests/unit/log_builder.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_WALL UINT64_C(1767225600000000000) // 2026-01-01

void log_create(struct log_file *log, const char *path, const struct extract_log_options *options)
{
    struct extract_error error = {0};
    struct extract_log_options usual = {.size = sizeof usual, .policy = EXTRACT_LOG_APPEND};
    uint64_t next = log->next, wall = log->wall;
    *log = (struct log_file){.path = path, .next = next, .wall = wall ? wall : FIRST_WALL};
    if (extract_log_create(&log->writer, path, options ? options : &usual, &error))
        fail_msg("%s: %s", error.what, error.why);
}

void log_ring(struct log_file *log, const struct ring_image *image)
{
    struct extract_memory *memory = images_open();
    struct extract_ring_options at = {
        .size = sizeof at, .address_known = true, .address = image->spec.address};
    images_add(memory, image, 0, image->length);
    assert_int_equal(extract_ring_find(&log->ring, memory, NULL, &at, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_put_ring(log->writer, &log->ring, NULL), EXTRACT_OK);
    extract_memory_close(memory);
}

void log_objects(struct log_file *log, const struct ring_image *image)
{
    unsigned head = ring_header_bytes(&image->spec);
    assert_int_equal(extract_log_put_objects(log->writer, image->spec.address + head,
                                             image->bytes + head, ring_slot_offset(image, 0) - head,
                                             NULL),
                     EXTRACT_OK);
}

void log_open(struct log_file *log, const char *path, const struct ring_image *image)
{
    memset(log, 0, sizeof *log);
    log_create(log, path, NULL);
    log_ring(log, image);
    log_objects(log, image);
}

static uint64_t stamp_of(const struct ring_image *image, unsigned slot)
{
    unsigned word = image->spec.word_bytes;
    const uint8_t *bytes = image->bytes + ring_slot_offset(image, slot) + 3 * word;
    uint64_t value = 0;
    for (unsigned i = 0; i < word; i++)
        value |= (uint64_t)bytes[image->spec.big_endian ? word - 1 - i : i] << 8 * i;
    return value;
}

void log_entries_provisional(struct log_file *log, const struct ring_image *image, unsigned slot,
                             unsigned count, unsigned provisional)
{
    struct extract_log_block block = {.type = EXTRACT_LOG_ENTRIES,
                                      .flags = EXTRACT_LOG_STAMPS | EXTRACT_LOG_PROVISIONAL,
                                      .count = count,
                                      .provisional = provisional,
                                      .length = count * ring_entry_bytes(&image->spec),
                                      .first = log->next,
                                      .first_stamp = stamp_of(image, slot),
                                      .last_stamp = stamp_of(image, slot + count - 1),
                                      .wall = log->wall};
    assert_int_equal(
        extract_log_put(log->writer, &block, image->bytes + ring_slot_offset(image, slot), NULL),
        EXTRACT_OK);
    log->next += count;
}

void log_entries(struct log_file *log, const struct ring_image *image, unsigned slot,
                 unsigned count)
{
    log_entries_provisional(log, image, slot, count, 0);
}

void log_loss(struct log_file *log, enum extract_log_loss kind, uint64_t lost, uint64_t modulo)
{
    struct extract_log_block block = {.type = EXTRACT_LOG_LOSS,
                                      .kind = (uint16_t)kind,
                                      .first = log->next += lost,
                                      .lost = lost,
                                      .modulo = modulo,
                                      .wall = log->wall};
    assert_int_equal(extract_log_put(log->writer, &block, NULL, NULL), EXTRACT_OK);
}

void log_mark(struct log_file *log, enum extract_log_mark kind, uint64_t value, const char *text)
{
    struct extract_log_block block = {.type = EXTRACT_LOG_MARK,
                                      .kind = (uint16_t)kind,
                                      .length = (uint32_t)strlen(text),
                                      .first = log->next,
                                      .value = value,
                                      .wall = log->wall};
    assert_int_equal(extract_log_put(log->writer, &block, text, NULL), EXTRACT_OK);
}

void log_close(struct log_file *log)
{
    assert_int_equal(extract_log_close(log->writer, NULL), EXTRACT_OK);
}

void log_damage(const char *path, enum extract_log_type type, unsigned n, unsigned at)
{
    struct extract_log_block block;
    struct extract_log *log;
    size_t i = 0;
    assert_int_equal(extract_log_open(&log, path, NULL), EXTRACT_OK);
    for (;; i++) {
        assert_true(extract_log_block_at(log, i, &block));
        if (block.type == (uint16_t)type && !n--)
            break;
    }
    extract_log_free(log);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)block.offset + (long)at, SEEK_SET), 0);
    int old = fgetc(file);
    assert_int_equal(fseek(file, (long)block.offset + (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(old ^ 0x10, file), old ^ 0x10);
    assert_int_equal(fclose(file), 0);
}

void log_cut(const char *path, long bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    fclose(file);
    assert_int_equal(truncate(path, size - bytes), 0);
}

void log_look_open(struct log_look *look, const char *path,
                   const struct extract_session_options *options)
{
    struct extract_session_options none = {.size = sizeof none};
    struct extract_error error = {0};
    if (extract_log_open(&look->log, path, &error))
        fail_msg("%s: %s", error.what, error.why);
    if (extract_session_open_log(&look->session, look->log, NULL, options ? options : &none,
                                 &error))
        fail_msg("%s: %s", error.what, error.why);
    look->trace = extract_session_trace(look->session);
    look->info = extract_trace_info(look->trace);
}

void log_look_close(struct log_look *look)
{
    extract_session_close(look->session);
    extract_log_free(look->log);
}

const struct extract_event *log_events(const struct log_look *look, size_t *count)
{
    static struct extract_event events[MAX_EVENTS];
    struct extract_reader reader;
    extract_reader_init(&reader, look->trace);
    *count = 0;
    for (size_t got; (got = extract_reader_next(&reader, events + *count, MAX_EVENTS - *count));)
        *count += got;
    return events;
}

const char *log_verb(const struct log_look *look, const char *verb)
{
    static char answer[1 << 22];
    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_session_run(look->session, verb, &text, NULL), EXTRACT_OK);
    assert_true(text.used < sizeof answer);
    if (text.used)
        memcpy(answer, text.data, text.used);
    answer[text.used] = 0;
    extract_text_free(&text);
    return answer;
}
