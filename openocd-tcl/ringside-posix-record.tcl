# SPDX-License-Identifier: MIT
#
# Ringside: recording of a stream of POSIX trace, for ringside.tcl.
#
# Description:
#	The oldest whole record begins at the tail, the next one will at the head, and the writer
#	moves the tail before it overwrites what lies behind it: so what was read between the last
#	place and the head is whole when the tail, read again, has not passed that place. A record that
#	is not finished is waited for, unless it holds up half of the ring.
#
#	The stream counts its records, each before the head passes it. Its count holds at a head when
#	two looks find both unchanged, and no record had been begun at that head in between. Without
#	that, the count at a head is known to lie between that of the look before it, less one, and
#	that of the look after it. A gap then states the least number that is missing. Once the count
#	holds again, a loss in earlier gaps makes up the difference.
#
#	Fields of the ring's array, while a log is written: block, at (addresses of the stream block
#	and of the ring), n (its words), era (the stream's generation), pos (of the next word to read),
#	least, most (records in front of it, as the stream counts them), told (the same, by what was had
#	and was stated as lost), based (told began at a count that held), owes (gaps since then stated
#	less than may be missing), refused (events that have been told), named (slots of names that the
#	log has), nameless (an event has a type without one), running, passing (the end: nothing is
#	waited for).
#
#	Sources: docs/formats/posix-ring.md and docs/formats/log.md of Ringside.

# Returns how far a position is after another; negative: before it.
proc _ringside_posix_apart {place from} {
	set apart [expr {($place - $from) & 0xffffffff}]
	return [expr {$apart < 0x80000000 ? $apart : $apart - 0x100000000}]
}

# Words of the record at the start of some; 0: none, or not all of it is there.
proc _ringside_posix_length {words at} {
	set first [lindex $words $at]
	set length [expr {$first >> 16 & 0xfff}]
	set last [expr {$at + $length - 1}]
	if {$length < 3 || $first >> 30 == 0 || $first >> 30 == 3 || $last >= [llength $words] ||
		[lindex $words $last] != (($first & 0x0fffffff) | 0xa0000000)} {
		return 0
	}
	return $length
}

# Whether a word that was read at a head shows that a record had been begun there.
proc _ringside_posix_is_begun {word head} {
	return [expr {$word >> 30 == 1 && ($word >> 16 & 0xfff) >= 3 && !(($word ^ $head) & 0xffff)}]
}

# Returns the number of records in words. Damage counts as one.
proc _ringside_posix_count {words} {
	set count 0
	for {set at 0} {$at < [llength $words]} {incr at $length} {
		set length [_ringside_posix_length $words $at]
		if {!$length} {
			set length [expr {[llength $words] - $at}]
		}
		incr count
	}
	return $count
}

# ---- polls ----

# A look at the stream. Its words are not read at one time: `before` is what the stream had counted
# before the head was read, `recorded` what it had behind that.
proc _ringside_posix_look {T} {
	upvar #0 _ringside_ring_$T r
	set before [lindex [_ringside_read $T [expr {$r(block) + 4 * 14}] 1] 0]
	set s [_ringside_posix_stream $T $r(block)]
	dict set s before $before
	return $s
}

proc _ringside_posix_poll {T} {
	upvar #0 _ringside_ring_$T r
	set r(rec,fill) 0
	if {$r(rec,state) ne "on"} {
		return [_ringside_posix_begin $T]
	}
	if {[catch {_ringside_posix_look $T} s]} {
		if {![string match "*no stream block*" $s]} {
			error $s
		}
		return [_ringside_record_reset $T "the target was reset: the stream is gone"]
	}
	set k [_ringside_posix_apart [dict get $s head] $r(pos)]
	if {[dict get $s generation] != $r(era) || $k < 0} {
		return [_ringside_record_reset $T "the target was reset, or the stream cleared"]
	}
	set r(rec,fill) $k
	set r(rec,most) [_ringside_max $r(rec,most) [_ringside_min $k $r(n)]]
	if {[dict get $s state] & 2} {
		_ringside_posix_state $T 1
	}
	if {$k} {
		_ringside_posix_new $T $s 0
	} else {
		_ringside_posix_settle_count $T $s
	}
	if {$r(rec,state) eq "on"} {
		_ringside_posix_poll_background $T $s
	}
}

proc _ringside_posix_state {T running} {
	upvar #0 _ringside_ring_$T r
	if {$r(running) != $running} {
		set r(running) $running
		_ringside_record_mark $T [expr {$running ? "ENABLED" : "DISABLED"}] ""
	}
}

# What the stream refused, names that came later, and that it has stopped.
proc _ringside_posix_poll_background {T s} {
	upvar #0 _ringside_ring_$T r
	set refused [expr {([dict get $s refused] - $r(refused)) & 0xffffffff}]
	if {$refused} {
		set r(refused) [dict get $s refused]
		_ringside_record_loss $T 5 $refused 0
	}
	if {$r(nameless) && [clock milliseconds] - $r(rec,objects) > 1000} {
		_ringside_posix_describe_names $T
	}
	if {!([dict get $s state] & 2) && $r(pos) == [dict get $s head]} {
		_ringside_posix_state $T 0
	}
}

# Waits for a stream, and takes what it holds.
proc _ringside_posix_begin {T} {
	upvar #0 _ringside_ring_$T r
	if {[catch {_ringside_posix_locate $T} why]} {
		if {![string match "*of a POSIX trace at*" $why]} {
			error $why
		}
		return
	}
	foreach {field value} [list block $block at [expr {$process + [dict get $s ring_at]}] \
			process $process n [dict get $s ring_words] era [dict get $s generation] \
			pos [dict get $s tail] refused [expr {$r(rec,resets) ? 0 : [dict get $s refused]}] \
			named 0 nameless 0 over 0 \
			held 0 unread 0 rec,restart 0 running [expr {[dict get $s state] >> 1 & 1}] \
			rec,state on] {
		set r($field) $value
	}
	_ringside_posix_describe $T [dict get $s layout]
	_ringside_posix_describe_names $T
	_ringside_posix_new $T $s 1
}

# Copies from the last place to the head, or from the tail, where the writer has lapped the reader.
proc _ringside_posix_new {T s fresh} {
	upvar #0 _ringside_ring_$T r
	for {set try 0} {$try < 8} {incr try} {
		set from $r(pos)
		if {[_ringside_posix_apart [dict get $s tail] $from] > 0} {
			set from [dict get $s tail]
		}
		set k [_ringside_posix_apart [dict get $s head] $from]
		set words [_ringside_posix_fetch $T $r(at) $r(n) $from [_ringside_min $r(n) [expr {$k + 1}]]]
		set after [_ringside_posix_look $T]
		if {[dict get $after generation] != $r(era)} {
			return [_ringside_record_reset $T "the target was reset, or the stream cleared"]
		}
		set passed [_ringside_max 0 [_ringside_posix_apart [dict get $after tail] $from]]
		if {$passed <= $k} {
			break
		}
		set s $after
	}
	set r(over) [expr {$passed > 0}]
	if {$passed > $k} {
		return
	}
	set next [lindex $words [expr {$k < $r(n) ? $k : 0}]]
	set holds [expr {[_ringside_posix_is_same $s $after] &&
		![_ringside_posix_is_begun $next [dict get $s head]]}]
	set words [lrange $words $passed [expr {$k - 1}]]
	set from [expr {($from + $passed) & 0xffffffff}]
	set count [_ringside_posix_count $words]
	set most [expr {([dict get $after recorded] - $count) & 0xffffffff}]
	set least [expr {$holds ? $most : ([dict get $s before] - 1 - $count) & 0xffffffff}]
	if {$fresh} {
		_ringside_posix_count_from $T $least $most
	} elseif {$from != $r(pos)} {
		incr r(rec,laps)
		set lost [_ringside_posix_apart $least $r(most)]
		set exact [expr {$lost >= 0 && $least == $most && $r(least) == $r(most)}]
		set lost [_ringside_max 0 $lost]
		set r(told) [expr {($r(told) + $lost) & 0xffffffff}]
		set r(least) $least
		set r(most) $most
		set r(owes) [expr {$r(owes) || !$exact}]
		_ringside_record_loss $T 1 $lost [expr {!$exact}]
	}
	set r(pos) $from
	_ringside_posix_put $T $words
}

# Begins to count at the first records that are had. What lies in front of them is not lost, unless
# the stream was followed before: then it has counted from 0 since it began again.
proc _ringside_posix_count_from {T least most} {
	upvar #0 _ringside_ring_$T r
	set again [expr {$r(rec,resets) > 0}]
	set least [expr {$least <= $most ? $least : 0}]
	set r(least) $least
	set r(most) $most
	set r(told) [expr {$again ? $least : $most}]
	set r(based) [expr {$again || $least == $most}]
	set r(owes) [expr {$again && $least != $most}]
	if {$again && ($least || $r(owes))} {
		_ringside_record_loss $T 1 $least $r(owes)
	}
}

proc _ringside_posix_is_same {s after} {
	return [expr {[dict get $s head] == [dict get $after head] &&
		[dict get $s recorded] == [dict get $after recorded]}]
}

# Takes the stream's count where nothing is new since a look, if it holds there, and tells what the
# gaps before have left out.
proc _ringside_posix_settle_count {T s} {
	upvar #0 _ringside_ring_$T r
	if {$r(based) && !$r(owes)} {
		return
	}
	set next [lindex [_ringside_posix_fetch $T $r(at) $r(n) $r(pos) 1] 0]
	if {![_ringside_posix_is_same $s [_ringside_posix_stream $T $r(block)]] ||
			[_ringside_posix_is_begun $next $r(pos)]} {
		return
	}
	set owed [_ringside_posix_apart [dict get $s recorded] $r(told)]
	if {$r(owes)} {
		_ringside_record_loss $T 7 [_ringside_max 0 $owed] [expr {!$r(based) || $owed < 0}]
	}
	foreach field {least most told} {
		set r($field) [dict get $s recorded]
	}
	set r(based) 1
	set r(owes) 0
}

# The last look at the count.
proc _ringside_posix_stop {T} {
	upvar #0 _ringside_ring_$T r
	if {$r(rec,state) ne "on" || [catch {_ringside_posix_stream $T $r(block)} s]} {
		return
	}
	if {[dict get $s generation] == $r(era) && [dict get $s head] == $r(pos)} {
		catch {_ringside_posix_settle_count $T $s}
	}
}

# ---- what goes into the log ----

# Writes records in blocks of 2 KiB or less, but for long ones.
proc _ringside_posix_put {T words} {
	upvar #0 _ringside_ring_$T r
	set piece {}
	set count 0
	set all [llength $words]
	for {set at 0} {$at < $all} {incr at $length} {
		set length [_ringside_posix_length $words $at]
		if {$length && [lindex $words $at] >> 30 == 1 && !$r(passing) && $all - $at <= $r(n) / 2} {
			break
		}
		if {!$length} {
			set length [expr {$all - $at}]
		} elseif {([lindex $words [expr {$at + 1}]] & 0xffff) >= 32 + $r(named)} {
			set r(nameless) 1
		}
		if {$count && [llength $piece] + $length > 512} {
			_ringside_posix_write $T $piece $count
			set piece {}
			set count 0
		}
		lappend piece {*}[lrange $words $at [expr {$at + $length - 1}]]
		incr count
	}
	if {$count} {
		_ringside_posix_write $T $piece $count
	}
}

proc _ringside_posix_write {T words count} {
	upvar #0 _ringside_ring_$T r
	set length [llength $words]
	set first $r(number)
	incr r(number) $count
	foreach field {least most told} {
		set r($field) [expr {($r($field) + $count) & 0xffffffff}]
	}
	set r(pos) [expr {($r(pos) + $length) & 0xffffffff}]
	if {$r(be)} {
		set words [_ringside_swap $words]
	}
	_ringside_record_try $T $first \
		[list _ringside_rkh_write $T $first $words [expr {4 * $length}] $count]
}

proc _ringside_posix_describe {T layout} {
	upvar #0 _ringside_ring_$T r
	set header [_ringside_read $T $r(block) 36]
	set bytes [expr {$layout & 0xff}]
	set words [concat [_ringside_log_words posix] {0 0} [_ringside_wide $r(block)] {0 0 0 0} \
		[list 144 [expr {$r(be) ? 2 : 1}] $bytes $bytes] \
		[expr {$r(be) ? [_ringside_swap $header] : $header}]]
	_ringside_record_try $T $r(number) [list _ringside_log_describe $T ring $words 200]
}

proc _ringside_posix_describe_names {T} {
	upvar #0 _ringside_ring_$T r
	set p [_ringside_posix_process $T $r(process)]
	set bytes [dict get $p name_bytes]
	set used [_ringside_min [dict get $p names_room] [dict get $p names_used]]
	if {[dict get $p names_claimed]} {
		set used [dict get $p names_room]
	}
	set r(rec,objects) [clock milliseconds]
	set r(nameless) 0
	if {!$used} {
		return
	}
	set r(named) $used
	set length [expr {$used * $bytes}]
	set words [_ringside_read $T [expr {$r(process) + [dict get $p names_at]}] [expr {$length / 4}]]
	set words [concat [list $bytes 32] [expr {$r(be) ? [_ringside_swap $words] : $words}]]
	_ringside_record_try $T $r(number) \
		[list _ringside_log_describe $T names $words [expr {8 + $length}]]
}
