# SPDX-License-Identifier: MIT
# debugged.gdb: what GDB does with a processor through the probe, for case-probe-qemu.sh.
monitor reset halt
maintenance flush register-cache
printf "reset at 0x%08x\n", $pc
hbreak _tx_trace_event_insert_impl
continue
printf "first at 0x%08x\n", $pc
continue
printf "next at 0x%08x\n", $pc
stepi
printf "moved %d\n", $pc != (long)&_tx_trace_event_insert_impl
delete
tbreak storm_entry
monitor reset halt
maintenance flush register-cache
continue
bt 1
printf "stack %d\n", (long)$sp > 0x20000000
