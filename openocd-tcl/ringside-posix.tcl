# SPDX-License-Identifier: MIT
#
# Ringside: streams of POSIX trace, for ringside.tcl.
#
# Description:
#	Finds a stream, saves snapshots of it, and sends it requests. Called by the subcommands info,
#	snapshot, start, stop, clear and filter; ringside-posix-record.tcl uses it, too.
#
#	A stream has a block of words and a ring of words in one object of the target. A snapshot holds
#	the process block, the names, the stream block and the ring, as a .ptr file. start, stop, clear
#	and filter write a request to the stream block. The target's recorder carries it out at its next
#	trace point.
#
#	Fields of the ring's array: posix (address of the process block or of a stream block), stream
#	(number of the stream; empty: the first bound stream), be (big-endian). The recorder may make
#	its block again at any time. So _ringside_posix_locate reads the other data each time: process,
#	block, number, and the words of both blocks by name.
#
#	Sources: docs/formats/posix-ring.md of Ringside.

set _ringside_posix_process_words {
	total 3 generation 4 streams 6 stream_bytes 7 streams_at 8 names_at 9 name_bytes 10
	names_room 11 names_used 12 names_claimed 13 ids 16 pid 17
}
set _ringside_posix_stream_words {
	back 3 ring_at 4 ring_words 5 layout 6 generation 8 state 9 policy 10 max_data 11 head 12
	tail 13 recorded 14 overwritten 15 refused 16 request_done 21 read_pos 22 request 23
	wanted 24 wanted_policy 25 wanted_max_data 26 wanted_clears 27 clears_done 28
}
set _ringside_posix_system {
	posix_trace_error 1 posix_trace_start 2 posix_trace_stop 3 posix_trace_overflow 4
	posix_trace_resume 5 posix_trace_filter 6 posix_trace_flush_start 7 posix_trace_flush_stop 8
}

# ---- init ----

proc _ringside_posix_init {words} {
	set options [_ringside_options init {-target -posix -stream} $words {-ram -fault}]
	set T [_ringside_init_target $options]
	set new [dict create reads 0 bytes 0 failed 0 ready 1 filter "" ws 1 \
		posix [_ringside_number -posix [dict get $options -posix]] \
		stream [_ringside_option $options -stream ""] be [expr {[$T cget -endian] eq "big"}]]
	if {[dict get $new stream] ne ""} {
		_ringside_number -stream [dict get $new stream] 0 31
	}
	_ringside_init_spans new $options
	_ringside_set_ring $T $new
}

# ---- Finding the stream ----

# Returns the words of a block by name, and fails if its first words are wrong.
proc _ringside_posix_block {T address magic table what} {
	set words [_ringside_read $T $address 32]
	if {[lindex $words 0] != $magic || [lindex $words 1] != 1 || [lindex $words 2] != 128} {
		_ringside_fail "target $T" [format "no %s of a POSIX trace at 0x%x" $what $address] \
			"check that this firmware runs and has called ringside_trace_init"
	}
	set found {}
	foreach {name index} $table {
		dict set found $name [expr {[lindex $words $index] + 0}]
	}
	return $found
}

# Returns the words of the process block by name. Fails if they are not consistent.
proc _ringside_posix_process {T address} {
	global _ringside_posix_process_words
	set p [_ringside_posix_block $T $address 0x43525450 $_ringside_posix_process_words \
		"process block"]
	set names [expr {[dict get $p names_room] * [dict get $p name_bytes]}]
	if {[dict get $p streams] < 1 || [dict get $p streams] > 32 || [dict get $p ids] > 65536 ||
			[dict get $p ids] % 32 || [dict get $p name_bytes] % 4 ||
			[dict get $p names_at] + $names > [dict get $p total]} {
		_ringside_fail "target $T" [format "process block at 0x%x is inconsistent" $address] \
			"check the address"
	}
	return $p
}

# Returns the words of a stream block by name. Fails if they are not consistent.
proc _ringside_posix_stream {T address} {
	global _ringside_posix_stream_words
	set s [_ringside_posix_block $T $address 0x53525450 $_ringside_posix_stream_words \
		"stream block"]
	set words [dict get $s ring_words]
	if {$words < 64 || $words > 1 << 24 || $words & ($words - 1)} {
		_ringside_fail "target $T" [format "stream block at 0x%x is inconsistent" $address] \
			"check the address"
	}
	return $s
}

# Finds the stream. Sets variables of the caller: process and block (addresses), number (of the
# stream), p and s (words of both blocks by name).
proc _ringside_posix_locate {T} {
	upvar #0 _ringside_ring_$T r
	foreach name {process block number p s} {
		upvar 1 $name $name
	}
	set process $r(posix)
	set wanted $r(stream)
	if {[lindex [_ringside_read $T $process 1] 0] == 0x53525450} {
		set s [_ringside_posix_stream $T $process]
		set block $process
		incr process -[dict get $s back]
	}
	set p [_ringside_posix_process $T $process]
	set first [expr {$process + [dict get $p streams_at]}]
	if {[info exists block] && $wanted eq ""} {
		set wanted [expr {($block - $first) / [dict get $p stream_bytes]}]
	}
	if {$wanted ne "" && $wanted >= [dict get $p streams]} {
		_ringside_fail "target $T" "unknown stream $wanted" \
			"use 0 to [expr {[dict get $p streams] - 1}]"
	}
	set number [expr {$wanted eq "" ? 0 : $wanted}]
	for {set i 0} {$wanted eq "" && $i < [dict get $p streams]} {incr i} {
		set s [_ringside_posix_stream $T [expr {$first + $i * [dict get $p stream_bytes]}]]
		if {[dict get $s state] & 1} {
			set number $i
			break
		}
	}
	set block [expr {$first + $number * [dict get $p stream_bytes]}]
	set s [_ringside_posix_stream $T $block]
}

proc _ringside_posix_info {T} {
	upvar #0 _ringside_ring_$T r
	_ringside_posix_locate $T
	dict with s {}
	set policies {none loop until_full flush}
	set unread [expr {($head - $tail) & 0xffffffff}]
	return [join [list \
		"target:   $T, [expr {[_ringside_is_halted $T] ? "halted" : "running"}]" \
		[format "ring:     POSIX trace, stream %d of %d at 0x%x, %d words, %s-endian" $number \
			[dict get $p streams] $block $ring_words [expr {$r(be) ? "big" : "little"}]] \
		"state:    [expr {$state & 2 ? "running" : $state & 4 ? "suspended, full" : "suspended"}],\
			policy [lindex $policies [expr {$state & 1 && $policy <= 3 ? $policy : 0}]]" \
		"records:  $recorded recorded, $unread words in the ring" \
		"lost:     $overwritten overwritten, $refused refused" \
		"filter:   [_ringside_posix_filter_text $T $process $p \
			[_ringside_posix_filter $T $block $p [dict create request 0 request_done 0]]]" \
		"request:  [expr {$request == $request_done ? "none" : "pending"}]"] "\n"]
}

# ---- Snapshots ----

# Returns words of the ring from a position on, with a second read if they wrap.
proc _ringside_posix_fetch {T ring size from count} {
	set first [expr {$from & ($size - 1)}]
	set here [_ringside_min $count [expr {$size - $first}]]
	set words {}
	if {$here} {
		lappend words {*}[_ringside_read $T [expr {$ring + 4 * $first}] $here]
	}
	if {$here < $count} {
		lappend words {*}[_ringside_read $T $ring [expr {$count - $here}]]
	}
	return $words
}

proc _ringside_posix_zeros {count} {
	return [expr {$count ? [lrepeat $count 0] : {}}]
}

# Copies the records from the later tail to the earlier head. Tries again if the tail has passed all
# of them. Returns the ring's words, the later tail, and the stream block's dictionary.
proc _ringside_posix_copy {T process block} {
	for {set try 0} {$try < 8} {incr try} {
		set s [_ringside_posix_stream $T $block]
		set head [dict get $s head]
		set size [dict get $s ring_words]
		set ring [expr {$process + [dict get $s ring_at]}]
		set count [_ringside_min [expr {($head - [dict get $s tail]) & 0xffffffff}] $size]
		set words [_ringside_posix_fetch $T $ring $size [dict get $s tail] $count]
		set after [_ringside_posix_stream $T $block]
		set passed [expr {([dict get $after tail] - [dict get $s tail]) & 0xffffffff}]
		if {[dict get $after generation] == [dict get $s generation] && $passed <= $count} {
			set from [expr {$size - ([dict get $s tail] & ($size - 1))}]
			set all [concat [_ringside_posix_zeros $passed] [lrange $words $passed end] \
				[_ringside_posix_zeros [expr {$size - $count}]]]
			set all [concat [lrange $all $from end] [lrange $all 0 [expr {$from - 1}]]]
			return [list $all [dict get $after tail] $s]
		}
	}
	_ringside_fail "target $T" "the recorder overwrites the ring faster than it can be read" \
		"use ringside stop first"
}

# Saves a snapshot. Returns the number of overwritten entries, which is 0: the snapshot leaves
# overwritten records out.
proc _ringside_posix_save_snapshot {T path} {
	upvar #0 _ringside_ring_$T r
	_ringside_posix_locate $T
	set r(n) [dict get $s ring_words]
	lassign [_ringside_posix_copy $T $process $block] ring tail copied
	set blocks [_ringside_read $T $process 32]
	foreach {at value} [list 22 [expr {$process & 0xffffffff}] 23 [expr {$process >> 32}] \
			24 $number] {
		set blocks [lreplace $blocks $at $at $value]
	}
	set names [expr {[dict get $p names_room] * [dict get $p name_bytes] / 4}]
	lappend blocks {*}[_ringside_read $T [expr {$process + [dict get $p names_at]}] $names]
	set words [_ringside_read $T $block [expr {36 + [dict get $p ids] / 16}]]
	foreach {at value} [list 12 [dict get $copied head] 13 $tail] {
		set words [lreplace $words $at $at $value]
	}
	set file [open $path.part w]
	try {
		fconfigure $file -translation binary
		puts -nonewline $file [_ringside_bytes [concat $blocks $words $ring] $r(be)]
	} finally {
		close $file
	}
	file rename -force $path.part $path
	return 0
}

# ---- Requests ----

# Returns the words of the filter. If a request is pending, returns the filter that it requests.
proc _ringside_posix_filter {T block p s} {
	set pending [expr {[dict get $s request] != [dict get $s request_done]}]
	set ids [dict get $p ids]
	return [_ringside_read $T [expr {$block + 144 + ($pending ? $ids / 8 : 0)}] [expr {$ids / 32}]]
}

# Returns the names of user event types and their ids, from the target's table: {name id ...}.
proc _ringside_posix_names {T process p} {
	upvar #0 _ringside_ring_$T r
	set bytes [dict get $p name_bytes]
	set words [_ringside_read $T [expr {$process + [dict get $p names_at]}] \
		[expr {[dict get $p names_room] * $bytes / 4}]]
	set all [_ringside_bytes $words $r(be)]
	set names {}
	for {set i 0} {$i < [dict get $p names_room]} {incr i} {
		set slot [string byterange $all [expr {$i * $bytes}] [expr {($i + 1) * $bytes - 1}]]
		set name [string range $slot 0 [expr {[string first "\0" "$slot\0"] - 1}]]
		if {$name ne ""} {
			dict set names $name [expr {32 + $i}]
		}
	}
	return $names
}

# Returns a filter as text: the names of the types that are not recorded.
proc _ringside_posix_filter_text {T process p words} {
	global _ringside_posix_system
	set named {}
	set others 0
	foreach {name id} [concat $_ringside_posix_system [_ringside_posix_names $T $process $p]] {
		dict set known $id $name
	}
	for {set id 0} {$id < 32 * [llength $words]} {incr id} {
		if {[lindex $words [expr {$id / 32}]] >> ($id % 32) & 1} {
			if {[dict exists $known $id]} {
				lappend named [regsub -all {[^ -~]} [dict get $known $id] ?]
			} else {
				incr others
			}
		}
	}
	if {$others} {
		lappend named "[_ringside_count $others type] without a name"
	}
	return "not recorded: [expr {[llength $named] ? [join $named " "] : "nothing"}]"
}

# Returns the ids of the event types that names, patterns, numbers and keywords select.
proc _ringside_posix_ids {T process p words} {
	global _ringside_posix_system
	set known [concat $_ringside_posix_system [_ringside_posix_names $T $process $p]]
	set ids {}
	foreach word $words {
		set found {}
		foreach {name id} $known {
			if {[string match $word $name] || ($word in {system all} && $id < 32)} {
				lappend found $id
			}
		}
		if {$word in {user all}} {
			for {set id 32} {$id < [dict get $p ids]} {incr id} {
				lappend found $id
			}
		}
		if {[regexp {^[0-9]} $word]} {
			lappend found [_ringside_number filter $word 0 [expr {[dict get $p ids] - 1}]]
		}
		if {![llength $found] && $word ne "none"} {
			_ringside_fail "ringside filter" "unknown event type \"$word\"" \
				"use names, ids, system, user, all or none"
		}
		lappend ids {*}$found
	}
	return $ids
}

# Writes a request: the wanted words with the requested changes, then the number of the request,
# then the word `active` of the process block. Returns the number. `changes` is {word expression
# ...}; `filter` is {offset word ...}.
proc _ringside_posix_write_request {T process block s changes filter} {
	dict with s {}
	# An UNTIL_FULL stream that stopped itself stays suspended until it is read or cleared.
	set full [expr {$state & 4 && $policy == 2 && $read_pos != $head &&
		$wanted_clears == $clears_done}]
	if {$request == $request_done} {
		set wanted [expr {$state & 3 | ($state & 4 ? $wanted & 2 : 0)}]
		set wanted_clears $clears_done
		if {$state & 1} {
			set wanted_policy $policy
			set wanted_max_data $max_data
		}
	}
	foreach {name value} $changes {
		set $name [expr $value]
	}
	if {!($wanted & 1)} {
		_ringside_fail "target $T" "the stream is not bound, so it records nothing" \
			"use ringside start to bind it"
	}
	if {$wanted_policy < 1 || $wanted_policy > 3} {
		set wanted_policy 1
	}
	if {$wanted_max_data == 0} {
		set wanted_max_data 64
	}
	foreach {at value} [concat [list 96 $wanted 100 $wanted_policy 104 $wanted_max_data \
			108 [expr {$wanted_clears & 0xffffffff}]] $filter \
			[list 92 [expr {($request + 1) & 0xffffffff}]]] {
		$T mww [expr {$block + $at}] $value
	}
	$T mww [expr {$process + 20}] 0xffffffff
	return [expr {($request + 1) & 0xffffffff}]
}

# Waits up to half a second until a running target has carried out a request. Returns the outcome as
# text.
proc _ringside_posix_await_request {T block verb request} {
	for {set i 0} {$i < 10} {incr i} {
		if {[dict get [_ringside_posix_stream $T $block] request_done] == $request} {
			return "$verb: done"
		}
		if {[_ringside_is_halted $T]} {
			break
		}
		sleep 50
	}
	return "$verb: requested; done when the target passes its next trace point"
}

proc _ringside_posix_request {T verb} {
	set changes [dict get {
		start {wanted {$wanted | 3}} stop {wanted {$wanted & ~2}}
		clear {wanted {$full ? $wanted & ~2 : $wanted} wanted_clears {$wanted_clears + 1}}
	} $verb]
	_ringside_posix_locate $T
	set request [_ringside_posix_write_request $T $process $block $s $changes {}]
	return [_ringside_posix_await_request $T $block $verb $request]
}

proc _ringside_posix_cmd_filter {T words} {
	_ringside_posix_locate $T
	set before [_ringside_posix_filter $T $block $p $s]
	set how [lindex $words 0]
	if {$how in {"" show} && [llength $words] < 2} {
		return [_ringside_posix_filter_text $T $process $p $before]
	}
	if {$how ni {set add sub} || [llength $words] < 2} {
		_ringside_fail "ringside filter" "\"$words\" is not expected" \
			"use show, or set, add or sub and names of event types"
	}
	set after [expr {$how eq "set" ? [lrepeat [llength $before] 0] : $before}]
	foreach id [_ringside_posix_ids $T $process $p [lrange $words 1 end]] {
		set at [expr {$id / 32}]
		set bit [expr {1 << $id % 32}]
		set word [lindex $after $at]
		set after [lreplace $after $at $at [expr {$how eq "sub" ? $word & ~$bit : $word | $bit}]]
	}
	set filter {}
	set at [expr {144 + [dict get $p ids] / 8}]
	foreach word $after {
		lappend filter $at $word
		incr at 4
	}
	set request [_ringside_posix_write_request $T $process $block $s {} $filter]
	return [join [list "before: [_ringside_posix_filter_text $T $process $p $before]" \
		"after: [_ringside_posix_filter_text $T $process $p $after]" \
		[_ringside_posix_await_request $T $block filter $request]] "\n"]
}
