#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - the tests with radosgw on a Ceph of one node, as one entry of make check. PYTEST_ARGS selects: PYTEST_ARGS='-k mdtest -x'
set -u
# shellcheck source=testing/stage.sh
. "$(dirname "$0")/../stage.sh"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
not_sanitized "with Ceph"
launch_env

# Quotes in PYTEST_ARGS hold words together, as in a shell.
eval "set -- ${PYTEST_ARGS-}"
run_pytest radosgw --durations=5 "$@" "$WEIR_SOURCE/testing/radosgw"
end_stage $?
