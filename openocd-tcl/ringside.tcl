# SPDX-License-Identifier: MIT
#
# Ringside: trace rings of real-time systems, read while the target runs.
#
# Description:
#	Adds the command "ringside" to OpenOCD (0.12; 0.11 as far as it goes). It copies the trace
#	ring of the ThreadX event trace out of target memory, once, periodically or continuously,
#	without halting the target. What it writes, the program "ringside" reads.
#	Nothing is written to the target but by "ringside filter set|add|sub".
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
#	_ringside_ring_TARGET. The other files of this folder hold the recording and the crash dumps.

set _ringside_version 0.1.0
set _ringside_folder [file dirname [info script]]
source [file join $_ringside_folder ringside-log.tcl]
source [file join $_ringside_folder ringside-record.tcl]
source [file join $_ringside_folder ringside-crash.tcl]

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

# ---- The ring ----
#
# Sources: TraceX user guide, chapter 11 (layout); docs/formats/threadx.md of Ringside.
# Fields of the array: threadx, fixed, current, filter (addresses or empty), pw (words of a pointer),
# word, ram, faults: as ringside init said. ready: the header has been read; then base, be, ws (words
# of 32 bits in a ULONG), ew, eb (words and bytes of an entry), hw (words of the header), n (entries),
# start, end (their addresses), registry, rw (its address and words), mask, header (its words).

proc _ringside_bad_header {T base field value why} {
	_ringside_fail [format "trace header at 0x%x" $base] [format "%s is 0x%x: %s" $field $value $why] \
		"is the ELF that of the firmware on target $T?"
}

# The width of a ULONG in 32-bit words, from a header's first twelve.
proc _ringside_sniff {T base words be} {
	upvar #0 _ringside_ring_$T r
	lassign $words id second self registry
	if {$id == 0 && $second == 0x54585442 && $be} {
		return 2
	}
	if {$id == 0x42545854} {
		_ringside_fail [format "trace header at 0x%x" $base] "its bytes are in the other order" \
			"set the byte order of target $T: target create ... -endian big|little"
	}
	if {$id != 0x54585442} {
		_ringside_bad_header $T $base id $id "it must be 0x54585442"
	}
	if {$r(word) ne ""} {
		return [expr {$r(word) / 4}]
	}
	return [expr {$second == 0 && !$be && $registry - $self != 48 ? 2 : 1}]
}

# Distances from the ring's base hold wherever pointers are cut to their lower halves.
proc _ringside_distance {pointer base ws} {
	return [expr {$ws == 1 ? ($pointer - $base) & 0xffffffff : $pointer - $base}]
}

proc _ringside_lay_out {T base} {
	upvar #0 _ringside_ring_$T r
	set be [expr {[$T cget -endian] eq "big"}]
	if {$base & 3} {
		_ringside_bad_header $T $base address $base "it must be a multiple of 4"
	}
	set words [_ringside_read $T $base 12]
	set ws [_ringside_sniff $T $base $words $be]
	if {$ws == 2} {
		lappend words {*}[_ringside_read $T [expr {$base + 48}] 12]
	}
	set names [lindex $words [expr {4 * $ws}]]
	set names [expr {$be ? $names & 0xffff : $names >> 16}]
	set i 0
	foreach field {id mask self registry names_ rend estart eend current} {
		set h($field) [_ringside_ulong $words $i $ws $be]
		incr i
	}
	foreach field {registry rend estart eend current} {
		set at($field) [_ringside_distance $h($field) $h(self) $ws]
	}
	set eb [expr {32 * $ws}]
	set slot [expr {16 * $ws + $names}]
	set n [expr {($at(eend) - $at(estart)) / $eb}]
	foreach {holds field why} {
		{$names >= 1 && $names <= 1024} registry "the size of a name is not from 1 to 1024"
		{$at(registry) == 48 * $ws} registry "the registry does not follow the header"
		{$at(rend) >= $at(registry)} rend "the registry ends before it begins"
		{($at(rend) - $at(registry)) % $slot == 0} rend "the registry holds no whole slots"
		{$at(estart) >= $at(rend)} estart "the entries lie in the registry"
		{$n >= 2} eend "there is no room for entries"
		{$at(eend) <= 0x10000000} eend "the ring would be larger than 256 MiB"
		{($at(estart) | $at(registry)) % 4 == 0} estart "it is not a multiple of 4"
		{$at(current) >= $at(estart) && $at(current) < $at(estart) + $n * $eb} current
			"it lies outside of the entries"
		{($at(current) - $at(estart)) % $eb == 0} current "it lies in the middle of an entry"
	} {
		if {![expr $holds]} {
			_ringside_bad_header $T $base $field $h($field) $why
		}
	}
	set r(base) $base
	set r(be) $be
	set r(ws) $ws
	set r(ew) [expr {8 * $ws}]
	set r(eb) $eb
	set r(hw) [expr {12 * $ws}]
	set r(n) $n
	set r(start) [expr {$base + $at(estart)}]
	set r(end) [expr {$r(start) + $n * $eb}]
	set r(registry) [expr {$base + $at(registry)}]
	set r(rw) [expr {($at(rend) - $at(registry)) / 4}]
	set r(slots) [expr {($at(rend) - $at(registry)) / $slot}]
	set r(mask) [expr {$h(mask) ? $h(mask) : $ws == 1 ? 0xffffffff : -1}]
	set r(header) $words
	set r(current_at) [expr {($at(current) - $at(estart)) / $eb}]
	set r(ready) 1
}

# Reads where the ring is. 0: the trace was never enabled, or the target has not come so far.
proc _ringside_locate {T} {
	upvar #0 _ringside_ring_$T r
	set r(ready) 0
	set base $r(fixed)
	if {$base eq ""} {
		set base [_ringside_ulong [_ringside_read $T $r(threadx) $r(pw)] 0 $r(pw) \
			[expr {[$T cget -endian] eq "big"}]]
		if {$base == 0} {
			return 0
		}
	}
	_ringside_lay_out $T $base
	return 1
}

# The slot that is written next; -1: tracing is off; -2: the pointer is not this ring's.
proc _ringside_pointer {T} {
	upvar #0 _ringside_ring_$T r
	if {$r(current) ne ""} {
		set pointer [_ringside_ulong [_ringside_read $T $r(current) $r(pw)] 0 $r(pw) $r(be)]
		if {$pointer == 0} {
			return -1
		}
		set offset [expr {$pointer - $r(start)}]
	} else {
		set at [expr {$r(base) + 32 * $r(ws)}]
		set pointer [_ringside_ulong [_ringside_read $T $at $r(ws)] 0 $r(ws) $r(be)]
		set self [_ringside_ulong $r(header) 2 $r(ws) $r(be)]
		set offset [expr {[_ringside_distance $pointer $self $r(ws)] + $r(base) - $r(start)}]
	}
	if {$offset < 0 || $offset >= $r(n) * $r(eb) || $offset % $r(eb)} {
		return -2
	}
	return [expr {$offset / $r(eb)}]
}

# `count` entries from slot `first` on, as words; two reads where the ring ends between.
proc _ringside_entries {T first count} {
	upvar #0 _ringside_ring_$T r
	set first [expr {($first % $r(n) + $r(n)) % $r(n)}]
	set whole [expr {$first + $count > $r(n) ? $r(n) - $first : $count}]
	set words [_ringside_read $T [expr {$r(start) + $first * $r(eb)}] [expr {$whole * $r(ew)}]]
	if {$whole < $count} {
		lappend words {*}[_ringside_read $T $r(start) [expr {($count - $whole) * $r(ew)}]]
	}
	return $words
}

# The first half of an entry, which never changes once it is written: thread, priority, id, stamp.
proc _ringside_half {T slot} {
	upvar #0 _ringside_ring_$T r
	set slot [expr {($slot + $r(n)) % $r(n)}]
	return [_ringside_read $T [expr {$r(start) + $slot * $r(eb)}] [expr {4 * $r(ws)}]]
}

# The newest entries, at most `count`, of which it is proven that none was written over while they
# were read: {slot of the pointer, number, their words}. The entry in front of the pointer is the
# last that the writer reaches: while that one stays, only what lies between two readings of the
# pointer has changed. With "tracing is off" the pointer of the header stands in.
proc _ringside_newest {T count} {
	upvar #0 _ringside_ring_$T r
	set from [_ringside_pointer $T]
	if {$from < 0} {
		return [list $from 0 {}]
	}
	set count [expr {$count < $r(n) - 1 ? $count : $r(n) - 1}]
	set witness [_ringside_half $T [expr {$from - 1}]]
	set words [_ringside_entries $T [expr {$from - $count}] $count]
	set to [_ringside_pointer $T]
	set safe [expr {$to < 0 ? 0 : $r(n) - 1 - ($to - $from + $r(n)) % $r(n)}]
	if {[_ringside_half $T [expr {$from - 1}]] ne $witness} {
		set safe 0
	}
	if {$safe >= $count} {
		return [list $from $count $words]
	}
	return [list $from $safe [lrange $words [expr {($count - $safe) * $r(ew)}] end]]
}

proc _ringside_stamp {T words i} {
	upvar #0 _ringside_ring_$T r
	return [_ringside_ulong $words [expr {8 * $i + 3}] $r(ws) $r(be)]
}

# Whether the writer has come round: slots behind its place have been written. The slot at the
# pointer itself may be patched or half-written before.
proc _ringside_is_wrapped {T slot} {
	upvar #0 _ringside_ring_$T r
	if {$slot + 1 >= $r(n)} {
		return 0
	}
	set address [expr {$r(start) + ($slot + 1) * $r(eb)}]
	return [expr {[_ringside_ulong [_ringside_read $T $address $r(ws)] 0 $r(ws) $r(be)] != 0}]
}

# ---- init, info, status ----

proc _ringside_cmd_init {args} {
	global _ringside_initialized
	set options [_ringside_options init \
		{-target -threadx -header -current -filter -pointer -word} $args {-ram -fault}]
	if {[dict exists $options -target]} {
		set T [dict get $options -target]
	} elseif {[catch {target current} T]} {
		_ringside_fail "ringside init" "no target is configured" "put it behind the target's file"
	}
	if {$T ni [target names]} {
		_ringside_fail "ringside init" "there is no target \"$T\"" "these are: [target names]"
	}
	if {[dict exists $options -threadx] == [dict exists $options -header]} {
		_ringside_fail "ringside init" "one of -threadx and -header must be given" \
			"ringside openocd-config --elf FW.elf prints the line"
	}
	set new [dict create reads 0 bytes 0 failed 0 ready 0]
	foreach {option field} {-threadx threadx -header fixed -current current -filter filter} {
		set value [_ringside_option $options $option ""]
		dict set new $field [expr {$value eq "" ? "" : [_ringside_number $option $value]}]
	}
	dict set new pw [expr {[_ringside_number -pointer [_ringside_option $options -pointer 4] 4 8] / 4}]
	set word [_ringside_option $options -word ""]
	if {$word ni {"" 4 8}} {
		_ringside_fail -word "\"$word\" is not allowed" "a ULONG has 4 or 8 bytes"
	}
	dict set new word $word
	foreach {option field} {-ram ram -fault faults} {
		dict set new $field {}
		foreach span [_ringside_option $options $option {}] {
			dict lappend new $field [_ringside_span $option $span]
		}
	}
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

proc _ringside_count {number noun} {
	return "$number $noun[expr {$number == 1 ? "" : "s"}]"
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

# ---- The target's own filter ----

set _ringside_classes {
	internal 0x1 block 0x2 byte 0x4 flags 0x8 interrupt 0x10 mutex 0x20 queue 0x40 semaphore 0x80
	thread 0x100 time 0x200 timer 0x400 file-internal 0x800 media 0x1000 directory 0x2000 file 0x4000
	net-internal 0x8000 arp 0x10000 icmp 0x20000 igmp 0x40000 ip 0x80000 packet 0x100000
	rarp 0x200000 tcp 0x400000 udp 0x800000 usb-error 0x1000000 usb-host-stack 0x2000000
	usb-device-stack 0x4000000 usb-host-controller 0x8000000 usb-device-controller 0x10000000
	usb-host-class 0x20000000 usb-device-class 0x40000000 user 0x80000000
}
set _ringside_class_groups {
	none 0 threadx 0x7ff filex 0x7800 netx 0xff8000 usbx 0x7f000000 all 0xffffffff
}

proc _ringside_filter_bits {words} {
	global _ringside_classes _ringside_class_groups
	set known [concat $_ringside_classes $_ringside_class_groups]
	set bits 0
	foreach word $words {
		if {[dict exists $known $word]} {
			set bits [expr {$bits | [dict get $known $word]}]
		} elseif {[regexp {^[0-9]} $word]} {
			set bits [expr {$bits | [_ringside_number filter $word 0 0xffffffff]}]
		} else {
			_ringside_fail "ringside filter" "there is no class \"$word\"" "these are: [dict keys $known]"
		}
	}
	return $bits
}

proc _ringside_filter_text {bits} {
	global _ringside_classes
	set off {}
	foreach {name bit} $_ringside_classes {
		if {!($bits & $bit)} {
			lappend off $name
		}
	}
	set names "all classes are recorded"
	if {$bits == 0} {
		set names "nothing is recorded"
	} elseif {[llength $off]} {
		set names "not recorded: $off"
	}
	return "[format 0x%08x $bits] ($names)"
}

# The word holds 32 bits, whatever the width of a ULONG.
proc _ringside_filter_address {T} {
	upvar #0 _ringside_ring_$T r
	if {$r(filter) eq ""} {
		_ringside_fail "ringside filter" "the address of the filter word is not known" \
			"give ringside init -filter ADDRESS (_tx_trace_event_enable_bits)"
	}
	if {!$r(ready) && ![_ringside_locate $T]} {
		_ringside_fail "ringside filter" "the trace is not enabled yet" \
			"enabling it sets all bits; try again then"
	}
	return [expr {$r(filter) + ($r(be) ? 4 * ($r(ws) - 1) : 0)}]
}

proc _ringside_filter_read {T} {
	return [expr {[_ringside_read $T [_ringside_filter_address $T] 1] + 0}]
}

proc _ringside_cmd_filter {args} {
	set T [_ringside_take_target filter args]
	set words [lassign $args verb]
	if {$verb ni {"" show set add sub}} {
		_ringside_fail "ringside filter" "\"$verb\" is not expected" "write show, set, add or sub"
	}
	if {($verb in {"" show}) != ([llength $words] == 0)} {
		_ringside_fail "ringside filter $verb" \
			[expr {[llength $words] ? "it takes no classes" : "no classes are named"}] \
			"see ringside help filter"
	}
	set bits [_ringside_filter_bits $words]
	set before [_ringside_filter_read $T]
	switch -exact -- $verb {
		set {set after $bits}
		add {set after [expr {$before | $bits}]}
		sub {set after [expr {$before & ~$bits & 0xffffffff}]}
		default {return [_ringside_filter_text $before]}
	}
	if {[catch {$T mww [_ringside_filter_address $T] $after} why] ||
		[_ringside_filter_read $T] != $after} {
		_ringside_fail "ringside filter $verb" "the filter word could not be written" \
			"is it in RAM that the debugger may write?"
	}
	_ringside_record_filter $T $after
	return "before: [_ringside_filter_text $before]\nafter:  [_ringside_filter_text $after]"
}

# ---- Snapshots ----

# Writes words into the open dump, at an address of the ring.
proc _ringside_patch {T file address words} {
	upvar #0 _ringside_ring_$T r
	seek $file [expr {$address - $r(base)}]
	puts -nonewline $file [_ringside_bytes $words $r(be)]
}

# A target word as 32-bit words.
proc _ringside_split {T value} {
	upvar #0 _ringside_ring_$T r
	if {$r(ws) == 1} {
		return [list [expr {$value & 0xffffffff}]]
	}
	set low [expr {$value & 0xffffffff}]
	set high [expr {($value >> 32) & 0xffffffff}]
	return [expr {$r(be) ? [list $high $low] : [list $low $high]}]
}

# Entries that were written over while they were read get the context of initialization and the id
# of no event: whoever reads the dump takes them for invalid, and the ring's state stays.
proc _ringside_blank {T file first count} {
	upvar #0 _ringside_ring_$T r
	set thread [_ringside_split $T 0xf0f0f0f0]
	set id [_ringside_split $T 0xffffffff]
	for {set i 0} {$i < $count} {incr i} {
		set address [expr {$r(start) + ($first + $i) % $r(n) * $r(eb)}]
		_ringside_patch $T $file $address $thread
		_ringside_patch $T $file [expr {$address + 8 * $r(ws)}] $id
	}
}

proc _ringside_dump {T path address length} {
	upvar #0 _ringside_ring_$T r
	incr r(reads)
	if {[catch {_ringside_on $T {dump_image $path $address $length}} why]} {
		incr r(failed)
		set text [format "%d bytes at 0x%x could not be copied" $length $address]
		# OpenOCD says why in its log only.
		_ringside_fail $path $text "is the disk full, and does the target answer?"
	}
	if {![file exists $path] || [file size $path] != $length} {
		incr r(failed)
		_ringside_fail $path "it could not be written as a whole" "is the disk full?"
	}
	incr r(bytes) $length
}

# The header in the dump is the one that was read when the ring was found, but for its pointer.
proc _ringside_same_header {T file} {
	upvar #0 _ringside_ring_$T r
	set bytes [read $file [expr {4 * $r(hw)}]]
	set at [expr {8 * $r(ws)}]
	set known [_ringside_bytes $r(header) $r(be)]
	set tail [expr {4 * $at + 4 * $r(ws)}]
	return [expr {[string byterange $bytes 0 [expr {4 * $at - 1}]] eq
			[string byterange $known 0 [expr {4 * $at - 1}]] &&
		[string byterange $bytes $tail end] eq [string byterange $known $tail end]}]
}

# Copies the ring to `part`. Returns {slot of the pointer, entries that were written over}, or an
# empty list when what was read is not this ring any more.
proc _ringside_copy {T part} {
	upvar #0 _ringside_ring_$T r
	set halted [_ringside_is_halted $T]
	set from [_ringside_pointer $T]
	if {$from == -2} {
		return {}
	}
	set off [expr {$from == -1}]
	if {!$off && !$halted} {
		set witness [_ringside_half $T [expr {$from - 1}]]
	}
	_ringside_dump $T $part $r(base) [expr {$r(end) - $r(base)}]
	set file [open $part r+b]
	try {
		if {![_ringside_same_header $T $file]} {
			return {}
		}
		if {$off || $halted} {
			set to [expr {$off ? $r(current_at) : $from}]
			set lost 0
		} else {
			set to [_ringside_pointer $T]
			if {$to < 0} {
				return {}
			}
			set lost [expr {($to - $from + $r(n)) % $r(n)}]
			# Where hardly anything is left, the newest entries are had by reading less.
			if {[_ringside_half $T [expr {$from - 1}]] ne $witness || $lost > $r(n) * 3 / 4} {
				lassign [_ringside_newest_part $T $file] to lost
			} else {
				_ringside_blank $T $file $from $lost
			}
		}
		set self [_ringside_ulong $r(header) 2 $r(ws) $r(be)]
		set pointer [expr {$self + $r(start) - $r(base) + $to * $r(eb)}]
		_ringside_patch $T $file [expr {$r(base) + 32 * $r(ws)}] [_ringside_split $T $pointer]
		flush $file
	} finally {
		close $file
	}
	return [list $to $lost]
}

# The writer came round, or nearly: the newest entries are read again, as many as can be proven, and
# all others are blanked.
proc _ringside_newest_part {T file} {
	upvar #0 _ringside_ring_$T r
	set slot 0
	set count 0
	for {set try [expr {$r(n) / 2}]} {$try > 0 && $count == 0} {set try [expr {$try / 4}]} {
		lassign [_ringside_newest $T $try] slot count words
	}
	set slot [expr {$slot < 0 ? 0 : $slot}]
	_ringside_blank $T $file $slot [expr {$r(n) - $count}]
	for {set i 0} {$i < $count} {incr i} {
		set address [expr {$r(start) + ($slot - $count + $i + $r(n)) % $r(n) * $r(eb)}]
		_ringside_patch $T $file $address \
			[lrange $words [expr {$i * $r(ew)}] [expr {($i + 1) * $r(ew) - 1}]]
	}
	return [list $slot [expr {$r(n) - $count}]]
}

# Takes a snapshot: a whole file or none. Returns the number of entries that were written over
# meanwhile, or -1 when the trace is not enabled.
proc _ringside_take {T path} {
	upvar #0 _ringside_ring_$T r
	if {[file isdirectory $path]} {
		_ringside_fail $path "it is a directory" "name a file"
	}
	set part $path.part
	try {
		for {set try 0} {$try < 3} {incr try} {
			# A trace that was switched off may have been so by a reset: its header says.
			if {(!$r(ready) || [_ringside_pointer $T] < 0) && ![_ringside_locate $T]} {
				return -1
			}
			set done [_ringside_copy $T $part]
			if {[llength $done]} {
				file rename -force $part $path
				return [lindex $done 1]
			}
			set r(ready) 0
		}
	} finally {
		catch {file delete $part}
	}
	_ringside_fail "target $T" "the ring moved while it was copied" "is the target being reset?"
}

proc _ringside_cmd_snapshot {args} {
	set T [_ringside_take_target snapshot args]
	if {[llength $args] != 1} {
		_ringside_fail "ringside snapshot" "one file must be named" "see ringside help snapshot"
	}
	set path [lindex $args 0]
	upvar #0 _ringside_ring_$T r
	set lost [_ringside_take $T $path]
	if {$lost < 0} {
		_ringside_fail "ringside snapshot" "the trace is not enabled yet" "let the target run first"
	}
	set text "$path: $r(n) slots, [file size $path] bytes"
	if {$lost} {
		append text "; $lost were written over while they were read"
	}
	return $text
}

# ---- Periodic snapshots ----

proc _ringside_cmd_periodic {args} {
	set T [_ringside_take_target periodic args]
	set rest [lassign $args verb]
	switch -exact -- $verb {
		start {return [_ringside_periodic_start $T $rest]}
		stop {
			_ringside_options "periodic stop" {} $rest
			return [_ringside_periodic_stop $T]
		}
	}
	_ringside_fail "ringside periodic" "\"$verb\" is not expected" "write start or stop"
}

proc _ringside_snapshots {directory} {
	return [lsort [glob -nocomplain -directory $directory {snapshot-[0-9][0-9][0-9][0-9][0-9][0-9].trx}]]
}

proc _ringside_periodic_start {T words} {
	upvar #0 _ringside_ring_$T r
	set options [lassign $words every directory]
	if {[llength $words] < 2} {
		_ringside_fail "ringside periodic start" "MS and DIR must be given" "see ringside help periodic"
	}
	set options [_ringside_options "periodic start" -keep $options]
	set every [_ringside_number MS $every 1 86400000]
	set keep [_ringside_number -keep [_ringside_option $options -keep 0] 0 999999]
	if {[info exists r(periodic)]} {
		_ringside_fail "ringside periodic" "it runs already, to $r(periodic)" "ringside periodic stop ends it"
	}
	_ringside_make_folder $directory
	set last [lindex [_ringside_snapshots $directory] end]
	set number 0
	regexp {snapshot-0*([0-9]+)\.trx$} $last -> number
	set r(periodic) $directory
	set r(p,every) $every
	set r(p,keep) $keep
	set r(p,number) $number
	set r(p,taken) 0
	set r(p,failed) 0
	set r(p,waiting) 0
	_ringside_quiet_limits
	_ringside_arm $T p _ringside_periodic_poll
	return "a snapshot every $every ms to $directory, from number [expr {$number + 1}] on"
}

proc _ringside_make_folder {directory} {
	if {![file isdirectory $directory] && [catch {file mkdir $directory} why]} {
		_ringside_fail $directory "it cannot be made: $why" "name a directory that can be written to"
	}
	if {![file writable $directory]} {
		_ringside_fail $directory "it is not writable" "name another directory"
	}
}

# A write behind the limit of file sizes fails, where it would end OpenOCD.
proc _ringside_quiet_limits {} {
	catch {signal ignore SIGXFSZ}
}

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
		echo "ringside: timers come late, by $late ms now; `poll_period 10` makes OpenOCD look more often"
	}
}

proc _ringside_disarm {T kind} {
	upvar #0 _ringside_ring_$T r
	catch {after cancel $r($kind,timer)}
}

proc _ringside_periodic_poll {T} {
	upvar #0 _ringside_ring_$T r
	set path [file join $r(periodic) [format "snapshot-%06d.trx" [expr {$r(p,number) + 1}]]]
	if {[catch {_ringside_take $T $path} lost]} {
		incr r(p,failed)
		_ringside_complain $T periodic $lost
		return
	}
	if {$lost < 0} {
		incr r(p,waiting)
		return
	}
	incr r(p,number)
	incr r(p,taken)
	_ringside_succeeded $T periodic
	if {$r(p,keep)} {
		foreach old [lrange [_ringside_snapshots $r(periodic)] 0 end-$r(p,keep)] {
			catch {file delete $old}
		}
	}
}

proc _ringside_periodic_text {T} {
	upvar #0 _ringside_ring_$T r
	if {![info exists r(periodic)]} {
		return "off"
	}
	set text "every $r(p,every) ms to $r(periodic): $r(p,taken) taken, $r(p,failed) failed"
	if {$r(p,waiting)} {
		append text ", $r(p,waiting) times the trace was not enabled"
	}
	return $text
}

proc _ringside_periodic_end {T} {
	upvar #0 _ringside_ring_$T r
	_ringside_disarm $T p
	unset -nocomplain r(periodic) r(said,periodic)
}

proc _ringside_periodic_stop {T} {
	upvar #0 _ringside_ring_$T r
	if {![info exists r(periodic)]} {
		_ringside_fail "ringside periodic stop" "it does not run"
	}
	set text [_ringside_periodic_text $T]
	_ringside_periodic_end $T
	return $text
}

# ---- The command ----

set _ringside_help {
	init {{?-target T? -threadx ADDRESS ?-current A? ?-filter A? ?-pointer 4|8? ?-word 4|8? ?-ram A+N? ?-fault A+N?}
		"Says where the ring is; `ringside openocd-config --elf FW.elf` prints the line. Reads nothing yet."}
	info {{?-target T?} "Place, state and fill of the ring."}
	snapshot {{?-target T? FILE} "Copies the ring to FILE (.trx) while the target runs."}
	periodic {{?-target T? start MS DIR ?-keep N? | stop}
		"A snapshot every MS milliseconds to DIR; keeps the newest N."}
	record {{?-target T? start FILE ?-every MS? ?-policy loop|until_full|append? ?-size N? | stop}
		"Follows the ring into a log; only what is new is read."}
	status {{?-target T?} "What runs, what it brought, and what failed."}
	filter {{?-target T? ?show? | set|add|sub CLASS...}
		"What the target records: shows it, sets it, adds classes, takes classes away. Writes to the target."}
	crash {{?-target T? DIR} "Registers, RAM and ring to files in the new directory DIR."}
	autocrash {{?-target T? on DIR | off} "Does that by itself when the core halts in a fault handler."}
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

add_help_text ringside "Reads the trace ring of a running target; `ringside help` lists the subcommands."
add_usage_text ringside {init|info|snapshot|periodic|record|status|filter|crash|autocrash|help ?argument...?}
