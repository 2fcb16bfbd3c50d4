# SPDX-License-Identifier: MIT
# session.tcl: what the Tcl of a session has at hand (see session in lib.sh). The session sets
# title, work, probe, and counter_at: the address of a word that grows while the guest runs.

set verdicts [open $work/verdicts w]

# The words of ACTUAL are those of EXPECTED.
proc is {name expected args} {
    set verdict "ok $::title: $name"
    if {[join $args] ne $expected} {
        set verdict "not $verdict: \"[join $args]\" instead of \"$expected\""
    }
    puts $::verdicts $verdict
    flush $::verdicts
}
# LENGTH bytes of memory from ADDRESS on are those of FILE from OFFSET on.
proc is_dump {name address length file {offset 0}} {
    dump_image $::work/dump $address $length
    set differs [catch {exec cmp -n $length -i 0:$offset $::work/dump $file} message]
    is $name {} [expr {$differs ? $message : {}}]
}
# A result, or "failed".
proc try {command} { expr {[catch {uplevel 1 $command} result] ? "failed" : $result} }

proc ask {args} { exec $::probe --ask $::work/control {*}$args }
proc words {address count} { read_memory $address 32 $count }

# Sends the members of a JSON object to the second monitor of QEMU, which the probe does not use.
# Returns the answer, and skips the greeting and events.
proc qmp {members} {
    if {![info exists ::monitor]} {
        set ::monitor [socket unix $::work/qmp]
        $::monitor buffering none
        qmp {"execute": "qmp_capabilities"}
    }
    set id "\"id\": [incr ::qmp_count]"
    puts $::monitor "{$members, $id}"
    while {[gets $::monitor line] >= 0} {
        if {[string match "*$id\[,\}\]*" $line]} { return $line }
    }
    error "QEMU is gone"
}
proc runs {} { string match {*"running": true*} [qmp {"execute": "query-status"}] }
proc is_as_in_qemu {name address length} {
    qmp "\"execute\": \"pmemsave\", \"arguments\":
        {\"val\": [expr $address], \"size\": $length, \"filename\": \"$::work/theirs\"}"
    is_dump $name $address $length $::work/theirs
}

# The guest has moved within this time.
proc counter {} { words $::counter_at 1 }
proc moves {{patience_ms 2000}} {
    set first [counter]
    for {set ms 0} {$ms < $patience_ms && [counter] == $first} {incr ms 10} { after 10 }
    expr {[counter] != $first}
}

# The state that OpenOCD has for the core. Debian 13's asks for it at its first poll only.
proc state {} {
    chip.cpu arp_poll
    chip.cpu curstate
}

# A register as a number, and in hexadecimal.
proc value {name} { regexp {: (0x[0-9a-f]+)} [reg $name] all v; expr {$v + 0} }
proc at {name} { format 0x%08x [value $name] }
