#!/bin/bash
# SPDX-License-Identifier: MIT
# gallery.sh DOCS: makes DOCS/gallery.md and DOCS/gallery/*.svg from the demo's trace. Reads BUILD.
set -eu
root=$(dirname "$(dirname "$(realpath "$0")")")
docs=$1
ringside=$(realpath "${BUILD:-build}/ringside")
demo=libextract/tests/data/demo.trx
cd "$root"
export LC_ALL=C.UTF-8
mkdir -p "$docs/gallery"

picture() { # NAME [OPTION...]
    local name=$1
    shift
    "$ringside" export --hz 1000000 "$@" "$demo" -o "$docs/gallery/$name.svg"
}
shown() { # COMMAND...
    printf '```\n$ ringside %s\n' "$*"
    "$ringside" "$@" 2>/dev/null
    printf '```\n'
}

picture timeline
picture late --from 3.85s --to 4.3s
{
    cat <<'TEXT'
# Gallery

All pictures are of the demo's trace, which is in the repository. `make gallery` regenerates them.

## A whole trace

Blue is running, violet an interrupt, hatched is ready, red is blocked, dots are sleep, dashes are
suspension, and an outline is what the trace does not show. `ringside export fw.trx -o fw.svg`; and
`ringside view fw.trx` shows all of it in a browser, with every event:

![the schedule of all threads](gallery/timeline.svg)

## A moment

`ringside export --from 3.85s --to 4.3s fw.trx -o late.svg`:

![half a second of the schedule](gallery/late.svg)

## In the terminal, and in GDB

TEXT
    shown timeline --hz 1000000 --width 96 --from 3.85s --to 4.3s "$demo"
    printf '\n## Why it was late\n\n'
    shown why comms --hz 1000000 "$demo"
    cat <<'TEXT'

For Perfetto, Trace Compass, GTKWave, spreadsheets and SQL, see ringside-export(1) and
[sql.md](sql.md).
TEXT
} >"$docs/gallery.md"
