# SPDX-License-Identifier: MIT
# Functions for export-ctf.sh: they bring the output of babeltrace2 and of `ringside report --json`
# into the same form, and compare them.

def digits: reduce explode[] as $c (0; 16 * . + $c - (if $c >= 65 then 55 else 48 end));

# The number of a hexadecimal value, "0x20A0". It is rounded once only, as jq rounds numbers.
def hex:
    ltrimstr("0x") |
    if length > 6 then (.[:-6] | digits) * 16777216 + (.[-6:] | digits) else digits end;

# A value as babeltrace2 prints it: {number, word}, {string} or {bytes}.
def value:
    if startswith("(") then
        capture("^\\( (?:\"(?<word>.*)\"|<unknown>) : container = (?<n>-?[0-9]+) \\)$") |
        {number: (.n | tonumber), word}
    elif startswith("\"") then {string: (gsub("\\\\'"; "'") | fromjson)}
    elif startswith("[") then
        {bytes: ([scan("0x([0-9A-F]+)") | .[0] | ascii_downcase |
                  if length < 2 then "0" + . else . end] | add // "")}
    elif startswith("0x") then {number: hex}
    else {number: tonumber} end;

# The members of a structure, in order: {key, value}.
def members:
    [scan("(\\w+) = (\\( (?:\"(?:[^\"\\\\]|\\\\.)*\"|<unknown>) : container = -?[0-9]+ \\)" +
        "|\"(?:[^\"\\\\]|\\\\.)*\"|0x[0-9A-F]+|-?[0-9]+" +
        "|\\[ (?:\\[[0-9]+\\] = 0x[0-9A-F]+,? )*\\])") | {key: .[0], value: (.[1] | value)}];

# The text of a value that has no name.
def is_number($number):
    . == "\($number)" or (startswith("0x") and (ascii_upcase[2:] | hex) == $number) or
    (. == "none" and $number == 0) or
    . == ([16777216, 65536, 256, 1] | map(($number / . | floor) % 256 | tostring) | join("."));

# The payload: numbers by their keys, and the words and names that belong to them. A timeout in
# ticks has no word.
def payload:
    reduce .[] as $m ({fields: {}, names: {}};
        ($m.key | sub("_name(_[0-9]+)?$"; "")) as $base |
        if $m.key == "id" and .fields == {} and .id == null then .id = $m.value.number
        elif $m.value.bytes then .data = $m.value.bytes
        elif $m.key == "_data_length" then .
        elif $m.key == "text" and $m.value.string then .text = $m.value.string
        elif $m.value.string then
            .fields[$base] as $number |
            if $base == $m.key then .names[$m.key] = $m.value.string | .fields[$m.key] = null
            elif $m.value.string | is_number($number) then .
            else .names[$base] = $m.value.string end
        else
            .fields[$m.key] = $m.value.number |
            if $m.value.word and $m.value.word != "ticks" then .names[$m.key] = $m.value.word
            else . end
        end);

# A line of `babeltrace2 --clock-cycles --no-delta` as an event.
def event:
    capture("^\\[(?<at>[0-9]+)\\] (?<event>[^:]+): \\{ cpu_id = (?<core>[0-9]+) \\}, " +
        "\\{ (?<context>.*? thread_name = \"(?:[^\"\\\\]|\\\\.)*\") \\}(?:, \\{ (?<rest>.*)\\})?$") |
    (.context | members | map({(.key): .value}) | add) as $c |
    {at: (.at | tonumber), core: (.core | tonumber), event: .event, seq: $c.seq.number,
     raw: $c.raw_stamp.number, context: $c.context.word,
     flags: ($c.flags.word | split("|") | map(select(. != "none" and . != "untimed"))),
     priority: ($c.priority.number | if . == -1 then null else . end),
     threshold: ($c.threshold.number | if . == -1 then null else . end),
     thread: (if $c.context.word == "thread" or $c.context.word == "isr" then $c.thread.number
              else null end),
     thread_name: ($c.thread.number as $thread | $c.thread_name.string |
                   if $c.context.word != "thread" or is_number($thread) then null else . end)} +
    ((.rest // "") | members | payload) |
    if .text and (.event | startswith("RINGSIDE_")) then
        .names.text = .text | .fields.text = null | del(.text) else . end;

def plain: with_entries(.key |= gsub("[^A-Za-z0-9]"; "_"));

# An event of a report. In JSON, the pool of an event that is from no pool ("static") has no number,
# and a text has none either.
def expected:
    {at: .ticks, core, event, seq, raw: .raw_stamp, context, flags, priority, threshold,
     thread: (if .context == "thread" then .thread elif .context == "isr" then .interrupted // 0
              else null end),
     thread_name, fields: (.names as $names | .fields | with_entries(
         if .value != null or ($names[.key] // "static") != "static" then .
         else .value = 18446744073709551615 end) | plain),
     names: (.names | plain), id} + (if .data then {data} else {} end);

# Compares two lists of events, of which the first is that of babeltrace2. Readers merge the streams
# of several cores by time. Prints "same", or the first difference.
def compare($got; $report):
    ($got | sort_by([.at, .core, .seq])) as $g |
    ($report | sort_by([.at, .core, .seq])) as $e |
    [range(0; [($g | length), ($e | length)] | max) |
        [($g[.] | if . then del(.text) else . end),
         ($e[.] as $x | $g[.] as $y |
            if $x and $y and ($y | has("id") | not) then $x | del(.id) else $x end)] |
        if .[1].at == null and .[0] and .[1] then map(.at = 0) else . end |
        select(.[0] != .[1])] |
    if length == 0 then "same" else "\(length) differ; \(.[0])" end;

# Whether each core's events are in the order of the report.
def in_order: group_by(.core) | all(.[]; map(.seq) == (map(.seq) | sort));
