# SPDX-License-Identifier: MIT
#
# Ringside: what all subcommands share, for ringside.tcl.
#
# Description:
#	Arguments and targets of a subcommand; reading target memory; files; work that a timer or an
#	event of the target starts, and its errors.

# ---- What a subcommand is called with ----

# Raises an error in the caller.
proc _ringside_fail {what why {hint ""}} {
	set text "$what: $why"
	if {$hint ne ""} {
		append text "; $hint"
	}
	return -code error $text
}

# A number in [low, high]; decimal or 0x.
proc _ringside_number {what text {low 0} {high 0x7fffffffffffffff}} {
	if {![regexp {^(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,18})$} $text]} {
		_ringside_fail $what "\"$text\" is no number" "write it in decimal or as 0x..."
	}
	# Leading zeros are no sign of base 8 here.
	regsub {^0+([0-9])} $text {\1} text
	set value [expr {$text + 0}]
	if {$value < $low || $value > $high} {
		_ringside_fail $what "$text is not allowed" "write a number from $low to $high"
	}
	return $value
}

# A number of bytes: N, Nk, NM, NG.
proc _ringside_size {what text} {
	if {![regexp {^([0-9]{1,12})([kKmMgG]?)$} $text -> number unit]} {
		_ringside_fail $what "\"$text\" is no size" "write bytes, or a number with k, M or G"
	}
	regsub {^0+([0-9])} $number {\1} number
	return [expr {$number << [dict get {"" 0 k 10 m 20 g 30} [string tolower $unit]]}]
}

# The expressions of Jim Tcl have neither.
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

# "-option value" pairs as a dictionary; those that may stand more than once give a list.
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
			_ringside_fail "ringside $sub" "there is no option \"$option\"" "see ringside help $sub"
		}
	}
	return $found
}

proc _ringside_option {options name default} {
	if {[dict exists $options $name]} {
		return [dict get $options $name]
	}
	return $default
}

# Targets that have a ring, in the order of "ringside init".
proc _ringside_targets {} {
	global _ringside_initialized
	if {![info exists _ringside_initialized]} {
		set _ringside_initialized {}
	}
	return $_ringside_initialized
}

# Takes "-target T" out of the arguments; without it the only ring, or the current target's.
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
				"say where it is: ringside init (as ringside openocd-config prints it)"
		}
		_ringside_fail "ringside $sub" "target \"$T\" has no ring" "name one with -target: $known"
	}
	return $T
}

proc _ringside_count {number noun} {
	return "$number $noun[expr {$number == 1 ? "" : "s"}]"
}

# ---- Target memory ----

# 32-bit words in the host's order, as a list. OpenOCD 0.11 has no read_memory.
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
				"is it powered, connected and examined, and is the address right?"
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

# Runs a script while T is the current target: some commands know no other way.
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

proc _ringside_is_halted {T} {
	# "halt" of a mem_ap says nothing about the processors behind it.
	return [expr {[$T cget -type] ne "mem_ap" && [$T curstate] eq "halted"}]
}

# The i-th target word (ULONG) of a list of 32-bit words: `ws` of them make one.
proc _ringside_ulong {words i ws be} {
	if {$ws == 1} {
		return [expr {[lindex $words $i] + 0}]
	}
	set first [lindex $words [expr {2 * $i}]]
	set second [lindex $words [expr {2 * $i + 1}]]
	return [expr {$be ? $first << 32 | $second : $second << 32 | $first}]
}

# The bytes of words as they lie in target memory.
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

proc _ringside_make_folder {directory} {
	if {![file isdirectory $directory] && [catch {file mkdir $directory} why]} {
		_ringside_fail $directory "it cannot be made: $why" \
			"name a directory that can be written to"
	}
	_ringside_check_folder $directory
}

# What cannot be made in a folder fails much later, and OpenOCD says why in its log only.
proc _ringside_check_folder {directory} {
	if {![file exists $directory]} {
		_ringside_fail $directory "there is no such directory" "make it, or name another"
	}
	if {![file isdirectory $directory]} {
		_ringside_fail $directory "it is no directory" "name another place"
	}
	if {![file writable $directory]} {
		_ringside_fail $directory "it is not writable" "name another directory"
	}
}

# The kind of what lies at a path, of a link itself; empty when nothing does.
proc _ringside_kind {path} {
	if {[catch {file type $path} kind]} {
		return ""
	}
	return $kind
}

# Fails for what is there and is no regular file: it would be replaced, or written to.
proc _ringside_check_file {path} {
	set kind [_ringside_kind $path]
	if {$kind ni {"" file}} {
		_ringside_fail $path "it is a $kind" "name a file, or one that does not exist yet"
	}
}

# The file that links lead to. One that leads nowhere stands for itself.
proc _ringside_follow {path} {
	if {![file exists $path]} {
		return $path
	}
	while {[_ringside_kind $path] eq "link"} {
		set path [file join [file dirname $path] [file readlink $path]]
	}
	return $path
}

# A write behind the limit of file sizes fails, where it would end OpenOCD.
proc _ringside_quiet_limits {} {
	catch {signal ignore SIGXFSZ}
}

# ---- Work that is repeated ----

# A timer that does not drift: `kind` is p or rec, r(KIND,every) its period in ms. It is armed again
# before the work, so that no error ends it.
proc _ringside_arm {T kind work} {
	upvar #0 _ringside_ring_$T r
	set r($kind,due) [clock milliseconds]
	set r($kind,late) 0
	set r($kind,timer) [after 1 [list _ringside_tick $T $kind $work]]
}

proc _ringside_tick {T kind work} {
	upvar #0 _ringside_ring_$T r
	set now [clock milliseconds]
	_ringside_watch_timer $T $kind [expr {$now - $r($kind,due)}]
	incr r($kind,due) $r($kind,every)
	# A clock that was set back must not stop the timer, nor one that jumped make it run at once.
	if {$r($kind,due) <= $now || $r($kind,due) > $now + 2 * $r($kind,every)} {
		set r($kind,due) [expr {$now + 1}]
	}
	set r($kind,timer) [after [expr {$r($kind,due) - $now}] [list _ringside_tick $T $kind $work]]
	$work $T
}

# OpenOCD looks at timers as often as it polls targets: 100 ms if nobody said otherwise.
proc _ringside_watch_timer {T kind late} {
	upvar #0 _ringside_ring_$T r
	if {$late < 20 || $late < $r($kind,every) / 4} {
		return
	}
	incr r($kind,late)
	if {$r($kind,late) == 8} {
		echo "ringside: timers come late, by $late ms now;\
			`poll_period 10` makes OpenOCD look more often"
	}
}

proc _ringside_disarm {T kind} {
	upvar #0 _ringside_ring_$T r
	catch {after cancel $r($kind,timer)}
}

# Runs a script of ours behind what others have put into an event of the target.
proc _ringside_hook {T event script} {
	set before [$T cget -event $event]
	$T configure -event $event "$before\n$script"
}

proc _ringside_unhook {T event script} {
	set body [$T cget -event $event]
	# OpenOCD takes an empty body for none.
	$T configure -event $event "[string map [list "\n$script" ""] $body] "
}

# Says an error of a repeated action once, and counts it; again only after the action has succeeded.
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

proc _ringside_succeeded {T action} {
	upvar #0 _ringside_ring_$T r
	if {[info exists r(said,$action)]} {
		echo "ringside $action: goes on"
		unset r(said,$action)
	}
}
