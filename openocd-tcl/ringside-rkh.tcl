# SPDX-License-Identifier: MIT
#
# Ringside: rings of RKH's trace facility, for ringside.tcl.
#
# Description:
#	Saves snapshots of the ring, records it to a log, and shows and changes its filters. Called by
#	the subcommands, and by ringside-record.tcl at each poll.
#
#	The ring is an array of bytes (trcstm). Pointers (trcin, trcout) and a count (trcqty) are stored
#	elsewhere. A snapshot holds the array and these values (docs/formats/rkh.md, "As a file").
#
#	A poll reads trcin. Then it reads the new bytes together with the newest bytes of the previous
#	poll, in one read (two if the array ends within them). Then it reads those older bytes again.
#	They are the anchor: a writer that laps the reader overwrites them last. If they are unchanged,
#	all bytes that were read are complete.
#
#	Fields of the ring's array: rkh (address of the array), n (its bytes); at,in at,out at,qty
#	at,chk (addresses; chk may be empty); width,qty (bytes of the count), pb (bytes of a pointer),
#	be (big-endian), settings (layout of the frames, a dictionary), table,KIND (address and bytes of
#	a filter). While a log is written: pos (offset after the newest byte that was read), tail (the
#	newest 32 bytes), near (the newest 256 bytes), seq (last known sequence number), lost_at_end
#	(the newest bytes of the last poll could not be verified).
#
#	Sources: docs/formats/rkh.md of Ringside.

set _ringside_rkh_keys {
	chk nseq ts ptr fun sig esize nblk bsize nelem ntick sndr qnmin mpnmin version ts_hz
}
set _ringside_rkh_anchor 32
set _ringside_rkh_groups {MP QUE SMA SM TMR FWK USR UT}
# Names of groups in older versions.
set _ringside_rkh_old_groups {RQ QUE TIM TMR}
# By family: for each group, the offset of its events in trceftbl, and the number of their bytes.
set _ringside_rkh_maps {
	3 {0 1 1 1 2 2 4 3 7 1 8 3 11 4 15 2}
	245 {0 1 1 1 2 1 3 3 6 1 7 3 10 4 14 2}
	244 {0 1 1 1 2 1 3 3 6 1 7 3 10 4 14 0}
}
set _ringside_rkh_events {
	MP_INIT 0 MP_GET 1 MP_PUT 2
	QUE_INIT 32 QUE_GET 33 QUE_FIFO 34 QUE_LIFO 35 QUE_FULL 36 QUE_DPT 37 QUE_GET_LAST 38
	SMA_ACT 64 SMA_TERM 65 SMA_GET 66 SMA_FIFO 67 SMA_LIFO 68 SMA_REG 69 SMA_UNREG 70 SMA_DEFER
	71 SMA_RCALL 72
	SM_INIT 96 SM_CLRH 97 SM_TRN 98 SM_STATE 99 SM_ENSTATE 100 SM_EXSTATE 101 SM_NENEX 102
	SM_NTRNACT 103 SM_TS_STATE 104 SM_EVT_PROC 105 SM_EVT_NFOUND 106 SM_GRD_FALSE 107
	SM_CND_NFOUND 108 SM_UNKN_STATE 109 SM_EX_HLEVEL 110 SM_EX_TSEG 111 SM_EXE_ACT 112 SM_DCH
	113
	TMR_INIT 128 TMR_START 129 TMR_STOP 130 TMR_TOUT 131 TMR_REM 132
	FWK_EN 160 FWK_EX 161 FWK_EPREG 162 FWK_AE 163 FWK_GC 164 FWK_GCR 165 FWK_OBJ 166 FWK_SIG
	167 FWK_FUN 168 FWK_EXE_FUN 169 FWK_SYNC_EVT 170 FWK_TUSR 171 FWK_TCFG 172 FWK_ASSERT 173
	FWK_AO 174 FWK_STATE 175 FWK_PSTATE 176 FWK_TIMER 177 FWK_EPOOL 178 FWK_QUEUE 179 FWK_ACTOR
	180
	UT_INIT 224 UT_CLEANUP 225 UT_VERIFY 226 UT_IGNORE_GROUP 227 UT_EXPECT 228 UT_EXPECT_ANYARGS
	229 UT_IGNORE 230 UT_IGNORE_ARG 231
}

# ---- init ----

proc _ringside_rkh_init {words} {
	set options [_ringside_options init {-target -rkh -in -out -qty -chk -pointer -settings
		-groups -events -actors -signals} $words {-ram -fault}]
	set T [_ringside_init_target $options]
	foreach option {-rkh -in -out -qty} {
		if {![dict exists $options $option]} {
			_ringside_fail "ringside init" "$option missing" \
				"use the line that ringside openocd-config --elf FW.elf prints"
		}
	}
	lassign [_ringside_span -rkh [dict get $options -rkh]] array size
	lassign [_ringside_span -qty [dict get $options -qty]] qty width
	if {$size < 64 || $size > 1 << 20} {
		_ringside_fail -rkh "array of $size bytes not allowed" "use 64 bytes to 1 MiB"
	}
	set new [dict create reads 0 bytes 0 failed 0 ready 1 rkh $array n $size rw 0 \
		at,qty $qty width,qty $width be [expr {[$T cget -endian] eq "big"}] ws 1 \
		pb [_ringside_number -pointer [_ringside_option $options -pointer 4] 2 8] filter ""]
	foreach {option field} {-in at,in -out at,out -chk at,chk} {
		set value [_ringside_option $options $option ""]
		dict set new $field [expr {$value eq "" ? "" : [_ringside_number $option $value]}]
	}
	foreach {option field} {-groups group -events event -actors ao -signals signal} {
		set value [_ringside_option $options $option ""]
		dict set new table,$field [expr {$value eq "" ? "" : [_ringside_span $option $value]}]
	}
	dict set new settings {}
	foreach word [split [_ringside_option $options -settings ""] ,] {
		if {![regexp {^([a-z_]+)=([0-9]+)$} $word -> key value]} {
			_ringside_fail -settings "\"$word\" is not a setting" "use KEY=NUMBER, separated by commas"
		}
		dict set new settings $key $value
	}
	_ringside_init_spans new $options
	_ringside_set_ring $T $new
}

# ---- The array ----

# Returns bytes of target memory.
proc _ringside_rkh_read {T address length} {
	upvar #0 _ringside_ring_$T r
	set start [expr {$address & ~3}]
	set words [_ringside_read $T $start [expr {($address + $length - $start + 3) / 4}]]
	set skip [expr {$address - $start}]
	return [string byterange [_ringside_bytes $words $r(be)] $skip [expr {$skip + $length - 1}]]
}

# Returns the unsigned number of `width` bytes at an address.
proc _ringside_rkh_number {T address width} {
	upvar #0 _ringside_ring_$T r
	set kind [expr {$width == 8 ? ($r(be) ? "-intbe" : "-intle") : $r(be) ? "-uintbe" : "-uintle"}]
	return [unpack [_ringside_rkh_read $T $address $width] $kind 0 [expr {8 * $width}]]
}

# Returns the offset in the array to which a pointer (in or out) points; -1: it is not initialized
# yet; -2: it points outside the array.
proc _ringside_rkh_offset {T which} {
	upvar #0 _ringside_ring_$T r
	set pointer [_ringside_rkh_number $T $r(at,$which) $r(pb)]
	if {$pointer == 0} {
		return -1
	}
	if {$pointer < $r(rkh) || $pointer > $r(rkh) + $r(n)} {
		return -2
	}
	return [expr {($pointer - $r(rkh)) % $r(n)}]
}

# Returns `length` bytes of the array from an offset on.
proc _ringside_rkh_fetch {T place length} {
	upvar #0 _ringside_ring_$T r
	set place [expr {($place % $r(n) + $r(n)) % $r(n)}]
	set here [_ringside_min $length [expr {$r(n) - $place}]]
	set bytes [_ringside_rkh_read $T [expr {$r(rkh) + $place}] $here]
	if {$here < $length} {
		append bytes [_ringside_rkh_read $T $r(rkh) [expr {$length - $here}]]
	}
	return $bytes
}

proc _ringside_rkh_zeros {count} {
	set bytes ""
	if {$count > 0} {
		pack bytes 0 -intle 8 [expr {8 * ($count - 1)}]
	}
	return $bytes
}

# Returns the newest bytes that are verified to be complete: {offset after them, bytes}.
proc _ringside_rkh_newest {T} {
	global _ringside_rkh_anchor
	upvar #0 _ringside_ring_$T r
	set place [_ringside_rkh_offset $T in]
	for {set length $r(n)} {$place >= 0 && $length >= $r(n) / 8} {set length [expr {$length / 2}]} {
		set from [expr {$place - $_ringside_rkh_anchor}]
		set anchor [_ringside_rkh_fetch $T $from $_ringside_rkh_anchor]
		set bytes [_ringside_rkh_fetch $T [expr {$place - $length}] $length]
		set now [_ringside_rkh_offset $T in]
		if {$now < 0} {
			return [list $now ""]
		}
		# The byte at the pointer is stored before the pointer moves on.
		set passed [expr {($now - $place + $r(n)) % $r(n)}]
		if {![_ringside_is_halted $T]} {
			incr passed
		}
		set drop [_ringside_max 0 [expr {$passed + $length - $r(n)}]]
		if {[_ringside_rkh_fetch $T $from $_ringside_rkh_anchor] eq $anchor && $drop < $length} {
			return [list $place [string byterange $bytes $drop end]]
		}
		set place $now
	}
	return [list $place ""]
}

# Returns the description of the ring for a dump or a log: 128 bytes, as words.
proc _ringside_rkh_ring_record {T in pending valid chk settings} {
	global _ringside_rkh_keys
	upvar #0 _ringside_ring_$T r
	set words [concat [_ringside_log_words RKHring] [list 1 [expr {$r(be) ? 2 : 1}]] \
		[_ringside_wide $r(rkh)] [list $r(n) $in $pending $valid [expr {$r(at,chk) ne ""}] $chk 0 0]]
	set from 0
	set bit 0
	foreach key $_ringside_rkh_keys {
		set known [dict exists $settings $key]
		lappend words [expr {$known ? [dict get $settings $key] : 0}]
		# Source 2: the firmware's ELF.
		set from [expr {$known ? $from | 2 << $bit : $from}]
		incr bit 4
	}
	return [concat $words [_ringside_wide $from]]
}

# ---- Snapshots ----

# Returns the number of bytes that the target has not taken out. The writer first stores a byte and
# then counts it, so a full ring and an empty one may have equal pointers.
proc _ringside_rkh_pending {T in} {
	upvar #0 _ringside_ring_$T r
	set out [_ringside_rkh_offset $T out]
	set count [_ringside_rkh_number $T $r(at,qty) $r(width,qty)]
	if {$out < 0} {
		return 0
	}
	set apart [expr {($in - $out + $r(n)) % $r(n)}]
	return [expr {$count >= $r(n) || ($apart == 0 && $count > $r(n) / 2) ? $r(n) : $apart}]
}

# Saves a snapshot. Returns the number of overwritten bytes, or -1 if the trace is not initialized.
proc _ringside_rkh_save_snapshot {T path} {
	upvar #0 _ringside_ring_$T r
	set part $path.part
	set place [_ringside_rkh_offset $T in]
	if {$place == -1} {
		return -1
	}
	set pending [expr {$place < 0 ? 0 : [_ringside_rkh_pending $T $place]}]
	set chk [expr {$r(at,chk) eq "" ? 0 : [_ringside_rkh_number $T $r(at,chk) 1]}]
	lassign [_ringside_rkh_newest $T] at bytes
	if {$at < 0 || $bytes eq ""} {
		_ringside_fail "target $T" "the ring could not be copied completely" \
			"check that this firmware runs, and use a faster link if it does"
	}
	set valid [string bytelength $bytes]
	# The byte at the write position may be half-stored, unless the writer has not moved.
	if {$valid == $r(n) - 1 && $at == $place && [_ringside_rkh_offset $T in] == $at} {
		set bytes "[_ringside_rkh_fetch $T $at 1]$bytes"
		set valid $r(n)
	}
	set array "[_ringside_rkh_zeros [expr {$r(n) - $valid}]]$bytes"
	# The oldest byte of the copy is at the write position.
	set split [expr {$r(n) - $at}]
	set words [_ringside_rkh_ring_record $T $at $pending $valid $chk {}]
	set file [open $part w]
	try {
		puts -nonewline $file [_ringside_bytes $words 0]
		if {$split < $r(n)} {
			puts -nonewline $file [string byterange $array $split end]
		}
		puts -nonewline $file [string byterange $array 0 [expr {$split - 1}]]
	} finally {
		close $file
	}
	file rename -force $part $path
	return [expr {$r(n) - $valid}]
}

proc _ringside_rkh_info {T} {
	upvar #0 _ringside_ring_$T r
	set place [_ringside_rkh_offset $T in]
	if {$place == -1} {
		return "target $T: the trace is not initialized yet"
	}
	if {$place == -2} {
		_ringside_fail "target $T" "trcin does not point into trcstm" \
			"check that this firmware runs"
	}
	return [join [list "target:   $T, [expr {[_ringside_is_halted $T] ? "halted" : "running"}]" \
		[format "ring:     RKH trace at 0x%x, %d bytes, %s-endian" $r(rkh) $r(n) \
			[expr {$r(be) ? "big" : "little"}]] \
		"pending:  [_ringside_rkh_pending $T $place] bytes, next byte $place"] "\n"]
}

# ---- Recording ----

# Runs one poll: finds the ring, or records what is new since the previous poll.
proc _ringside_rkh_poll {T} {
	global _ringside_rkh_anchor
	upvar #0 _ringside_ring_$T r
	set r(rec,fill) 0
	set place [_ringside_rkh_offset $T in]
	if {$r(rec,state) ne "on"} {
		return [expr {$place < 0 ? "" : [_ringside_rkh_record_newest $T 0]}]
	}
	if {$place < 0} {
		return [_ringside_record_handle_reset $T "the trace is not initialized"]
	}
	set k [expr {($place - $r(pos) + $r(n)) % $r(n)}]
	set r(rec,fill) $k
	set r(rec,most) [_ringside_max $r(rec,most) $k]
	if {$k == 0} {
		return
	}
	set known [string bytelength $r(tail)]
	set from [expr {$r(pos) - $known}]
	set bytes [_ringside_rkh_fetch $T $from [expr {$known + $k}]]
	if {[string byterange $bytes 0 [expr {$known - 1}]] ne $r(tail) ||
		[_ringside_rkh_fetch $T $from $known] ne $r(tail)} {
		return [_ringside_rkh_handle_lap $T $place]
	}
	set r(lap_expected) 0
	set r(pos) $place
	set r(tail) [_ringside_rkh_last_bytes $bytes $_ringside_rkh_anchor]
	set new [string byterange $bytes $known end]
	set r(near) [_ringside_rkh_last_bytes $r(near)$new 256]
	_ringside_rkh_put_bytes $T $new
}

# Records a loss of unknown size if the newest bytes could not be verified until the end of the
# recording.
proc _ringside_rkh_end_recording {T} {
	upvar #0 _ringside_ring_$T r
	if {[info exists r(lost_at_end)] && $r(lost_at_end)} {
		_ringside_record_loss $T 1 0 1
	}
	set r(lost_at_end) 0
}

# Returns the last `length` bytes, or all if there are fewer.
proc _ringside_rkh_last_bytes {bytes length} {
	set from [expr {[string bytelength $bytes] - $length}]
	return [string byterange $bytes [_ringside_max 0 $from] end]
}

# Returns the sequence numbers of the complete frames in bytes, with escapes removed. Before 3.0, a
# frame of settings (id 173 or 174) has none. A frame has at least four bytes.
proc _ringside_rkh_numbers {T bytes} {
	upvar #0 _ringside_ring_$T r
	set version [expr {[dict exists $r(settings) version] ? [dict get $r(settings) version] : 0x3000}]
	set bare [expr {$version < 0x3000 ? {173 174} : {}}]
	set numbers {}
	set whole 0
	set frame {}
	set flip 0
	foreach word [_ringside_log_words $bytes] {
		foreach octet [list [expr {$word & 255}] [expr {$word >> 8 & 255}] \
			[expr {$word >> 16 & 255}] [expr {$word >> 24}]] {
			if {$octet == 0x7e} {
				if {$whole && [llength $frame] >= 4 && [lindex $frame 0] ni $bare} {
					lappend numbers [lindex $frame 1]
				}
				set frame {}
				set whole 1
			} elseif {$octet == 0x7d} {
				set flip 0x20
				continue
			} else {
				lappend frame [expr {$octet ^ $flip}]
			}
			set flip 0
		}
	}
	return $numbers
}

# Returns whether frames have sequence numbers: by the settings, or because many count up in a row.
proc _ringside_rkh_is_numbered {T numbers} {
	upvar #0 _ringside_ring_$T r
	if {[dict exists $r(settings) nseq]} {
		return [dict get $r(settings) nseq]
	}
	set last [lindex $numbers 0]
	foreach number [lrange $numbers 1 end] {
		if {$number != (($last + 1) & 255)} {
			return 0
		}
		set last $number
	}
	return [expr {[llength $numbers] >= 16}]
}

# Records the loss before the newest bytes, from the sequence numbers on both sides, modulo 256.
proc _ringside_rkh_record_loss {T place bytes} {
	upvar #0 _ringside_ring_$T r
	set before [lindex [_ringside_rkh_numbers $T $r(near)] end]
	# Without a complete frame, the last known number remains.
	set before [expr {$before eq "" ? $r(seq) : $before}]
	set r(seq) $before
	set numbers [_ringside_rkh_numbers $T [string byterange $bytes 0 4095]]
	if {$before eq "" || ![llength $numbers] || ![_ringside_rkh_is_numbered $T $numbers]} {
		return [_ringside_record_loss $T 1 0 1]
	}
	set missing [expr {([lindex $numbers 0] - $before - 1) & 255}]
	_ringside_record_loss $T 1 $missing 256
}

# Records the newest bytes of the ring. `lapped` is 1 if the writer has lapped the reader;
# otherwise, the ring is new.
proc _ringside_rkh_record_newest {T lapped} {
	global _ringside_rkh_anchor
	upvar #0 _ringside_ring_$T r
	lassign [_ringside_rkh_newest $T] place bytes
	set r(lost_at_end) [expr {$lapped && ($place < 0 || $bytes eq "")}]
	if {$place < 0 || $bytes eq ""} {
		return
	}
	if {!$lapped} {
		_ringside_rkh_describe $T $place
		set r(seq) ""
	} else {
		incr r(rec,laps)
		_ringside_rkh_record_loss $T $place $bytes
	}
	foreach {field value} {provisional 0 reads_failed 0 rec,state on rec,restart 0} {
		set r($field) $value
	}
	set r(lap_expected) $lapped
	set r(pos) $place
	set r(tail) [_ringside_rkh_last_bytes $bytes $_ringside_rkh_anchor]
	set r(near) [_ringside_rkh_last_bytes $bytes 256]
	_ringside_rkh_put_bytes $T $bytes
}

# Handles an anchor that has changed: the writer has lapped the reader, or the ring was emptied. An
# emptied array is zero from the write position to its end. A full array is not, except for a short
# rest, because each frame ends with a byte that is not zero.
proc _ringside_rkh_handle_lap {T place} {
	upvar #0 _ringside_ring_$T r
	set left [expr {$r(n) - $place}]
	if {$r(rec,restart) || ($left >= 128 &&
			[_ringside_rkh_fetch $T $place $left] eq [_ringside_rkh_zeros $left])} {
		return [_ringside_record_handle_reset $T "the target was reset, or its trace opened again"]
	}
	_ringside_rkh_record_newest $T 1
}

# Describes the ring in the log.
proc _ringside_rkh_describe {T place} {
	upvar #0 _ringside_ring_$T r
	set words [concat [_ringside_log_words rkh] {0 0 0} [_ringside_wide $r(rkh)] {0 0 0 0} \
		[list 128 [expr {$r(be) ? 2 : 1}] 4 $r(pb)] \
		[_ringside_rkh_ring_record $T $place 0 0 0 $r(settings)]]
	_ringside_record_try $T $r(number) [list _ringside_log_describe $T ring $words 184]
}

# Returns the number of frames that end in words. The flag byte occurs nowhere else.
proc _ringside_rkh_count_flags {words} {
	set count 0
	foreach w $words {
		incr count [expr {(($w & 0xff) == 0x7e) + (($w & 0xff00) == 0x7e00) +
			(($w & 0xff0000) == 0x7e0000) + (($w & 0xff000000) == 0x7e000000)}]
	}
	return $count
}

# Writes bytes to the log, in blocks of at most 2 KiB.
proc _ringside_rkh_put_bytes {T bytes} {
	upvar #0 _ringside_ring_$T r
	set length [string bytelength $bytes]
	for {set at 0} {$at < $length} {incr at 2048} {
		set part [string byterange $bytes $at [expr {$at + 2047}]]
		set words [_ringside_log_words $part]
		set count [_ringside_rkh_count_flags $words]
		set first $r(number)
		incr r(number) $count
		_ringside_record_try $T $first [list _ringside_record_write_bytes $T $first $words \
			[string bytelength $part] $count]
	}
}

# Writes a BYTES block in which `count` entries end; the first has the number `first`. Returns 0 if
# the log is full.
proc _ringside_record_write_bytes {T first words length count} {
	upvar #0 _ringside_ring_$T r
	upvar #0 _ringside_log_$T l
	set done [_ringside_log_put $T bytes [dict create count $count first $first] $words $length]
	if {$done} {
		set l(next) [expr {$first + $count}]
		incr r(rec,entries) $count
	}
	return $done
}

# ---- Filters ----

# Returns the family of versions (a key of _ringside_rkh_maps): by the version in the settings,
# otherwise by the size of trceftbl, which differs between families. Returns an empty string if the
# family is not known, or is before 2.4.4.
proc _ringside_rkh_family {T} {
	global _ringside_rkh_maps
	upvar #0 _ringside_ring_$T r
	set size [lindex $r(table,event) 1]
	set family [expr {$size == 17 ? 3 : $size == 16 ? 245 : ""}]
	if {[dict exists $r(settings) version]} {
		set version [dict get $r(settings) version]
		set family [expr {$version >= 0x3000 ? 3 : $version >= 0x2405 ? 245 :
			$version == 0x2404 ? 244 : ""}]
	}
	if {$family ne ""} {
		lassign [lrange [dict get $_ringside_rkh_maps $family] end-1 end] first bytes
		return [expr {$first + $bytes <= $size ? $family : ""}]
	}
}

# Returns the id that a family uses for an event of 3.x, or -1 if the family does not have the
# event.
proc _ringside_rkh_wire_id {family id} {
	if {$family == 3} {
		return $id
	}
	if {$id == 180 || ($family == 244 && ($id in {112 170} || $id >= 224))} {
		return -1
	}
	if {$id in {71 72}} {
		return [expr {$id + 95}]
	}
	if {$id >= 166 && $id < 192} {
		return [expr {$family == 245 || $id < 170 ? $id + 2 : $id + 1}]
	}
	return [expr {$id == 113 ? 71 : $id}]
}

# Returns the names of a family's events and their bits in trceftbl: {name bit ...}.
proc _ringside_rkh_event_bits {family} {
	global _ringside_rkh_events _ringside_rkh_maps
	set map [dict get $_ringside_rkh_maps $family]
	set events $_ringside_rkh_events
	for {set i 0} {$i < 32} {incr i} {
		lappend events USER$i [expr {192 + $i}]
	}
	set names {}
	foreach {name id} $events {
		set wire [_ringside_rkh_wire_id $family $id]
		lassign [lrange $map [expr {$wire / 32 * 2}] [expr {$wire / 32 * 2 + 1}]] first bytes
		if {$wire >= 0 && $wire % 32 / 8 < $bytes} {
			lappend names $name [expr {8 * $first + $wire % 32}]
		}
	}
	return $names
}

# Returns the bits of a kind of filter: {name bit ...}. For events, returns an empty list if the
# positions of the bits are not known.
proc _ringside_rkh_bits {T kind} {
	global _ringside_rkh_groups
	upvar #0 _ringside_ring_$T r
	set names {}
	if {$kind eq "group"} {
		foreach name $_ringside_rkh_groups {
			lappend names $name [expr {[llength $names] / 2}]
		}
	} elseif {$kind eq "event"} {
		set family [_ringside_rkh_family $T]
		return [expr {$family eq "" ? "" : [_ringside_rkh_event_bits $family]}]
	} else {
		for {set i 0} {$i < 8 * [lindex $r(table,$kind) 1]} {incr i} {
			lappend names $i $i
		}
	}
	return $names
}

# Reads the filters from the target. Returns a dictionary: kind, list of bytes.
proc _ringside_rkh_read_tables {T} {
	upvar #0 _ringside_ring_$T r
	set tables [dict create]
	foreach kind {group event ao signal} {
		if {$r(table,$kind) ne ""} {
			set bits {}
			foreach word [_ringside_log_words [_ringside_rkh_read $T {*}$r(table,$kind)]] {
				lappend bits [expr {$word & 255}] [expr {$word >> 8 & 255}] \
					[expr {$word >> 16 & 255}] [expr {$word >> 24}]
			}
			dict set tables $kind [lrange $bits 0 [expr {[lindex $r(table,$kind) 1] - 1}]]
		}
	}
	return $tables
}

# Returns filters as text, one line per kind.
proc _ringside_rkh_filter_text {T tables} {
	set lines {}
	foreach {kind title} {group groups event events ao {active objects} signal signals} {
		if {![dict exists $tables $kind]} {
			continue
		}
		set bytes [dict get $tables $kind]
		set on {}
		set off {}
		foreach {name bit} [_ringside_rkh_bits $T $kind] {
			if {[lindex $bytes [expr {$bit / 8}]] >> $bit % 8 & 1} {
				lappend on $name
			} else {
				lappend off $name
			}
		}
		if {![llength $on] && ![llength $off]} {
			lappend lines "$title: unknown (their bits depend on the version of the framework)"
		} elseif {![llength $off]} {
			lappend lines "$title: all"
		} elseif {![llength $on]} {
			lappend lines "$title: none"
		} elseif {[llength $on] <= [llength $off]} {
			lappend lines "$title: only $on"
		} else {
			lappend lines "$title: all but $off"
		}
	}
	return [join $lines "\n"]
}

# Returns the filters with the change of one term, such as group=TMR. `on` is 1 or 0.
proc _ringside_rkh_change_tables {T tables word on} {
	global _ringside_rkh_old_groups
	set found 0
	if {$word eq "all"} {
		foreach kind [dict keys $tables] {
			dict set tables $kind [lmap byte [dict get $tables $kind] {expr {$on ? 255 : 0}}]
		}
		return $tables
	}
	if {![regexp {^(group|event|ao|signal)=(.+)$} $word -> kind pattern] ||
		![dict exists $tables $kind]} {
		_ringside_fail "ringside filter" "\"$word\" is not a filter term" \
			"use group=, event=, ao= or signal= with a name or a number, or all"
	}
	regsub {^RKH_TE_} $pattern "" pattern
	foreach {old new} $_ringside_rkh_old_groups {
		regsub ^$old $pattern $new pattern
	}
	set bits [_ringside_rkh_bits $T $kind]
	if {![llength $bits]} {
		_ringside_fail "ringside filter" "the positions of event bits depend on the version of\
			the framework, which is unknown" "use ringside init -settings version=[expr {0x2404}] (0x2404)"
	}
	foreach {name bit} $bits {
		if {![string match $pattern $name]} {
			continue
		}
		set found 1
		set bytes [dict get $tables $kind]
		set byte [lindex $bytes [expr {$bit / 8}]]
		set mask [expr {1 << $bit % 8}]
		lset bytes [expr {$bit / 8}] [expr {$on ? $byte | $mask : $byte & ~$mask}]
		dict set tables $kind $bytes
		if {$kind eq "event" && $on} {
			set group [_ringside_rkh_group $T $bit]
			dict set tables group [expr {[lindex [dict get $tables group] 0] | 1 << $group}]
		}
	}
	if {!$found} {
		_ringside_fail "ringside filter" "unknown $kind \"$pattern\"" \
			"use one of: [_ringside_rkh_suggestions $pattern $bits]"
	}
	return $tables
}

# Returns suggestions for an unknown name: the names with the same first part, or all names.
proc _ringside_rkh_suggestions {pattern bits} {
	set all {}
	set some {}
	set start "[lindex [split $pattern _] 0]_*"
	foreach {name bit} $bits {
		lappend all $name
		if {[string match $start $name]} {
			lappend some $name
		}
	}
	return [join [expr {[llength $some] ? $some : $all}] ", "]
}

# Returns the group of the event with this bit in trceftbl.
proc _ringside_rkh_group {T bit} {
	global _ringside_rkh_maps
	set map [dict get $_ringside_rkh_maps [_ringside_rkh_family $T]]
	set group 0
	for {set i 0} {$i < 8} {incr i} {
		if {[lindex $map [expr {2 * $i}]] <= $bit / 8} {
			set group $i
		}
	}
	return $group
}

# Carries out the subcommand filter: prints the filters, or changes them and prints both states.
proc _ringside_rkh_filter {T words} {
	upvar #0 _ringside_ring_$T r
	set rest [lassign $words verb]
	if {$verb ni {"" show on off} || ($verb in {on off}) != ([llength $rest] > 0)} {
		_ringside_fail "ringside filter" "\"$words\" is not expected" \
			"use show, or on or off with group=, event=, ao=, signal= or all"
	}
	if {$r(table,group) eq "" || $r(table,event) eq ""} {
		_ringside_fail "ringside filter" "the addresses of the filters are unknown" \
			"build the firmware with RKH_CFG_TRC_RTFIL_EN; see ringside openocd-config"
	}
	set before [_ringside_rkh_read_tables $T]
	set after $before
	foreach word $rest {
		set after [_ringside_rkh_change_tables $T $after $word [expr {$verb eq "on"}]]
	}
	if {![llength $rest]} {
		return [_ringside_rkh_filter_text $T $before]
	}
	foreach {kind bytes} $after {
		set address [lindex $r(table,$kind) 0]
		foreach byte $bytes old [dict get $before $kind] {
			if {$byte != $old} {
				$T mwb $address $byte
			}
			incr address
		}
	}
	if {[_ringside_rkh_read_tables $T] ne $after} {
		_ringside_fail "ringside filter $verb" "the filters could not be written" \
			"check that they are in RAM that the debugger may write"
	}
	_ringside_record_mark_filter $T [lindex [dict get $after group] 0]
	return "before:\n[_ringside_rkh_filter_text $T $before]\nafter:\n[
		_ringside_rkh_filter_text $T $after]"
}
