# SPDX-License-Identifier: MIT
#
# Ringside: rings of hook words, for ringside.tcl.
#
# Description:
#	A ring is a control block of sixteen words, followed by a buffer. The writer moves the tail
#	before it overwrites the oldest records. A snapshot holds both, as a .hook file. start and stop
#	write the flag that the recorder checks. To record to a log, use the program: "ringside record
#	--openocd".
#
#	Fields of the ring's array: hook (address of the control block), be.
#
#	Sources: docs/formats/hook.md of Ringside.

set _ringside_hook_words {
	size 3 flags 4 hz 5 head 7 tail 8 records 9 lost 10 generation 11 word_bytes 12 cpus 13
}

proc _ringside_hook_init {words} {
	set options [_ringside_options init {-target -hook} $words {-ram -fault}]
	set T [_ringside_init_target $options]
	set new [dict create reads 0 bytes 0 failed 0 ready 1 filter "" ws 1 \
		hook [_ringside_number -hook [dict get $options -hook]] \
		be [expr {[$T cget -endian] eq "big"}]]
	_ringside_init_spans new $options
	_ringside_set_ring $T $new
}

# Returns the words of the control block by name, and all of them as `words`.
proc _ringside_hook_block {T} {
	global _ringside_hook_words
	upvar #0 _ringside_ring_$T r
	set words [_ringside_read $T $r(hook) 16]
	set size [lindex $words 3]
	if {[lindex $words 0] != 0x4b4f4f48 || [lindex $words 1] != 1 || [lindex $words 2] != 64 ||
			$size < 64 || $size > 1 << 28 || $size & ($size - 1)} {
		_ringside_fail "target $T" [format "no ring of hook words at 0x%x" $r(hook)] \
			"check that this firmware runs and records"
	}
	set found [dict create words $words]
	foreach {name index} $_ringside_hook_words {
		dict set found $name [expr {[lindex $words $index] + 0}]
	}
	return $found
}

proc _ringside_hook_info {T} {
	upvar #0 _ringside_ring_$T r
	set h [_ringside_hook_block $T]
	dict with h {}
	set there [expr {($head - $tail) & 0xffffffff}]
	return [join [list \
		"target:   $T, [expr {[_ringside_is_halted $T] ? "halted" : "running"}]" \
		[format "ring:     hook words at 0x%x, %d bytes, %s-endian, words of %d bytes" $r(hook) \
			$size [expr {$r(be) ? "big" : "little"}] $word_bytes] \
		"state:    [expr {$flags & 1 ? "running" : "suspended"}], [expr {
			$flags & 2 ? "stops when it is full" : "keeps the newest"}]" \
		"records:  $records recorded, $there bytes in the ring" \
		"lost:     $lost not written"] "\n"]
}

# Copies the records from the later tail to the earlier head. Tries again if the tail has passed all
# of them. Returns the buffer's words, the tail, and the block's words.
proc _ringside_hook_copy {T} {
	upvar #0 _ringside_ring_$T r
	for {set try 0} {$try < 8} {incr try} {
		set h [_ringside_hook_block $T]
		set size [expr {[dict get $h size] / 4}]
		set from [expr {[dict get $h tail] / 4}]
		set count [expr {(([dict get $h head] - [dict get $h tail]) & 0xffffffff) / 4}]
		if {$count > $size} {
			continue ;# the writer lapped the reader between the reads of the two words
		}
		set words [_ringside_posix_fetch $T [expr {$r(hook) + 64}] $size $from $count]
		set after [_ringside_hook_block $T]
		set passed [expr {(([dict get $after tail] - [dict get $h tail]) & 0xffffffff) / 4}]
		if {[dict get $after generation] == [dict get $h generation] && $passed <= $count} {
			set wrap [expr {$size - ($from & ($size - 1))}]
			set all [concat [_ringside_posix_zeros $passed] [lrange $words $passed end] \
				[_ringside_posix_zeros [expr {$size - $count}]]]
			set all [concat [lrange $all $wrap end] [lrange $all 0 [expr {$wrap - 1}]]]
			return [list $all [dict get $after tail] [dict get $h words]]
		}
	}
	_ringside_fail "target $T" "the recorder overwrites the ring faster than it can be read" \
		"use ringside stop first"
}

# Saves a snapshot. Returns the number of overwritten entries, which is 0: the snapshot leaves
# overwritten records out.
proc _ringside_hook_save_snapshot {T path} {
	upvar #0 _ringside_ring_$T r
	lassign [_ringside_hook_copy $T] buffer tail block
	set r(n) [expr {4 * [llength $buffer]}]
	foreach {at value} [list 8 $tail 14 [expr {$r(hook) & 0xffffffff}] \
			15 [expr {$r(hook) >> 32}]] {
		set block [lreplace $block $at $at $value]
	}
	set file [open $path.part w]
	try {
		fconfigure $file -translation binary
		puts -nonewline $file [_ringside_bytes [concat $block $buffer] $r(be)]
	} finally {
		close $file
	}
	file rename -force $path.part $path
	return 0
}

# Starts or stops the recorder: writes the flag that it checks.
proc _ringside_hook_request {T verb} {
	upvar #0 _ringside_ring_$T r
	if {$verb eq "clear"} {
		_ringside_fail "ringside clear" "not supported for hook words" \
			"use start and stop"
	}
	set flags [dict get [_ringside_hook_block $T] flags]
	set flags [expr {$verb eq "start" ? $flags | 1 : $flags & ~1}]
	$T mww [expr {$r(hook) + 16}] $flags
	if {[dict get [_ringside_hook_block $T] flags] != $flags} {
		_ringside_fail "ringside $verb" "the ring's flags could not be written" \
			"check that it is in RAM that the debugger may write"
	}
	return "$verb: done"
}
