# SPDX-License-Identifier: MIT
# Turns a catalogue (tab-separated, with a head line) into C initializers.
# Columns: id, symbol (events only), name, class (events only), then fields as label:kind.
#
# With EXTRACT_CATALOGUE_INDEX defined, the same file gives the rows' numbers + 1 by id instead (ids
# below 4096), for a look-up without a search. With EXTRACT_CATALOGUE_WORD(word) defined, it gives
# what follows "/" in the fields, label:kind/word: how they are stored in an entry.
BEGIN {
    FS = "\t"
    print "#if !defined EXTRACT_CATALOGUE_INDEX && !defined EXTRACT_CATALOGUE_WORD"
}

function kind(word) {
    if (!(word in kinds)) {
        print FILENAME ":" FNR ": unknown kind " word > "/dev/stderr"
        failed = 1
        exit 1
    }
    return "EXTRACT_KIND_" kinds[word]
}

function field(cell,    at) {
    if (cell == "" || cell == "-")
        return "{\"\", EXTRACT_KIND_NONE}"
    sub(/\/[^:]*$/, "", cell)
    at = match(cell, /:[^:]*$/)
    return "{\"" substr(cell, 1, at - 1) "\", " kind(substr(cell, at + 1)) "}"
}

NR == 1 {
    kinds["hex"] = kinds["hex-attributes"] = "HEX"
    kinds["dec"] = "DEC"; kinds["ticks"] = "TICKS"; kinds["bool"] = "BOOL"
    kinds["wait"] = "WAIT"; kinds["ipv4"] = "IPV4"; kinds["ptr"] = "DATA"
    kinds["ptr-object"] = "OBJECT"; kinds["ptr-stack"] = "STACK"; kinds["ptr-data"] = "DATA"
    kinds["ptr-code"] = "CODE"; kinds["ptr-string"] = "STRING"
    kinds["enum-thread-state"] = "THREAD_STATE"; kinds["enum-tcp-state"] = "TCP_STATE"
    kinds["enum-flags-get"] = "FLAGS_GET"; kinds["enum-flags-set"] = "FLAGS_SET"
    kinds["signal"] = "SIGNAL"; kinds["pool"] = "POOL"
    kinds["text"] = "TEXT"; kinds["none"] = "NONE"; kinds["user-event"] = "USER_EVENT"
    kinds["action"] = "ACTION"; kinds["event"] = "EVENT"
    events = $2 == "symbol"
    start = events ? 5 : 3
    next
}

{
    used = 0
    cells = ""
    mine = ""
    for (i = start; i <= NF; i++) {
        if ($i != "" && $i != "-")
            used = i - start + 1
        if (match($i, /\/[^:]*$/))
            mine = mine "EXTRACT_CATALOGUE_WORD(" substr($i, RSTART + 1) "), "
        cells = cells (i > start ? ", " : "") field($i)
    }
    if (events)
        printf "{%s, \"%s\", \"%s\", EXTRACT_%s, %d, %s, {%s}},\n", $1, $2, $3, $4, used,
               ($1 >= 4096 ? "true" : "false"), cells
    else
        printf "{%s, \"%s\", {%s}},\n", $1, $2, cells
}

{
    if ($1 < 4096)
        rows = rows "[" $1 "] = " ++row ", "
    if (mine)
        words = words "[" $1 "] = {" mine "},\n"
}

END {
    print "#elif defined EXTRACT_CATALOGUE_INDEX"
    print rows
    print "#else"
    print words
    print "#endif"
    exit failed
}
