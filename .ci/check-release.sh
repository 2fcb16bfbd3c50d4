#!/bin/sh
# SPDX-License-Identifier: MIT
# check-release.sh SUITE: runs `make demo` and `make test` of the last commit in a bare root of that
# release of Debian, which has gcc and make (build/release/SUITE; made again each time). Compares
# what commands print in the GDBs of that release and of this machine. The last line is that of the
# tests. Needs root. Reads RINGSIDE_DATA, and DEBIAN_MIRROR (an address).
set -u
cd "$(dirname "$0")/.." || exit 1

fail() {
    echo "check-release: $*" >&2
    exit 1
}

suite=${1:-}
case $suite in
'' | *[!a-z]*) fail "use the name of a release, such as trixie" ;;
esac
[ "$(id -u)" = 0 ] || fail "debootstrap and mounts need root; use sudo"
.ci/setup.sh release && .ci/setup.sh test || exit 1
make --no-print-directory all >/dev/null || fail "make failed on this machine"
root=$PWD/build/release/$suite
data=${RINGSIDE_DATA:-../shared/data}
rm -rf --one-file-system "$root"
mkdir -p "$root" || exit 1
echo "check-release: a root of $suite in build/release/$suite"
# Without a mirror, debootstrap takes Debian's own.
debootstrap --variant=minbase --include=gcc,make "$suite" "$root" \
    ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$root.log" 2>&1 ||
    fail "debootstrap: $(tail -n 1 "$root.log")"
git clone -q . "$root/root/ringside" || exit 1
gdb-reader/tests/transcript.sh write "$root/transcript" >"$root.log" 2>&1 || {
    cat "$root.log"
    fail "the commands in the GDB of this machine"
}
[ ! -d "$data" ] || cp -r "$data" "$root/data" || exit 1
# What the network of this host needs. .ci/run passes npm's settings on from the environment.
cp /etc/resolv.conf /etc/hosts "$root/etc/"
[ ! -e /etc/ssl/certs/ca-certificates.crt ] ||
    cp /etc/ssl/certs/ca-certificates.crt "$root/trusted.crt"

cat >"$root/check" <<'SCRIPT'
export HOME=/root LC_ALL=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
[ ! -d /data ] || export RINGSIDE_DATA=/data
[ ! -e /trusted.crt ] || export NODE_EXTRA_CA_CERTS=/trusted.crt
# What the outer make found belongs to the other machine.
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD $(env | sed -n 's/^\(HAVE_[A-Z]*\)=.*/\1/p')
cd /root/ringside || exit 1
start=$(date +%s)
make demo >/demo.log 2>&1 </dev/null
status=$?
echo "check-release: make demo: status $status, $(($(date +%s) - start)) s"
[ $status = 0 ] || tail -n 20 /demo.log
start=$(date +%s)
.ci/run </dev/null || status=1
echo "check-release: make test: $(($(date +%s) - start)) s"
echo "check-release: the commands in both GDBs"
gdb-reader/tests/transcript.sh compare /transcript </dev/null || status=1
cat build/test-logs/summary
exit $status
SCRIPT
# The mounts end with the namespace. The root becomes that of all processes: chroot would keep tests
# from having a namespace of their own.
exec unshare --mount sh -c '
mount --bind "$0" "$0" && cd "$0" && mount -t proc proc proc && mount --rbind /dev dev &&
mount -t sysfs sysfs sys && mount -t tmpfs -o mode=1777 tmpfs dev/shm &&
pivot_root . mnt && umount -l /mnt && cd / && exec /bin/sh /check' "$root"
