// SPDX-License-Identifier: MIT
// gdb-reader tests: the vector table of programs for a Cortex-M3. reset() calls main(); a program
// that starts the timer defines tick().
//
// Standard: Armv7-M Architecture Reference Manual, B1.5.2 and B1.5.3.

int main(void);

void reset(void)
{
    main();
}

static void hang(void)
{
    for (;;)
        ;
}

__attribute__((weak)) void tick(void)
{
    hang();
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))0x20010000,
    reset,
    hang,
    hang,
    hang,
    hang,
    hang,
    0,
    0,
    0,
    0,
    hang,
    hang,
    0,
    hang,
    tick,
};
