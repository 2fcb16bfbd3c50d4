// SPDX-License-Identifier: MIT
// qemu-tests/images: what idle() of parked.c does on Arm's A-profile: it dies in the way that a
// debugger chooses by the variable `death`.
enum death { ALIVE, BAD_POINTER, BAD_CALL, ILLEGAL };

volatile unsigned death;
static volatile unsigned sink;

void store_sample(volatile unsigned *at);
__attribute__((noinline)) void store_sample(volatile unsigned *at)
{
    *at = 1;
    sink++;
}

void call_handler(void (*handler)(void));
__attribute__((noinline)) void call_handler(void (*handler)(void))
{
    handler();
    sink++;
}

void execute_garbage(void);
__attribute__((noinline, target("thumb"))) void execute_garbage(void)
{
    __asm__ volatile("udf 0");
    sink++;
}

void work(void);
__attribute__((noinline)) void work(void)
{
    switch (death) {
    case BAD_POINTER:
        store_sample((unsigned *)0xCCCCCCCC);
        break;
    case BAD_CALL:
        call_handler((void (*)(void))0xDEAD0000);
        break;
    case ILLEGAL:
        execute_garbage();
        break;
    default:
        break;
    }
    sink++;
}
