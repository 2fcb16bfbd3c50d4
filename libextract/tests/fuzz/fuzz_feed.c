// SPDX-License-Identifier: MIT
// fuzz: an RKH stream that arrives in pieces. The first byte selects how it is printed and where
// the source breaks. The second byte selects the length of the pieces; their number is limited,
// because each piece takes time. The remaining bytes are the stream.
//
// Nothing may crash, leak or hang. In addition, no frame counts twice, each byte is counted, and
// the output never controls a terminal.
#include <extract/session.h>
#include <stdlib.h>
#include <string.h>

enum { JSON = 1, TRAZER = 2, BREAKS = 4, TOLD = 8, OPTIONS = 2, MAX_PIECES = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_text(const struct extract_text *text)
{
    check(!text->code);
    for (size_t i = 0; i < text->used; i++)
        check(text->data[i] == '\n' || ((uint8_t)text->data[i] >= ' ' && text->data[i] != 0x7F));
}

static uint64_t count_flags(const uint8_t *bytes, size_t size)
{
    uint64_t flags = 0;
    for (size_t i = 0; i < size; i++)
        flags += bytes[i] == 0x7E;
    return flags;
}

static void run(struct extract_running *running, unsigned how, unsigned piece, const uint8_t *bytes,
                size_t size, struct extract_text *text)
{
    struct extract_error error;
    enum extract_code code = EXTRACT_OK;
    uint64_t breaks = 0;
    for (size_t at = 0; at < size && !code; at += piece) {
        size_t length = size - at < piece ? size - at : piece;
        code = extract_running_take(running, bytes + at, length, text, &error);
        if (!code && how & BREAKS && at / piece % 8 == 7) {
            code = extract_running_break(running, text, &error);
            breaks++;
        }
    }
    bool all = !code;
    code = code ? code : extract_running_end(running, text, &error);
    check(!code || (code == error.code && error.what[0] && error.why[0]));
    struct extract_running_status status = extract_running_status(running);
    uint64_t frames = status.good + status.torn + status.checksum + status.length + status.id;
    check(!all || status.bytes == size);
    check(frames + status.passed <= count_flags(bytes, size) + breaks);
    check(status.resolved || !status.good);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct extract_columns columns;
    struct extract_rkh rkh = {0};
    struct extract_text text;
    struct extract_running *running;
    if (size < OPTIONS || size > 1 << 20)
        return 0;
    unsigned how = data[0], piece = 1u + data[1] * data[1];
    unsigned least = (unsigned)(size / MAX_PIECES);
    piece = piece < least ? least : piece;
    extract_columns_init(&columns, false);
    columns.trazer = how & TRAZER;
    check(!extract_rkh_parse(&rkh, "chk=1,nseq=1,ts=1,ptr=4,sig=1", NULL));
    struct extract_session_options options = {.size = sizeof options,
                                              .json = how & JSON,
                                              .no_header = true,
                                              .columns = &columns,
                                              .rkh = how & TOLD ? &rkh : NULL};
    extract_text_init(&text, NULL, NULL);
    check(!extract_running_open(&running, "fuzz", &options, NULL, NULL));
    run(running, how, piece, data + OPTIONS, size - OPTIONS, &text);
    check_text(&text);
    extract_running_close(running);
    extract_text_free(&text);
    return 0;
}
