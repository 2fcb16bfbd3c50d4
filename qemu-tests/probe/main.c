// SPDX-License-Identifier: MIT
// probe: the program. In: arguments. Out: a debug port that is served until the end.
#include "probe/ask.h"
#include "probe/control.h"
#include "probe/cortexa/debug.h"
#include "probe/options.h"
#include "probe/targets/cortexm.h"
#include "probe/targets/static.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { WHOLE, USAGE, FAILED };

static int complain(const struct extract_error *error)
{
    char message[700];
    fprintf(stderr, "ringside-probe: %s\n", extract_error_format(error, message, sizeof message));
    return error->code == EXTRACT_USAGE ? USAGE : FAILED;
}

// The target of a probe.
struct back_end {
    bool is_qemu;
    struct qemu qemu;
    struct cortexm cortexm;
    struct cortexa cortexa;
    struct hart hart;
};

// The processor of the guest, if the probe knows it.
static enum extract_code open_processor(struct probe *probe, struct back_end *back_end,
                                        const struct options *options, struct extract_error *error)
{
    struct qemu *qemu = &back_end->qemu;
    if (options->is_riscv && !qmp_is_architecture(&qemu->qmp, "riscv"))
        return extract_error_set(error, EXTRACT_USAGE, "--tap riscv", "leave --tap out",
                                 "the guest is no RISC-V");
    if (options->is_riscv) {
        hart_target(&probe->target, &back_end->hart, qemu);
        probe->dm.hart = &back_end->hart;
    } else if (qemu->map.is_cortex_m && !options->no_cortex_m) {
        cortexm_target(&probe->target, &back_end->cortexm, qemu);
    } else {
        if (!qemu->map.is_cortex_m && qmp_is_architecture(&qemu->qmp, "arm"))
            cortexa_target(&probe->debug, &back_end->cortexa, qemu);
        qemu_target(&probe->target, qemu);
    }
    return EXTRACT_OK;
}

static enum extract_code open_target(struct probe *probe, struct back_end *back_end,
                                     const struct options *options, struct extract_error *error)
{
    if (options->operand_count)
        return static_open(&probe->target, options->operands, options->operand_count, error);
    const struct qemu_place place = {options->qemu,    options->qtest, options->qmp,
                                     options->gdbstub, options->maps,  options->map_count};
    enum extract_code code = qemu_open(&back_end->qemu, &place, error);
    if (code)
        return code;
    back_end->is_qemu = true;
    code = open_processor(probe, back_end, options, error);
    if (code)
        qemu_close(&back_end->qemu);
    return code;
}

static void close_target(struct probe *probe, struct back_end *back_end)
{
    if (back_end->is_qemu)
        qemu_close(&back_end->qemu);
    else
        static_close(&probe->target);
}

// Runs the commands of --set, as a control client would.
static enum extract_code set(struct probe *probe, const struct options *options,
                             struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    for (size_t i = 0; i < options->setting_count && !code; i++) {
        struct extract_text answer;
        char *line = strdup(options->settings[i]);
        extract_text_init(&answer, NULL, NULL);
        if (!line || !control_run(probe, line, &answer)) {
            extract_text_putc(&answer, '\0');
            char *why = answer.data ? answer.data : "out of memory";
            why[strcspn(why, "\n")] = '\0';
            code = extract_error_set(error, EXTRACT_USAGE, options->settings[i], NULL, "%s", why);
        }
        extract_text_free(&answer);
        free(line);
    }
    return code;
}

static enum extract_code serve(const struct options *options, struct extract_error *error)
{
    struct {
        struct probe probe;
        struct back_end back_end;
    } *all = calloc(1, sizeof *all);
    if (!all)
        return extract_error_set(error, EXTRACT_NOMEM, "probe", NULL, "out of memory");
    struct probe *probe = &all->probe;
    enum extract_code code = open_target(probe, &all->back_end, options, error);
    if (!code) {
        code = probe_open(probe, error);
        if (!code)
            code = set(probe, options, error);
        if (!code)
            code = probe_listen(probe, options->socket, options->control, error);
        if (!code)
            code = probe_run(probe, error);
        probe_close(probe);
        close_target(probe, &all->back_end);
    }
    free(all);
    return code;
}

int main(int argc, char **argv)
{
    struct options options;
    struct extract_error error;
    if (options_parse(&options, argc, argv, &error))
        return complain(&error);
    if (options.help || options.version) {
        fputs(options.help ? options_usage : "ringside-probe " EXTRACT_VERSION "\n", stdout);
        return WHOLE;
    }
    if (options.ask)
        return ask(options.ask, options.operands, options.operand_count, &error) ? complain(&error)
                                                                                 : WHOLE;
    pid_t parent = getppid();
    if (options.with_parent && (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent))
        return FAILED;
    return serve(&options, &error) ? complain(&error) : WHOLE;
}
