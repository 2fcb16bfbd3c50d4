# SPDX-License-Identifier: MIT
#
# Ringside: the filter of the ThreadX event trace, for ringside.tcl.
#
# Description:
#	"ringside filter" shows and sets the filter word, which has one bit per class of events. For the
#	other formats, it calls ringside-rkh.tcl or ringside-posix.tcl.

set _ringside_classes {
	internal 0x1 block 0x2 byte 0x4 flags 0x8 interrupt 0x10 mutex 0x20 queue 0x40
	semaphore 0x80 thread 0x100 time 0x200 timer 0x400 file-internal 0x800 media 0x1000
	directory 0x2000 file 0x4000 net-internal 0x8000 arp 0x10000 icmp 0x20000 igmp 0x40000
	ip 0x80000 packet 0x100000 rarp 0x200000 tcp 0x400000 udp 0x800000 usb-error 0x1000000
	usb-host-stack 0x2000000 usb-device-stack 0x4000000 usb-host-controller 0x8000000
	usb-device-controller 0x10000000 usb-host-class 0x20000000 usb-device-class 0x40000000
	user 0x80000000
}
set _ringside_class_groups {
	none 0 threadx 0x7ff filex 0x7800 netx 0xff8000 usbx 0x7f000000 all 0xffffffff
}

# Returns the filter bits of class names, group names and numbers.
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
			_ringside_fail "ringside filter" "unknown class \"$word\"" \
				"use one of: [dict keys $known]"
		}
	}
	return $bits
}

# Returns a filter word as text.
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

# Returns the address of the 32 bits of the filter word, whatever the width of a ULONG.
proc _ringside_filter_address {T} {
	upvar #0 _ringside_ring_$T r
	if {$r(filter) eq ""} {
		_ringside_fail "ringside filter" "the address of the filter word is unknown" \
			"use ringside init -filter ADDRESS (_tx_trace_event_enable_bits)"
	}
	if {!$r(ready) && ![_ringside_locate $T]} {
		_ringside_fail "ringside filter" "the trace is not enabled yet" \
			"run the command again when it is; enabling sets all bits"
	}
	return [expr {$r(filter) + ($r(be) ? 4 * ($r(ws) - 1) : 0)}]
}

proc _ringside_filter_read {T} {
	return [expr {[_ringside_read $T [_ringside_filter_address $T] 1] + 0}]
}

proc _ringside_cmd_filter {args} {
	set T [_ringside_take_target filter args]
	upvar #0 _ringside_ring_$T r
	if {[info exists r(rkh)]} {
		return [_ringside_rkh_filter $T $args]
	}
	if {[info exists r(posix)]} {
		return [_ringside_posix_cmd_filter $T $args]
	}
	if {[info exists r(hook)]} {
		_ringside_fail "ringside filter" "not supported for hook words" \
			"use start and stop"
	}
	set words [lassign $args verb]
	if {$verb ni {"" show set add sub}} {
		_ringside_fail "ringside filter" "\"$verb\" is not expected" "use show, set, add or sub"
	}
	if {($verb in {"" show}) != ([llength $words] == 0)} {
		_ringside_fail "ringside filter $verb" \
			[expr {[llength $words] ? "takes no classes" : "classes missing"}] \
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
			"check that it is in RAM that the debugger may write"
	}
	_ringside_record_mark_filter $T $after
	return "before: [_ringside_filter_text $before]\nafter:  [_ringside_filter_text $after]"
}
