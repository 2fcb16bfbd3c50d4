// SPDX-License-Identifier: MIT
// gdb-reader: the entry points that GDB calls.
//
// In: GDB's search for the unwinder of a frame, with a callback that reads target memory; a request
// that waits in the channel. Out: "not mine", always; and the answer in the channel.
// Debugging with GDB, "Writing JIT Debug Info Readers"; <gdb/jit-reader.h>, interface version 1.
#include "transport/bulk.h"
#include "commands.h"
#include <errno.h>
#include <gdb/jit-reader.h>
#include <string.h>

#pragma GCC visibility push(default)
GDB_DECLARE_GPL_COMPATIBLE_READER
#pragma GCC visibility pop

// GDB loads one reader and knows it by these functions. The object stays when GDB unloads it:
// `jit-reader-unload` and `jit-reader-load` are how a command runs where there is no frame.
struct reader {
    struct gdb_reader_funcs functions;
    struct channel channel;
    struct state state;
    bool opened; // the channels
    bool busy;   // reading target memory makes GDB unwind frames
};

static struct reader reader = {.channel = {-1, -1}};

// One request on its way.
struct transaction {
    struct request request;
    struct answer answer;
};

static void work(void *context, struct target *target)
{
    struct transaction *transaction = context;
    struct call call = {&reader.state, &transaction->request, target, &transaction->answer};

    command_run(&call);
}

static void send_answer(struct answer *answer)
{
    struct extract_text script;
    size_t pieces = bulk_offer(answer->text.data, answer->text.used);

    extract_text_init(&script, NULL, NULL);
    if (answer_script(answer, pieces, &script) == EXTRACT_OK)
        channel_answer(&reader.channel, script.data, script.used, NULL);
    extract_text_free(&script);
}

// Also runs when an exception of GDB's passes: the work has ended with an error then.
static void end_transaction(struct transaction *transaction)
{
    send_answer(&transaction->answer);
    request_free(&transaction->request);
    answer_free(&transaction->answer);
    reader.busy = false;
}

// Answers the request that waits. `read` is NULL where there is no target.
static void serve(gdb_target_read *read)
{
    struct transaction transaction __attribute__((cleanup(end_transaction))) = {0};
    struct extract_error *error = &transaction.answer.error;

    reader.busy = true;
    answer_init(&transaction.answer);
    if (channel_take(&reader.channel, &transaction.request, error))
        transaction.answer.status = ANSWER_USAGE;
    else if (!target_run(read, work, &transaction))
        extract_error_set(error, EXTRACT_NOMEM, transaction.request.command, NULL, "out of memory");
}

static enum gdb_status unwind(struct gdb_reader_funcs *self, struct gdb_unwind_callbacks *callbacks)
{
    const int saved = errno;

    (void)self;
    if (!reader.busy && channel_pending(&reader.channel))
        serve(callbacks->target_read);
    errno = saved;
    return GDB_FAIL;
}

// GDB asks this only about frames that `unwind` took.
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
        return; // unloaded only to be loaded again
    bulk_remove();
    state_free(&reader.state);
    channel_retire(&reader.channel);
    reader.opened = false;
}

// GDB ends: what is recorded is whole.
__attribute__((destructor)) static void leave(void)
{
    state_free(&reader.state);
}

// The definitions of the commands are the first answer.
static void open_channel(void)
{
    struct extract_text script;

    if (channel_open(&reader.channel, NULL))
        return; // ringside.gdb finds no channel, and says so
    reader.opened = true;
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
    reader.state.bulk = bulk_install();
    if (!reader.opened)
        open_channel();
    else if (channel_pending(&reader.channel))
        serve(NULL);
    errno = saved;
    return &reader.functions;
}
