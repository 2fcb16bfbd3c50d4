# SPDX-License-Identifier: MIT
#
# Ringside: trace rings of real-time systems, read while the target runs.
#
# This file is the command "ringside": init, info, status, help. Beside it lie
#	ringside-base.tcl	arguments, target memory, timers, repeated errors
#	ringside-ring.tcl	where the ring is, and what of it can be proven whole
#	ringside-rkh.tcl	the same of RKH's trace
#	ringside-posix.tcl	the same of POSIX trace; start, stop, clear
#	ringside-hook.tcl	the same of hook words; start, stop
#	ringside-snapshot.tcl	snapshot, periodic
#	ringside-posix-record.tcl	record of POSIX trace
#	ringside-record.tcl	record; ringside-log.tcl writes the log
#	ringside-filter.tcl	filter: the only one that writes to the target
#	ringside-crash.tcl	crash, autocrash
#
# Description:
#	Adds the command to OpenOCD (0.12; 0.11 as far as it goes). It copies the trace ring of the
#	ThreadX event trace out of target memory, once, periodically or continuously, without halting
#	the target. What it writes, the program "ringside" reads.
#
# Usage:
#	source [find ringside.tcl]
#	ringside init -threadx ADDRESS ...	(as "ringside openocd-config --elf FW.elf" prints it)
#	ringside help
#
# Returns:
#	Each subcommand returns its text. Errors read "WHAT: WHY; a way out".
#
# Note:
#	Procs that begin with _ringside_ are internal. The state of a ring is the global array
#	_ringside_ring_TARGET, whose fields ringside-ring.tcl lists.

set _ringside_version 0.1.0
set _ringside_folder [file dirname [info script]]
foreach _ringside_part {
	base ring rkh posix hook snapshot log record posix-record filter crash
} {
	source [file join $_ringside_folder ringside-$_ringside_part.tcl]
}

# ---- init, info, status ----

proc _ringside_cmd_init {args} {
	foreach own {rkh posix hook} {
		if {"-$own" in $args} {
			return [_ringside_${own}_init $args]
		}
	}
	set options [_ringside_options init \
		{-target -threadx -header -current -filter -pointer -word} $args {-ram -fault}]
	set T [_ringside_init_target $options]
	if {[dict exists $options -threadx] == [dict exists $options -header]} {
		_ringside_fail "ringside init" "one of -threadx and -header must be given" \
			"ringside openocd-config --elf FW.elf prints the line"
	}
	set new [dict create reads 0 bytes 0 failed 0 ready 0]
	foreach {option field} {-threadx threadx -header fixed -current current -filter filter} {
		set value [_ringside_option $options $option ""]
		dict set new $field [expr {$value eq "" ? "" : [_ringside_number $option $value]}]
	}
	set pointer [_ringside_number -pointer [_ringside_option $options -pointer 4] 4 8]
	dict set new pw [expr {$pointer / 4}]
	set word [_ringside_option $options -word ""]
	if {$word ni {"" 4 8}} {
		_ringside_fail -word "\"$word\" is not allowed" "a ULONG has 4 or 8 bytes"
	}
	dict set new word $word
	_ringside_init_spans new $options
	_ringside_install $T $new
}

# What kind of trace a ring is of.
proc _ringside_own {T} {
	upvar #0 _ringside_ring_$T r
	foreach own {rkh posix hook} {
		if {[info exists r($own)]} {
			return $own
		}
	}
	return threadx
}

# The target that "ringside init" is called for.
proc _ringside_init_target {options} {
	if {[dict exists $options -target]} {
		set T [dict get $options -target]
	} elseif {[catch {target current} T] || $T eq ""} {
		_ringside_fail "ringside init" "no target is configured yet" \
			"put it behind the board's configuration and init"
	}
	if {$T ni [target names]} {
		_ringside_fail "ringside init" "there is no target \"$T\"" "these are: [target names]"
	}
	return $T
}

proc _ringside_init_spans {new_name options} {
	upvar 1 $new_name new
	foreach {option field} {-ram ram -fault faults} {
		dict set new $field {}
		foreach span [_ringside_option $options $option {}] {
			dict lappend new $field [_ringside_span $option $span]
		}
	}
}

# A target's ring from here on: these are the fields of its array.
proc _ringside_install {T new} {
	global _ringside_initialized
	if {$T in [_ringside_targets]} {
		upvar #0 _ringside_ring_$T old
		if {[info exists old(recording)] || [info exists old(periodic)]} {
			_ringside_fail "ringside init" "target $T is being read" \
				"end that first: ringside record stop, ringside periodic stop"
		}
		_ringside_cmd_autocrash -target $T off
		unset old
	} else {
		lappend _ringside_initialized $T
	}
	upvar #0 _ringside_ring_$T r
	array set r $new
	_ringside_hook_shutdown
	return
}

# ADDRESS+LENGTH as {address length}.
proc _ringside_span {what text} {
	if {![regexp {^([^+]+)\+([^+]+)$} $text -> address length]} {
		_ringside_fail $what "\"$text\" is no span of memory" "write ADDRESS+LENGTH"
	}
	return [list [_ringside_number $what $address] [_ringside_number $what $length 1 0x40000000]]
}

# Files are closed when OpenOCD ends: "shutdown" and SIGTERM.
proc _ringside_hook_shutdown {} {
	global pre_shutdown_commands
	if {![info exists pre_shutdown_commands] || "_ringside_shutdown" ni $pre_shutdown_commands} {
		lappend pre_shutdown_commands _ringside_shutdown
	}
}

proc _ringside_shutdown {} {
	foreach T [_ringside_targets] {
		catch {_ringside_record_end $T "OpenOCD ends"}
		catch {_ringside_periodic_end $T}
	}
}

proc _ringside_cmd_info {args} {
	set T [_ringside_take_target info args]
	_ringside_options info {} $args
	upvar #0 _ringside_ring_$T r
	set own [_ringside_own $T]
	if {$own ne "threadx"} {
		return [_ringside_${own}_info $T]
	}
	if {![_ringside_locate $T]} {
		return "target $T: the trace is not enabled yet"
	}
	set slot [_ringside_pointer $T]
	set off [expr {$slot < 0}]
	set slot [expr {$off ? $r(current_at) : $slot}]
	set wrapped [_ringside_is_wrapped $T $slot]
	set order [expr {$r(be) ? "big" : "little"}]
	set lines [list "target:   $T, [expr {[_ringside_is_halted $T] ? "halted" : "running"}]" \
		[format "ring:     ThreadX event trace at 0x%x, %d bytes, %s-endian, words of %d bytes" \
			$r(base) [expr {$r(end) - $r(base)}] $order [expr {4 * $r(ws)}]] \
		"state:    [expr {$off ? "tracing is disabled" : "tracing is enabled"}]" \
		[format "entries:  %d of %d, next slot %d%s" [expr {$wrapped ? $r(n) : $slot}] $r(n) $slot \
			[expr {$wrapped ? ", the oldest are overwritten" : ""}]] \
		"registry: $r(slots) slots"]
	if {$r(filter) ne ""} {
		lappend lines "filter:   [_ringside_filter_text [_ringside_filter_read $T]]"
	}
	return [join $lines "\n"]
}

proc _ringside_request {verb words} {
	set T [_ringside_take_target $verb words]
	_ringside_options $verb {} $words
	set own [_ringside_own $T]
	if {$own ni {posix hook}} {
		_ringside_fail "ringside $verb" \
			"only the recorders of POSIX trace and hook words have words for it" \
			"switch the trace in the firmware"
	}
	return [_ringside_${own}_request $T $verb]
}

proc _ringside_cmd_start {args} {
	return [_ringside_request start $args]
}

proc _ringside_cmd_stop {args} {
	return [_ringside_request stop $args]
}

proc _ringside_cmd_clear {args} {
	return [_ringside_request clear $args]
}

proc _ringside_cmd_status {args} {
	set chosen [_ringside_targets]
	if {"-target" in $args} {
		set chosen [_ringside_take_target status args]
	}
	_ringside_options status {} $args
	if {![llength $chosen]} {
		return "no ring is known; see ringside help init"
	}
	return [join [lmap T $chosen {_ringside_status $T}] "\n"]
}

proc _ringside_status {T} {
	upvar #0 _ringside_ring_$T r
	set lines [list "target $T: [_ringside_count $r(reads) read], $r(bytes) bytes,\
			[_ringside_count $r(failed) failure]" \
		"  periodic:   [_ringside_periodic_text $T]" \
		"  record:     [_ringside_record_text $T]" \
		"  autocrash:  [_ringside_autocrash_text $T]"]
	foreach name [lsort [array names r error,*]] {
		lassign $r($name) times message
		lappend lines "  [_ringside_count $times failure] of [string range $name 6 end], the last:\
			$message"
	}
	return [join $lines "\n"]
}

# ---- The command ----

set _ringside_help {
	init {{?-target T? -threadx ADDRESS ?OPTION VALUE...?}
		"Says where the ring is; `ringside openocd-config --elf FW.elf` prints the line.
      Options: -header, -current, -filter ADDRESS; -pointer, -word 4|8;
      -ram, -fault ADDRESS+LENGTH. In the place of -threadx also -rkh ADDRESS+LENGTH -in, -out
      ADDRESS, -qty ADDRESS+LENGTH; or -posix ADDRESS ?-stream N? (ringside_posix), or
      -hook ADDRESS (ringside_hooks)."}
	info {{?-target T?} "Place, state and fill of the ring."}
	start {{?-target T?}
		"Lets the recorder of a POSIX trace or of hook words record (writes to the target)."}
	stop {{?-target T?} "Ends that; the ring keeps its events."}
	clear {{?-target T?} "Empties the ring of a POSIX trace."}
	snapshot {{?-target T? FILE}
		"Copies the ring to FILE (.trx, .rkr, .ptr, .hook) while the target runs."}
	periodic {{?-target T? start MS DIR ?-keep N? | stop}
		"A snapshot every MS milliseconds to DIR; keeps the newest N of those that it writes."}
	record {{?-target T? start FILE ?-every MS? ?-policy loop|until_full|append? ?-size N? | stop}
		"Follows the ring into a log; only what is new is read."}
	status {{?-target T?} "What runs, what it brought, and what failed."}
	filter {{?-target T? ?show? | set|add|sub CLASS... | on|off WHAT...}
		"What the target records: shows it; sets, adds, takes away classes (writes to the target).
      Of RKH: WHAT is group=, event=, ao=, signal= with a name or number, or all.
      Of POSIX trace: event types in the place of classes; these are not recorded."}
	crash {{?-target T? DIR} "Registers, RAM and ring to files in the new directory DIR."}
	autocrash {{?-target T? on DIR | off}
		"Does that by itself when the core halts in a fault handler."}
	help {{?SUBCOMMAND?} "This text."}
}

proc _ringside_cmd_help {args} {
	global _ringside_help
	set chosen [dict keys $_ringside_help]
	if {[llength $args]} {
		set chosen [lindex $args 0]
		if {![dict exists $_ringside_help $chosen]} {
			_ringside_fail "ringside help" "there is no subcommand \"$chosen\"" "see ringside help"
		}
	}
	set lines {}
	foreach name $chosen {
		lassign [dict get $_ringside_help $name] usage text
		lappend lines "ringside $name $usage" "      $text"
	}
	return [join $lines "\n"]
}

proc ringside {{sub help} args} {
	global _ringside_help
	if {![dict exists $_ringside_help $sub]} {
		_ringside_fail "ringside $sub" "there is no such subcommand" \
			"these are: [dict keys $_ringside_help]"
	}
	return [_ringside_cmd_$sub {*}$args]
}

add_help_text ringside \
	"Reads the trace ring of a running target; `ringside help` lists the subcommands."
add_usage_text ringside {subcommand ?argument ...?}
