# SPDX-License-Identifier: MIT
#
# Ringside: the writer of trace logs, for ringside.tcl.
#
# Description:
#	Writes trace logs in the format of docs/formats/log.md (ringside-log(5)), as the program
#	"ringside" does. The state of a log is the global array _ringside_log_TARGET. A payload is a
#	list of 32-bit words in the byte order of the file (little-endian) and a length in bytes.
#
# Note:
#	Each block is written and flushed at once, so that a kill loses at most the block that is being
#	written. A failed write leaves the state unchanged.
#
#	Each section begins with the blocks that are needed to read it, and copies of them. The list
#	"due" holds the blocks that are not written yet, each as its type and whether it is the copy.
#	These blocks are written before the next block.

set _ringside_log_policies {loop 0 until_full 1 append 2}
set _ringside_log_types {
	section 1 ring 2 objects 3 entries 4 loss 5 mark 6 status 7 names 9 bytes 10
}
# Types of blocks that hold the key of the ring that they belong to.
set _ringside_log_keyed {ring objects entries names bytes}
set _ringside_log_marks {
	START 1 STOP 2 FULL 3 RESET 4 GONE 5 BACK 6 DISABLED 7 ENABLED 8 FILTER 9 ERROR 10 CLOCK 11
}
set _ringside_log_head 96
set _ringside_log_version 2
# Bytes of SECTION: of its payload, and of the complete block. Its copy follows it.
set _ringside_log_settings 120
set _ringside_log_copy 216
# Bytes that are kept free for the end of a log that may not grow: MARK of kind FULL, and STATUS.
set _ringside_log_reserve 512
# Maximum of entries in one block: the checksum stays below 2^63, and a kill loses little.
set _ringside_log_max_entries 1024

# ---- Blocks ----

# Returns a text as words in the byte order of the file, padded with zeros.
proc _ringside_log_words {text} {
	set words {}
	set bits [expr {8 * [string bytelength $text]}]
	for {set at 0} {$at < $bits} {incr at 32} {
		lappend words [unpack $text -uintle $at [expr {$bits - $at < 32 ? $bits - $at : 32}]]
	}
	return $words
}

# Returns words in the other byte order.
proc _ringside_swap {words} {
	set swapped {}
	foreach w $words {
		lappend swapped [expr {($w & 0xff) << 24 | ($w & 0xff00) << 8 |
			($w >> 8) & 0xff00 | $w >> 24}]
	}
	return $swapped
}

proc _ringside_wide {value} {
	return [list [expr {$value & 0xffffffff}] [expr {($value >> 32) & 0xffffffff}]]
}

# Returns the two checksums over words, both modulo 2^64.
proc _ringside_log_sum {words} {
	set one 0
	set two 0
	foreach word $words {
		incr one $word
		incr two $one
	}
	return [list $one $two]
}

# Returns a block as bytes. `fields` overrides: kind flags count provisional first a b wall.
proc _ringside_log_block {number section type fields words length} {
	global _ringside_log_types
	set f [dict merge {kind 0 flags 0 count 0 provisional 0 first 0 a 0 b 0 wall 0} $fields]
	if {[llength $words] % 2} {
		lappend words 0
	}
	set head [list 0x4b424c52 \
		[expr {[dict get $_ringside_log_types $type] | [dict get $f kind] << 16}] \
		[dict get $f flags] $length [dict get $f count] [dict get $f provisional]]
	foreach value [list $number $section [dict get $f wall] [dict get $f first] \
			[dict get $f a] [dict get $f b]] {
		lappend head {*}[_ringside_wide $value]
	}
	# The header has a sum of its own, so that it can be trusted before the payload is read.
	lappend head {*}[_ringside_wide [lindex [_ringside_log_sum $head] 1]]
	lassign [_ringside_log_sum [concat $head {0 0 0 0} $words]] one two
	lappend head {*}[_ringside_wide $one] {*}[_ringside_wide $two]
	return [_ringside_bytes [concat $head $words] 0]
}

proc _ringside_log_size {length} {
	global _ringside_log_head
	return [expr {$_ringside_log_head + ($length + 7) / 8 * 8}]
}

proc _ringside_wall {} {
	return [expr {[clock microseconds] * 1000}]
}

# ---- The file ----

# Writes bytes at an offset. After an error, the channel may still hold unwritten bytes. So the next
# write opens the file again.
proc _ringside_log_bytes {T offset bytes} {
	upvar #0 _ringside_log_$T l
	if {$l(file) eq ""} {
		set l(file) [open $l(path) r+b]
		fconfigure $l(file) -buffering none
	}
	if {[catch {
		seek $l(file) $offset
		puts -nonewline $l(file) $bytes
		flush $l(file)
	} why]} {
		catch {close $l(file)}
		set l(file) ""
		_ringside_fail $l(path) "could not be written: $why" \
			"free space on the disk; earlier blocks are complete"
	}
}

# Returns the number of bytes left for a block in this section; negative if even the blocks that are
# due do not fit. With `reserved`, includes the bytes that are kept free.
proc _ringside_log_space {T {reserved 0}} {
	upvar #0 _ringside_log_$T l
	set space [expr {$l(section) - $l(at)}]
	foreach item $l(due) {
		set space [expr {$space - [_ringside_log_size [lindex $l([lindex $item 0]) 1]]}]
	}
	return [expr {$reserved ? $space : $space - [_ringside_log_kept $T $l(number_of)]}]
}

# Returns the number of bytes that are kept free in a section for the end of the log.
proc _ringside_log_kept {T section} {
	global _ringside_log_reserve
	upvar #0 _ringside_log_$T l
	return [expr {$l(policy) == 1 && $section + 1 == $l(sections) ? $_ringside_log_reserve : 0}]
}

# Returns whether a block is small enough to be copied: at most an eighth of a section.
proc _ringside_log_has_copy {T type} {
	upvar #0 _ringside_log_$T l
	return [expr {[_ringside_log_size [lindex $l($type) 1]] <= $l(section) / 8}]
}

# Returns the payload of SECTION.
proc _ringside_log_settings {T} {
	global _ringside_version _ringside_log_version _ringside_log_settings
	upvar #0 _ringside_log_$T l
	set creator [_ringside_log_words [string range "ringside.tcl $_ringside_version, OpenOCD" 0 62]]
	while {[llength $creator] < 16} {
		lappend creator 0
	}
	set words [concat [_ringside_log_words RINGSIDE] \
		[list $_ringside_log_version $l(section) $l(policy) $l(order)] \
		[_ringside_wide $l(limit)] [_ringside_wide $l(created)] [list $l(sections) 0] $creator {0 0}]
	return [list $words $_ringside_log_settings]
}

# Starts the next section, whose first blocks are due then. Returns 0 if the log is full.
proc _ringside_log_start_section {T} {
	upvar #0 _ringside_log_$T l
	set section [expr {$l(number_of) + 1}]
	if {$l(policy) == 1 && $section >= $l(sections)} {
		return 0
	}
	set l(place) [expr {$l(sections) ? $section % $l(sections) : $section + $l(before)}]
	set l(number_of) $section
	set l(at) 0
	set l(section_settings) [_ringside_log_settings $T]
	set l(due) {}
	set copies {}
	foreach type {ring objects names} {
		if {[lindex $l($type) 1]} {
			lappend l(due) [list $type 0]
			if {[_ringside_log_has_copy $T $type]} {
				lappend copies [list $type 1]
			}
		}
	}
	set l(due) [concat {{section_settings 0} {section_settings 1}} $l(due) $copies]
	return 1
}

# Writes the blocks that are due. Field `a` of SECTION holds the end of the log that is continued.
proc _ringside_log_write_due {T} {
	upvar #0 _ringside_log_$T l
	while {[llength $l(due)]} {
		lassign [lindex $l(due) 0] type is_copy
		lassign $l($type) words length
		set fields [dict create first $l(next)]
		if {$type eq "section_settings" && $l(ended)} {
			dict set fields a $l(ended)
			dict set fields flags [expr {$l(torn) ? 64 : 0}]
		}
		if {$is_copy} {
			dict set fields b [expr {$l(number) - $l(original,$type)}]
		}
		set number $l(number)
		_ringside_log_write $T [expr {$type eq "section_settings" ? "section" : $type}] $fields $words \
			$length
		if {!$is_copy} {
			set l(original,$type) $number
		}
		set l(due) [lrange $l(due) 1 end]
		if {$type eq "section_settings" && $is_copy} {
			set l(ended) 0
		}
	}
}

# Writes a block at the current offset. The caller has checked that it fits.
proc _ringside_log_write {T type fields words length} {
	global _ringside_log_keyed
	upvar #0 _ringside_log_$T l
	dict set fields wall [_ringside_wall]
	if {$type in $_ringside_log_keyed} {
		dict set fields kind $l(key)
	}
	set bytes [_ringside_log_block $l(number) $l(number_of) $type $fields $words $length]
	_ringside_log_bytes $T [expr {$l(place) * $l(section) + $l(at)}] $bytes
	incr l(number)
	incr l(at) [_ringside_log_size $length]
}

# Adds a block. With `reserved`, uses the bytes that are kept free. Returns 0 if the log is full.
proc _ringside_log_put {T type fields words length {reserved 0}} {
	upvar #0 _ringside_log_$T l
	set size [_ringside_log_size $length]
	if {$reserved && $l(at)} {
		set l(due) {}
	}
	if {$size > [_ringside_log_space $T $reserved]} {
		if {$reserved || ![_ringside_log_start_section $T]} {
			return 0
		}
		if {$size > [_ringside_log_space $T]} {
			_ringside_fail $l(path) "a block of $length bytes does not fit in a section" \
				"use a larger -size"
		}
	}
	_ringside_log_write_due $T
	_ringside_log_write $T $type $fields $words $length
	return 1
}

# Adds a marker with a text. Returns 0 if the log is full.
proc _ringside_log_mark {T kind text {value 0} {reserved 0}} {
	global _ringside_log_marks
	upvar #0 _ringside_log_$T l
	set fields [dict create kind [dict get $_ringside_log_marks $kind] first $l(next) a $value]
	return [_ringside_log_put $T mark $fields [_ringside_log_words $text] \
		[string bytelength $text] $reserved]
}

# Sets a description, which is written now and at the start of each further section. Returns 0 if
# the log is full.
proc _ringside_log_describe {T type words length} {
	upvar #0 _ringside_log_$T l
	if {[_ringside_log_size $length] + 4096 > $l(section) / 2} {
		return [_ringside_log_mark $T ERROR "$type block of $length bytes left out; use a larger log"]
	}
	if {$l($type) ne [list $words $length]} {
		set l($type) [list $words $length]
		if {$type eq "ring"} {
			set l(key) [_ringside_log_key $words]
		}
		set kept {}
		foreach item $l(due) {
			if {[lindex $item 0] ne $type} {
				lappend kept $item
			}
		}
		set l(due) [concat $kept [list [list $type 0]]]
		if {[_ringside_log_has_copy $T $type]} {
			lappend l(due) [list $type 1]
		}
	}
	return [_ringside_log_write_descriptions $T]
}

# Returns the key of a ring: not 0, and unlikely to be that of another ring.
proc _ringside_log_key {words} {
	set sum [lindex [_ringside_log_sum $words] 1]
	set key [expr {($sum ^ ($sum >> 16) ^ ($sum >> 32) ^ ($sum >> 48)) & 0xffff}]
	return [expr {$key ? $key : 1}]
}

# Writes descriptions that are not in the log yet. Returns 0 if the log is full.
proc _ringside_log_write_descriptions {T} {
	upvar #0 _ringside_log_$T l
	if {[llength $l(due)] && [_ringside_log_space $T] < 0 && ![_ringside_log_start_section $T]} {
		return 0
	}
	_ringside_log_write_due $T
	return 1
}

# Adds entries from number `first` on, split at section boundaries. `stamp` is a command that
# returns the timestamp of the i-th entry. Returns the number of entries written before the log was
# full.
proc _ringside_log_entries {T first words ew provisional stamp} {
	global _ringside_log_max_entries _ringside_log_head
	upvar #0 _ringside_log_$T l
	set count [expr {[llength $words] / $ew}]
	set done 0
	while {$done < $count} {
		set part [expr {([_ringside_log_space $T] - $_ringside_log_head) / (4 * $ew)}]
		if {$part < 1} {
			if {![_ringside_log_start_section $T]} {
				break
			}
			continue
		}
		set part [_ringside_min $part [expr {$count - $done}] $_ringside_log_max_entries]
		set piece [lrange $words [expr {$done * $ew}] [expr {($done + $part) * $ew - 1}]]
		set last [expr {$done + $part - 1}]
		set patched [expr {$provisional - ($count - 1 - $last)}]
		set patched [_ringside_max 0 [_ringside_min $part $patched]]
		set fields [dict create flags [expr {8 | ($patched ? 4 : 0)}] count $part \
			provisional $patched first [expr {$first + $done}] \
			a [{*}$stamp $done] b [{*}$stamp $last]]
		if {![_ringside_log_put $T entries $fields $piece [expr {4 * $ew * $part}]]} {
			break
		}
		incr done $part
		set l(next) [expr {$first + $done}]
	}
	return $done
}

# ---- Opening and closing ----

# Takes FILE.lock. If the process that holds it has ended, takes it over.
proc _ringside_log_lock {path} {
	set lock $path.lock
	_ringside_check_directory [file dirname $path]
	_ringside_check_file $lock
	if {[file exists $lock]} {
		set holder {}
		catch {
			set file [open $lock]
			set holder [gets $file]
			close $file
		}
		lassign $holder pid start
		if {![regexp {^[0-9]+ [0-9]+$} "$pid $start"]} {
			_ringside_fail $lock "lock file exists but names no owner" \
				"remove it if nothing writes that log"
		}
		if {[_ringside_log_started $pid] eq $start} {
			_ringside_fail $path "being written by process $pid" "use another name"
		}
		file delete $lock
	}
	# Write the lock under another name first: an empty lock would remain if OpenOCD were killed
	# before it wrote its process id.
	set draft $lock.[pid]
	catch {file delete $draft}
	if {[catch {open $draft wx} file]} {
		_ringside_fail $lock "cannot be created: [string map [list "$draft: " ""] $file]" \
			"check that the directory is writable"
	}
	set failed [catch {
		puts $file "[pid] [_ringside_log_started [pid]] openocd"
		flush $file
	} why]
	catch {close $file}
	if {$failed} {
		catch {file delete $draft}
		_ringside_fail $lock "could not be written: $why" "free space on the disk"
	}
	_ringside_log_name $draft $lock
}

# Gives the draft of a lock its name. Fails if another process has taken that name. On file systems
# without links, renames the draft, which fails in the same case.
proc _ringside_log_name {draft lock} {
	set failed [catch {file link -hard $lock $draft} why]
	if {$failed && ![file exists $lock]} {
		set failed [catch {file rename $draft $lock} why]
	}
	catch {file delete $draft}
	if {$failed} {
		_ringside_fail $lock "cannot be created: $why" "check that no other process writes this log"
	}
}

# Returns when a process started: field 22 of its stat. The second field is a name that may hold
# anything. Returns an empty string if the process has ended, even if it is still a zombie.
proc _ringside_log_started {pid} {
	set line ""
	catch {
		set file [open /proc/$pid/stat]
		set line [gets $file]
		close $file
	}
	regsub {^.*\) } $line "" line
	if {[lindex $line 0] in {Z X}} {
		return ""
	}
	return [lindex $line 19]
}

# Creates the log, or continues one whose policy is append. `limit` is in bytes; 0 means 64 MiB, or
# no limit for append.
proc _ringside_log_open {T path policy limit order} {
	global _ringside_log_policies
	upvar #0 _ringside_log_$T l
	unset -nocomplain l
	set l(path) $path
	set l(policy) [dict get $_ringside_log_policies $policy]
	set l(order) $order
	set l(created) [_ringside_wall]
	foreach field {section_settings ring objects names} {
		set l($field) {{} 0}
	}
	foreach {field value} {number 0 number_of -1 next 0 at 0 place 0 before 0 file "" due {} key 0
			ended 0 torn 0} {
		set l($field) $value
	}
	_ringside_log_shape $T $limit
	# Check the link itself, because its target may be missing.
	_ringside_check_file $path
	_ringside_log_lock $path
	if {[catch {_ringside_log_open_file $T} why]} {
		catch {close $l(file)}
		catch {file delete $path.lock}
		unset l
		return -code error $why
	}
}

# Sets the size and number of sections: up to 1 MiB each, and at least four.
proc _ringside_log_shape {T limit} {
	upvar #0 _ringside_log_$T l
	set append [expr {$l(policy) == 2}]
	if {$append && $limit} {
		_ringside_fail "ringside record" "-size is not for the policy append" "remove -size"
	}
	if {!$append && $limit && $limit < 65536} {
		_ringside_fail "ringside record" "$limit bytes are too small for a log" \
			"use -size 64k or more"
	}
	set bytes [expr {$limit ? $limit : 64 << 20}]
	set section [_ringside_min [expr {1 << 20}] [_ringside_max 16384 [expr {$bytes / 16}]]]
	set section [expr {$section / 4096 * 4096}]
	set l(section) $section
	set l(limit) [expr {$append ? 0 : $bytes}]
	set l(sections) [expr {$append ? 0 : $bytes / $section}]
}

# Opens the file, continues or creates the log, and starts its next section.
proc _ringside_log_open_file {T} {
	upvar #0 _ringside_log_$T l
	if {[file exists $l(path)] && [file size $l(path)]} {
		if {$l(policy) != 2} {
			_ringside_fail $l(path) "already exists" "use another name, or remove it"
		}
		set l(file) [open $l(path) r+b]
		fconfigure $l(file) -buffering none
		_ringside_log_continue $T
	} else {
		set l(file) [open $l(path) w+b]
		fconfigure $l(file) -buffering none
	}
	_ringside_log_start_section $T
	_ringside_log_write_due $T
}

# Returns the fields of the block at an offset, or an empty dictionary if it is not valid.
proc _ringside_log_read_block {T offset end} {
	upvar #0 _ringside_log_$T l
	global _ringside_log_head
	if {$offset + $_ringside_log_head > $end} {
		return {}
	}
	seek $l(file) $offset
	set head [read $l(file) $_ringside_log_head]
	if {[string bytelength $head] < $_ringside_log_head ||
		[unpack $head -uintle 0 32] != 0x4b424c52} {
		return {}
	}
	set length [unpack $head -uintle 96 32]
	set size [_ringside_log_size $length]
	if {$offset + $size > $end} {
		return {}
	}
	set payload [read $l(file) [expr {$size - $_ringside_log_head}]]
	if {[string bytelength $payload] != $size - $_ringside_log_head} {
		return {}
	}
	set words [concat [lrange [_ringside_log_words $head] 0 19] {0 0 0 0} \
		[_ringside_log_words $payload]]
	lassign [_ringside_log_sum $words] one two
	if {[unpack $head -intle 640 64] != $one || [unpack $head -intle 704 64] != $two} {
		return {}
	}
	return [dict create size $size type [unpack $head -uintle 32 16] \
		number [unpack $head -intle 192 64] section [unpack $head -intle 256 64] payload $payload]
}

# Returns the SECTION block of the section at an offset, or its copy; empty if neither is valid.
proc _ringside_log_section {T offset end} {
	global _ringside_log_copy
	foreach at [list $offset [expr {$offset + $_ringside_log_copy}]] {
		set block [_ringside_log_read_block $T $at $end]
		if {[dict exists $block type] && [dict get $block type] == 1 &&
			[string byterange [dict get $block payload] 0 7] eq "RINGSIDE"} {
			return $block
		}
	}
	return {}
}

# Finds the end of a log to append to: the last section whose first block, or its copy, is valid.
# Any block that was incomplete when its writer died comes after that.
proc _ringside_log_continue {T} {
	global _ringside_log_version
	upvar #0 _ringside_log_$T l
	set first [_ringside_log_section $T 0 [file size $l(path)]]
	if {![dict exists $first payload]} {
		_ringside_fail $l(path) "not a trace log" "use another name, or remove it"
	}
	set payload [dict get $first payload]
	set version [unpack $payload -uintle 64 32]
	set bytes [unpack $payload -uintle 96 32]
	set policy [unpack $payload -uintle 128 32]
	if {$version > $_ringside_log_version} {
		_ringside_fail $l(path) "version $version of the log format is not supported" \
			"use a newer version of Ringside, or another name"
	}
	if {$policy < 2} {
		_ringside_fail $l(path) "its policy is [expr {$policy ? {until_full} : {loop}}], and only a\
			log of the policy append can be continued" "use another name"
	}
	if {$policy != 2 || $bytes < 16384 || $bytes % 4096} {
		_ringside_fail $l(path) "not a log that can be appended to" \
			"use another name, or remove it"
	}
	set l(section) $bytes
	set l(created) [unpack $payload -intle 256 64]
	set place [expr {([file size $l(path)] + $bytes - 1) / $bytes - 1}]
	for {} {$place > 0} {incr place -1} {
		if {[dict exists [_ringside_log_section $T [expr {$place * $bytes}] \
			[file size $l(path)]] type]} {
			break
		}
	}
	_ringside_log_last $T $place
}

# Returns the fields and offset of the next valid block of a section, from an offset on. Skips
# damaged bytes. Empty if there is none.
proc _ringside_log_search {T at end section} {
	upvar #0 _ringside_log_$T l
	while {$at < $end} {
		seek $l(file) $at
		set bytes [read $l(file) [_ringside_min 4096 [expr {$end - $at}]]]
		set length [expr {[string bytelength $bytes] / 8 * 8}]
		for {set i 0} {$i < $length} {incr i 8} {
			if {[unpack $bytes -uintle [expr {8 * $i}] 32] == 0x4b424c52} {
				set block [_ringside_log_read_block $T [expr {$at + $i}] $end]
				if {[dict exists $block section] && [dict get $block section] == $section} {
					return [dict merge $block [dict create at [expr {$at + $i}]]]
				}
			}
		}
		if {!$length} {
			break
		}
		incr at $length
	}
	return {}
}

# Continues the numbers of blocks and sections after the last valid block of the section at `place`.
# The next SECTION holds where the log ended, and whether its last block was incomplete.
proc _ringside_log_last {T place} {
	upvar #0 _ringside_log_$T l
	set start [expr {$place * $l(section)}]
	set end [_ringside_min [expr {$start + $l(section)}] [file size $l(path)]]
	set section [dict get [_ringside_log_section $T $start $end] section]
	set at $start
	while {[dict exists [set block [_ringside_log_search $T $at $end $section]] number]} {
		set number [dict get $block number]
		set at [expr {[dict get $block at] + [dict get $block size]}]
	}
	set l(number) [expr {$number + 1}]
	set l(number_of) $section
	set l(before) [expr {$place - $section}]
	set l(ended) $end
	set l(torn) [expr {$at < $end}]
}

# Writes STATUS, whose eight values are `numbers`, and closes the log. Errors are raised after the
# lock is removed.
proc _ringside_log_close {T numbers} {
	upvar #0 _ringside_log_$T l
	set words {}
	foreach number $numbers {
		lappend words {*}[_ringside_wide $number]
	}
	set kept [expr {[_ringside_log_kept $T $l(number_of)] > 0}]
	set code [catch {_ringside_log_put $T status [list first $l(next)] $words 64 $kept} why]
	catch {close $l(file)}
	catch {file delete $l(path).lock}
	unset l
	if {$code} {
		return -code error $why
	}
}
