# SPDX-License-Identifier: MIT
#
# Ringside: what all subcommands of ringside.tcl share.
#
# Description:
#	Parses the arguments of a subcommand, and chooses its target. Reads target memory, and checks
#	files. Runs work that a timer or an event of the target starts. Such work has no caller, so its
#	errors are printed once, and counted.

# ---- Arguments ----

# Raises "WHAT: WHY; HINT" in the caller.
proc _ringside_fail {what why {hint ""}} {
	set text "$what: $why"
	if {$hint ne ""} {
		append text "; $hint"
	}
	return -code error $text
}

# Returns a decimal or 0x-prefixed number in [low, high].
proc _ringside_number {what text {low 0} {high 0x7fffffffffffffff}} {
	if {![regexp {^(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,18})$} $text]} {
		_ringside_fail $what "\"$text\" is not a number" "use a decimal or 0x-prefixed number"
	}
	# Leading zeros do not mean base 8 here.
	regsub {^0+([0-9])} $text {\1} text
	set value [expr {$text + 0}]
	if {$value < $low || $value > $high} {
		_ringside_fail $what "$text is not allowed" "use a number from $low to $high"
	}
	return $value
}

# Returns a number of bytes; its text is N, Nk, NM or NG.
proc _ringside_size {what text} {
	if {![regexp {^([0-9]{1,12})([kKmMgG]?)$} $text -> number unit]} {
		_ringside_fail $what "\"$text\" is not a size" "use bytes, or a number followed by k, M or G"
	}
	regsub {^0+([0-9])} $number {\1} number
	return [expr {$number << [dict get {"" 0 k 10 m 20 g 30} [string tolower $unit]]}]
}

# Expressions of Jim Tcl have neither min nor max.
proc _ringside_min {first args} {
	foreach value $args {
		set first [expr {$value < $first ? $value : $first}]
	}
	return $first
}

proc _ringside_max {first args} {
	foreach value $args {
		set first [expr {$value > $first ? $value : $first}]
	}
	return $first
}

# Returns "-option value" pairs as a dictionary. Options in `lists` may be repeated: their values
# form a list.
proc _ringside_options {sub allowed words {lists {}}} {
	set found [dict create]
	if {[llength $words] % 2} {
		set last [lindex $words end]
		if {$last in $allowed || $last in $lists} {
			_ringside_fail "ringside $sub" "the value of $last is missing" "see ringside help $sub"
		}
		_ringside_fail "ringside $sub" "\"$last\" is not expected" "see ringside help $sub"
	}
	foreach {option value} $words {
		if {$option in $lists} {
			dict lappend found $option $value
		} elseif {$option in $allowed} {
			dict set found $option $value
		} else {
			_ringside_fail "ringside $sub" "unknown option \"$option\"" "see ringside help $sub"
		}
	}
	return $found
}

# Returns the value of an option, or a default.
proc _ringside_option {options name default} {
	if {[dict exists $options $name]} {
		return [dict get $options $name]
	}
	return $default
}

# Returns the targets that have a ring, in the order of their "ringside init".
proc _ringside_targets {} {
	global _ringside_initialized
	if {![info exists _ringside_initialized]} {
		set _ringside_initialized {}
	}
	return $_ringside_initialized
}

# Removes "-target T" from the arguments, and returns T. Without it, returns the only target that
# has a ring, or else the current target.
proc _ringside_take_target {sub words_name} {
	upvar 1 $words_name words
	set known [_ringside_targets]
	set at [lsearch -exact $words -target]
	if {$at >= 0} {
		if {$at + 1 >= [llength $words]} {
			_ringside_fail "ringside $sub" "the value of -target is missing"
		}
		set T [lindex $words [expr {$at + 1}]]
		set words [lreplace $words $at [expr {$at + 1}]]
	} elseif {[llength $known] == 1} {
		set T [lindex $known 0]
	} else {
		set T ""
		catch {set T [target current]}
	}
	if {$T ni $known} {
		if {[llength $known] == 0} {
			_ringside_fail "ringside $sub" "no ring is known" \
				"run ringside init first (ringside openocd-config prints the line)"
		}
		_ringside_fail "ringside $sub" "target \"$T\" has no ring" "use -target with one of: $known"
	}
	return $T
}

# Returns a number with a noun, in the plural unless the number is 1.
proc _ringside_count {number noun} {
	return "$number $noun[expr {$number == 1 ? "" : "s"}]"
}

# ---- Target memory ----

# Returns a list of 32-bit words in the host's byte order. OpenOCD 0.11 has no read_memory.
proc _ringside_block {T address count} {
	if {[llength [info commands "$T read_memory"]]} {
		return [$T read_memory $address 32 $count]
	}
	$T mem2array block 32 $address $count
	set words {}
	for {set i 0} {$i < $count} {incr i} {
		lappend words $block($i)
	}
	return $words
}

# Returns the way out when memory of a target cannot be read.
proc _ringside_unreadable_hint {T} {
	set hint "check the address, and that the target is powered, connected and examined"
	if {[$T cget -type] eq "riscv" && [_ringside_state $T] ne "halted"} {
		return "use \"riscv set_mem_access sysbus\", or halt the core: RISC-V that runs may not be\
			readable otherwise; $hint"
	}
	return $hint
}

# Returns `count` words from an address on. Counts reads, bytes and failures.
proc _ringside_read {T address count} {
	upvar #0 _ringside_ring_$T r
	set words {}
	while {$count > 0} {
		set part [expr {$count > 16384 ? 16384 : $count}]
		incr r(reads)
		if {[catch {_ringside_block $T $address $part} got] || [llength $got] != $part} {
			incr r(failed)
			_ringside_fail "target $T" \
				[format "%d bytes at 0x%x could not be read" [expr {4 * $part}] $address] \
				[_ringside_unreadable_hint $T]
		}
		incr r(bytes) [expr {4 * $part}]
		incr address [expr {4 * $part}]
		incr count -$part
		if {$count == 0 && ![llength $words]} {
			return $got
		}
		lappend words {*}$got
	}
	return $words
}

# Runs a script while T is the current target, for commands that work on the current target only.
proc _ringside_on {T script} {
	set before [target current]
	targets $T
	set code [catch {uplevel 1 $script} result]
	targets $before
	if {$code != 0} {
		return -code error $result
	}
	return $result
}

# Returns the state of a target. Until OpenOCD polls it for the first time, it may be unknown.
proc _ringside_state {T} {
	if {[$T curstate] eq "unknown"} {
		catch {$T arp_poll}
	}
	return [$T curstate]
}

proc _ringside_is_halted {T} {
	# The state of a mem_ap does not show whether the cores that use the memory are halted.
	return [expr {[$T cget -type] ne "mem_ap" && [_ringside_state $T] eq "halted"}]
}

# Returns the i-th target word (ULONG) of a list of 32-bit words, `ws` of which make one.
proc _ringside_ulong {words i ws be} {
	if {$ws == 1} {
		return [expr {[lindex $words $i] + 0}]
	}
	set first [lindex $words [expr {2 * $i}]]
	set second [lindex $words [expr {2 * $i + 1}]]
	return [expr {$be ? $first << 32 | $second : $second << 32 | $first}]
}

# Returns the bytes of words in the byte order of target memory.
proc _ringside_bytes {words be} {
	set bytes ""
	set at 0
	set kind [expr {$be ? "-intbe" : "-intle"}]
	foreach word $words {
		pack bytes $word $kind 32 $at
		incr at 32
	}
	return $bytes
}

# ---- Files ----

# Creates a directory if it does not exist, and checks it.
proc _ringside_make_directory {directory} {
	if {![file isdirectory $directory] && [catch {file mkdir $directory} why]} {
		_ringside_fail $directory "cannot be created: $why" \
			"use a writable directory"
	}
	_ringside_check_directory $directory
}

# Checks a directory before the first file is created in it. Otherwise an error would occur much
# later, and OpenOCD would state its reason only in its log.
proc _ringside_check_directory {directory} {
	if {![file exists $directory]} {
		_ringside_fail $directory "no such directory" "create it, or use another"
	}
	if {![file isdirectory $directory]} {
		_ringside_fail $directory "not a directory" "use another path"
	}
	if {![file writable $directory]} {
		_ringside_fail $directory "not writable" "use another directory"
	}
}

# Returns the file type at a path ("link" for a link), or an empty string if nothing exists.
proc _ringside_kind {path} {
	if {[catch {file type $path} kind]} {
		return ""
	}
	return $kind
}

# Fails if the path exists and is not a regular file, so that nothing else is replaced or written
# to.
proc _ringside_check_file {path} {
	set kind [_ringside_kind $path]
	if {$kind ni {"" file}} {
		_ringside_fail $path "is a $kind" "use a regular file or a new name"
	}
}

# Returns the file that a link points to, or a broken link itself.
proc _ringside_follow {path} {
	if {![file exists $path]} {
		return $path
	}
	while {[_ringside_kind $path] eq "link"} {
		set path [file join [file dirname $path] [file readlink $path]]
	}
	return $path
}

# Makes a write beyond the file size limit fail. By default, it would end OpenOCD.
proc _ringside_quiet_limits {} {
	catch {signal ignore SIGXFSZ}
}

# ---- Repeated work ----

# Starts a timer that does not drift. `kind` is p or rec, and r(KIND,every) is its period in ms. The
# timer is armed again before the work runs, so that an error in the work does not stop the timer.
proc _ringside_arm {T kind work} {
	upvar #0 _ringside_ring_$T r
	set r($kind,due) [clock milliseconds]
	set r($kind,late) 0
	set r($kind,timer) [after 1 [list _ringside_tick $T $kind $work]]
}

# Runs the work of a timer, and arms the timer again.
proc _ringside_tick {T kind work} {
	upvar #0 _ringside_ring_$T r
	set now [clock milliseconds]
	_ringside_watch_timer $T $kind [expr {$now - $r($kind,due)}]
	incr r($kind,due) $r($kind,every)
	# If the clock was set back, the timer must not stop. If the clock jumped ahead, the timer must
	# not run in a burst.
	if {$r($kind,due) <= $now || $r($kind,due) > $now + 2 * $r($kind,every)} {
		set r($kind,due) [expr {$now + 1}]
	}
	set r($kind,timer) [after [expr {$r($kind,due) - $now}] [list _ringside_tick $T $kind $work]]
	$work $T
}

# Warns once if timers are late. OpenOCD runs timers when it polls targets, by default every 100 ms.
proc _ringside_watch_timer {T kind late} {
	upvar #0 _ringside_ring_$T r
	if {$late < 20 || $late < $r($kind,every) / 4} {
		return
	}
	incr r($kind,late)
	if {$r($kind,late) == 8} {
		echo "ringside: timers: $late ms late; use `poll_period 10` to make OpenOCD run them\
			more often"
	}
}

# Stops a timer.
proc _ringside_disarm {T kind} {
	upvar #0 _ringside_ring_$T r
	catch {after cancel $r($kind,timer)}
}

# Adds a script to an event of the target, after the scripts that the event already has.
proc _ringside_hook {T event script} {
	set before [$T cget -event $event]
	$T configure -event $event "$before\n$script"
}

# Removes a script from an event of the target.
proc _ringside_unhook {T event script} {
	set body [$T cget -event $event]
	# OpenOCD ignores an empty body.
	$T configure -event $event "[string map [list "\n$script" ""] $body] "
}

# Counts an error of a repeated action. Prints it only once, until the action succeeds or the
# message changes.
proc _ringside_complain {T action message} {
	upvar #0 _ringside_ring_$T r
	set name error,$action
	set times [expr {[info exists r($name)] ? [lindex $r($name) 0] + 1 : 1}]
	if {![info exists r(said,$action)] || $r(said,$action) ne $message} {
		echo "ringside $action: $message"
	}
	set r(said,$action) $message
	set r($name) [list $times $message]
}

# Notes that a repeated action has succeeded. Prints this if the action had failed before.
proc _ringside_succeeded {T action} {
	upvar #0 _ringside_ring_$T r
	if {[info exists r(said,$action)]} {
		echo "ringside $action: continues"
		unset r(said,$action)
	}
}
