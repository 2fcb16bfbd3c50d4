# SPDX-License-Identifier: MIT
#
# Ringside: copies of a whole ring while the target runs, for ringside.tcl.
#
# Description:
#	"ringside snapshot" saves one copy. "ringside periodic" saves one copy per interval. The file is
#	a dump in the format of the ring. It is written as FILE.part and then renamed, so it is complete
#	or absent. In the file, entries that the target overwrote while they were read are invalid.

# Writes words into the open dump, at the offset of a ring address.
proc _ringside_patch {T file address words} {
	upvar #0 _ringside_ring_$T r
	seek $file [expr {$address - $r(base)}]
	puts -nonewline $file [_ringside_bytes $words $r(be)]
}

# Returns a target word (ULONG) as a list of 32-bit words.
proc _ringside_split {T value} {
	upvar #0 _ringside_ring_$T r
	if {$r(ws) == 1} {
		return [list [expr {$value & 0xffffffff}]]
	}
	set low [expr {$value & 0xffffffff}]
	set high [expr {($value >> 32) & 0xffffffff}]
	return [expr {$r(be) ? [list $high $low] : [list $low $high]}]
}

# Makes `count` entries invalid, because they were overwritten while they were read. They get the
# context of initialization and an id that no event has, so that the ring still reads as wrapped.
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
		# OpenOCD gives the reason only in its log.
		_ringside_fail $path $text "check the free disk space and that the target responds"
	}
	if {![file exists $path] || [file size $path] != $length} {
		incr r(failed)
		_ringside_fail $path "could not be written completely" "free space on the disk"
	}
	incr r(bytes) $length
}

# Returns whether the header in the dump equals the one read when the ring was found, except for the
# pointer.
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

# Copies the ring to `part`. Returns {slot of the pointer, number of overwritten entries}, or an
# empty list if the memory no longer holds this ring.
proc _ringside_copy_ring {T part} {
	upvar #0 _ringside_ring_$T r
	set halted [_ringside_is_halted $T]
	set from [_ringside_pointer $T]
	if {$from == -2} {
		return {}
	}
	set off [expr {$from == -1}]
	if {!$off && !$halted} {
		set anchor [_ringside_first_half $T [expr {$from - 1}]]
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
			# If few entries are left, a shorter read gives more of the newest entries.
			if {[_ringside_first_half $T [expr {$from - 1}]] ne $anchor || $lost > $r(n) * 3 / 4} {
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

# Handles a lap, or nearly one: reads the newest entries that can be verified again, and makes all
# others invalid.
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

# Saves a snapshot. Returns the number of entries that were overwritten during the copy, or -1 if
# the trace is not enabled. After an error, no file remains.
proc _ringside_save_snapshot {T path} {
	upvar #0 _ringside_ring_$T r
	set path [_ringside_follow $path]
	set part $path.part
	_ringside_check_directory [file dirname $path]
	# A broken link is replaced.
	if {[_ringside_kind $path] ne "link"} {
		_ringside_check_file $path
	}
	_ringside_check_file $part
	set own [_ringside_format_of $T]
	if {$own ne "threadx"} {
		try {
			return [_ringside_${own}_save_snapshot $T $path]
		} finally {
			catch {file delete $part}
		}
	}
	try {
		for {set try 0} {$try < 3} {incr try} {
			# If the trace is off, the target may have been reset: read the header again.
			if {(!$r(ready) || [_ringside_pointer $T] < 0) && ![_ringside_locate $T]} {
				return -1
			}
			set done [_ringside_copy_ring $T $part]
			if {[llength $done]} {
				file rename -force $part $path
				return [lindex $done 1]
			}
			set r(ready) 0
		}
	} finally {
		catch {file delete $part}
	}
	_ringside_fail "target $T" "the ring moved while it was copied" \
		"check that the target is not being reset"
}

proc _ringside_cmd_snapshot {args} {
	set T [_ringside_take_target snapshot args]
	if {[llength $args] != 1} {
		_ringside_fail "ringside snapshot" "pass one file" "see ringside help snapshot"
	}
	set path [lindex $args 0]
	upvar #0 _ringside_ring_$T r
	set lost [_ringside_save_snapshot $T $path]
	if {$lost < 0} {
		_ringside_fail "ringside snapshot" "the trace is not enabled yet" "let the target run first"
	}
	set what [dict get {
		threadx slots rkh "bytes of a ring" posix "words of a ring" hook "bytes of a ring"
	} [_ringside_format_of $T]]
	set text "$path: $r(n) $what, [file size $path] bytes"
	if {$lost} {
		append text "; $lost were overwritten while they were read"
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
	_ringside_fail "ringside periodic" "\"$verb\" is not expected" "use start or stop"
}

proc _ringside_snapshots {directory} {
	return [lsort [glob -nocomplain -directory $directory \
		{snapshot-[0-9][0-9][0-9][0-9][0-9][0-9].*}]]
}

proc _ringside_periodic_start {T words} {
	upvar #0 _ringside_ring_$T r
	set options [lassign $words every directory]
	if {[llength $words] < 2} {
		_ringside_fail "ringside periodic start" "pass MS and DIR" \
			"see ringside help periodic"
	}
	set options [_ringside_options "periodic start" -keep $options]
	set every [_ringside_number MS $every 1 86400000]
	set keep [_ringside_number -keep [_ringside_option $options -keep 0] 0 999999]
	if {[info exists r(periodic)]} {
		_ringside_fail "ringside periodic" "already running, to $r(periodic)" \
			"use ringside periodic stop first"
	}
	_ringside_make_directory $directory
	set last [lindex [_ringside_snapshots $directory] end]
	set number 0
	regexp {snapshot-0*([0-9]+)\.[a-z]+$} $last -> number
	set r(periodic) $directory
	set r(p,every) $every
	set r(p,keep) $keep
	set r(p,number) $number
	set r(p,taken) 0
	set r(p,failed) 0
	set r(p,waiting) 0
	set r(p,own) {}
	_ringside_quiet_limits
	_ringside_arm $T p _ringside_periodic_poll
	return "a snapshot every $every ms to $directory, from number [expr {$number + 1}] on"
}

proc _ringside_periodic_poll {T} {
	upvar #0 _ringside_ring_$T r
	# Other programs may write to the directory, too.
	while {[llength [glob -nocomplain -directory $r(periodic) \
			[format "snapshot-%06d.*" [expr {$r(p,number) + 1}]]]]} {
		incr r(p,number)
	}
	set path [file join $r(periodic) [format "snapshot-%06d.%s" [expr {$r(p,number) + 1}] \
		[dict get {threadx trx rkh rkr posix ptr hook hook} [_ringside_format_of $T]]]]
	if {[catch {_ringside_save_snapshot $T $path} lost]} {
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
	if {!$r(p,keep)} {
		return
	}
	lappend r(p,own) $path
	if {[llength $r(p,own)] > $r(p,keep)} {
		catch {file delete [lindex $r(p,own) 0]}
		set r(p,own) [lrange $r(p,own) 1 end]
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
		_ringside_fail "ringside periodic stop" "not running"
	}
	set text [_ringside_periodic_text $T]
	_ringside_periodic_end $T
	return $text
}
