#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - the tests on several hosts, as one entry of make check. PYTEST_ARGS selects: PYTEST_ARGS='-k slurm -x'
# Everything runs in namespaces of its own. When their first process ends, the kernel ends all others and takes
# their mounts and networks away: nothing can be left.
set -u
# shellcheck source=testing/stage.sh
. "$(dirname "$0")/../stage.sh"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
if [ "${WEIR_IN_NAMESPACES-}" = yes ]; then
    # Quotes in PYTEST_ARGS hold words together, as in a shell.
    eval "set -- ${PYTEST_ARGS-}"
    run_pytest cluster --durations=8 "$@" "$WEIR_SOURCE/testing/cluster"
    exit $?
fi
not_sanitized "on several hosts"
[ "$(id -u)" -eq 0 ] || skip "several hosts need root"
# sshd and the daemons of Slurm are in folders that not everybody searches.
PATH=$PATH:/usr/sbin:/sbin
export PATH
for tool in ip:iproute2 nsenter:util-linux ssh:openssh-client sshd:openssh-server timeout:coreutils unshare:util-linux; do
    command -v "${tool%:*}" >/dev/null 2>&1 || skip "no ${tool%:*} (Debian: ${tool#*:})"
done

apart() {
    timeout -k 10 "$1" unshare --pid --fork --kill-child --mount-proc --mount --net --uts --ipc sh -c "$2"
}

why=$(apart 20 'mount -t tmpfs weir /mnt && ip link add weir0 type veth && ip link add weir type bridge' 2>&1) ||
    skip "this machine gives root no namespaces, veth or bridges: $(echo "$why" | tail -1)"

# /tmp will be another one: the build and the sources, which may be there, get a second name.
# shellcheck disable=SC2016 # for the shell that is started
apart "${WEIR_CLUSTER_SECONDS-600}" 'mount -t tmpfs weir /mnt && mkdir /mnt/build /mnt/source &&
    mount --bind "$WEIR_BUILD" /mnt/build && mount --bind "$WEIR_SOURCE" /mnt/source && cd /mnt || exit 1
WEIR_BUILD=/mnt/build WEIR_SOURCE=/mnt/source WEIR_IN_NAMESPACES=yes sh /mnt/source/testing/cluster/run.sh'
rc=$?
[ $rc -ne 124 ] || echo "testing/cluster took longer than ${WEIR_CLUSTER_SECONDS-600} s and was ended"
end_stage $rc
