# SPDX-License-Identifier: MIT
#
# Ringside: the ThreadX trace ring in target memory, for ringside.tcl.
#
# Description:
#	Finds the ring, reads its header and the write position, and copies entries out of it. The
#	newest entries are verified with an anchor: an entry that is read before and after.
#
#	The array of a ring has the fields that ringside init sets: threadx, fixed, current, filter
#	(addresses or empty), pw (words of a pointer), word, ram, faults; ready (the header has been
#	read). Once the header has been read, it also has these: base (address of the header), be
#	(big-endian), ws (words of 32 bits in a ULONG), ew, eb (words and bytes of an entry), hw (words
#	of the header), n (number of entries), start, end (addresses of the entries), registry, rw
#	(address and words of the registry), slots (its slots), mask (valid bits of a timestamp), header
#	(its words), current_at (the slot to which the header's pointer points).
#
#	Sources: TraceX user guide, chapter 11 (layout); docs/formats/threadx.md of Ringside.

# Raises an error about a field of the header.
proc _ringside_bad_header {T base field value why} {
	_ringside_fail [format "trace header at 0x%x" $base] \
		[format "%s is 0x%x: %s" $field $value $why] \
		"check that the ELF is that of the firmware on target $T"
}

# Returns the width of a ULONG in 32-bit words, from the first twelve words of a header.
proc _ringside_ulong_width {T base words be} {
	upvar #0 _ringside_ring_$T r
	lassign $words id second self registry
	if {$id == 0 && $second == 0x54585442 && $be} {
		return 2
	}
	if {$id == 0x42545854} {
		_ringside_fail [format "trace header at 0x%x" $base] "wrong byte order" \
			"use target create ... -endian big|little for target $T"
	}
	if {$id != 0x54585442} {
		_ringside_bad_header $T $base id $id "must be 0x54585442"
	}
	if {$r(word) ne ""} {
		return [expr {$r(word) / 4}]
	}
	return [expr {$second == 0 && !$be && $registry - $self != 48 ? 2 : 1}]
}

# Returns the distance of a pointer from the base. It is correct even if pointers are truncated to
# 32 bits.
proc _ringside_distance {pointer base ws} {
	return [expr {$ws == 1 ? ($pointer - $base) & 0xffffffff : $pointer - $base}]
}

# Reads the header at an address, checks it, and sets the fields of the ring's array.
proc _ringside_read_header {T base} {
	upvar #0 _ringside_ring_$T r
	set be [expr {[$T cget -endian] eq "big"}]
	if {$base & 3} {
		_ringside_bad_header $T $base address $base "must be a multiple of 4"
	}
	set words [_ringside_read $T $base 12]
	set ws [_ringside_ulong_width $T $base $words $be]
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
		{$names >= 1 && $names <= 1024} registry "the size of a name must be from 1 to 1024"
		{$at(registry) == 48 * $ws} registry "the registry does not follow the header"
		{$at(rend) >= $at(registry)} rend "the registry ends before it begins"
		{($at(rend) - $at(registry)) % $slot == 0} rend "the registry holds no whole slots"
		{$at(estart) >= $at(rend)} estart "the entries overlap the registry"
		{$n >= 2} eend "no space for entries"
		{$at(eend) <= 0x10000000} eend "the ring would be larger than 256 MiB"
		{($at(estart) | $at(registry)) % 4 == 0} estart "must be a multiple of 4"
		{$at(current) >= $at(estart) && $at(current) < $at(estart) + $n * $eb} current
			"outside the entries"
		{($at(current) - $at(estart)) % $eb == 0} current "inside an entry"
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

# Returns whether "ringside init" has named a ring. The other formats have no such field.
proc _ringside_has_ring {T} {
	upvar #0 _ringside_ring_$T r
	return [expr {![info exists r(threadx)] || $r(threadx) ne "" || $r(fixed) ne ""}]
}

# Finds the ring and reads its header. Returns 0 if the trace has not been enabled yet.
proc _ringside_locate {T} {
	upvar #0 _ringside_ring_$T r
	if {![_ringside_has_ring $T]} {
		_ringside_fail "target $T" "ringside init has named no ring, only RAM" \
			"use ringside crash or ringside autocrash, or firmware with a trace"
	}
	set r(ready) 0
	set base $r(fixed)
	if {$base eq ""} {
		set base [_ringside_ulong [_ringside_read $T $r(threadx) $r(pw)] 0 $r(pw) \
			[expr {[$T cget -endian] eq "big"}]]
		if {$base == 0} {
			return 0
		}
	}
	_ringside_read_header $T $base
	return 1
}

# Returns the slot that is written next; -1: tracing is off; -2: the pointer is outside this ring.
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

# Returns `count` entries from slot `first` on, as words. Needs two reads if they wrap.
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

# Returns the first half of an entry: thread, priority, id, timestamp. It never changes once
# written.
proc _ringside_first_half {T slot} {
	upvar #0 _ringside_ring_$T r
	set slot [expr {($slot + $r(n)) % $r(n)}]
	return [_ringside_read $T [expr {$r(start) + $slot * $r(eb)}] [expr {4 * $r(ws)}]]
}

# Returns the newest entries, at most `count`, that were verifiably not overwritten while they were
# read: {slot of the pointer, number, words}. The anchor is the entry before the pointer, which the
# writer reaches last. While it is unchanged, only entries between two readings of the pointer have
# changed.
proc _ringside_newest {T count} {
	upvar #0 _ringside_ring_$T r
	set from [_ringside_pointer $T]
	if {$from < 0} {
		return [list $from 0 {}]
	}
	set count [expr {$count < $r(n) - 1 ? $count : $r(n) - 1}]
	set anchor [_ringside_first_half $T [expr {$from - 1}]]
	set words [_ringside_entries $T [expr {$from - $count}] $count]
	set to [_ringside_pointer $T]
	set safe [expr {$to < 0 ? 0 : $r(n) - 1 - ($to - $from + $r(n)) % $r(n)}]
	if {[_ringside_first_half $T [expr {$from - 1}]] ne $anchor} {
		set safe 0
	}
	if {$safe >= $count} {
		return [list $from $count $words]
	}
	return [list $from $safe [lrange $words [expr {($count - $safe) * $r(ew)}] end]]
}

# Returns the timestamp of the i-th entry.
proc _ringside_stamp {T words i} {
	upvar #0 _ringside_ring_$T r
	return [_ringside_ulong $words [expr {8 * $i + 3}] $r(ws) $r(be)]
}

# Returns whether the ring has wrapped: the slot after the pointer has been written. The slot at the
# pointer itself may be half-written in a ring that has not wrapped.
proc _ringside_is_wrapped {T slot} {
	upvar #0 _ringside_ring_$T r
	if {$slot + 1 >= $r(n)} {
		return 0
	}
	set address [expr {$r(start) + ($slot + 1) * $r(eb)}]
	return [expr {[_ringside_ulong [_ringside_read $T $address $r(ws)] 0 $r(ws) $r(be)] != 0}]
}
