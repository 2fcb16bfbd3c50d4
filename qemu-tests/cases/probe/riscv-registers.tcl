# SPDX-License-Identifier: MIT
# riscv-registers.tcl: what OpenOCD's target does not come by, for case-probe-qemu.sh: errors of
# system bus access, which last until they are cleared; commands to a hart that runs, and of a kind
# that does not exist; a debug module that is not active.
proc bus_error {} { expr {[riscv dmi_read 0x38] >> 12 & 7} }
foreach {name expected control address} {
    "no such size" {4 4 0} 0x80000 0x80000000
    "not aligned"  {3 3 0} 0x60000 0x80000004
    "not mapped"   {2 2 0} 0       0x18000000
    "above 4 GiB"  {2 2 0} 0       0x100000000
    "aligned"      {0 0 0} 0x60000 0x80000008
} {
    riscv dmi_write 0x38 [expr {$control | 1 << 20}]
    riscv dmi_write 0x3a [expr {$address >> 32}]
    riscv dmi_write 0x39 [expr {$address & 0xffffffff}]
    set errors [bus_error]
    riscv dmi_write 0x39 0x80000000
    lappend errors [bus_error]
    riscv dmi_write 0x38 0x7000
    is "bus error: $name" $expected [lappend errors [bus_error]]
}
foreach {name expected before command} {
    "a register while it runs" 4 {}   0x321008
    "no such command"          2 {}   0x2000000
    "a register"               0 halt 0x321008
    "no such size"             2 {}   0x421008
    "no such register"         3 {}   0x3207b2
    "no such CSR"              3 {}   0x32ffff
} {
    eval $before
    riscv dmi_write 0x17 $command
    is "command: $name" $expected [expr {[riscv dmi_read 0x16] >> 8 & 7}]
    riscv dmi_write 0x16 0x700
}
is "misa and mhartid" {0x80000000001411ad 0x00000000} [at misa] [at mhartid]
reg mscratch 0x123456789a
step
is "mscratch after a step" 0x123456789a [at mscratch]
is "no dscratch0" failed [try {reg dscratch0}]
resume
riscv dmi_write 0x04 5
riscv dmi_write 0x10 0
is "not active" 0 [expr {[riscv dmi_read 0x04] | [riscv dmi_read 0x11] | [riscv dmi_read 0x7f]}]
