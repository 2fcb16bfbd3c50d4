// SPDX-License-Identifier: MIT
// fuzz: bytes that may be an RKH stream, with settings from its own records or from a user. The
// stream is read as a file, decoded, converted to entries for templates, reported in every form,
// saved and opened again.
//
// Nothing may crash, leak or hang. In addition, every frame is accounted for. Each reported frame
// has a right checksum and complete arguments. No text controls a terminal, and the saved stream
// shows the same events.
#define _GNU_SOURCE // memfd_create
#include "tests/fuzz/trace_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Checks that the saved stream has the same frames if it is read with the settings that were found.
static void check_again(const struct extract_trace *trace)
{
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    const struct extract_rkh *found = &snapshot->ring.rkh;
    struct extract_rkh rkh = {0};
    struct extract_session_options options = {.size = sizeof options, .format = "rkh", .rkh = &rkh};
    struct extract_session *session;
    struct extract_memory *memory;
    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    check(!extract_export_ring(&text, trace, NULL));
    if (found->layouts == 1) {
        check(!extract_rkh_stream_open(&memory, file_of((const uint8_t *)text.data, text.used),
                                       NULL));
        for (unsigned key = 0; key < EXTRACT_RKH_KEYS; key++)
            rkh_set(&rkh, (enum extract_rkh_key)key, found->value[key], EXTRACT_RKH_USER);
        check(!extract_session_open(&session, memory, NULL, &options, NULL));
        const struct extract_info *info = extract_trace_info(extract_session_trace(session));
        check(info->entries_valid == extract_trace_info(trace)->entries_valid);
        check(info->entries_damaged == extract_trace_info(trace)->entries_damaged);
        extract_session_close(session);
        extract_memory_close(memory);
    }
    extract_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct extract_rkh rkh = {0};
    struct extract_session_options options = {.size = sizeof options, .format = "rkh", .rkh = &rkh};
    struct extract_session *session;
    struct extract_memory *memory;
    struct extract_error error = {0};
    if (size < 3)
        return 0;
    rkh_set_up(&rkh, data[0] | (unsigned)data[1] << 8);
    options.json = !(data[1] & 0x40); // text is slower
    extract_rkh_stream_is(file_of(data + 2, size - 2));
    check(!extract_rkh_stream_open(&memory, file_of(data + 2, size - 2), NULL));
    enum extract_code code = extract_session_open(&session, memory, NULL, &options, &error);
    check(!code == !!session);
    check(!code || (error.code == code && error.what[0] && error.why[0]));
    if (session) {
        run_rkh_verbs(session);
        check_info(extract_session_trace(session));
        check_rkh_names(extract_session_trace(session));
        check_rkh_frames(extract_session_trace(session));
        check_again(extract_session_trace(session));
    }
    extract_session_close(session);
    extract_memory_close(memory);
    return 0;
}
