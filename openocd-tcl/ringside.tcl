# SPDX-License-Identifier: MIT
#
# Ringside: trace rings of real-time systems, read while the target runs.
#
# This file defines the command "ringside", with init, info, status and help. The other files are
#	ringside-base.tcl	arguments, target memory, timers, repeated errors
#	ringside-ring.tcl	the ThreadX ring, and verified reads of it
#	ringside-rkh.tcl	the RKH ring: snapshots, recording, filters
#	ringside-posix.tcl	POSIX trace: snapshots; start, stop, clear; filter
#	ringside-hook.tcl	hook words: snapshots; start, stop
#	ringside-snapshot.tcl	snapshot, periodic
#	ringside-posix-record.tcl	recording of POSIX trace
#	ringside-record.tcl	recording of ThreadX; ringside-log.tcl writes the log
#	ringside-filter.tcl	filter of ThreadX
#	ringside-crash.tcl	crash, autocrash
#
# Description:
#	Adds the command to OpenOCD 0.12 and, except for what 0.11 lacks, 0.11. It copies trace rings
#	out of target memory once, periodically or continuously, without halting the target. The program
#	"ringside" reads the files that it writes. Only filter, start, stop and clear write to the
#	target.
#
# Usage:
#	source [find ringside.tcl]
#	ringside init -threadx ADDRESS ...	(as "ringside openocd-config --elf FW.elf" prints it)
#	ringside help
#
# Returns:
#	Each subcommand returns its text. Errors read "WHAT: WHY; HINT".
#
# Note:
#	Procs that begin with _ringside_ are internal. The state of a ring is the global array
#	_ringside_ring_TARGET, whose fields ringside-ring.tcl lists.

set _ringside_version 0.1.0
set _ringside_directory [file dirname [info script]]
foreach _ringside_part {
	base ring rkh posix hook snapshot log record posix-record filter crash
} {
	source [file join $_ringside_directory ringside-$_ringside_part.tcl]
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
	set rings [expr {[dict exists $options -threadx] + [dict exists $options -header]}]
	if {$rings > 1 || ($rings == 0 && ![dict exists $options -ram])} {
		_ringside_fail "ringside init" "-threadx or -header missing" \
			"use the line that ringside openocd-config --elf FW.elf prints"
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
		_ringside_fail -word "\"$word\" is not allowed" "use 4 or 8, the bytes of a ULONG"
	}
	dict set new word $word
	_ringside_init_spans new $options
	_ringside_set_ring $T $new
}

# Returns the format of a ring: threadx, rkh, posix or hook.
proc _ringside_format_of {T} {
	upvar #0 _ringside_ring_$T r
	foreach own {rkh posix hook} {
		if {[info exists r($own)]} {
			return $own
		}
	}
	return threadx
}

# Returns the target of a "ringside init".
proc _ringside_init_target {options} {
	if {[dict exists $options -target]} {
		set T [dict get $options -target]
	} elseif {[catch {target current} T] || $T eq ""} {
		_ringside_fail "ringside init" "no target is configured yet" \
			"run it after the configuration of the board and init"
	}
	if {$T ni [target names]} {
		_ringside_fail "ringside init" "unknown target \"$T\"" "use one of: [target names]"
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

# Sets the state of a target's ring to `new`. Fails if the old ring is being recorded.
proc _ringside_set_ring {T new} {
	global _ringside_initialized
	if {$T in [_ringside_targets]} {
		upvar #0 _ringside_ring_$T old
		if {[info exists old(recording)] || [info exists old(periodic)]} {
			_ringside_fail "ringside init" "target $T is being read" \
				"run ringside record stop or ringside periodic stop first"
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

# Returns ADDRESS+LENGTH as {address length}.
proc _ringside_span {what text} {
	if {![regexp {^([^+]+)\+([^+]+)$} $text -> address length]} {
		_ringside_fail $what "\"$text\" is not a span of memory" "use ADDRESS+LENGTH"
	}
	return [list [_ringside_number $what $address] [_ringside_number $what $length 1 0x40000000]]
}

# Closes files when OpenOCD ends, by "shutdown" or SIGTERM.
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
	set own [_ringside_format_of $T]
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

# Runs start, stop or clear.
proc _ringside_request {verb words} {
	set T [_ringside_take_target $verb words]
	_ringside_options $verb {} $words
	set own [_ringside_format_of $T]
	if {$own ni {posix hook}} {
		_ringside_fail "ringside $verb" \
			"only for POSIX trace and hook words" \
			"use the firmware to control the trace"
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
		return "no ring is known; run ringside init first"
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
		"Set the address of the ring; `ringside openocd-config --elf FW.elf` prints the line.
      Options: -header, -current, -filter ADDRESS; -pointer, -word 4|8;
      -ram, -fault ADDRESS+LENGTH. Instead of -threadx: -rkh ADDRESS+LENGTH -in, -out
      ADDRESS, -qty ADDRESS+LENGTH; -posix ADDRESS ?-stream N? (ringside_posix); or
      -hook ADDRESS (ringside_hooks)."}
	info {{?-target T?} "Show the address, state and fill of the ring."}
	start {{?-target T?}
		"Start recording (POSIX trace, hook words; writes to the target)."}
	stop {{?-target T?} "Stop recording; the ring keeps its events."}
	clear {{?-target T?} "Discard the recorded events (POSIX trace)."}
	snapshot {{?-target T? FILE}
		"Save the ring to FILE (.trx, .rkr, .ptr, .hook) while the target runs."}
	periodic {{?-target T? start MS DIR ?-keep N? | stop}
		"Save a snapshot to DIR every MS milliseconds; keep the newest N of them."}
	record {{?-target T? start FILE ?-every MS? ?-policy loop|until_full|append? ?-size N? | stop}
		"Record to a log; each poll reads only new entries."}
	status {{?-target T?} "Show what is running, its results and its failures."}
	filter {{?-target T? ?show? | set|add|sub CLASS... | on|off TERM...}
		"Show the filter; set, add or remove classes that are recorded (writes to the target).
      RKH: TERM is group=, event=, ao= or signal= with a name or number, or all.
      POSIX trace: event types instead of classes; these are not recorded."}
	crash {{?-target T? DIR} "Save registers, RAM and ring to a new directory DIR."}
	autocrash {{?-target T? on DIR | off}
		"Save a crash dump whenever the core halts in a fault handler."}
	help {{?SUBCOMMAND?} "Show this text."}
}

proc _ringside_cmd_help {args} {
	global _ringside_help
	set chosen [dict keys $_ringside_help]
	if {[llength $args]} {
		set chosen [lindex $args 0]
		if {![dict exists $_ringside_help $chosen]} {
			_ringside_fail "ringside help" "unknown subcommand \"$chosen\"" "run ringside help"
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
		_ringside_fail "ringside $sub" "unknown subcommand" \
			"use one of: [dict keys $_ringside_help]"
	}
	return [_ringside_cmd_$sub {*}$args]
}

add_help_text ringside \
	"Read the trace ring of a running target; `ringside help` lists the subcommands."
add_usage_text ringside {subcommand ?argument ...?}
