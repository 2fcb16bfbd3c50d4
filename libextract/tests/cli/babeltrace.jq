# babeltrace.jq: brings an event that babeltrace2 printed, or that `report --json` printed, into one
# form, in which both can be compared. Use it with -L and `include "babeltrace"`.

def number: # of decimal or hexadecimal digits; large numbers are rounded, as jq does
    if type == "object" then .hex | ascii_downcase | explode | reduce .[] as $c (0;
        . * 16 + (if $c < 58 then $c - 48 else $c - 87 end))
    else . end | if . > 9007199254740992 then (. / 1048576 | floor) else . end;
# Whether a field is the name of another.
def is_name: .key | test("_name(_2)?$");
def key: gsub("[^A-Za-z0-9]"; "_");
def bytes: # of hexadecimal digits
    . as $digits | [range(0; length; 2) as $i | {hex: $digits[$i:$i + 2]} | number];

# A string that stands for a value without a name: its number.
def is_number: test("^(0x[0-9a-f]+|none|[0-9]+(\\.[0-9]+){3}|[0-9]+)$");

# An event of `report --json`.
def of_report: {
    seq, raw_stamp: (.raw_stamp | number), core, id, event,
    ticks: (if (.flags | index("backwards")) or .ticks == null then null else .ticks | number end),
    context: (if .context == "recorder" then "recorder" else .context end),
    thread: (if .context == "thread" then .thread | number else null end),
    thread_name: (if .context == "thread" then .thread_name else null end),
    interrupted, priority, threshold,
    flags: (.flags | join(" ")),
    fields: (.fields | with_entries(select(.value != null) | .key |= key | .value |= number)),
    names: (.names | with_entries(.key |= key)),
    data: ((.data // "") | bytes)};

# An event as sink.text.pretty prints it, made JSON by the test.
def of_babeltrace: . as $e | .["event.context"] as $c | (.["event.fields"] // {}) as $f |
    .["stream.event.context"] as $s | {
    seq: $s.seq, raw_stamp: ($s.raw_stamp | number), core: .["stream.packet.context"].cpu_id,
    id: $s.id, event: .name,
    ticks: (if ($c.flags // "") | test("backwards|untimed") then null else .timestamp | number end),
    context: $s.context.word,
    thread: (if $s.context.word == "thread" then $c.thread | number else null end),
    thread_name: (if $s.context.word == "thread" and ($c.thread_name | is_number | not)
        then $c.thread_name else null end),
    interrupted: (if $c.interrupted then $c.interrupted | number else null end),
    priority: $c.priority, threshold: $c.threshold,
    flags: (($c.flags // "") | gsub(" ?untimed"; "")),
    fields: ($f | with_entries(select(.key != "data" and .key != "data_length" and
        (.value | type != "string" and . != {word: "none", value: 18446744073709551615})) |
        .value |= ((.value? // .) | number))),
    names: ($f | with_entries(
        (select(.value | type == "object" and .word != null) | .value |= .word),
        (select(is_name and (.value | type == "string" and (is_number | not))) |
            .key |= sub("_name(_2)?$"; "")),
        select((is_name | not) and (.value | type == "string")))),
    data: (if $f.data then $f.data | map(number) else [] end)};
