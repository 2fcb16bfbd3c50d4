// SPDX-License-Identifier: MIT
// feed: reports an RKH stream while it arrives: bytes come in, the text of complete frames goes
// out.
//
// The buffer holds a flag, complete frames that were not decoded yet, and the frame that is
// arriving. All complete frames form a chunk, which is decoded in one step as if it were a file.
// The session keeps layout, numbers, times and names from one chunk to the next. A TCFG record
// starts a new chunk: it may announce another layout, and it invalidates all names before it.
//
//              layout known from the user, a TCFG record, or inferred from frames
//   COLLECTING ───────────────────────────────────────────────────────────────────► DECODING
//    │      ▲   r->session == NULL: resolve() tries with growing chunks       r->session != NULL
//    └──────┘
//    the buffer is full: half of it is discarded and counted as passed
#include "report/report_room.h"
#include "base/now.h"
#include "formats/rkh/rkh.h"
#include "snapshot/snapshot_room.h"
#include <extract/session.h>
#include <stdlib.h>

enum {
    CAPACITY = 256 * 1024, // bytes of the buffer, more than a frame can have
    MAX_CHUNK = 64 * 1024, // maximum bytes that are taken in one step
    MAX_TCFG = 32,         // maximum bytes of a TCFG record
    SECONDS_FIRST = 2,     // time to wait for frames before their layout is inferred
    GROWTH = 8             // try again when 1/GROWTH more bytes have come
};

struct extract_running {
    struct extract_session_options options;
    struct extract_symbols *symbols;
    struct extract_memory *memory;
    struct extract_session *session; // NULL until the layout is resolved
    struct extract_running_status status;
    size_t used;                // bytes in the buffer
    size_t frame;               // offset of the frame that is arriving
    struct extract_text rates;  // sentences on the rates of timestamps, NUL-ended
    bool has_no_numbers;        // some frames have no sequence numbers
    bool layout_is_given;       // by a TCFG record in the buffer, or by the user
    bool skipping;              // the rest of a frame that is too long is being discarded
    uint64_t due;               // extract_now() at which the layout is inferred; 0 if not set
    uint64_t period;            // nanoseconds until the next attempt
    size_t tried;               // bytes of the last attempt
    struct extract_error doubt; // why the layout is not resolved
    uint8_t bytes[RKH_STREAM_HEADER + CAPACITY];
};

// ---- the buffer as a memory ----

static size_t read_buffer(void *context, uint64_t address, void *buffer, size_t length)
{
    const struct extract_running *r = context;

    if (address >= sizeof r->bytes)
        return 0;
    size_t left = sizeof r->bytes - (size_t)address;
    length = length < left ? length : left;
    memcpy(buffer, r->bytes + address, length);
    return length;
}

static uint8_t *stream_of(struct extract_running *r)
{
    return r->bytes + RKH_STREAM_HEADER;
}

// Returns whether the user's settings say all that a TCFG record would say.
static bool user_gives_layout(const struct extract_rkh *rkh)
{
    static const enum extract_rkh_key keys[] = {EXTRACT_RKH_CHK, EXTRACT_RKH_NSEQ, EXTRACT_RKH_TS,
                                                EXTRACT_RKH_PTR, EXTRACT_RKH_SIG};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!rkh || rkh->from[keys[i]] < EXTRACT_RKH_CONFIG)
            return false;
    return true;
}

enum extract_code extract_running_open(struct extract_running **running, const char *name,
                                       const struct extract_session_options *options,
                                       struct extract_symbols *symbols, struct extract_error *error)
{
    struct extract_running *r = *running = calloc(1, sizeof *r);

    if (!r)
        return extract_error_set(error, EXTRACT_NOMEM, name, NULL, "out of memory");
    struct extract_memory_source source = {
        .read = read_buffer, .context = r, .byte_order = EXTRACT_LITTLE, .name = name};
    enum extract_code code = extract_memory_new(&r->memory, &source, error);
    if (code) {
        extract_running_close(r);
        *running = NULL;
        return code;
    }
    r->options = *options;
    r->options.format = extract_format_rkh.name;
    r->options.ring_known = r->options.is_continued = true;
    r->options.ring = 0;
    r->symbols = symbols;
    extract_text_init(&r->rates, NULL, NULL);
    r->layout_is_given = user_gives_layout(options->rkh);
    r->status.whole = true;
    extract_error_set(&r->doubt, EXTRACT_BAD, name,
                      "check that it is an RKH stream and that the speed is right",
                      "no frame came");
    return EXTRACT_OK;
}

void extract_running_close(struct extract_running *running)
{
    if (!running)
        return;
    extract_session_close(running->session);
    extract_text_free(&running->rates);
    extract_memory_close(running->memory);
    free(running);
}

struct extract_running_status extract_running_status(const struct extract_running *running)
{
    struct extract_running_status status = running->status;
    status.partial = (uint32_t)(running->used - running->frame);
    status.resolved = running->session != NULL;
    status.lost_known = status.resolved && !running->has_no_numbers;
    status.rates = running->rates.used ? running->rates.data : NULL;
    return status;
}

const struct extract_templates *extract_running_templates(const struct extract_running *running)
{
    return running->session ? extract_session_templates(running->session) : NULL;
}

// ---- a chunk ----

// Adds the frames of the chunk to the status.
static void count_frames(struct extract_running *r)
{
    const struct extract_snapshot *snapshot =
        extract_trace_snapshot(extract_session_trace(r->session));
    const struct extract_rkh_damage *damage = &snapshot->ring.rkh.damage;
    struct extract_running_status *status = &r->status;

    status->good += extract_snapshot_valid(snapshot);
    status->torn += damage->torn;
    status->checksum += damage->checksum;
    status->length += damage->length;
    status->id += damage->id;
    status->lost += snapshot->lost;
    r->has_no_numbers |= !snapshot->lost_known;
    if (r->options.hz || r->rates.used)
        return;
    report_rkh_rates(&r->rates, extract_session_trace(r->session));
    if (r->rates.used)
        extract_text_putc(&r->rates, 0);
}

// Removes the buffer's bytes before `end`, except the last flag: a frame begins after it.
static void drop(struct extract_running *r, size_t end)
{
    uint8_t *stream = stream_of(r);

    memmove(stream, stream + end - 1, r->used - end + 1);
    r->used -= end - 1;
    r->frame = 1;
}

// Returns whether a frame of the buffer is a TCFG record, which a target sends when it starts. With
// `any`, its id is not checked, since the family of ids is not known yet.
static bool is_tcfg(struct extract_running *r, size_t at, size_t end, bool any)
{
    uint8_t whole[MAX_TCFG];
    struct extract_rkh record = {0};
    struct rkh_frame frame;
    uint8_t id = stream_of(r)[at];
    enum rkh_family family = RKH_FAMILY_3;

    if (r->session)
        family = rkh_family_of(extract_trace_snapshot(extract_session_trace(r->session))
                                   ->ring.rkh.value[EXTRACT_RKH_VERSION]);
    if (!any && rkh_id(family, id) != RKH_FWK_TCFG)
        return false;
    rkh_frame_scan(&frame, stream_of(r), (uint32_t)at, (uint32_t)end);
    if (frame.torn || !frame.whole || frame.whole > sizeof whole)
        return false;
    rkh_frame_unstuff(&frame, stream_of(r), whole);
    return rkh_tcfg_read(&record, whole, frame.whole);
}

static enum extract_code open_session(struct extract_running *r, size_t end,
                                      struct extract_error *error)
{
    rkh_stream_head(r->bytes, end);
    return extract_session_open(&r->session, r->memory, r->symbols, &r->options, error);
}

static enum extract_code continue_session(struct extract_running *r, size_t end,
                                          struct extract_error *error)
{
    struct extract_ring ring = extract_trace_snapshot(extract_session_trace(r->session))->ring;
    const uint8_t *stream = stream_of(r);
    size_t at = 0;

    while (at + 1 < end && stream[at] == RKH_FLAG)
        at++;
    const uint8_t *flag = memchr(stream + at, RKH_FLAG, end - at);
    bool restarted = flag && is_tcfg(r, at, (size_t)(flag - stream), false);
    ring.rkh.damage = (struct extract_rkh_damage){0};
    ring.rkh.partial = 0;
    rkh_stream_set_bounds(&ring, RKH_STREAM_HEADER, (uint32_t)end);
    return extract_session_continue(r->session, r->memory, &ring, restarted, error);
}

// Decodes the buffer up to a flag and prints its events.
static enum extract_code report_chunk(struct extract_running *r, size_t end,
                                      struct extract_text *text, struct extract_error *error)
{
    enum extract_code code =
        r->session ? continue_session(r, end, error) : open_session(r, end, error);

    if (code)
        return code;
    count_frames(r);
    drop(r, end);
    code = extract_session_run(r->session, "report", text, error);
    r->status.whole &= extract_session_is_whole(r->session);
    return code == EXTRACT_NOTFOUND ? EXTRACT_OK : code;
}

// ---- before the layout is resolved ----

// Discards half of a full buffer and counts its frames as passed.
static void make_room(struct extract_running *r)
{
    const uint8_t *stream = stream_of(r);
    size_t end = 0;

    for (size_t at = 0; at < r->frame && end < CAPACITY / 2; at = end) {
        const uint8_t *flag = memchr(stream + at, RKH_FLAG, r->frame - at);
        end = flag ? (size_t)(flag - stream) + 1 : r->frame;
        r->status.passed += end - at > 1;
    }
    size_t frame = r->frame - (end - 1);
    drop(r, end);
    r->frame = frame;
    r->status.whole = false;
}

// Tries to resolve the layout with the frames of the buffer. A failure is not an error: more frames
// will come.
static enum extract_code try_to_resolve(struct extract_running *r, struct extract_text *text,
                                        struct extract_error *error)
{
    enum extract_code code = report_chunk(r, r->frame, text, error);

    if (code != EXTRACT_BAD || r->session)
        return code;
    r->doubt = *error;
    r->layout_is_given = user_gives_layout(r->options.rkh);
    r->period *= 2;
    r->due = extract_now() + r->period;
    if (r->frame > CAPACITY / 2)
        make_room(r);
    r->tried = r->frame;
    return EXTRACT_OK;
}

// Returns whether the buffer has grown by a fixed share since the last attempt. So all attempts
// together cost no more than a fixed multiple of reading, however few bytes arrive at a time.
static bool has_grown(const struct extract_running *r)
{
    return r->frame > r->tried + r->tried / GROWTH;
}

static enum extract_code resolve(struct extract_running *r, struct extract_text *text,
                                 struct extract_error *error)
{
    if (r->frame < 2)
        return EXTRACT_OK;
    if (!r->due) {
        r->period = SECONDS_FIRST * EXTRACT_SECOND;
        r->due = extract_now() + r->period;
    }
    bool now =
        (r->layout_is_given && has_grown(r)) || r->frame > CAPACITY / 2 || extract_now() >= r->due;
    return now ? try_to_resolve(r, text, error) : EXTRACT_OK;
}

// ---- frames ----

// Ends the frame that is arriving, by the flag at `at`. A TCFG record first completes the chunk
// before it, which the old layout applies to.
static enum extract_code end_frame(struct extract_running *r, size_t at, struct extract_text *text,
                                   struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    size_t frame = r->frame;

    r->skipping = false;
    if (at > frame && !r->session)
        r->layout_is_given |= is_tcfg(r, frame, at, true);
    if (at > frame && r->session && frame > 1 && is_tcfg(r, frame, at, false)) {
        size_t length = r->used - frame;
        code = report_chunk(r, frame, text, error);
        at = r->used - length + (at - frame);
    }
    r->frame = at + 1;
    return code;
}

// Ends the frames whose flags are at `from` or later, and decodes what is complete.
static enum extract_code find_frames(struct extract_running *r, size_t from,
                                     struct extract_text *text, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    const uint8_t *stream = stream_of(r), *flag;

    while (!code && (flag = memchr(stream + from, RKH_FLAG, r->used - from))) {
        code = end_frame(r, (size_t)(flag - stream), text, error);
        from = r->frame;
    }
    if (code)
        return code;
    if (!r->session)
        return resolve(r, text, error);
    return r->frame > 1 ? report_chunk(r, r->frame, text, error) : EXTRACT_OK;
}

// Discards the rest of a frame that is too long. Returns how many of the bytes belong to it.
static size_t skip_long_frame(struct extract_running *r, const uint8_t *bytes, size_t length)
{
    r->skipping |= r->used == CAPACITY - 1;
    if (!r->skipping)
        return 0;
    const uint8_t *flag = memchr(bytes, RKH_FLAG, length);
    return flag ? (size_t)(flag - bytes) : length;
}

enum extract_code extract_running_take(struct extract_running *running, const uint8_t *bytes,
                                       size_t length, struct extract_text *text,
                                       struct extract_error *error)
{
    struct extract_running *r = running;
    enum extract_code code = EXTRACT_OK;

    r->status.bytes += length;
    if (!length && !r->session)
        return resolve(r, text, error);
    while (length && !code) {
        size_t from = r->used, passed = skip_long_frame(r, bytes, length);
        bytes += passed;
        length -= passed;
        size_t space = (size_t)CAPACITY - !r->skipping - r->used;
        size_t take = r->skipping ? length > 0 : length < MAX_CHUNK ? length : MAX_CHUNK;
        take = take < space ? take : space;
        memcpy(stream_of(r) + r->used, bytes, take);
        r->used += take;
        bytes += take;
        length -= take;
        code = find_frames(r, from, text, error);
    }
    return code;
}

// Ends the frame that is arriving with an incomplete escape, which makes it torn.
enum extract_code extract_running_break(struct extract_running *running, struct extract_text *text,
                                        struct extract_error *error)
{
    struct extract_running *r = running;
    enum extract_code code = EXTRACT_OK;

    r->skipping = false;
    if (r->used > r->frame && r->frame) {
        stream_of(r)[r->used - 1] = RKH_ESCAPE;
        stream_of(r)[r->used++] = RKH_FLAG;
        code = find_frames(r, r->used - 1, text, error);
    }
    r->frame = r->session ? 0 : r->frame;
    r->used = r->frame;
    return code;
}

enum extract_code extract_running_end(struct extract_running *running, struct extract_text *text,
                                      struct extract_error *error)
{
    struct extract_running *r = running;
    enum extract_code code = EXTRACT_OK;

    if (!r->session && r->frame > 1)
        code = try_to_resolve(r, text, error);
    if (code || r->session)
        return code;
    *error = r->doubt;
    return EXTRACT_BAD;
}
