#!/bin/sh
# SPDX-License-Identifier: MIT
# setup.sh build|demo|test|release: installs the missing Debian packages for one of these purposes.
# A package is missing if the command, file or header that Ringside uses from it does not exist.
set -u

# Prints one line per probe: sets, probe (a command, or a path with shell patterns), package. A set
# with "?" is without the package on releases that do not have it.
probes() {
    cat <<'LIST'
build,demo,test  gcc                         gcc
build,demo,test  /usr/include/stdio.h        libc6-dev
build,demo,test  make                        make
build,demo,test  awk                         mawk
build,demo,test  /usr/include/gelf.h         libelf-dev
build,demo,test  /usr/include/elfutils/libdw.h  libdw-dev
build,demo,test  /usr/include/sqlite3.h      libsqlite3-dev
build,demo,test  /usr/include/zlib.h         zlib1g-dev
build,demo,test  scdoc                       scdoc
build,demo,test  /usr/include/gdb/jit-reader.h  gdb
demo,test        gdb-multiarch               gdb-multiarch
demo,test        qemu-system-arm             qemu-system-arm
demo,test        arm-none-eabi-gcc           gcc-arm-none-eabi
test             openocd                     openocd
test             pkg-config                  pkg-config
test             qemu-system-riscv64         qemu-system-misc
test             qemu-system-m68k            qemu-system-misc
test             riscv64-unknown-elf-gcc     gcc-riscv64-unknown-elf
test             m68k-linux-gnu-gcc          gcc-m68k-linux-gnu
test             aarch64-linux-gnu-gcc       gcc-aarch64-linux-gnu
test             /usr/include/cmocka.h       libcmocka-dev
test             clang                       clang
test             /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a  libclang-rt-dev
test             clang-format                clang-format
test             ctags                       universal-ctags
test             lexgrog                     man-db
test             jq                          jq
test             sqlite3                     sqlite3
test             vcd2fst                     gtkwave
test             babeltrace2                 babeltrace2
test?            lttng-cputop                python3-lttnganalyses
test             xmllint                     libxml2-utils
test             protoc                      protobuf-compiler
test             /usr/include/babeltrace2/babeltrace.h  libbabeltrace2-dev
test             valgrind                    valgrind
test             strace                      strace
test             tmux                        tmux
test             node                        nodejs
test             npm                         npm
test             chromium                    chromium
test             fc-match                    fontconfig
test             /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf  fonts-dejavu-core
release          debootstrap                 debootstrap
LIST
}

exists() { # $1: a command or a path pattern
    case $1 in
    /*) for f in $1; do [ -e "$f" ] && return 0; done; return 1 ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

missing_packages() { # $1: the set
    probes | while read -r sets probe package; do
        case ,$sets, in
        *,"$1",*) exists "$probe" || echo "$package" ;;
        *,"$1?",*) exists "$probe" || ! apt-cache show "$package" >/dev/null 2>&1 ||
            echo "$package" ;;
        esac
    done | sort -u | tr '\n' ' ' | sed 's/ $//'
}

fail() {
    echo "setup: $*" >&2
    exit 1
}

set_name=${1:-build}
case $set_name in
build | demo | test | release) ;;
*) fail "unknown set '$set_name'; use build, demo, test or release" ;;
esac
missing=$(missing_packages "$set_name")
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null ||
    fail "apt-get not found; install these Debian packages, or those of your system that are" \
        "equivalent: $missing"
as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
        fail "sudo not found; run as root: apt-get install --no-install-recommends $missing"
    as_root=sudo
fi
echo "setup: installing with ${as_root:+sudo }apt-get: $missing"
# $missing and $as_root are lists of words.
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"; }
# A dry run shows whether the package lists exist.
if ! apt install --simulate $missing >/dev/null 2>&1; then
    apt update || fail "apt-get update failed; check the network"
    missing=$(missing_packages "$set_name") # now it is known what the release has
fi
# Old lists name files that no longer exist. In that case, update the lists once.
apt install -y --no-install-recommends $missing >/dev/null ||
    { apt update && apt install -y --no-install-recommends $missing >/dev/null; } ||
    fail "apt-get could not install: $missing"
still=$(missing_packages "$set_name")
[ -z "$still" ] || fail "installed, but still not usable: $still"
