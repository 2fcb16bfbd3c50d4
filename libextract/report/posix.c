// SPDX-License-Identifier: MIT
// report: what is known of a POSIX trace stream beside what all rings have. In: its blocks. Out:
// facts.
#include "formats/posix/posix.h"
#include "report/text_table.h"

static void put_name(struct facts *facts, const struct extract_snapshot *snapshot)
{
    char name[POSIX_STREAM_NAME + 1] = "";
    uint32_t length;
    memcpy(name, snapshot->ring.posix.name, POSIX_STREAM_NAME);
    if (snapshot->bytes)
        memcpy(name, posix_copy_rest(snapshot, &length), POSIX_STREAM_NAME);
    facts_word(facts, "stream name", name);
}

static void put_policy(struct facts *facts, const struct posix_stream *stream)
{
    static const char *const policies[] = {"none", "loop", "until_full", "flush"};
    bool known = stream->state & POSIX_STATE_BOUND && stream->policy <= POSIX_POLICY_FLUSH;
    facts_word(facts, "stream policy", policies[known ? stream->policy : 0]);
}

void facts_posix(struct facts *facts, const struct extract_snapshot *snapshot)
{
    const struct extract_posix *posix = &snapshot->ring.posix;
    struct posix_stream stream;
    posix_stream_read(&stream, snapshot->ring.header, sizeof snapshot->ring.header);
    put_name(facts, snapshot);
    if (posix->process_known) {
        facts_number(facts, "stream", posix->stream);
        facts_number(facts, "streams", posix->streams);
        facts_number(facts, "traced process", posix->pid);
    }
    put_policy(facts, &stream);
    facts_number(facts, "stream words", stream.ring_words);
    facts_number(facts, "max data bytes", stream.max_data);
    facts_number(facts, "overwritten", stream.overwritten);
    facts_number(facts, "refused", stream.refused);
    facts_bool(facts, "request pending", stream.request != stream.request_done);
}
