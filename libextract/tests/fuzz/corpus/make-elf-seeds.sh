#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the seeds of the fuzz target fuzz_elf: small programs for several machines and versions of
# DWARF. Run it manually if a kind of seed is missing. The seeds themselves are in the tree.
set -eu
cd "$(dirname "$0")/elf"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/seed.c" <<'END'
typedef unsigned int u32;
union both { u32 word; char bytes[4]; };
typedef const struct outer_tag {
    struct outer_tag *next;
    struct { short a; struct { char x, y; } b[3]; } inner;
    union { long anonymous; float other; };
    u32 flag : 3;
    union both last[2][3];
} outer;
typedef volatile outer loop;
static u32 hidden[4];
const char text[] = "constant";
loop object;
static int helper(int n) { return n + (int)hidden[n & 3]; }
int work(int n)
{
    hidden[1]++;
    return helper(n) + (int)object.flag;
}
void _start(void) { hidden[0] = (u32)work(7); }
END

# Enumerations, and constants of a type.
cat >"$work/enums.c" <<'END'
typedef unsigned char u32;
typedef enum { ZERO, ONE, LAST = ONE, FAR = 70000 } numbers;
enum sign { MINUS = -1, NONE, PLUS };
struct row { u32 key; const char *name; };
const struct row rows[2][2] = {{{ONE, "ONE"}, {FAR & 255, "FAR"}}};
const u32 single = 3;
numbers object;
enum sign hidden;
int work(int n) { return rows[n & 1][0].key + single + *rows[0][1].name; }
void _start(void) { hidden = work(object); }
END

make() { # NAME COMPILER [FLAG...]
    name=$1
    shift
    (cd "$work" && "$@" -nostdlib -ffreestanding -O1 -fdebug-prefix-map="$work"=. \
        -Wl,-e,_start -o "$name.elf" "${source:-seed.c}") &&
        install -m 644 "$work/$name.elf" "$name.elf"
}

pages="-Wl,-z,max-page-size=16 -Wl,-z,noseparate-code -Wl,--build-id=none"
# shellcheck disable=SC2086 # $pages is several flags
{
    make arm-dwarf5 arm-none-eabi-gcc -mthumb -mcpu=cortex-m3 -gdwarf-5 $pages -Wl,-Ttext=0x100
    make arm-dwarf2 arm-none-eabi-gcc -mcpu=arm7tdmi -gdwarf-2 -gstrict-dwarf $pages
    make riscv-dwarf4 riscv64-unknown-elf-gcc -gdwarf-4 -fdebug-types-section $pages
    make m68k-dwarf3 m68k-linux-gnu-gcc -mcpu=5208 -gdwarf-3 -static $pages
    make x86-pie gcc -gdwarf-5 -fdebug-types-section -fpie -pie $pages
    make x86-compressed gcc -gdwarf-5 -gz -static $pages
    make x86-dwarf64 gcc -gdwarf-5 -gdwarf64 -static $pages
    source=enums.c
    make arm-enums arm-none-eabi-gcc -mthumb -mcpu=cortex-m3 -gdwarf-5 $pages
    make m68k-enums m68k-linux-gnu-gcc -mcpu=5208 -gdwarf-3 -static $pages
    source=seed.c
    make arm-bare arm-none-eabi-gcc -mthumb -mcpu=cortex-m3 $pages
}
if command -v clang >/dev/null; then
    # shellcheck disable=SC2086
    make x86-clang clang -gdwarf-5 -static $pages
fi
ls -l
