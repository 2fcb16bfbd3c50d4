// SPDX-License-Identifier: MIT
// Every byte of logs that hold every kind of block is changed in turn, and every page is zeroed:
// the damage is reported, no event is made up, and no more is lost than what the damaged block
// holds.
//
// Truth: what the same log gives when nothing is changed. The logs hold recordings of boards and of
// a program (data/log-version-1), which are written again, block by block, in the current version.
#include "tests/unit/log/log_bytes.h"
#include "tests/unit/samples.h"
#include "tests/unit/log_builder.h"
#include "log/log_block.h"
#include <fcntl.h>

enum { PAGE = 4096, MAX_FILE = 64 * 1024, MAX_LINES = 4096, MAX_BLOCKS = 256 };
enum { AT_TYPE = 4, AT_LENGTH = 12, AT_COUNT = 16, AT_NUMBER = 24, AT_SECTION = 32, AT_COPY = 64 };

// A recording, and how it is written again.
struct source {
    const char *name;
    const char *rkh; // settings that a reader needs
    enum extract_log_policy policy;
    uint32_t section_bytes;
    unsigned sections; // that are begun
    unsigned entries;  // of a block, at most
    unsigned step;     // bytes of a payload of which one is changed
    bool is_continued; // a second recording follows
    bool is_torn;      // the last block of the first one was not finished
};

static const struct source sources[] = {
    {"threadx-append", NULL, EXTRACT_LOG_APPEND, 4096, 2, 4, 1, true, true},
    {"rkh", "chk=1,nseq=1,ts=4,ptr=4,sig=1", EXTRACT_LOG_APPEND, 4096, 1, 0, 1, false, false},
    {"hook", NULL, EXTRACT_LOG_APPEND, 4096, 1, 0, 1, false, false},
    {"posix-append", NULL, EXTRACT_LOG_APPEND, 8192, 1, 0, 1, false, false},
    {"threadx-append", NULL, EXTRACT_LOG_LOOP, 4096, 6, 8, 32, false, false},
    {"posix-board", NULL, EXTRACT_LOG_UNTIL_FULL, 4096, 4, 0, 32, false, false},
    {"threadx-append", NULL, EXTRACT_LOG_APPEND, 4096, 1, 2, 32, true, false},
};

// ---- a log that is written again ----

struct writing {
    struct extract_log *from;
    struct extract_log_writer *to;
    struct extract_log_block block;
    uint8_t payload[64 * 1024];
    uint64_t next; // number of the next entry
};

static void put_block(struct writing *w, unsigned entries)
{
    static const uint8_t bounds[32] = {1, 2, 3};
    struct extract_log_block *b = &w->block;
    struct extract_error error = {0};
    struct extract_ring ring;
    const uint8_t *bytes;
    uint64_t address;
    size_t length;
    enum extract_code code = EXTRACT_OK;
    switch (b->type) {
    case EXTRACT_LOG_SECTION:
    case EXTRACT_LOG_STATUS:
        return;
    case EXTRACT_LOG_RING:
        assert_int_equal(extract_log_ring(&ring, w->payload, b->length, NULL), EXTRACT_OK);
        code = extract_log_put_ring(w->to, &ring, &error);
        break;
    case EXTRACT_LOG_OBJECTS:
        assert_int_equal(
            extract_log_objects(&address, &bytes, &length, w->payload, b->length, NULL),
            EXTRACT_OK);
        // As many as have a copy.
        code = extract_log_put_objects(w->to, address, bytes, length < 384 ? length : 384, &error);
        break;
    default:
        if (b->type == EXTRACT_LOG_ENTRIES && b->count > entries) {
            b->length = b->length / b->count * entries;
            b->count = entries;
            b->flags = 0;
        }
        if (b->type == EXTRACT_LOG_LOSS) // which may have a payload of any length
            b->length = sizeof bounds;
        w->next += b->lost;
        b->first = w->next;
        w->next += extract_log_holds_entries(b) ? b->count : 0;
        code = extract_log_put(w->to, b, b->type == EXTRACT_LOG_LOSS ? bounds : w->payload, &error);
    }
    if (code && code != EXTRACT_LIMIT)
        fail_msg("%s: %s", error.what, error.why);
}

// Writes a recording, from its i-th block on, until so many sections are begun.
static void put_recording(struct writing *w, const struct source *source, size_t *i)
{
    uint64_t bytes = (uint64_t)source->sections * source->section_bytes, most = bytes * 7 / 8;
    while (extract_log_written(w->to) < most && extract_log_space_left(w->to) &&
           extract_log_block_at(w->from, (*i)++, &w->block)) {
        assert_true(w->block.length <= sizeof w->payload);
        assert_int_equal(extract_log_read(w->from, &w->block, w->payload, NULL), EXTRACT_OK);
        put_block(w, source->entries);
    }
}

static void write_again(const struct source *source, const char *path)
{
    static struct writing w;
    char command[1024], *folder = realpath("libextract/tests/data/log-version-1", NULL);
    size_t i = 0;
    struct extract_log_options options = {.size = sizeof options,
                                          .policy = source->policy,
                                          .section_bytes = source->section_bytes,
                                          .limit = 4 * (uint64_t)source->section_bytes};
    assert_non_null(folder);
    snprintf(command, sizeof command, "gunzip -c %s/%s.log.gz >recorded.log; rm -f flipped.log",
             folder, source->name);
    free(folder);
    assert_true(scratch_run(command));
    w.next = 0;
    assert_int_equal(extract_log_open(&w.from, scratch_path("recorded.log"), NULL), EXTRACT_OK);
    assert_int_equal(extract_log_create(&w.to, path, &options, NULL), EXTRACT_OK);
    put_recording(&w, source, &i);
    assert_int_equal(extract_log_close(w.to, NULL), EXTRACT_OK);
    if (source->is_torn) // in its STATUS
        log_cut(path, 60);
    if (source->is_continued) {
        assert_int_equal(extract_log_create(&w.to, path, &options, NULL), EXTRACT_OK);
        for (i = w.next = 0; i < 12; i++) {
            assert_true(extract_log_block_at(w.from, i, &w.block));
            assert_int_equal(extract_log_read(w.from, &w.block, w.payload, NULL), EXTRACT_OK);
            put_block(&w, source->entries);
        }
        assert_int_equal(extract_log_close(w.to, NULL), EXTRACT_OK);
    }
    extract_log_free(w.from);
}

// ---- its blocks, by their bytes ----

struct place {
    size_t offset, size;
    uint32_t type, count;
    uint64_t number, section, copy_distance;
};

static struct flipped {
    int fd;
    uint8_t bytes[MAX_FILE];
    size_t length;
    char path[128];
    struct place block[MAX_BLOCKS];
    size_t blocks;
    struct extract_rkh rkh;
    bool has_rkh;
} file;

static uint64_t number_at(size_t at, unsigned bytes)
{
    return get_number(file.bytes + at, bytes);
}

static bool is_finished(const struct place *place)
{
    static uint8_t bytes[MAX_FILE];
    uint64_t one = 0, two = 0;
    memcpy(bytes, file.bytes + place->offset, place->size);
    memset(bytes + HEAD - 16, 0, 16);
    plain_sum(bytes, place->size, &one, &two);
    return number_at(place->offset + HEAD - 16, 8) == one &&
           number_at(place->offset + HEAD - 8, 8) == two;
}

// Finds the blocks of each section, without those of an earlier turn and those that were never
// finished.
static void find_blocks(size_t section_bytes)
{
    file.blocks = 0;
    for (size_t start = 0; start < file.length; start += section_bytes) {
        uint64_t section = number_at(start + AT_SECTION, 8);
        size_t end = start + section_bytes < file.length ? start + section_bytes : file.length;
        for (size_t at = start; at + HEAD <= end && !memcmp(file.bytes + at, "RLBK", 4);) {
            struct place place = {.offset = at,
                                  .size = HEAD + (number_at(at + AT_LENGTH, 4) + 7) / 8 * 8,
                                  .type = (uint32_t)number_at(at + AT_TYPE, 2),
                                  .count = (uint32_t)number_at(at + AT_COUNT, 4),
                                  .number = number_at(at + AT_NUMBER, 8),
                                  .section = number_at(at + AT_SECTION, 8)};
            if (place.section != section || place.offset + place.size > end || !is_finished(&place))
                break;
            bool holds = place.type == EXTRACT_LOG_ENTRIES || place.type == EXTRACT_LOG_BYTES;
            bool loss = place.type == EXTRACT_LOG_LOSS;
            place.copy_distance = holds || loss ? 0 : number_at(at + AT_COPY, 8);
            assert_true(file.blocks < MAX_BLOCKS);
            file.block[file.blocks++] = place;
            at += place.size;
        }
    }
}

static void open_flipped(const struct source *source)
{
    snprintf(file.path, sizeof file.path, "%s", scratch_path("flipped.log"));
    write_again(source, file.path);
    file.fd = open(file.path, O_RDWR);
    assert_true(file.fd >= 0);
    ssize_t length = pread(file.fd, file.bytes, sizeof file.bytes, 0);
    assert_true(length > 0 && length < (ssize_t)sizeof file.bytes);
    file.length = (size_t)length;
    file.has_rkh = source->rkh;
    if (source->rkh)
        assert_int_equal(extract_rkh_parse(&file.rkh, source->rkh, NULL), EXTRACT_OK);
    find_blocks(source->section_bytes);
}

static const struct place *block_of(size_t offset)
{
    for (size_t i = 0; i < file.blocks; i++)
        if (offset >= file.block[i].offset && offset < file.block[i].offset + file.block[i].size)
            return &file.block[i];
    return NULL;
}

static const struct place *newest_block(void)
{
    const struct place *newest = &file.block[0];
    for (size_t i = 1; i < file.blocks; i++)
        newest = file.block[i].number > newest->number ? &file.block[i] : newest;
    return newest;
}

// ---- what the log gives ----

struct reading {
    enum extract_code code;
    bool is_whole;
    char *text;
    const char *event[MAX_LINES]; // what one says by itself
    const char *name[MAX_LINES];  // what others say of it
    size_t events;
    struct extract_log_status status;
};

// Cuts the value of a key out of a line of JSON; the value must end with `end`.
static const char *take_value(char *line, const char *key, const char *end)
{
    char *from = strstr(line, key), *to = from ? strstr(from + strlen(key), end) : NULL;
    static char value[512];
    if (!to)
        return "";
    snprintf(value, sizeof value, "%.*s", (int)(to - from), from);
    memmove(from, to, strlen(to) + 1);
    return value;
}

// Splits a line of the report. Its number and time depend on the events before, and the places of
// texts on the log: neither says anything about the event.
static void note_event(struct reading *reading, char *line)
{
    bool is_mark = strstr(line, "\"context\":\"recorder\"");
    size_t n = reading->events++;
    assert_true(n < MAX_LINES);
    take_value(line, "\"seq\":", "\"core\":");
    take_value(line, ",\"flags\":", "}");
    if (is_mark) {
        take_value(line, "\"fields\":", "\"names\":");
        take_value(line, ",\"info\":", "}");
    }
    const char *name = take_value(line, "\"thread_name\":", "\"priority\":");
    reading->name[n] = strcpy(malloc(strlen(name) + 1), name);
    if (!is_mark)
        take_value(line, "\"names\":", "\"info\":");
    reading->event[n] = line;
}

static void forget(struct reading *reading)
{
    for (size_t i = 0; i < reading->events; i++)
        free((void *)(uintptr_t)reading->name[i]);
    free(reading->text);
    memset(reading, 0, sizeof *reading);
}

static void read_log(struct reading *reading)
{
    struct extract_session_options options = {
        .size = sizeof options, .json = true, .rkh = file.has_rkh ? &file.rkh : NULL};
    struct extract_session *session = NULL;
    struct extract_log *log = NULL;
    struct extract_text text;
    forget(reading);
    reading->code = extract_log_open(&log, file.path, NULL);
    if (!reading->code)
        reading->code = extract_session_open_log(&session, log, NULL, &options, NULL);
    if (!reading->code) {
        extract_text_init(&text, NULL, NULL);
        assert_int_equal(extract_session_run(session, "report", &text, NULL), EXTRACT_OK);
        reading->text = malloc(text.used + 1);
        if (text.used)
            memcpy(reading->text, text.data, text.used);
        reading->text[text.used] = 0;
        extract_text_free(&text);
        for (char *line = strtok(reading->text, "\n"); line; line = strtok(NULL, "\n"))
            if (!strstr(line, "\"RINGSIDE_DAMAGED\""))
                note_event(reading, line);
        reading->is_whole = extract_session_is_whole(session);
        reading->status = *extract_log_status(log);
    }
    extract_session_close(session);
    extract_log_free(log);
}

static bool is_same(const struct reading *a, size_t i, const struct reading *b, size_t k)
{
    return !strcmp(a->event[i], b->event[k]) && !strcmp(a->name[i], b->name[k]);
}

// Returns how many events of `all` are missing in one place of `now`, which must have no others.
static size_t count_lost(const struct reading *all, const struct reading *now)
{
    size_t front = 0, end = 0;
    assert_true(now->events <= all->events);
    while (front < now->events && is_same(all, front, now, front))
        front++;
    while (end < now->events - front &&
           is_same(all, all->events - 1 - end, now, now->events - 1 - end))
        end++;
    if (front + end != now->events)
        fail_msg("not in the log: %s", now->event[front]);
    return all->events - now->events;
}

// ---- one byte ----

// Returns how many events a block may cost. Of bytes that are cut anywhere, one entry reaches into
// the next block.
static size_t events_of(const struct place *block)
{
    switch (block->type) {
    case EXTRACT_LOG_ENTRIES:
        return block->count;
    case EXTRACT_LOG_BYTES:
        return block->count + 1;
    case EXTRACT_LOG_LOSS:
    case EXTRACT_LOG_MARK:
        return 1;
    default:
        return 0;
    }
}

static bool has_copy(const struct place *block)
{
    for (size_t i = 0; i < file.blocks; i++)
        if (file.block[i].copy_distance &&
            file.block[i].number == block->number + file.block[i].copy_distance)
            return true;
    return false;
}

static void check_hit(const struct reading *all, const struct reading *now,
                      const struct place *block)
{
    const struct extract_log_status *s = &now->status;
    bool is_newest = block == newest_block();
    assert_int_equal(now->code, EXTRACT_OK);
    assert_false(now->is_whole);
    assert_true(count_lost(all, now) <= events_of(block));
    assert_true(is_newest ? !s->closed : !s->cut);
    assert_int_equal(s->damaged, all->status.damaged + !is_newest);
    assert_int_equal(s->restored, all->status.restored + has_copy(block));
    assert_true(s->missing <= all->status.missing + !has_copy(block));
    if (has_copy(block))
        assert_int_equal(s->damaged_of[block->type], all->status.damaged_of[block->type] + 1);
}

static void flip_all(const struct source *source)
{
    static struct reading all, now;
    open_flipped(source);
    read_log(&all);
    assert_int_equal(all.code, EXTRACT_OK);
    assert_true(all.events > 10);
    for (size_t at = 0; at < file.length; at += sample_step())
        for (unsigned pattern = 0; pattern < 2; pattern++) {
            const struct place *block = block_of(at);
            uint8_t is = (uint8_t)(file.bytes[at] ^ (pattern ? 0xFFu : 1u << at % 8));
            bool is_header = block && at - block->offset < HEAD;
            if (!is_header && (pattern || at % source->step))
                continue;
            assert_int_equal(pwrite(file.fd, &is, 1, (off_t)at), 1);
            read_log(&now);
            assert_int_equal(pwrite(file.fd, &file.bytes[at], 1, (off_t)at), 1);
            if (block) {
                check_hit(&all, &now, block);
                continue;
            }
            // The space after the last block of a section is not part of the log.
            assert_int_equal(now.code, EXTRACT_OK);
            assert_int_equal(count_lost(&all, &now), 0);
            assert_int_equal(now.status.damaged, all.status.damaged);
        }
    close(file.fd);
    forget(&all);
    forget(&now);
}

// ---- a page ----

static bool has_block_in(size_t from, size_t to)
{
    for (size_t at = from; at < to && at < file.length; at++)
        if (block_of(at))
            return true;
    return false;
}

// Whatever is left are events of the log, in their order; names may be missing, but are not others.
static void check_page(const struct reading *all, const struct reading *now, bool is_hit)
{
    size_t i = 0;
    if (now->code) {
        assert_true(is_hit && now->code == EXTRACT_BAD);
        return;
    }
    assert_true(!is_hit || (!now->is_whole && (now->status.damaged || now->status.cut)));
    for (size_t k = 0; k < now->events; k++, i++) {
        while (i < all->events && strcmp(all->event[i], now->event[k]))
            i++;
        if (i == all->events)
            fail_msg("not in the log: %s", now->event[k]);
        assert_true(!strcmp(all->name[i], now->name[k]) || strstr(now->name[k], "null"));
    }
}

// Where the newest section is lost, what is left of the one that it has overwritten is the log's
// oldest again. So events are looked up in all that was recorded.
static void read_recording(const struct source *source, struct reading *all)
{
    struct source whole = *source;
    whole.policy = EXTRACT_LOG_APPEND;
    whole.sections += 2;
    open_flipped(&whole);
    read_log(all);
    assert_int_equal(all->code, EXTRACT_OK);
    close(file.fd);
}

static void zero_pages(const struct source *source)
{
    static const uint8_t zeros[PAGE];
    static struct reading all, now;
    read_recording(source, &all);
    open_flipped(source);
    for (size_t at = 0; at < file.length; at += PAGE / 8) {
        size_t length = file.length - at < PAGE ? file.length - at : PAGE;
        assert_int_equal(pwrite(file.fd, zeros, length, (off_t)at), length);
        read_log(&now);
        assert_int_equal(pwrite(file.fd, file.bytes + at, length, (off_t)at), length);
        check_page(&all, &now, has_block_in(at, at + length));
    }
    close(file.fd);
    forget(&all);
    forget(&now);
}

// ---- the tests ----

// Checks that the logs contain every type of block.
static void test_types(void **state)
{
    uint32_t types = 0;
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        open_flipped(&sources[i]);
        for (size_t k = 0; k < file.blocks; k++)
            types |= 1u << file.block[k].type;
        close(file.fd);
    }
    assert_int_equal(types, (1u << EXTRACT_LOG_TYPES) - 2);
}

static void test_flips(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        flip_all(&sources[i]);
}

static void test_pages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        zero_pages(&sources[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_pages),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
