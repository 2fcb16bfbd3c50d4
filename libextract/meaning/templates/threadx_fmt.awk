# SPDX-License-Identifier: MIT
# Turns the table of ThreadX's events into their templates: threadx.head, then one template a row.
# `head` is the path of threadx.head. How each kind of a field is printed is said there.
BEGIN {
    FS = "\t"
    while ((getline line <head) > 0)
        print line
    own["TX"] = "ThreadX"; own["FX"] = "FileX"; own["NX"] = own["NXD"] = "NetX and NetX Duo"
    own["UX"] = "USBX"
    named = "^(ptr-object|ptr-code|ptr-string|enum-thread-state|enum-tcp-state|wait|bool|ipv4)$"
    cases["enum-flags-get"] = ", 0 or, 1 \"or clear\", 2 and, 3 \"and clear\""
    cases["enum-flags-set"] = ", 0 or, 2 and"
    attributes = ", 0x1 read-only, 0x2 hidden, 0x4 system, 0x8 volume, 0x10 directory, 0x20 archive"
}

# How a field is printed; `word` is that of the entry.
function field(label, kind, word,   number) {
    number = "$D" word
    if (kind ~ named)
        return label "= W" word " PW"
    if (kind == "dec" || kind == "ticks")
        return label "=" number "%UW"
    if (kind == "hex-attributes")
        return label "=0x" number " BITFLAGS " number attributes
    if (kind in cases)
        return label "= " number "%UW" cases[kind] ", \\* {" number "%UW}"
    if (kind == "hex" || kind ~ /^ptr(-stack|-data)?$/)
        return label "=0x" number
    print FILENAME ":" FNR ": no template for the kind " kind > "/dev/stderr"
    failed = 1
    exit 1
}

FNR > 1 {
    is_own = $1 >= 4096
    library = is_own ? "The application's own" : own[substr($2, 1, index($2, "_") - 1)]
    if (library != last)
        print "\n# " library
    else if ($1 != id + 1)
        print ""
    last = library
    id = $1
    line = sprintf("%0*X 1.0 L=%-4s \"%s\"", is_own ? 4 : 3, $1, $4, $3 (is_own ? " " $1 : ""))
    for (i = 5; i <= NF; i++) {
        sub(/\/[^:]*$/, "", $i)
        if ($i == "" || $i == "-")
            continue
        at = match($i, /:[^:]*$/)
        label = substr($i, 1, at - 1)
        gsub(/ /, "_", label)
        part = field(label, substr($i, at + 1), i - 4)
        if (length(line) + 1 + length(part) > 98) {
            print line " \\"
            line = sprintf("%15s", "")
        }
        line = line " " part
    }
    print line
}
