# SPDX-License-Identifier: MIT
#
# Ringside: the trace ring in target memory, for ringside.tcl.
#
# Description:
#	Finds the ring, reads its header and the writer's pointer, and copies entries out of it.
#	The array of a ring has the fields that ringside init sets: threadx, fixed, current, filter
#	(addresses or empty), pw (words of a pointer), word, ram, faults; ready (the header has been
#	read); and from then on base, be, ws (words of 32 bits in a ULONG), ew, eb (words and bytes of
#	an entry), hw (words of the header), n (entries), start, end (their addresses), registry, rw
#	(its address and words), slots (its slots), mask, header (its words), current_at (the slot that
#	its pointer names).
#
#	Sources: TraceX user guide, chapter 11 (layout); docs/formats/threadx.md of Ringside.

proc _ringside_bad_header {T base field value why} {
	_ringside_fail [format "trace header at 0x%x" $base] \
		[format "%s is 0x%x: %s" $field $value $why] \
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

# Whether the writer has lapped the reader: slots after its place have been written. The slot at
# the pointer itself may be patched or half-written before.
proc _ringside_is_wrapped {T slot} {
	upvar #0 _ringside_ring_$T r
	if {$slot + 1 >= $r(n)} {
		return 0
	}
	set address [expr {$r(start) + ($slot + 1) * $r(eb)}]
	return [expr {[_ringside_ulong [_ringside_read $T $address $r(ws)] 0 $r(ws) $r(be)] != 0}]
}
