# SPDX-License-Identifier: MIT
# cortexa.tcl: what OpenOCD's target cortex_a does through the probe, for case-cortex-a.sh: halts,
# registers of all banks, memory, steps and breakpoints of both instruction sets, User mode, resets.
# STACKS is the stack of each mode, WORK_AT a function that the program calls again and again,
# SVC_AT the handler of SVC.
targets chip.cpu
# While the core runs, only the memory port can read.
proc counter {} { chip.mem read_memory $::counter_at 32 1 }
is "examined: runs" {1 running 1} [runs] [state] [moves]
halt
is "halt: does not run" {0 0} [runs] [moves 100]
foreach {mode stack} $stacks {
    is "stack of $mode" $stack [at sp_$mode]
}
is "link registers" {0x000f0011 0x000f0012 0x000f0013 0x000f0017 0x000f001b} [at lr_fiq] \
    [at lr_irq] [at lr_svc] [at lr_abt] [at lr_und]
is "r8 and r12 of FIQ" {0x000f1008 0x000f1012} [at r8_fiq] [at r12_fiq]
is "System mode" {31 1} [expr {[value cpsr] & 31}] [expr {[value sp] == [value sp_usr]}]
is_as_in_qemu "halt: 4 KiB" 0x40010000 4096
reg d17 0x1122334455667788
reg lr_abt 0x4711
resume
is "resume: runs" {1 1} [runs] [moves]
halt
is "registers are kept" {0x1122334455667788 0x00004711} [lindex [reg d17] 2] [at lr_abt]

write_memory 0x40080000 32 {0x11223344 2}
write_memory 0x40080001 8 {0xaa 0xbb 0xcc}
write_memory 0x40080006 16 {0xddee}
is "writes of all widths" {0xccbbaa44 0xddee0002} [words 0x40080000 2]
is "reads of all widths" {0xaa 0xbb 0xccbb 0xddee} [read_memory 0x40080001 8 2] \
    [read_memory 0x40080002 16 1] [read_memory 0x40080006 16 1]
is "a read of what is not mapped" failed [try {words 0xcccccccc 1}]
is "a write of what is not mapped" failed [try {write_memory 0xcccccccc 32 1}]
is "after them" {0xccbbaa44 0x00c50078} [words 0x40080000 1] [format 0x%08x [arm mrc 15 0 1 0 0]]
arm mcr 15 0 13 0 1 0x123
is "a system register is written" 0x123 [format 0x%x [arm mrc 15 0 13 0 1]]

# Adds 1 to r0 and 5 to r1, does nothing, adds r1 to r0, and jumps to itself.
foreach {set width size thumb program} {
    Arm   32 4 0    {0xe2800001 0xe2811005 0xe320f000 0xe0800001 0xeafffffe}
    Thumb 16 2 0x20 {0x3001 0x3105 0xbf00 0x4408 0xe7fe}
} {
    write_memory 0x40080000 $width $program
    reg cpsr [expr {([value cpsr] & ~0x20) | $thumb}]
    reg pc 0x40080000
    reg r0 41
    reg r1 1
    foreach {instructions sum added} {1 42 1  2 42 6  3 42 6  4 48 6  4 48 6} {
        step
        set at [expr {0x40080000 + $size * $instructions}]
        is "$set: step to $instructions" [list $at $sum $added] [value pc] [value r0] [value r1]
    }
    reg pc 0x40080000
    bp [expr {0x40080000 + 3 * $size}] $size hw
    resume
    wait_halt 5000
    is "$set: breakpoint" [list [expr {0x40080000 + 3 * $size}] [expr {$thumb + 0}]] \
        [value pc] [expr {[value cpsr] & 0x20}]
    rbp all
}

# The core goes on in User mode, which SVC leaves.
write_memory 0x40080000 32 {0xe10f2000 0xef000000}
reg cpsr 0x1d0
reg sp_usr 0x40090000
reg pc 0x40080000
bp $svc_at 4 hw
resume
wait_halt 5000
rbp all
is "User mode" {19 16 16 0x40090000 0x40080008} [expr {[value cpsr] & 31}] \
    [expr {[value spsr_svc] & 31}] [expr {[value r2] & 31}] [at sp_usr] [at lr]

# The MMU and caches: 1 MiB at 0x50000000 is the RAM, whose own addresses stay.
halt
write_memory 0x40101000 32 {0x40000c02}
write_memory 0x40101400 32 {0x40000c02}
arm mcr 15 0 2 0 0 0x40100000
arm mcr 15 0 3 0 0 3
arm mcr 15 0 1 0 0 [expr {[arm mrc 15 0 1 0 0] | 0x1005}]
resume
halt
is "MMU: another address" [words 0x40080000 1] [words 0x50080000 1]
write_memory 0x50080000 32 {0x55667788}
is "MMU: a write" {0x55667788 0x55667788} [words 0x40080000 1] \
    [chip.mem read_memory 0x40080000 32 1]
is "MMU: not mapped" failed [try {words 0x60000000 1}]
is "MMU: after it" 0x55667788 [words 0x50080000 1]

reset halt
is "reset halt" {0 halted} [runs] [state]
# DBGVCR, the vector of a reset, which cortex_a does not set.
proc request {offset value} {
    chip.dap apreg 1 0x04 [expr {0x80001000 + $offset}]
    chip.dap apreg 1 0x0c $value
}
request 0x1c 1
# The halted core is sent to User mode, and does not go on: DBGDTRRX to r0, and MSR CPSR, r0.
foreach {offset value} {0x88 0x6000 0x80 0x1d0 0x84 0xee100e15 0x84 0xe12ff000} {
    request $offset $value
}
reset halt
is "reset halt, with a vector catch: the first instruction, no longer User mode" \
    {0x40010000 19} [at pc] [expr {[value cpsr] & 31}]
request 0x1c 0
resume
is "resume" 1 [moves]
halt
bp $work_at 4 hw
foreach i {1 2 3} {
    resume
    wait_halt 5000
    is "breakpoint $i" $work_at [at pc]
}
rbp all
resume
is "moves without a breakpoint" 1 [moves]
reset run
chip.cpu arp_poll
is "reset run" {running 1 1} [state] [runs] [moves]
halt
is "an unknown instruction" failed [try {arm mrc 15 7 15 15 7}]
