#!/bin/bash
# SPDX-License-Identifier: MIT
# crash.sh: tests `ringside crash` on core files of programs of this host. The oracle is GDB, which
# shows the same functions and lines. Boards are tested by qemu-tests/cases/case-crash.sh.
data=$(cd "$(dirname "$0")/../data" && pwd)
. "$(dirname "$0")/../lib.sh"
gdb=$(command -v gdb || command -v gdb-multiarch) || { echo "skip crash: there is no gdb"; exit 0; }

cat >"$work/dies.c" <<'C'
#include <stdlib.h>
__attribute__((noinline)) void store(volatile int *place) { *place = 1; }
__attribute__((noinline)) void work(int way)
{
    if (way > 2)
        ((void (*)(void))0x1234)();
    if (way > 1)
        abort();
    store((volatile int *)(long)(way * 8));
}
int main(int argc, char **argv)
{
    (void)argv;
    work(argc);
    return 0;
}
C
# take NAME [ARGUMENT]: a core of the program at its death, and GDB's stack.
take() {
    timeout 60 "$gdb" -nx -batch -ex 'set startup-with-shell off' -ex 'set debuginfod enabled off' \
        -ex 'handle SIGUSR1 nostop pass' -ex "run ${*:2}" \
        -ex "generate-core-file $work/$1.core" -ex bt \
        "$work/dies" >"$work/$1.gdb" 2>&1 </dev/null
    [ -s "$work/$1.core" ] && return 0
    echo "skip crash: gdb runs no program here"
    exit 0
}
(cd "$work" && cc -std=gnu11 -g -O0 -fPIE -pie -Wl,--build-id dies.c -o dies) || exit 1
take fault
take abort now
take wild now then

cd "$work" || exit 1
run crash --elf dies fault.core
check "the thread of the signal" 0 out '^in      thread [0-9]* (certain)$' no-out 'on core' \
    out '^Registers of thread [0-9]*$'
check "a signal" 0 out '^cause   signal: SIGSEGV at address 0x8 (certain, registers)$' \
    out '^where   store+[0-9]* at dies.c:2, pc 0x' out '        2: __attribute__.*place = 1; }$'
is "the stack is that of GDB" "$(sed -n 's/^#[0-9]* *0x[0-9a-f]* \(.*\) at /\1 /p' out | xargs)" \
    "$(sed -n 's/^#[0-9]* .* in \([a-z]*\) (.*) at \(.*\)/\1 \2/p;
        s/^#0 *\([a-z]*\) (.*) at \(.*\)/\1 \2/p' fault.gdb | xargs)"
run crash --json --elf dies fault.core
is "as JSON" "$(jq -r '[.cause.kind, .cause.registers.signal, .place.line, .thread] | @csv' out)" \
    '"signal",11,2,'
sed -i 's/volatile int \*place) {/volatile int *place) { \/* <b> \& "quoted" *\//' dies.c
run crash --html --elf dies fault.core
check "as HTML" 0 out '^<h1>signal</h1>$' \
    out 'int \*place) { /\* &lt;b&gt; &amp; &quot;quoted&quot;' no-out '<b> '
run crash --html --json --elf dies fault.core
check "as one of them" 1 no-out . err 'cannot be combined with --json'
run crash --elf dies abort.core
check "abort" 0 out '^cause   signal: SIGABRT (signal 6) (certain, registers)$' \
    out '^where   work+[0-9]* at dies.c:8, pc 0x[0-9a-f]* (possible)$'
run crash --elf dies wild.core
check "a call through a wrong pointer" 0 out '^cause   signal: SIGSEGV at address 0x1234 ' \
    out '^where   work+[0-9]* at dies.c:6, pc 0x[0-9a-f]* (likely)$' \
    out 'bad call: the program went to 0x00001234'
printf 'int main(void) { return 0; }\n' >other.c
cc -g -fno-pie -no-pie other.c -o other || exit 1
run crash --elf other fault.core
check "the ELF file of another program has no place in it" 0 no-out 'where   main'
sed 's/way \* 8/way * 16/' dies.c >newer.c
cc -std=gnu11 -g -O0 -fPIE -pie -Wl,--build-id newer.c -o newer || exit 1
run crash --elf newer fault.core
check "another build of the program" 0 no-out '^where .*(certain)' \
    out '^certain *memory *other program: the build id of the ELF file is [0-9a-f]\{40\}, but '
check "... and the checked one" 0 no-out unchecked
# Without the segments that cannot be written, as coredump_filter may leave them out (PT_NULL).
cp fault.core headless.core
LC_ALL=C readelf -lW fault.core |
    awk '/^ +(LOAD|NOTE) / {
        if (/^ +LOAD .* R( E)? +0x[0-9a-f]+$/)
            print 64 + 56 * count
        count++
    }' >places
while read -r place; do
    printf '\0' | dd of=headless.core bs=1 seek="$place" conv=notrunc status=none
done <places
run crash --elf newer headless.core
check "another build, and a core without the build id" 0 no-out '^certain .*other program' \
    out '^certain *memory *unchecked: the core has neither the build id'
run crash -q --elf "$(command -v cat)" fault.core
check "a program that was loaded elsewhere" 0 no-out '^where .*(certain)' \
    out "^certain *memory *other program: the program's entry point was at 0x[0-9a-f]*, where"
head -c $(($(stat -c %s fault.core) / 2)) fault.core >half.core
run crash --elf dies half.core
check "half of a core, without its notes" 0 out '^cause   unknown: ' out '^where   unknown$' \
    no-out certain
run crash --elf dies fault.core --registers /dev/null
check "an empty file of registers" 2 no-out . err 'contains no register of the program'
mkdir folder
head -c 100 fault.core >folder/ram.bin
printf 'ringside-crash 1\nram: ram.bin 0x20000000 0x400\n' >folder/manifest.txt
run crash --elf dies folder
check "an image that is cut" 0 \
    err 'folder: ram.bin has 100 bytes of the 1024 that manifest.txt lists'
mkfifo folder/pipe
printf 'ringside-crash 1\nram: pipe 0x20000000 0x400\n' >folder/manifest.txt
run crash --elf dies folder
check "an image that is a pipe" 2 no-out . err 'pipe: not a regular file'

# A stack that is full: of the program, and of a thread; by many frames, and by one that goes beyond
# the guard at once. An access below a stack, but not at its pointer, is none of them, nor
# is one above.
cat >full.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
volatile int sink;
__attribute__((noinline)) int deep(int n)
{
    volatile char local[200];
    local[0] = (char)n;
    return n < 0 ? 0 : deep(n + 1) + local[0];
}
__attribute__((noinline)) int large(int n)
{
    volatile char local[24 << 20];
    local[n] = 1;
    return local[n];
}
static void *thread(void *way) { sink = deep((int)(long)way); return 0; }
static void *hit(void *way)
{
    char local[16384];
    pthread_attr_t attributes;
    void *start;
    size_t size;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &start, &size);
    sink = local[(long)way];
    *((volatile char *)start - 8) = 1;
    return 0;
}
static void *over(void *way)
{
    volatile char local[16];
    for (long i = 0; (long)way; i++)
        sink = local[i];
    pause();
    return 0;
}
int main(int argc, char **argv)
{
    const struct rlimit limit = {1 << 20, 1 << 20};
    pthread_attr_t attributes;
    pthread_t id;
    (void)argv;
    setrlimit(RLIMIT_STACK, &limit);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 18);
    if (argc == 1)
        sink = deep(argc);
    if (argc == 2)
        sink = large(argc);
    if (argc == 5)
        pthread_create(&id, &attributes, over, 0);
    pthread_create(&id, &attributes, argc == 3 ? thread : argc == 4 ? hit : over, (void *)1);
    pthread_join(id, 0);
    return 0;
}
C
cp dies dies.before
cc -std=gnu11 -g -O0 -D_GNU_SOURCE -fno-stack-clash-protection -pthread full.c -o dies || exit 1
take deep
take large 1
take thread 1 2
take hit 1 2 3
take over 1 2 3 4
cp dies full
cp dies.before dies
for name in deep thread; do
    run crash -q --elf full "$name.core"
    check "a full stack ($name)" 0 \
        out '^cause   stack overflow: the access at 0x[0-9a-f]*, where sp is 0x[0-9a-f]*, ' \
        out ' bytes below the stack, .*; it is full of frames of deep (certain, registers)$' \
        out '^where   deep+[0-9]* at full.c:' out 'signal: SIGSEGV at address 0x'
done
run crash -q --elf full large.core
check "a frame beyond the guard" 0 \
    out '^cause   stack overflow: .* bytes below the stack, .* (likely' out '^where   large+'
for name in hit over; do
    run crash -q --elf full "$name.core"
    check "an access next to a stack ($name)" 0 out '^cause   signal: SIGSEGV' no-out 'overflow'
done

# A handler returns to code before which there is no call; a caller may be far up the stack.
cat >signal.c <<'C'
#include <signal.h>
static void handler(int number) { *(volatile int *)8 = number; }
__attribute__((noinline)) int deep(int left)
{
    volatile char room[9000];
    room[0] = 1;
    if (!left)
        raise(SIGUSR1);
    return left ? deep(left - 1) + room[0] : room[0];
}
int main(void)
{
    signal(SIGUSR1, handler);
    return deep(3);
}
C
if cc -std=gnu11 -g -O0 -static signal.c -o dies 2>/dev/null; then
    take signal
    run crash -q --elf dies signal.core
    is "a stack through a signal" \
        "$(sed -n 's/^#[0-9]* .* \([a-z_]*\) at signal.c:.*/\1/p' out | xargs)" \
        "handler deep deep deep deep main"
    check "... whose addresses are those of the program" 0 out '^#1 .* __restore_rt$' \
        no-out 'other program'
fi
run crash fault.core
check "no program" 1 no-out . err 'use --elf FILE'
run serve --elf dies fault.core
check "GDB has its own support for programs" 2 no-out . err 'use a program for Arm'

# The trace of this image has different addresses for its threads than the kernel. What it does not
# show of a thread is unknown: that does not mean that the thread did nothing.
gunzip -c "$data/freertos/firmware.elf.gz" >firmware.elf
gunzip -c "$data/freertos/ram.bin.gz" >ram.bin
run crash -q --json --elf firmware.elf ram.bin@0x20000000
is "threads that the trace does not have" \
    "$(jq '.threads | length > 0 and all(.state_ticks_at_least == null)' out)" true

# Images at wrong addresses, both of RAM only. Control blocks of ThreadX and empty lists of FreeRTOS
# show where they were, with and without a trace.
for kernel in freertos rtos; do
    gunzip -c "$data/$kernel/firmware.elf.gz" >firmware.elf
    gunzip -c "$data/$kernel/ram.bin.gz" >ram.bin
    for base in 0x20001000 0x1ffff000 0x20010000 0x20000004; do
        run threads --elf firmware.elf ram.bin@$base
        check "$kernel: an image at $base" 3 \
            err "that at $base began at 0x20000000; nothing is known of threads\$" \
            no-err 'cannot be read\|list'
    done
    run crash -q --json --elf firmware.elf ram.bin@0x20001000
    is "$kernel: ... is not another program" "$(jq -c '[.threads == [], .cause.kind,
        [.findings[].kind] == ["wrong address"] or any(.findings[]; .kind == "wrong address"),
        any(.findings[]; .kind == "other program" or .kind == "watchdog")]' out)" \
        '[true,"unknown",true,false]'
    run threads --elf firmware.elf ram.bin@0x20000000
    check "$kernel: an image at its address" 0 no-err 'target had it'
done
# Code that is not that of the file, beside the same RAM.
arm-none-eabi-objcopy -O binary -j .text firmware.elf code.bin
text=0x$(arm-none-eabi-objdump -h firmware.elf | awk '$2 == ".text" {print $4}')
run threads --elf firmware.elf ram.bin@0x20000000 "code.bin@$text"
check "threads: the code of the file" 0 no-err 'another program'
tr '\0-\377' '\1-\377\0' <code.bin >other.bin
run threads --elf firmware.elf ram.bin@0x20000000 "other.bin@$text"
check "threads: other code" '0 3' err 'may be another program than the one that ran'

# Files that lack what is needed, and registers of another machine.
arm-none-eabi-strip -o stripped.elf firmware.elf
arm-none-eabi-strip -g -o names.elf firmware.elf
cp stripped.elf linked.elf
arm-none-eabi-objcopy --only-keep-debug firmware.elf whole.debug
arm-none-eabi-objcopy --add-gnu-debuglink=whole.debug linked.elf
for command in threads crash; do
    run $command --elf stripped.elf ram.bin@0x20000000
    check "$command: a stripped file" '0 2' err 'has no symbols.*; use the file from before'
    run $command --elf linked.elf ram.bin@0x20000000
    check "$command: ... with a file of debug information" '0 2' err 'has no symbols.*: eu-unstrip'
    run $command --elf names.elf ram.bin@0x20000000
    check "$command: without debug information" '0 2' err 'no debug information.*; build .* -g'
done
for ((i = 0; i < 31; i++)); do
    echo "x$i 0x$i"
done >page
printf '%s\n' 'sp 0x20' 'pc 0x4000' 'cpsr 0x5' >>page
run crash --elf firmware.elf --registers page ram.bin@0x20000000
check "registers of another machine" 2 no-out . \
    err 'page: has the registers of another machine, aarch64; the program is for arm'
long=$(head -c 100000 /dev/zero | tr '\0' 9)
run crash --elf firmware.elf --registers "$long" "ram.bin@$long"
check "long arguments" 1 no-out . err 'is not an address'
is "... are cut in messages" "$(($(stat -c %s err) < 1000))" 1
head -c "$(stat -c %s ram.bin)" /dev/zero >ram.bin
run threads --elf firmware.elf ram.bin@0x20000000
check "a kernel without threads" 0 err 'the kernel has no threads: '
finish
