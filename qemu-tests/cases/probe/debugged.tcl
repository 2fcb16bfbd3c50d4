# SPDX-License-Identifier: MIT
# debugged.tcl: halts, steps, resets and breakpoints of a processor through the probe, for
# case-probe-qemu.sh (the procedures are those of session.tcl).

# The steps are those of a program at RAM, which adds 1 to register A, MORE to register B, nothing,
# B to A, and jumps to itself. Interrupts of a Cortex-M have 500 ms before OpenOCD makes a step, and
# it makes none when a slow host needs longer: then TRIES are allowed.
proc debugged {reset_pc insert ram a start b more tries program} {
    targets chip.cpu
    is "examined: runs" {1 running 1} [runs] [state] [moves]
    halt
    is "halt: does not run" {0 0} [runs] [moves 100]
    is_as_in_qemu "halt: 64 KiB" [expr {$ram & 0xff000000}] 65536
    resume
    is "resume: runs" {1 1} [runs] [moves]

    halt
    write_memory $ram 16 $program
    reg $a $start
    reg $b 1
    reg pc $ram
    set sum [expr {1 + $more}]
    foreach {offset added b_is} [list 2 1 1  4 1 $sum  6 1 $sum  8 [expr {1 + $sum}] $sum] {
        set from [at pc]
        for {set i 0} {$i < $tries && [at pc] eq $from} {incr i} { step }
        is "step to $offset" [list [expr {$ram + $offset}] [expr {$start + $added}] $b_is] \
            [value pc] [value $a] [value $b]
    }
    step
    step
    is "steps of a jump to itself" [list [expr {$ram + 8}] [expr {$start + 1 + $sum}]] \
        [value pc] [value $a]

    foreach i {1 2 3} {
        reset halt
        is "reset halt $i: before the first instruction" [list $reset_pc 0] [at pc] [runs]
        resume
        is "resume $i" 1 [moves]
    }
    reset halt

    # The machine is stopped and continued from outside of the debug port before the breakpoint: the
    # nothing in place of the jump leads to it.
    write_memory $ram 16 $program
    reg pc [expr {$ram + 8}]
    bp [expr {$ram + 10}] 2 hw
    resume
    ask stop
    ask cont
    write_memory [expr {$ram + 8}] 16 [lindex $program 2]
    wait_halt 5000
    is "breakpoint after a stop from outside" [list [expr {$ram + 10}] 0] [value pc] [runs]
    rbp all
    reset halt

    bp $insert 2 hw
    foreach i {1 2 3} {
        resume
        wait_halt 5000
        is "breakpoint $i" [list $insert 0] [at pc] [runs]
    }
    is "bp lists it" 1 [regexp {0x} [bp]]
    rbp all
    resume
    is "moves without a breakpoint" 1 [moves]
    reset run
    chip.cpu arp_poll
    chip.cpu arp_poll
    is "reset run" {running 1 1} [state] [runs] [moves]
}
