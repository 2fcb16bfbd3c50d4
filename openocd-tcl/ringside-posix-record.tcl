# SPDX-License-Identifier: MIT
#
# Ringside: recording of a stream of POSIX trace, for ringside.tcl.
#
# Description:
#	Copies new records of a stream to a log. ringside-record.tcl calls _ringside_posix_poll at each
#	poll, and _ringside_posix_end_recording at the end.
#
#	The oldest complete record begins at the tail, and the next record will begin at the head. The
#	writer moves the tail past a record before it overwrites that record. So a poll reads the words
#	from the last position to the head, and then the tail again. If the tail has not passed the last
#	position, all these words are complete. A poll stops at a record that is still being written,
#	and reads it again later. It no longer waits if more than half of the ring follows that record.
#
#	The stream counts a record before the head passes it. A count is exact for a head if two reads
#	find both unchanged, and no record was begun at that head between them. Otherwise the count has
#	two bounds: the count before the head was read, minus one, and the count after it was read. A
#	gap then states the minimum of lost records. When a later count is exact, a loss with the reason
#	"earlier gaps" adds the difference.
#
#	Fields of the ring's array, while a log is written:
#	block, ring_at		addresses of the stream block and of the ring
#	n			words of the ring
#	generation		of the stream, when it was found
#	pos			position of the next word to read
#	min_count, max_count	bounds of the stream's count of records before pos
#	reported		records before pos that the log holds or states as lost
#	reported_is_exact	reported started at an exact count
#	gap_is_inexact		a gap since then stated only a minimum
#	refused			refused events that the log states
#	names_logged		slots of names that the log holds
#	has_unnamed		an event has a type whose name the log does not hold
#	running			the stream records
#	passing			this is the last poll: do not wait for unfinished records
#
#	Sources: docs/formats/posix-ring.md and docs/formats/log.md of Ringside.

# Returns the distance from position `from` to position `place`; negative if `place` is earlier.
proc _ringside_posix_distance {place from} {
	set apart [expr {($place - $from) & 0xffffffff}]
	return [expr {$apart < 0x80000000 ? $apart : $apart - 0x100000000}]
}

# Returns the length in words of the record at index `at`, or 0 if no complete record is there.
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

# Returns whether a word that was read at a head shows that the writer has begun a record there.
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

# ---- Polls ----

# Reads the stream block. Its words are not read at the same time. So the field `before` holds the
# stream's count before the head was read, and `recorded` holds the count after that.
proc _ringside_posix_read_stream {T} {
	upvar #0 _ringside_ring_$T r
	set before [lindex [_ringside_read $T [expr {$r(block) + 4 * 14}] 1] 0]
	set s [_ringside_posix_stream $T $r(block)]
	dict set s before $before
	return $s
}

# Runs one poll: finds the stream, or records what is new since the previous poll.
proc _ringside_posix_poll {T} {
	upvar #0 _ringside_ring_$T r
	set r(rec,fill) 0
	if {$r(rec,state) ne "on"} {
		return [_ringside_posix_find_stream $T]
	}
	if {[catch {_ringside_posix_read_stream $T} s]} {
		if {![string match "*no stream block*" $s]} {
			error $s
		}
		return [_ringside_record_handle_reset $T "the target was reset: the stream is gone"]
	}
	set k [_ringside_posix_distance [dict get $s head] $r(pos)]
	if {[dict get $s generation] != $r(generation) || $k < 0} {
		return [_ringside_record_handle_reset $T "the target was reset, or the stream cleared"]
	}
	set r(rec,fill) $k
	set r(rec,most) [_ringside_max $r(rec,most) [_ringside_min $k $r(n)]]
	if {[dict get $s state] & 2} {
		_ringside_posix_note_running $T 1
	}
	if {$k} {
		_ringside_posix_record_new $T $s 0
	} else {
		_ringside_posix_complete_count $T $s
	}
	if {$r(rec,state) eq "on"} {
		_ringside_posix_poll_background $T $s
	}
}

# Writes a marker if the stream was started or stopped.
proc _ringside_posix_note_running {T running} {
	upvar #0 _ringside_ring_$T r
	if {$r(running) != $running} {
		set r(running) $running
		_ringside_record_mark $T [expr {$running ? "ENABLED" : "DISABLED"}] ""
	}
}

# Reports events that the stream refused, names that were registered later, and that the stream has
# stopped.
proc _ringside_posix_poll_background {T s} {
	upvar #0 _ringside_ring_$T r
	set refused [expr {([dict get $s refused] - $r(refused)) & 0xffffffff}]
	if {$refused} {
		set r(refused) [dict get $s refused]
		_ringside_record_loss $T 5 $refused 0
	}
	if {$r(has_unnamed) && [clock milliseconds] - $r(rec,objects) > 1000} {
		_ringside_posix_describe_names $T
	}
	if {!([dict get $s state] & 2) && $r(pos) == [dict get $s head]} {
		_ringside_posix_note_running $T 0
	}
}

# Finds the stream, describes it in the log, and records what it holds. Returns without an error if
# there is no stream yet.
proc _ringside_posix_find_stream {T} {
	upvar #0 _ringside_ring_$T r
	if {[catch {_ringside_posix_locate $T} why]} {
		if {![string match "*of a POSIX trace at*" $why]} {
			error $why
		}
		return
	}
	foreach {field value} [list block $block ring_at [expr {$process + [dict get $s ring_at]}] \
			process $process n [dict get $s ring_words] generation [dict get $s generation] \
			pos [dict get $s tail] refused [expr {$r(rec,resets) ? 0 : [dict get $s refused]}] \
			names_logged 0 has_unnamed 0 lap_expected 0 \
			provisional 0 reads_failed 0 rec,restart 0 running [expr {[dict get $s state] >> 1 & 1}] \
			rec,state on] {
		set r($field) $value
	}
	_ringside_posix_describe $T [dict get $s layout]
	_ringside_posix_describe_names $T
	_ringside_posix_record_new $T $s 1
}

# Records the words from the last position to the head. If the writer has lapped the reader, starts
# at the tail, and records the loss. `fresh` is 1 for the first records of a stream.
proc _ringside_posix_record_new {T s fresh} {
	upvar #0 _ringside_ring_$T r
	for {set try 0} {$try < 8} {incr try} {
		set from $r(pos)
		if {[_ringside_posix_distance [dict get $s tail] $from] > 0} {
			set from [dict get $s tail]
		}
		set k [_ringside_posix_distance [dict get $s head] $from]
		set words [_ringside_posix_fetch $T $r(ring_at) $r(n) $from [_ringside_min $r(n) [expr {$k + 1}]]]
		set after [_ringside_posix_read_stream $T]
		if {[dict get $after generation] != $r(generation)} {
			return [_ringside_record_handle_reset $T "the target was reset, or the stream cleared"]
		}
		set passed [_ringside_max 0 [_ringside_posix_distance [dict get $after tail] $from]]
		if {$passed <= $k} {
			break
		}
		set s $after
	}
	set r(lap_expected) [expr {$passed > 0}]
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
		set lost [_ringside_posix_distance $least $r(max_count)]
		set exact [expr {$lost >= 0 && $least == $most && $r(min_count) == $r(max_count)}]
		set lost [_ringside_max 0 $lost]
		set r(reported) [expr {($r(reported) + $lost) & 0xffffffff}]
		set r(min_count) $least
		set r(max_count) $most
		set r(gap_is_inexact) [expr {$r(gap_is_inexact) || !$exact}]
		_ringside_record_loss $T 1 $lost [expr {!$exact}]
	}
	set r(pos) $from
	_ringside_posix_put_records $T $words
}

# Sets the counts for the first records of a stream. Earlier records are not lost, because the
# recording started later. If this recording already followed the stream, it was restarted: then
# it has counted from 0, and earlier records are lost.
proc _ringside_posix_count_from {T least most} {
	upvar #0 _ringside_ring_$T r
	set again [expr {$r(rec,resets) > 0}]
	set least [expr {$least <= $most ? $least : 0}]
	set r(min_count) $least
	set r(max_count) $most
	set r(reported) [expr {$again ? $least : $most}]
	set r(reported_is_exact) [expr {$again || $least == $most}]
	set r(gap_is_inexact) [expr {$again && $least != $most}]
	if {$again && ($least || $r(gap_is_inexact))} {
		_ringside_record_loss $T 1 $least $r(gap_is_inexact)
	}
}

proc _ringside_posix_is_same {s after} {
	return [expr {[dict get $s head] == [dict get $after head] &&
		[dict get $s recorded] == [dict get $after recorded]}]
}

# If the stream's count is exact at the last position, uses it, and records the loss that earlier
# gaps did not state. The caller has found no new records.
proc _ringside_posix_complete_count {T s} {
	upvar #0 _ringside_ring_$T r
	if {$r(reported_is_exact) && !$r(gap_is_inexact)} {
		return
	}
	set next [lindex [_ringside_posix_fetch $T $r(ring_at) $r(n) $r(pos) 1] 0]
	if {![_ringside_posix_is_same $s [_ringside_posix_stream $T $r(block)]] ||
			[_ringside_posix_is_begun $next $r(pos)]} {
		return
	}
	set owed [_ringside_posix_distance [dict get $s recorded] $r(reported)]
	if {$r(gap_is_inexact)} {
		_ringside_record_loss $T 7 [_ringside_max 0 $owed] [expr {!$r(reported_is_exact) || $owed < 0}]
	}
	foreach field {min_count max_count reported} {
		set r($field) [dict get $s recorded]
	}
	set r(reported_is_exact) 1
	set r(gap_is_inexact) 0
}

# Completes the counts once more, at the end of the recording.
proc _ringside_posix_end_recording {T} {
	upvar #0 _ringside_ring_$T r
	if {$r(rec,state) ne "on" || [catch {_ringside_posix_stream $T $r(block)} s]} {
		return
	}
	if {[dict get $s generation] == $r(generation) && [dict get $s head] == $r(pos)} {
		catch {_ringside_posix_complete_count $T $s}
	}
}

# ---- What goes into the log ----

# Writes records in blocks of at most 2 KiB; a longer record has a block of its own. Stops at a
# record that is still being written.
proc _ringside_posix_put_records {T words} {
	upvar #0 _ringside_ring_$T r
	set part {}
	set count 0
	set all [llength $words]
	for {set at 0} {$at < $all} {incr at $length} {
		set length [_ringside_posix_length $words $at]
		if {$length && [lindex $words $at] >> 30 == 1 && !$r(passing) && $all - $at <= $r(n) / 2} {
			break
		}
		if {!$length} {
			set length [expr {$all - $at}]
		} elseif {([lindex $words [expr {$at + 1}]] & 0xffff) >= 32 + $r(names_logged)} {
			set r(has_unnamed) 1
		}
		if {$count && [llength $part] + $length > 512} {
			_ringside_posix_write_part $T $part $count
			set part {}
			set count 0
		}
		lappend part {*}[lrange $words $at [expr {$at + $length - 1}]]
		incr count
	}
	if {$count} {
		_ringside_posix_write_part $T $part $count
	}
}

proc _ringside_posix_write_part {T words count} {
	upvar #0 _ringside_ring_$T r
	set length [llength $words]
	set first $r(number)
	incr r(number) $count
	foreach field {min_count max_count reported} {
		set r($field) [expr {($r($field) + $count) & 0xffffffff}]
	}
	set r(pos) [expr {($r(pos) + $length) & 0xffffffff}]
	if {$r(be)} {
		set words [_ringside_swap $words]
	}
	_ringside_record_try $T $first \
		[list _ringside_record_write_bytes $T $first $words [expr {4 * $length}] $count]
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
	set r(has_unnamed) 0
	if {!$used} {
		return
	}
	set r(names_logged) $used
	set length [expr {$used * $bytes}]
	set words [_ringside_read $T [expr {$r(process) + [dict get $p names_at]}] [expr {$length / 4}]]
	set words [concat [list $bytes 32] [expr {$r(be) ? [_ringside_swap $words] : $words}]]
	_ringside_record_try $T $r(number) \
		[list _ringside_log_describe $T names $words [expr {8 + $length}]]
}
