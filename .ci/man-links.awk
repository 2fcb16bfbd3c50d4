# SPDX-License-Identifier: MIT
# Reads sources of man pages (scdoc). Prints NAME.SECTION:PAGE.SECTION for every name but the first
# before the dash of the section NAME.
FNR == 1 {
    split($1, head, /[()]/)
    naming = 0
}
/^# / { naming = $2 == "NAME" }
naming && !/^#/ {
    for (i = 1; i <= NF && naming; i++) {
        if ($i == "-")
            naming = 0
        name = $i
        sub(/,$/, "", name)
        if (naming && name != head[1])
            print name "." head[2] ":" head[1] "." head[2]
    }
}
