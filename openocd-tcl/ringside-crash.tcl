# SPDX-License-Identifier: MIT
#
# Ringside: crash dumps, for ringside.tcl.
#
# Description:
#	"ringside crash DIR" saves the core's registers, the RAM ranges of ringside init and the ring to
#	a new directory. It is written as DIR.part and then renamed, so that it is complete or absent.
#	"ringside autocrash on DIR" does the same whenever the core halts in a fault handler.

proc _ringside_cmd_crash {args} {
	set T [_ringside_take_target crash args]
	if {[llength $args] != 1} {
		_ringside_fail "ringside crash" "pass one directory" "see ringside help crash"
	}
	return [_ringside_crash $T [lindex $args 0] "on request"]
}

# Saves a crash dump to a new directory. Returns the directory and what was saved, as text.
proc _ringside_crash {T directory reason} {
	regsub {([^/])/+$} $directory {\1} directory
	if {[_ringside_kind $directory] ne ""} {
		_ringside_fail $directory "already exists" "use a new directory"
	}
	set part $directory.part
	if {[_ringside_kind $part] ne ""} {
		_ringside_fail $part "left over from an interrupted dump" "remove it first"
	}
	_ringside_quiet_limits
	_ringside_make_directory $part
	if {[catch {_ringside_crash_write $T $part $reason} text]} {
		catch {file delete -force $part}
		return -code error $text
	}
	# The crash may not happen again: keep the dump even if it cannot be renamed.
	if {[catch {file rename $part $directory} why]} {
		_ringside_fail $part "the dump is complete but could not be renamed: $why" \
			"use it under this name"
	}
	return "$directory: $text"
}

# Writes the files of a crash dump. If something cannot be read, the manifest lists it as missing,
# and the other files are written. Fails only if a file cannot be written.
proc _ringside_crash_write {T directory reason} {
	upvar #0 _ringside_ring_$T r
	set lines [list "ringside-crash 1" \
		"time: [clock format [clock seconds] -format {%Y-%m-%dT%H:%M:%S%z}]" \
		"target: $T" "type: [$T cget -type]" "byte-order: [$T cget -endian]" \
		"state: [expr {[_ringside_is_halted $T] ? "halted" : "running"}]" "reason: $reason"]
	set missing {}
	lappend lines {*}[_ringside_crash_registers $T $directory missing]
	set images {}
	lappend lines {*}[_ringside_crash_ram $T $directory missing images]
	lappend lines {*}[_ringside_crash_status $T $directory missing]
	if {![_ringside_has_ring $T]} {
		lappend lines "# no ring"
	} elseif {[catch {_ringside_save_snapshot $T [file join $directory ring.trx]} lost]} {
		lappend missing "ring: $lost"
	} elseif {$lost < 0} {
		lappend missing "ring: the trace is not enabled"
	} else {
		lappend lines "ring: ring.trx"
	}
	foreach text $missing {
		lappend lines "missing: $text"
	}
	if {[llength $images]} {
		lappend lines "# ringside crash --elf FIRMWARE.elf DIRECTORY"
		lappend lines "# ringside report --elf FIRMWARE.elf $images"
	}
	set file [open [file join $directory manifest.txt] w]
	try {
		puts $file [join $lines "\n"]
		flush $file
	} finally {
		close $file
	}
	set text "[_ringside_count [llength $images] image] of RAM"
	if {[llength $missing]} {
		append text "; missing: [join $missing {, }]"
	}
	return $text
}

# Returns names and values of the registers that OpenOCD knows and can read.
proc _ringside_registers {T} {
	set found {}
	catch {
		set text [_ringside_on $T {reg}]
		foreach {-> name} [regexp -all -inline -line {^\(\d+\) (\S+) \(/\d+\)} $text] {
			catch {lappend found $name [_ringside_register $T $name]}
		}
	}
	return $found
}

# Returns the value of a register. OpenOCD's get_reg returns 0 for a register of RISC-V that was not
# read since the core halted, and 0.11 does not have it.
proc _ringside_register {T name} {
	set text [_ringside_on $T {reg $name}]
	if {![regexp {: (0x[0-9a-fA-F]+)} $text -> value]} {
		_ringside_fail "register $name" "could not be read"
	}
	return $value
}

# What an Arm core of A- or R-profile keeps of a fault, and where its vectors are, which OpenOCD
# does not list as registers: the operands of the instructions that read it. Cortex-R4 has no
# VBAR.
set _ringside_fault_registers {
	cortex_a {dfsr {0 5 0 0} dfar {0 6 0 0} ifsr {0 5 0 1} ifar {0 6 0 2} sctlr {0 1 0 0}
		vbar {0 12 0 0}}
	cortex_r4 {dfsr {0 5 0 0} dfar {0 6 0 0} ifsr {0 5 0 1} ifar {0 6 0 2} sctlr {0 1 0 0}}
}

# Returns names and values of the registers of the last fault, if the core has them.
proc _ringside_fault_status {T} {
	global _ringside_fault_registers
	set type [$T cget -type]
	set found {}
	if {[dict exists $_ringside_fault_registers $type]} {
		foreach {name operands} [dict get $_ringside_fault_registers $type] {
			catch {lappend found $name [format 0x%08x [_ringside_on $T {arm mrc 15 {*}$operands}]]}
		}
	}
	return $found
}

# Returns the targets that are the cores of T's chip, by their numbers: those of its type.
proc _ringside_cores {T} {
	set found {}
	foreach name [target names] {
		if {[$name cget -type] eq [$T cget -type]} {
			lappend found [list $name [$name cget -coreid]]
		}
	}
	set cores {}
	foreach core [lsort -integer -index 1 $found] {
		lappend cores [lindex $core 0]
	}
	return $cores
}

# Saves the registers of all halted cores. Returns their line of the manifest; appends to `missing`.
proc _ringside_crash_registers {T directory missing_name} {
	upvar 1 $missing_name missing
	set lines {}
	set number -1
	set cores [_ringside_cores $T]
	foreach core $cores {
		incr number
		set of [expr {[llength $cores] > 1 ? "registers of $core" : "registers"}]
		if {![_ringside_is_halted $core]} {
			lappend missing "$of: the core is running, or has none"
			continue
		}
		set registers [_ringside_registers $core]
		if {![llength $registers]} {
			lappend missing "$of: none could be read"
			continue
		}
		lappend registers {*}[_ringside_fault_status $core]
		if {[llength $cores] > 1} {
			lappend lines "core $number"
		}
		foreach {name value} $registers {
			lappend lines "$name $value"
		}
	}
	if {![llength $lines]} {
		return {}
	}
	set file [open [file join $directory registers.txt] w]
	try {
		puts $file [join $lines "\n"]
		flush $file
	} finally {
		close $file
	}
	return [list "registers: registers.txt"]
}

# Saves the RAM ranges. Returns their lines of the manifest; appends to `missing` and `images`.
proc _ringside_crash_ram {T directory missing_name images_name} {
	upvar #0 _ringside_ring_$T r
	upvar 1 $missing_name missing $images_name images
	set lines {}
	if {![llength $r(ram)]} {
		lappend missing "RAM: no -ram in ringside init"
	}
	foreach span $r(ram) {
		lassign $span address length
		set name [format ram-0x%08x.bin $address]
		if {[catch {_ringside_dump $T [file join $directory $name] $address $length} why]} {
			catch {file delete [file join $directory $name]}
			lappend missing [format "RAM 0x%x+0x%x: %s" $address $length $why]
			continue
		}
		lappend lines [format "ram: %s 0x%x 0x%x" $name $address $length]
		lappend images [format "%s@0x%x" $name $address]
	}
	return $lines
}

# Saves what a Cortex-M keeps of a fault and of its FPU: the system control block, and FPCCR.
# Returns their lines of the manifest; appends to `missing`.
proc _ringside_crash_status {T directory missing_name} {
	upvar 1 $missing_name missing
	set lines {}
	if {[$T cget -type] ne "cortex_m"} {
		return {}
	}
	foreach {address length} {0xe000ed00 0x90 0xe000ef34 0xc} {
		set name scb-$address.bin
		if {[catch {_ringside_dump $T [file join $directory $name] $address $length} why]} {
			catch {file delete [file join $directory $name]}
			lappend missing "fault status at $address: $why"
			continue
		}
		lappend lines "ram: $name $address $length"
	}
	return $lines
}

# ---- Automatic dumps ----

set _ringside_exceptions {3 HardFault 4 MemManage 5 BusFault 6 UsageFault 7 SecureFault}

# Returns why a halted core is in a fault handler, or an empty string if it is not.
proc _ringside_fault {T} {
	global _ringside_exceptions
	upvar #0 _ringside_ring_$T r
	if {![catch {_ringside_register $T pc} pc]} {
		foreach span $r(faults) {
			lassign $span address length
			# The address of Thumb code has bit 0 set in symbol tables.
			if {$pc >= ($address & ~1) && $pc < $address + $length} {
				return [format "halted in a fault handler, pc 0x%x" $pc]
			}
		}
	} else {
		set pc 0
	}
	# Cortex-M: the lower bits of xPSR hold the exception number.
	foreach name {xPSR xpsr} {
		if {![catch {_ringside_register $T $name} value] &&
			[dict exists $_ringside_exceptions [expr {$value & 0x1ff}]]} {
			return [format "halted in %s, pc 0x%x" \
				[dict get $_ringside_exceptions [expr {$value & 0x1ff}]] $pc]
		}
	}
	return ""
}

proc _ringside_cmd_autocrash {args} {
	set T [_ringside_take_target autocrash args]
	upvar #0 _ringside_ring_$T r
	set rest [lassign $args verb]
	if {$verb eq "off" && ![llength $rest]} {
		if {[info exists r(autocrash)]} {
			_ringside_unhook $T halted "_ringside_halted $T"
		}
		set text [_ringside_autocrash_text $T]
		unset -nocomplain r(autocrash)
		return $text
	}
	if {$verb ne "on" || [llength $rest] != 1} {
		_ringside_fail "ringside autocrash" "\"$args\" is not expected" "use on DIR, or off"
	}
	if {[$T cget -type] eq "mem_ap"} {
		_ringside_fail "ringside autocrash" "target $T is a memory port: it never halts" \
			"use ringside init -target with the target of the core"
	}
	if {[info exists r(autocrash)]} {
		_ringside_fail "ringside autocrash" "already on, to $r(autocrash)" \
			"use ringside autocrash off first"
	}
	_ringside_make_directory [lindex $rest 0]
	set r(autocrash) [lindex $rest 0]
	set r(a,dumps) 0
	set r(a,seen) ""
	_ringside_hook $T halted "_ringside_halted $T"
	set text "dumps to $r(autocrash) when target $T halts in a fault handler"
	if {![_ringside_catches $T]} {
		append text "; nothing halts it there yet; use cortex_m vector_catch hard_err\
			bus_err mm_err, or set a breakpoint in the handler"
	}
	return $text
}

# Returns whether a Cortex-M halts at faults by itself: DEMCR, VC_MMERR to VC_HARDERR. For other
# cores, or if the core does not respond, this is unknown, and returns 1.
proc _ringside_catches {T} {
	return [expr {[$T cget -type] ne "cortex_m" ||
		[catch {_ringside_read $T 0xe000edfc 1} demcr] || ($demcr & 0x7f0) != 0}]
}

# Handles the event of a halt. It must not fail, because other handlers may follow. A crash is
# dumped once, however often the core is halted or stepped in its handler.
proc _ringside_halted {T} {
	upvar #0 _ringside_ring_$T r
	if {![info exists r(autocrash)]} {
		return
	}
	if {[catch {
		set reason [_ringside_fault $T]
		set sign ""
		if {$reason ne ""} {
			catch {set sign "[_ringside_register $T sp] [_ringside_crash_place $T]"}
			if {$sign eq "" || $sign ne $r(a,seen)} {
				set number [llength [glob -nocomplain -directory $r(autocrash) crash-*]]
				while {[file exists [set path [file join $r(autocrash) \
						[format crash-%04d [incr number]]]]]} {
				}
				echo "ringside autocrash: $reason: [_ringside_crash $T $path $reason]"
				incr r(a,dumps)
				_ringside_succeeded $T autocrash
			}
		}
		set r(a,seen) $sign
	} why]} {
		_ringside_complain $T autocrash $why
	}
}

# Returns the write position of the ring, if there is one, by which one crash is distinguished from
# the next.
proc _ringside_crash_place {T} {
	upvar #0 _ringside_ring_$T r
	if {![_ringside_has_ring $T]} {
		return ""
	}
	if {!$r(ready)} {
		_ringside_locate $T
	}
	return [_ringside_pointer $T]
}

proc _ringside_autocrash_text {T} {
	upvar #0 _ringside_ring_$T r
	if {![info exists r(autocrash)]} {
		return "off"
	}
	return "on, to $r(autocrash): [_ringside_count $r(a,dumps) dump]"
}
