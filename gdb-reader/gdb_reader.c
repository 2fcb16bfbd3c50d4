// SPDX-License-Identifier: MIT
// gdb-reader: the entry points that GDB calls.
//
// GDB asks a JIT reader for the unwinder of every frame that it meets, and passes a callback that
// reads target memory. The reader never unwinds a frame. It uses the call to answer the request
// that waits in the request file, if there is one, and then declines the frame. If there is no
// frame, GDB unloads and loads the reader, and gdb_init_reader answers the request.
//
// Source: Debugging with GDB, "Writing JIT Debug Info Readers"; <gdb/jit-reader.h>, version 1.
#include "transport/bulk.h"
#include "gdb_commands.h"
#include <errno.h>
#include <gdb/jit-reader.h>
#include <string.h>

#pragma GCC visibility push(default)
GDB_DECLARE_GPL_COMPATIBLE_READER
#pragma GCC visibility pop

// GDB loads a single reader, and knows it by its functions. The shared object stays in memory when
// GDB unloads the reader, so that a request survives it.
struct reader {
    struct gdb_reader_funcs functions;
    struct channel channel;
    struct state state;
    bool has_channel;
    bool is_busy; // a request is being answered: reading memory makes GDB unwind frames
};

static struct reader reader = {.channel = {-1, -1}};

// One request and its answer.
struct transaction {
    struct request request;
    struct answer answer;
};

// The work of target_run.
static void run_request(void *context, struct target *target)
{
    struct transaction *transaction = context;
    struct call call = {&reader.state, &transaction->request, target, &transaction->answer};

    command_run(&call);
}

static void send_answer(struct answer *answer)
{
    struct extract_text script;
    size_t chunks = bulk_offer(answer->text.data, answer->text.used);

    extract_text_init(&script, NULL, NULL);
    if (answer_script(answer, chunks, &script) == EXTRACT_OK)
        channel_answer(&reader.channel, script.data, script.used, NULL);
    extract_text_free(&script);
}

// Sends the answer. This also runs when an exception of GDB passes; the work has then failed.
static void end_transaction(struct transaction *transaction)
{
    send_answer(&transaction->answer);
    request_free(&transaction->request);
    answer_free(&transaction->answer);
    reader.is_busy = false;
}

// Answers the waiting request. `read` is NULL if GDB has no target.
static void answer_request(gdb_target_read *read)
{
    struct transaction transaction __attribute__((cleanup(end_transaction))) = {0};
    struct extract_error *error = &transaction.answer.error;

    reader.is_busy = true;
    answer_init(&transaction.answer);
    if (channel_take(&reader.channel, &transaction.request, error))
        transaction.answer.status = ANSWER_USAGE;
    else if (!target_run(read, run_request, &transaction))
        extract_error_set(error, EXTRACT_NOMEM, transaction.request.command, NULL, "out of memory");
}

static enum gdb_status unwind(struct gdb_reader_funcs *self, struct gdb_unwind_callbacks *callbacks)
{
    const int saved = errno;

    (void)self;
    if (!reader.is_busy && channel_pending(&reader.channel))
        answer_request(callbacks->target_read);
    errno = saved;
    return GDB_FAIL;
}

// GDB calls this only for frames that `unwind` accepts, and so never.
static struct gdb_frame_id frame_id(struct gdb_reader_funcs *self,
                                    struct gdb_unwind_callbacks *callbacks)
{
    (void)self;
    (void)callbacks;
    return (struct gdb_frame_id){0, 0};
}

static enum gdb_status read_debug_info(struct gdb_reader_funcs *self,
                                       struct gdb_symbol_callbacks *callbacks, void *memory,
                                       long length)
{
    (void)self;
    (void)callbacks;
    (void)memory;
    (void)length;
    return GDB_FAIL;
}

static void destroy(struct gdb_reader_funcs *self)
{
    (void)self;
    if (channel_pending(&reader.channel))
        return; // GDB loads the reader again at once, to answer the request
    bulk_remove();
    state_free(&reader.state);
    channel_retire(&reader.channel);
    reader.has_channel = false;
}

// Closes the recording when GDB ends, so that its log is complete.
__attribute__((destructor)) static void close_recording(void)
{
    state_free(&reader.state);
}

// Creates the request and answer files. The first answer is the script that defines the commands.
static void open_channel(void)
{
    struct extract_text script;

    if (channel_open(&reader.channel, NULL))
        return; // ringside.gdb reports that there is no channel
    reader.has_channel = true;
    extract_text_init(&script, NULL, NULL);
    command_definitions(&reader.channel, &script);
    if (!script.code)
        channel_answer(&reader.channel, script.data, script.used, NULL);
    extract_text_free(&script);
}

__attribute__((visibility("default"))) struct gdb_reader_funcs *gdb_init_reader(void)
{
    const int saved = errno;

    reader.functions = (struct gdb_reader_funcs){
        .reader_version = GDB_READER_INTERFACE_VERSION,
        .read = read_debug_info,
        .unwind = unwind,
        .get_frame_id = frame_id,
        .destroy = destroy,
    };
    reader.state.has_bulk = bulk_install();
    if (!reader.has_channel)
        open_channel();
    else if (channel_pending(&reader.channel))
        answer_request(NULL);
    errno = saved;
    return &reader.functions;
}
