#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - the tests on several hosts, as one entry of make check. PYTEST_ARGS selects: PYTEST_ARGS='-k slurm -x'
# Everything runs in namespaces of its own. When their first process ends, the kernel ends all others and takes
# their mounts and networks away: nothing can be left.
set -u
WEIR_SOURCE=${WEIR_SOURCE-$(cd "$(dirname "$0")/../.." && pwd)}
WEIR_BUILD=${WEIR_BUILD-$WEIR_SOURCE}
export WEIR_SOURCE WEIR_BUILD PYTHONDONTWRITEBYTECODE=1

skip() {
    echo "skipped: $*"
    exit 77
}

[ "${WEIR_CHECK-}" != light ] || skip "WEIR_CHECK=light"
[ -z "${WEIR_SANITIZED-}" ] || skip "the build with sanitizers is not tried on several hosts"
[ "$(id -u)" -eq 0 ] || skip "several hosts need root"
# sshd and the daemons of Slurm are in folders that not everybody searches.
PATH=$PATH:/usr/sbin:/sbin
export PATH
for tool in ip:iproute2 nsenter:util-linux ssh:openssh-client sshd:openssh-server timeout:coreutils unshare:util-linux; do
    command -v "${tool%:*}" >/dev/null 2>&1 || skip "no ${tool%:*} (Debian: ${tool#*:})"
done
python=$("$WEIR_SOURCE/testing/which-python")
$python -c 'import pytest' 2>/dev/null || skip "no pytest (Debian: python3-pytest)"

apart() {
    timeout -k 10 "$1" unshare --pid --fork --kill-child --mount-proc --mount --net --uts --ipc sh -c "$2" "$python"
}

why=$(apart 20 'mount -t tmpfs weir /mnt && ip link add weir0 type veth && ip link add weir type bridge' 2>&1) ||
    skip "this machine gives root no namespaces, veth or bridges: $(echo "$why" | tail -1)"

# /tmp will be another one: the build and the sources, which may be there, get a second name.
# Quotes in PYTEST_ARGS hold words together, as in a shell.
# shellcheck disable=SC2016 # for the shell that is started
apart "${WEIR_CLUSTER_SECONDS-600}" 'mount -t tmpfs weir /mnt && mkdir /mnt/build /mnt/source &&
    mount --bind "$WEIR_BUILD" /mnt/build && mount --bind "$WEIR_SOURCE" /mnt/source && cd /mnt || exit 1
export WEIR_BUILD=/mnt/build WEIR_SOURCE=/mnt/source
eval "set -- ${PYTEST_ARGS-}"
"$0" -m pytest -q -rfEs --durations=8 -p no:cacheprovider -c "$WEIR_SOURCE/testing/system/pytest.ini" \
    "$@" "$WEIR_SOURCE/testing/cluster"'
rc=$?
[ $rc -ne 5 ] || skip "no test of several hosts was selected"
[ $rc -ne 124 ] || echo "testing/cluster took longer than ${WEIR_CLUSTER_SECONDS-600} s and was ended"
exit $rc
