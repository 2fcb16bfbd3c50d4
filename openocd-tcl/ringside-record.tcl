# SPDX-License-Identifier: MIT
#
# Ringside: recording of a ThreadX ring while the target runs, for ringside.tcl.
#
# Description:
#	A poll makes three reads: the write position, then the newest entries of the previous poll with
#	all entries that follow them, then the timestamp of the first of these again.
#
#	- Kernel services patch the last words of their entry later. So at most three of the newest
#	  entries stay provisional. They are final after the next poll has read them again.
#	- They are the anchor, too. The first half of an entry never changes. The writer fills slots in
#	  order, so it overwrites the anchor before any newer entry. If the anchor is unchanged before
#	  and after the read, everything that was read is complete.
#	- After a lap, the recording continues with the newest entries that can be verified
#	  (_ringside_newest). The entries between are lost. The ring does not count laps: the loss is a
#	  minimum plus a multiple of the number of slots. If timestamps count events, the loss is exact.
#	  Readers of the log estimate the likely number.
#
#	States (rec,state): waiting, until the trace is enabled; on; off, after the trace was disabled.
#
#	Fields of the ring's array, while a log is written:
#	recording		path of the log
#	rec,every, rec,adapt	poll interval in ms; whether it adapts to the load
#	pos			slot after the newest entry that was read
#	tail			the newest entries that were read, oldest first
#	provisional		number of entries in tail that are not in the log
#	number			number of the next entry
#	lap_expected		the writer has lapped the reader since the last anchor
#	safe_entries		number of entries that can be read without a lap
#	stamps_count		timestamps of the last entries without a gap count events
#	counts_down		the clock counts down
#	wall			host's time of the last read, in ms
#	ticks, span		clock ticks, and milliseconds, that were recorded without a lap
#	rec,restart		OpenOCD has reset the target
#	disconnected		the target does not respond
#	reads_failed		a read has failed since the last entries
#	pending_marks		markers that could not be written yet
#	seen			number of the next entry when the registry was read
#	rec,...			counters for the status

# Returns the maximum number of provisional entries after a poll with k new entries. Provisional
# entries are read twice, so there are fewer if k is large.
proc _ringside_record_max_provisional {k} {
	return [expr {$k < 144 ? 3 : $k < 400 ? 2 : 1}]
}

# Returns the number of entries that stay provisional after a poll with k new entries.
proc _ringside_record_provisional {k} {
	return [_ringside_min $k [_ringside_record_max_provisional $k]]
}

proc _ringside_cmd_record {args} {
	set T [_ringside_take_target record args]
	set rest [lassign $args verb]
	switch -exact -- $verb {
		start {return [_ringside_record_start $T $rest]}
		stop {
			_ringside_options "record stop" {} $rest
			return [_ringside_record_stop $T]
		}
	}
	_ringside_fail "ringside record" "\"$verb\" is not expected" "use start or stop"
}

proc _ringside_record_start {T words} {
	global _ringside_log_policies
	upvar #0 _ringside_ring_$T r
	if {[info exists r(recording)]} {
		_ringside_fail "ringside record" "target $T is already being recorded, to $r(recording)" \
			"use ringside record stop first"
	}
	if {[_ringside_format_of $T] eq "hook"} {
		_ringside_fail "ringside record" "not supported for hook words" \
			"use the program: ringside record --openocd"
	}
	set options [lassign $words path]
	if {[llength $words] == 0} {
		_ringside_fail "ringside record start" "pass a file" "see ringside help record"
	}
	set options [_ringside_options "record start" {-every -policy -size} $options]
	set policy [_ringside_option $options -policy loop]
	if {![dict exists $_ringside_log_policies $policy]} {
		_ringside_fail -policy "\"$policy\" is not allowed" "use loop, until_full or append"
	}
	set every [_ringside_option $options -every ""]
	set r(rec,adapt) [expr {$every eq ""}]
	set r(rec,every) [expr {$every eq "" ? 50 : [_ringside_number -every $every 1 86400000]}]
	_ringside_quiet_limits
	_ringside_log_open $T $path $policy [_ringside_size -size [_ringside_option $options -size 0]] \
		[expr {[$T cget -endian] eq "big" ? 2 : 1}]
	foreach {field value} {number 0 provisional 0 tail {} disconnected 0 pending_marks {} seen 0
			rec,state waiting rec,restart 0 rec,fill 0 rec,most 0 rec,entries 0 rec,lost 0
			rec,exact 1 rec,gaps 0 rec,laps 0 rec,resets 0 rec,polls 0 rec,objects 0 rec,retry 0 passing 0} {
		set r($field) $value
	}
	foreach field {reads bytes failed} {
		set r(rec,$field) $r($field)
	}
	set r(recording) $path
	set r(ready) 0
	_ringside_record_mark $T START "policy $policy"
	_ringside_hook $T reset-start "_ringside_record_before_reset $T"
	_ringside_arm $T rec _ringside_record_tick
	return "recording target $T to $path, policy $policy"
}

# ---- What goes into the log ----

# Runs a script that writes data from entry `first` on. Returns 1 if it was written. Errors of the
# log, such as a full disk, do not end a recording: unwritten entries are counted, and reported as
# lost as soon as writing succeeds.
proc _ringside_record_try {T first script} {
	upvar #0 _ringside_ring_$T r
	if {![info exists r(recording)]} {
		return 0
	}
	if {[catch {
		set more [_ringside_record_write_pending $T $first]
		if {$more} {
			set more [uplevel 1 $script]
		}
	} why]} {
		_ringside_complain $T record $why
		return 0
	}
	_ringside_succeeded $T record
	if {!$more} {
		_ringside_record_end_full $T
	}
	return $more
}

# Writes the losses, markers and descriptions that could not be written earlier. Returns 0 if the
# log is full.
proc _ringside_record_write_pending {T first} {
	upvar #0 _ringside_ring_$T r
	upvar #0 _ringside_log_$T l
	set missing [expr {$first - $l(next)}]
	if {$missing > 0} {
		set fields [dict create kind 4 flags 1 first $first a $missing]
		if {![_ringside_log_put $T loss $fields {} 0]} {
			return 0
		}
		set l(next) $first
		incr r(rec,lost) $missing
	}
	while {[llength $r(pending_marks)]} {
		if {![_ringside_log_mark $T {*}[lindex $r(pending_marks) 0]]} {
			return 0
		}
		set r(pending_marks) [lrange $r(pending_marks) 1 end]
	}
	return [_ringside_log_write_descriptions $T]
}

# Writes a marker, or keeps it for later if it cannot be written now.
proc _ringside_record_mark {T kind text {value 0}} {
	upvar #0 _ringside_ring_$T r
	if {![_ringside_record_try $T $r(number) [list _ringside_log_mark $T $kind $text $value]] &&
		[info exists r(recording)] && [llength $r(pending_marks)] < 64} {
		lappend r(pending_marks) [list $kind $text $value]
	}
}

# Ends the recording, because the log has reached its limit.
proc _ringside_record_end_full {T} {
	upvar #0 _ringside_ring_$T r
	set path $r(recording)
	catch {_ringside_log_mark $T FULL "the log has reached its limit" 0 1}
	_ringside_record_close $T
	echo "ringside record: $path: the log is full; recording has ended"
}

# Writes entries, the last `provisional` of which may not be final.
proc _ringside_record_put_entries {T words provisional} {
	upvar #0 _ringside_ring_$T r
	set count [expr {[llength $words] / $r(ew)}]
	if {!$count} {
		return
	}
	set stamp [list _ringside_stamp $T $words]
	set first $r(number)
	incr r(number) $count
	if {$r(be)} {
		set words [_ringside_swap $words]
	}
	_ringside_record_try $T $first \
		[list _ringside_record_write_entries $T $first $words $provisional $stamp]
}

# Writes ENTRIES blocks. Returns 0 if the log is full.
proc _ringside_record_write_entries {T first words provisional stamp} {
	upvar #0 _ringside_ring_$T r
	upvar #0 _ringside_log_$T l
	try {
		set done [_ringside_log_entries $T $first $words $r(ew) $provisional $stamp]
	} finally {
		incr r(rec,entries) [_ringside_max 0 [expr {$l(next) - $first}]]
	}
	return [expr {$done == [llength $words] / $r(ew)}]
}

# Records a loss of at least `lost` entries, plus any multiple of `modulo`; if `modulo` is 0, the
# loss is exact. Kind 7 is not a gap: it adds to the losses of earlier gaps.
#
# `rec,exact` is 1 if the losses add up to the number that the target has counted, and 0 if a gap
# stated only a minimum. It is -1 if that can no longer be corrected, because the trace restarted.
proc _ringside_record_loss {T kind lost modulo} {
	upvar #0 _ringside_ring_$T r
	upvar #0 _ringside_log_$T l
	set first $r(number)
	incr r(number) $lost
	if {$kind != 7} {
		incr r(rec,gaps)
	}
	if {$kind == 7 && !$r(rec,exact)} {
		set r(rec,exact) [expr {$modulo ? -1 : 1}]
	} elseif {$modulo && $r(rec,exact) == 1} {
		set r(rec,exact) 0
	}
	set fields [dict create kind $kind flags [expr {$modulo ? 16 : 1}] first $r(number) a $lost \
		b $modulo]
	if {[_ringside_record_try $T $first [list _ringside_log_put $T loss $fields {} 0]]} {
		set l(next) $r(number)
		incr r(rec,lost) $lost
	}
}

# Describes the ring: its settings and header. On a 64-bit target with a 32-bit ULONG, pointers are
# truncated.
proc _ringside_record_describe_ring {T} {
	upvar #0 _ringside_ring_$T r
	set header [expr {$r(be) ? [_ringside_swap $r(header)] : $r(header)}]
	set near [expr {$r(pw) > $r(ws) ? $r(base) : 0}]
	set words [concat [_ringside_log_words threadx] {0 0} [_ringside_wide $r(base)] \
		[_ringside_wide [expr {$r(current) eq "" ? 0 : $r(current)}]] [_ringside_wide $near] \
		[list [expr {4 * $r(hw)}] [expr {$r(be) ? 2 : 1}] [expr {4 * $r(ws)}] [expr {4 * $r(pw)}]] \
		$header]
	_ringside_record_try $T $r(number) \
		[list _ringside_log_describe $T ring $words [expr {56 + 4 * $r(hw)}]]
}

# Describes the registry if it has changed. It may change during a read: two reads must agree.
proc _ringside_record_describe_objects {T} {
	upvar #0 _ringside_ring_$T r
	upvar #0 _ringside_log_$T l
	set r(rec,objects) [clock milliseconds]
	set r(seen) $r(number)
	if {!$r(rw) || ![info exists r(recording)]} {
		return
	}
	set before {}
	for {set try 0} {$try < 4} {incr try} {
		set words [_ringside_read $T $r(registry) $r(rw)]
		if {$r(be)} {
			set words [_ringside_swap $words]
		}
		set words [concat [_ringside_wide $r(registry)] $words]
		if {$words eq $before || $words eq [lindex $l(objects) 0]} {
			break
		}
		set before $words
	}
	_ringside_record_try $T $r(number) \
		[list _ringside_log_describe $T objects $words [expr {8 + 4 * $r(rw)}]]
}

# Reads the registry again if entries were recorded since the last time. New objects are rare, so
# the registry is read when the target is idle, and at least once per minute.
proc _ringside_record_poll_background {T k} {
	upvar #0 _ringside_ring_$T r
	set age [expr {[clock milliseconds] - $r(rec,objects)}]
	if {$r(number) != $r(seen) && ($age > 60000 || ($age > 10000 && $k == 0))} {
		_ringside_record_describe_objects $T
	}
}

# Writes a marker with the new filter word, if a recording is running.
proc _ringside_record_mark_filter {T word} {
	upvar #0 _ringside_ring_$T r
	if {[info exists r(recording)]} {
		_ringside_record_mark $T FILTER "" $word
	}
}

# ---- The poll ----

# Runs one poll, from the timer.
proc _ringside_record_tick {T} {
	upvar #0 _ringside_ring_$T r
	# Poll a target that does not respond once a second only, to keep OpenOCD's own log short.
	if {$r(disconnected) && [clock milliseconds] < $r(rec,retry)} {
		return
	}
	incr r(rec,polls)
	if {[catch {_ringside_record_poll $T} why]} {
		return [_ringside_record_handle_failure $T $why]
	}
	if {![info exists r(recording)]} {
		return
	}
	if {$r(disconnected)} {
		set r(disconnected) 0
		_ringside_succeeded $T "record: target"
		_ringside_record_mark $T BACK ""
	}
	if {$r(rec,adapt)} {
		_ringside_record_adapt_interval $T
	}
}

# Handles a poll that failed: prints the error once, and records that the target does not respond.
proc _ringside_record_handle_failure {T why} {
	upvar #0 _ringside_ring_$T r
	if {![info exists r(recording)]} {
		return
	}
	set r(rec,retry) [expr {[clock milliseconds] + 1000}]
	set r(reads_failed) 1
	_ringside_complain $T "record: target" $why
	if {!$r(disconnected)} {
		set r(disconnected) 1
		_ringside_record_mark $T GONE $why
	}
}

# Chooses the poll interval. A poll that brings up to a quarter of the ring leaves space for bursts.
proc _ringside_record_adapt_interval {T} {
	upvar #0 _ringside_ring_$T r
	if {$r(rec,state) ne "on"} {
		set r(rec,every) 100
	} elseif {$r(lap_expected) || $r(rec,fill) > $r(n) / 4} {
		set r(rec,every) [_ringside_max 2 [expr {$r(rec,every) / 2}]]
	} elseif {$r(rec,fill) < $r(n) / 16} {
		set r(rec,every) [_ringside_min 200 [expr {$r(rec,every) * 5 / 4 + 1}]]
	}
}

# Polls the ring once, in the way of its format.
proc _ringside_record_poll {T} {
	upvar #0 _ringside_ring_$T r
	if {[info exists r(rkh)]} {
		return [_ringside_rkh_poll $T]
	}
	if {[info exists r(posix)]} {
		return [_ringside_posix_poll $T]
	}
	set r(rec,fill) 0
	if {$r(rec,state) ne "on"} {
		return [_ringside_record_wait_for_trace $T]
	}
	set slot [_ringside_pointer $T]
	if {$slot < 0} {
		return [_ringside_record_handle_bad_position $T $slot]
	}
	set k [expr {($slot - $r(pos) + $r(n)) % $r(n)}]
	if {$k || $r(provisional)} {
		_ringside_record_new_entries $T $slot $k
	}
	set r(rec,fill) $k
	set r(rec,most) [_ringside_max $r(rec,most) $k]
	if {$r(rec,state) eq "on"} {
		_ringside_record_poll_background $T $k
	}
}

# Waits for the trace to be enabled, and then starts to record.
proc _ringside_record_wait_for_trace {T} {
	upvar #0 _ringside_ring_$T r
	set here [_ringside_locate $T]
	if {$r(rec,state) eq "off"} {
		if {!$here} {
			return [_ringside_record_handle_reset $T "the target was reset: the ring is gone"]
		}
		if {[_ringside_pointer $T] < 0} {
			return
		}
		_ringside_record_mark $T ENABLED ""
		set r(rec,state) waiting
	}
	if {$here && [_ringside_pointer $T] >= 0} {
		_ringside_record_new_ring $T
	}
}

# Records the contents of a ring that was not known before.
proc _ringside_record_new_ring {T} {
	upvar #0 _ringside_ring_$T r
	foreach {field value} {lap_expected 0 provisional 0 tail {} stamps_count 0 counts_down 0 wall 0
			ticks 0 span 0 reads_failed 0} {
		set r($field) $value
	}
	set r(safe_entries) [expr {$r(n) - 2}]
	_ringside_record_describe_ring $T
	_ringside_record_describe_objects $T
	set slot [_ringside_pointer $T]
	if {$slot < 0} {
		return
	}
	set want [expr {[_ringside_is_wrapped $T $slot] ? $r(n) - 1 : $slot}]
	set r(pos) $slot
	set r(rec,state) on
	_ringside_record_newest $T $want
}

# Handles a pointer outside the ring: tracing was disabled, the target was reset, or the ring has
# moved.
proc _ringside_record_handle_bad_position {T slot} {
	upvar #0 _ringside_ring_$T r
	set here $r(base)
	set found [_ringside_locate $T]
	if {$found && $slot == -1 && $r(base) == $here && [_ringside_record_drain $T]} {
		_ringside_record_mark $T DISABLED ""
		set r(rec,state) off
		return
	}
	_ringside_record_handle_reset $T [expr {$found ?
		"the target was reset, or its trace enabled again" :
		"the target was reset: the ring is gone"}]
}

# Records the last entries of a ring whose trace was disabled; its header keeps the write position.
# Returns 0 if the ring is not the one that was followed.
proc _ringside_record_drain {T} {
	upvar #0 _ringside_ring_$T r
	set known [expr {[llength $r(tail)] / $r(ew)}]
	set k [expr {($r(current_at) - $r(pos) + $r(n)) % $r(n)}]
	set words [_ringside_entries $T [expr {$r(pos) - 1}] [expr {1 + $k}]]
	if {!$known || [_ringside_record_first_half $T $words 0] ne
			[_ringside_record_first_half $T $r(tail) [expr {$known - 1}]]} {
		return 0
	}
	_ringside_record_emit_provisional $T
	set r(pos) $r(current_at)
	_ringside_record_accept_entries $T $words 1 0
	return 1
}

# Handles the event that OpenOCD is about to reset the target. It must not fail, because other
# handlers may follow. Polls once more, because start-up code will clear the ring. If the anchor has
# changed at a later poll, the reset was the cause, and not a lap.
proc _ringside_record_before_reset {T} {
	upvar #0 _ringside_ring_$T r
	if {[info exists r(recording)] && $r(rec,state) eq "on"} {
		catch {_ringside_record_poll $T}
		set r(rec,restart) 1
	}
}

# Handles a reset of the target: records the loss and a marker, and waits for a new ring.
proc _ringside_record_handle_reset {T text} {
	upvar #0 _ringside_ring_$T r
	_ringside_record_emit_provisional $T
	set r(rec,restart) 0
	# Entries between the last poll and the reset are lost, and their number will never be known.
	# The loss is written before the marker, since no later count includes it.
	if {$r(rec,state) eq "on"} {
		_ringside_record_loss $T 8 0 1
	}
	incr r(rec,resets)
	if {!$r(rec,exact)} {
		set r(rec,exact) -1
	}
	_ringside_record_mark $T RESET $text
	set r(rec,state) waiting
}

# Writes the provisional entries unchanged, marked as provisional.
proc _ringside_record_emit_provisional {T} {
	upvar #0 _ringside_ring_$T r
	if {$r(provisional)} {
		set count $r(provisional)
		set r(provisional) 0
		_ringside_record_put_entries $T [lrange $r(tail) end-[expr {$count * $r(ew) - 1}] end] $count
	}
}

# Keeps the newest `hold` entries provisional, and writes the rest. The first `written` entries are
# in the log already.
proc _ringside_record_accept_entries {T words written hold} {
	upvar #0 _ringside_ring_$T r
	set count [expr {[llength $words] / $r(ew)}]
	set hold [_ringside_min $hold [expr {$count - $written}]]
	# Keep at least one, as an anchor.
	set keep [_ringside_min $count [_ringside_max 1 $hold]]
	set r(tail) [lrange $words end-[expr {$keep * $r(ew) - 1}] end]
	set r(provisional) $hold
	set r(wall) [clock milliseconds]
	set r(reads_failed) 0
	set steps [_ringside_record_steps $T $words]
	if {[lindex $steps 0] >= 8 || ![lindex $steps 2]} {
		set r(stamps_count) [lindex $steps 2]
	}
	_ringside_record_put_entries $T \
		[lrange $words [expr {$written * $r(ew)}] [expr {($count - $hold) * $r(ew) - 1}]] 0
}

# Returns the first half of the i-th entry.
proc _ringside_record_first_half {T words i} {
	upvar #0 _ringside_ring_$T r
	set at [expr {$i * $r(ew)}]
	return [lrange $words $at [expr {$at + $r(ew) / 2 - 1}]]
}

# Returns whether the first entry of a span is unchanged since it was read. If the clock runs, its
# timestamp suffices.
proc _ringside_record_anchor_holds {T words first} {
	upvar #0 _ringside_ring_$T r
	set half [_ringside_record_first_half $T $words 0]
	set count [expr {[llength $words] / $r(ew)}]
	if {[_ringside_stamp $T $words 0] == [_ringside_stamp $T $words [expr {$count - 1}]]} {
		return [expr {[_ringside_first_half $T $first] eq $half}]
	}
	set at [expr {$r(start) + ($first + $r(n)) % $r(n) * $r(eb) + 12 * $r(ws)}]
	return [expr {[_ringside_read $T $at $r(ws)] eq [lrange $half end-[expr {$r(ws) - 1}] end]}]
}

# Records the new entries: k, or after laps k + n, k + 2n ...
proc _ringside_record_new_entries {T slot k} {
	upvar #0 _ringside_ring_$T r
	set known [expr {[llength $r(tail)] / $r(ew)}]
	if {$r(lap_expected) && $known && [_ringside_first_half $T [expr {$r(pos) - 1}]] eq
			[_ringside_record_first_half $T $r(tail) [expr {$known - 1}]]} {
		set r(lap_expected) 0
	}
	# Entries that the writer has reached in the first lap cannot be read again.
	set again [_ringside_min $known [expr {$r(n) - 1 - $k}] [_ringside_record_max_provisional $k]]
	if {$again <= 0 || $r(lap_expected)} {
		return [_ringside_record_handle_lap $T]
	}
	set first [expr {$r(pos) - $again}]
	set words [_ringside_entries $T $first [expr {$again + $k}]]
	if {[_ringside_record_first_half $T $words 0] ne
			[_ringside_record_first_half $T $r(tail) [expr {$known - $again}]] ||
		![_ringside_record_anchor_holds $T $words $first]} {
		return [_ringside_record_handle_lap $T]
	}
	# A slot after the known ones was never written: the ring was restarted.
	if {$k && [_ringside_ulong $words [expr {8 * $again}] $r(ws) $r(be)] == 0} {
		return [_ringside_record_handle_reset $T "the target was reset, or its trace enabled again"]
	}
	_ringside_record_measure_clock $T [lrange $words [expr {($again - 1) * $r(ew)}] end]
	if {$again < $r(provisional)} {
		# The oldest provisional entries are not read again.
		set gone [expr {$r(provisional) - $again}]
		set r(provisional) $again
		_ringside_record_put_entries $T [lrange $r(tail) 0 [expr {$gone * $r(ew) - 1}]] $gone
	}
	set r(pos) $slot
	_ringside_record_accept_entries $T $words [expr {$again - $r(provisional)}] \
		[_ringside_record_provisional $k]
}

# ---- Laps ----

# Handles a lap: the newest known entries were overwritten, or are being overwritten.
proc _ringside_record_handle_lap {T} {
	upvar #0 _ringside_ring_$T r
	set slot [_ringside_pointer $T]
	if {$slot < 0} {
		return [_ringside_record_handle_bad_position $T $slot]
	}
	# A ring that has not wrapped cannot have lapped the reader: it was restarted.
	set address [expr {$r(start) + $slot * $r(eb)}]
	if {[_ringside_ulong [_ringside_read $T $address $r(ws)] 0 $r(ws) $r(be)] == 0} {
		return [_ringside_record_handle_reset $T "the target was reset, or its trace enabled again"]
	}
	if {$r(rec,restart)} {
		return [_ringside_record_handle_reset $T "OpenOCD reset the target"]
	}
	set r(lap_expected) 1
	_ringside_record_newest $T $r(safe_entries)
}

# Records the newest entries that can be verified, and the loss before them.
proc _ringside_record_newest {T want} {
	upvar #0 _ringside_ring_$T r
	for {set try 0; set count 0} {$try < 4 && !$count && $want} {incr try} {
		lassign [_ringside_newest $T $want] slot count words
		if {$slot < 0} {
			return [_ringside_record_handle_bad_position $T $slot]
		}
		# Next time, read as many as were verified; a few more if all were.
		set next [expr {$count == 0 ? $want / 4 : $count < $want ? $count * 7 / 8 : $want * 5 / 4}]
		set r(safe_entries) [_ringside_max 4 [_ringside_min [expr {$r(n) - 2}] $next]]
		set want $r(safe_entries)
	}
	if {!$count} {
		return
	}
	set new $count
	if {[llength $r(tail)]} {
		set k [expr {($slot - $r(pos) + $r(n)) % $r(n)}]
		set newest [lrange $r(tail) end-[expr {$r(ew) - 1}] end]
		if {$count > $k && [_ringside_record_first_half $T $words [expr {$count - $k - 1}]] eq
				[_ringside_record_first_half $T $newest 0]} {
			# The newest known entry is still there: nothing is lost.
			set r(lap_expected) 0
			set new $k
			set words [lrange $words [expr {($count - $k - 1) * $r(ew)}] end]
			_ringside_record_emit_provisional $T
		} else {
			_ringside_record_write_gap $T $k $count $words
		}
	}
	set r(pos) $slot
	set count [expr {[llength $words] / $r(ew)}]
	if {$count >= 8} {
		set r(counts_down) [_ringside_record_is_down $T $words]
	}
	_ringside_record_accept_entries $T $words [expr {$count - $new}] \
		[_ringside_record_provisional $new]
}

# Records what is lost between the last known entry and the `count` entries in `words`. The writer
# has moved by k slots, or by k and some laps of the ring.
proc _ringside_record_write_gap {T k count words} {
	upvar #0 _ringside_ring_$T r
	_ringside_record_emit_provisional $T
	incr r(rec,laps)
	set kind [expr {$r(reads_failed) ? 3 : 1}]
	set known [expr {[llength $r(tail)] / $r(ew) - 1}]
	set distance [_ringside_record_step $T [_ringside_stamp $T $r(tail) $known] \
		[_ringside_stamp $T $words 0]]
	if {[_ringside_record_went_back $T $distance]} {
		_ringside_record_mark $T CLOCK "the clock of the target went back: reset or wrap"
		# After a reset, the write position does not show how large the gap is.
		return [_ringside_record_loss $T $kind 0 1]
	}
	# The anchor has changed. So the writer has made a full lap, unless k is so large that it has
	# overwritten the anchor already.
	set least [expr {($k >= $r(n) - 3 ? $k : $k + $r(n)) - $count}]
	set lost [expr {(($k - $count) % $r(n) + $r(n)) % $r(n)}]
	while {$lost < $least} {
		incr lost $r(n)
	}
	set counts [expr {$r(stamps_count) && [lindex [_ringside_record_steps $T $words] 2]}]
	set more [expr {$distance - 1 - $lost}]
	if {$counts && $more >= 0 && $more % $r(n) == 0} {
		_ringside_record_loss $T $kind [expr {$distance - 1}] 0
	} else {
		_ringside_record_loss $T $kind $lost $r(n)
	}
}

# ---- The clock ----

# Returns the ticks from timestamp a to timestamp b, in the direction of the clock.
proc _ringside_record_step {T a b} {
	upvar #0 _ringside_ring_$T r
	return [expr {($r(counts_down) ? $a - $b : $b - $a) & $r(mask)}]
}

# Returns the steps between entries: {number of steps, their sum, whether each step is 1}.
proc _ringside_record_steps {T words} {
	upvar #0 _ringside_ring_$T r
	set sum 0
	set ones 1
	set steps 0
	set half [expr {($r(mask) >> 1) & 0x7fffffffffffffff}]
	set count [expr {[llength $words] / $r(ew)}]
	for {set i 1} {$i < $count} {incr i} {
		set step [_ringside_record_step $T [_ringside_stamp $T $words [expr {$i - 1}]] \
			[_ringside_stamp $T $words $i]]
		# On a wide clock, this is a step back. Cores that share a ring may write out of order.
		if {$half >= 0x7fffff && ($step > $half || $step < 0)} {
			continue
		}
		incr sum $step
		incr steps
		if {$step != 1} {
			set ones 0
		}
	}
	return [list $steps $sum $ones]
}

# Returns whether the clock counts down: whether most steps go down.
proc _ringside_record_is_down {T words} {
	upvar #0 _ringside_ring_$T r
	set half [expr {($r(mask) >> 1) & 0x7fffffffffffffff}]
	set down 0
	set count [expr {[llength $words] / $r(ew)}]
	for {set i 1} {$i < $count} {incr i} {
		set step [expr {([_ringside_stamp $T $words $i] -
			[_ringside_stamp $T $words [expr {$i - 1}]]) & $r(mask)}]
		incr down [expr {$step == 0 ? 0 : $step < 0 || $step > $half ? 1 : -1}]
	}
	return [expr {$down > 0}]
}

# Adds the ticks of these entries, and the time since the last read, to r(ticks) and r(span).
proc _ringside_record_measure_clock {T words} {
	upvar #0 _ringside_ring_$T r
	set now [clock milliseconds]
	set last [expr {[llength $words] / $r(ew) - 1}]
	if {$r(wall) && $now > $r(wall) && $last > 0} {
		incr r(span) [expr {$now - $r(wall)}]
		if {$r(mask) < 0 || $r(mask) >= 0xffffff} {
			incr r(ticks) [_ringside_record_step $T [_ringside_stamp $T $words 0] \
				[_ringside_stamp $T $words $last]]
		} else {
			incr r(ticks) [lindex [_ringside_record_steps $T $words] 1]
		}
	}
}

# Returns whether the timestamps stepped back although the clock had no time to wrap. `distance` is
# the step in the direction of the clock, modulo the clock's period. The cause is a reset, or
# nevertheless a wrap; the timestamps cannot distinguish the two.
proc _ringside_record_went_back {T distance} {
	upvar #0 _ringside_ring_$T r
	set period [expr {$r(mask) + 1.0}]
	if {$r(mask) <= 0 || $r(span) < 100 || $r(ticks) == 0 || 2 * $distance <= $period} {
		return 0
	}
	set rate [expr {double($r(ticks)) / $r(span)}]
	return [expr {2 * $rate * ([clock milliseconds] - $r(wall)) + 1000 * $rate < $period / 2}]
}

# ---- The end ----

proc _ringside_record_stop {T} {
	upvar #0 _ringside_ring_$T r
	if {![info exists r(recording)]} {
		_ringside_fail "ringside record stop" "target $T is not being recorded"
	}
	return [_ringside_record_end $T ""]
}

# Ends a recording: polls once more, writes provisional entries, and closes the log.
proc _ringside_record_end {T text} {
	upvar #0 _ringside_ring_$T r
	if {![info exists r(recording)]} {
		return
	}
	if {!$r(disconnected)} {
		set r(passing) 1
		catch {
			_ringside_record_poll $T
			[expr {[info exists r(posix)] ? "_ringside_posix_describe_names"
				: "_ringside_record_describe_objects"}] $T
		}
	}
	# The last poll may have filled the log, which ends the recording by itself.
	if {[info exists r(recording)]} {
		_ringside_record_emit_provisional $T
	}
	if {[info exists r(recording)] && [info exists r(rkh)]} {
		_ringside_rkh_end_recording $T
	}
	if {[info exists r(recording)] && [info exists r(posix)]} {
		_ringside_posix_end_recording $T
	}
	if {[info exists r(recording)]} {
		_ringside_record_mark $T STOP $text
	}
	set text [_ringside_record_text $T]
	if {[info exists r(recording)]} {
		_ringside_record_close $T
	}
	return $text
}

# Writes STATUS and closes the log.
proc _ringside_record_close {T} {
	upvar #0 _ringside_ring_$T r
	_ringside_disarm $T rec
	_ringside_unhook $T reset-start "_ringside_record_before_reset $T"
	set r(rec,last) "ended: [_ringside_record_text $T]"
	set numbers [list $r(rec,entries) $r(rec,lost) [expr {$r(rec,exact) == 1}] $r(rec,polls) \
		[expr {$r(reads) - $r(rec,reads)}] [expr {$r(bytes) - $r(rec,bytes)}] \
		[expr {$r(failed) - $r(rec,failed)}] $r(rec,resets)]
	foreach field {recording tail pending_marks said,record} {
		unset -nocomplain r($field)
	}
	if {[catch {_ringside_log_close $T $numbers} why]} {
		_ringside_complain $T record $why
	}
}

# Returns the status of the recording as text.
proc _ringside_record_text {T} {
	upvar #0 _ringside_ring_$T r
	if {![info exists r(recording)]} {
		return [expr {[info exists r(rec,last)] ? $r(rec,last) : "off"}]
	}
	set text "to $r(recording), every $r(rec,every) ms: $r(rec,entries) entries,\
		[expr {$r(rec,exact) == 1 ? "" : "at least "}]$r(rec,lost) lost in\
		[_ringside_count $r(rec,gaps) gap], [_ringside_count $r(rec,resets) reset]"
	if {$r(disconnected)} {
		append text ", the target does not answer"
	} elseif {$r(rec,state) ne "on"} {
		append text ", waiting for the trace to be enabled"
	} else {
		append text ", fill at most $r(rec,most) of $r(n)"
	}
	return $text
}
