// SPDX-License-Identifier: MIT
// target: work on memory that another process may take away. A traced process can cut its object
// short at any time, and /dev/shm can be full; a load or store of the mapping then raises SIGBUS,
// which would end the controller.
//
// While a thread works on such a mapping, it is guarded: the handler of the signal puts memory that
// is nobody's in the mapping's place, and the thread continues. Its work comes to its end, since it
// takes no word of shared memory for granted, and its caller is told. A SIGBUS of any other kind is
// passed to the handler that the program had before.
//
// Signal handlers belong to the whole process, so this file holds one, and the one that the program
// had. Ours is installed while a thread works on the memory of another process, and stays.
#define _GNU_SOURCE // MAP_ANONYMOUS
#include "ports/linux.h"
#include <sys/mman.h>

static pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction programs[2]; // the program's own handler: the newer one, and the one before
static uint32_t newer;

// A handler that the program has put over ours may pass the signal on to ours again. That is told
// by a mark in the signal's description: who handles the signal may leave by siglongjmp, so that
// nothing could be taken back.
static void pass_on(int number, siginfo_t *info, void *context)
{
    enum { PASSED_ON = 0x52494e47 };
    struct sigaction own = programs[__atomic_load_n(&newer, __ATOMIC_ACQUIRE)];
    bool was_sent = info->si_code <= 0; // and is no fault, which comes again when this returns
    bool is_default = own.sa_handler == SIG_DFL || info->si_errno == PASSED_ON;
    info->si_errno = PASSED_ON;
    if (is_default || (!was_sent && own.sa_handler == SIG_IGN)) {
        signal(number, SIG_DFL);
        if (was_sent)
            raise(number);
    } else if (own.sa_flags & SA_SIGINFO) {
        own.sa_sigaction(number, info, context);
    } else if (own.sa_handler != SIG_IGN) {
        own.sa_handler(number);
    }
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    struct ringside_memory *m = ringside_thread.guarded;
    uintptr_t offset = (uintptr_t)info->si_addr - (uintptr_t)m;
    if (m && info->si_code > 0 && offset < sizeof *m &&
        mmap(m, sizeof *m, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == m) {
        ringside_thread.was_taken = true;
        return;
    }
    pass_on(number, info, context);
}

static bool is_ours(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_fault;
}

static void install(void)
{
    struct sigaction now, ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    pthread_mutex_lock(&installing);
    if (!sigaction(SIGBUS, NULL, &now) && !is_ours(&now)) {
        programs[!newer] = now;
        __atomic_store_n(&newer, !newer, __ATOMIC_RELEASE);
        sigaction(SIGBUS, &ours, NULL);
    }
    pthread_mutex_unlock(&installing);
}

void ringside_guard_begin(struct ringside_guard *guard, struct ringside_memory *m)
{
    sigset_t faults;
    install();
    sigemptyset(&faults);
    sigaddset(&faults, SIGBUS); // of a thread that blocks it, a fault would end the process
    pthread_sigmask(SIG_UNBLOCK, &faults, &guard->mask);
    ringside_thread.was_taken = false;
    ringside_thread.guarded = m;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

bool ringside_guard_end(const struct ringside_guard *guard)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    ringside_thread.guarded = NULL;
    pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
    return !ringside_thread.was_taken;
}
