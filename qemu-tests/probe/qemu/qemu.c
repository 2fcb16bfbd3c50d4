// SPDX-License-Identifier: MIT
// probe/qemu: QEMU as a target. In: accesses, stop, resume, reset. Out: what its guest has there.
#include "probe/qemu/qemu.h"
#include "probe/sockets.h"
#include "probe/qemu/start.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool read_block(struct qemu *qemu, uint32_t address)
{
    if (qemu->block_valid && address - qemu->block_address < QEMU_BLOCK)
        return true;
    qemu->block_address = address & ~(uint32_t)(QEMU_BLOCK - 1);
    qemu->block_valid =
        qtest_read_block(&qemu->qtest, qemu->block_address, qemu->block, QEMU_BLOCK);
    return qemu->block_valid;
}

// While the guest runs, each access is one access of its bus. While it is stopped, this is not
// known.
bool qemu_read(void *context, uint32_t address, unsigned bytes, uint64_t *value)
{
    struct qemu *qemu = context;
    const struct map_region *region = map_find(&qemu->map, address, bytes);
    if (!region)
        return false;
    if (!qemu->qmp.stopped)
        qemu->block_valid = false;
    uint32_t block = address & ~(uint32_t)(QEMU_BLOCK - 1);
    if (!qemu->qmp.stopped || !region->is_memory || block < region->first ||
        region->last - block < QEMU_BLOCK - 1 || !read_block(qemu, address))
        return qtest_read(&qemu->qtest, address, bytes, value);
    *value = 0;
    for (unsigned i = 0; i < bytes; i++)
        *value |= (uint64_t)qemu->block[address - block + i] << 8 * i;
    return true;
}

bool qemu_write(void *context, uint32_t address, unsigned bytes, uint64_t value)
{
    struct qemu *qemu = context;
    qemu->block_valid = false;
    return map_find(&qemu->map, address, bytes) && qtest_write(&qemu->qtest, address, bytes, value);
}

static bool stop(struct qemu *qemu)
{
    qemu->block_valid = false;
    return qmp_stop(&qemu->qmp);
}

static bool resume(struct qemu *qemu)
{
    qemu->block_valid = false;
    return qtest_settle(&qemu->qtest) && qmp_cont(&qemu->qmp);
}

bool qemu_halt(struct qemu *qemu)
{
    if (stop(qemu) && gdb_attach(&qemu->gdb))
        return true;
    resume(qemu);
    return false;
}

bool qemu_step(struct qemu *qemu, bool masked)
{
    qemu->block_valid = false;
    return qtest_settle(&qemu->qtest) && gdb_step(&qemu->gdb, masked) && qmp_update(&qemu->qmp);
}

bool qemu_go(struct qemu *qemu)
{
    qemu->block_valid = false;
    qemu->qmp.stopped = qemu->qmp.has_stopped = false;
    return qtest_settle(&qemu->qtest) && gdb_resume(&qemu->gdb);
}

bool qemu_met_breakpoint(struct qemu *qemu)
{
    gdb_skip(&qemu->gdb);
    if (!qmp_met_breakpoint(&qemu->qmp))
        return false;
    qemu->block_valid = false;
    return true;
}

// QEMU resets at once and has no line to hold: it is stopped while the line is asserted, and is
// reset when it is let go.
bool qemu_reset(struct qemu *qemu, bool asserted, bool hold)
{
    if (asserted) {
        qemu->ran_before_reset = qmp_update(&qemu->qmp) && !qemu->qmp.stopped;
        qemu->in_reset = true;
        return stop(qemu);
    }
    if (!qemu->in_reset)
        return true;
    qemu->in_reset = false;
    qemu->block_valid = false;
    if (!qtest_settle(&qemu->qtest) || !qmp_reset(&qemu->qmp))
        return false;
    return hold || !qemu->ran_before_reset || resume(qemu);
}

static bool stop_guest(void *context)
{
    struct qemu *qemu = context;
    return qemu->processor.halted || stop(qemu);
}

static bool resume_guest(void *context)
{
    struct qemu *qemu = context;
    return qemu->processor.halted || resume(qemu);
}

static bool pump(void *context)
{
    struct qemu *qemu = context;
    return qmp_pump(&qemu->qmp) && !qemu->qtest.channel.dead;
}

static bool reset(void *context, bool asserted)
{
    struct qemu *qemu = context;
    return qemu->processor.reset ? qemu->processor.reset(qemu->processor.context, asserted)
                                 : qemu_reset(qemu, asserted, false);
}

static void describe(void *context, struct extract_text *text)
{
    const struct qemu *qemu = context;
    map_describe(&qemu->map, text);
}

void qemu_target(struct target *target, struct qemu *qemu)
{
    *target = (struct target){.context = qemu,
                              .rom_table = NO_ROM_TABLE,
                              .read = qemu_read,
                              .write = qemu_write,
                              .reset = reset,
                              .stop = stop_guest,
                              .resume = resume_guest,
                              .describe = describe,
                              .event_fd = qemu->qmp.channel.fd,
                              .pump = pump};
}

static enum extract_code join(struct qemu *qemu, const struct qemu_place *place,
                              struct extract_error *error)
{
    int fd;
    enum extract_code code = socket_connect(place->qtest, &fd, error);
    if (code)
        return code;
    channel_open(&qemu->qtest.channel, fd);
    code = socket_connect(place->qmp, &fd, error);
    if (code)
        return code;
    channel_open(&qemu->qmp.channel, fd);
    return place->gdbstub ? socket_address(place->gdbstub, &qemu->gdb.address,
                                           &qemu->gdb.address_length, error)
                          : EXTRACT_OK;
}

static enum extract_code learn_map(struct qemu *qemu, const struct qemu_place *place,
                                   struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    struct extract_text tree;
    for (size_t i = 0; i < place->map_count && !code; i++)
        code = map_add_word(&qemu->map, place->maps[i], error);
    if (code)
        return code;
    extract_text_init(&tree, NULL, NULL);
    if (!qmp_monitor(&qemu->qmp, "info mtree -f", &tree))
        code = extract_error_set(error, EXTRACT_IO, "memory map", NULL, "QEMU does not tell it");
    extract_text_putc(&tree, '\0');
    if (!code)
        code = map_add_tree(&qemu->map, tree.data ? tree.data : "", error);
    extract_text_free(&tree);
    return code;
}

enum extract_code qemu_open(struct qemu *qemu, const struct qemu_place *place,
                            struct extract_error *error)
{
    *qemu = (struct qemu){.gdb.channel.fd = -1};
    qemu->qtest.channel.fd = qemu->qmp.channel.fd = -1;
    enum extract_code code =
        place->command ? qemu_start(qemu, place->command, error) : join(qemu, place, error);
    if (!code)
        code = qmp_begin(&qemu->qmp, error);
    if (!code && !qtest_begin(&qemu->qtest))
        code = extract_error_set(error, EXTRACT_IO, "qtest",
                                 "did QEMU start, and does no one else use this socket?",
                                 "no qtest server answers");
    if (!code)
        code = learn_map(qemu, place, error);
    if (code)
        qemu_close(qemu);
    return code;
}

void qemu_close(struct qemu *qemu)
{
    channel_close(&qemu->gdb.channel);
    channel_close(&qemu->qtest.channel);
    channel_close(&qemu->qmp.channel);
    map_free(&qemu->map);
    if (qemu->pid) {
        kill(qemu->pid, SIGKILL);
        waitpid(qemu->pid, NULL, 0);
    }
    qemu->pid = 0;
}
