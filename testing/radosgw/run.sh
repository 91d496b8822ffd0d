#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - the tests with radosgw on a Ceph of one node, as one entry of make check. PYTEST_ARGS selects: PYTEST_ARGS='-k mdtest -x'
set -u
WEIR_SOURCE=${WEIR_SOURCE-$(cd "$(dirname "$0")/../.." && pwd)}
WEIR_BUILD=${WEIR_BUILD-$WEIR_SOURCE}
export WEIR_SOURCE WEIR_BUILD PYTHONDONTWRITEBYTECODE=1

skip() {
    echo "skipped: $*"
    exit 77
}

[ "${WEIR_CHECK-}" != light ] || skip "WEIR_CHECK=light"
[ -z "${WEIR_SANITIZED-}" ] || skip "the build with sanitizers is not tried with Ceph"
python=$("$WEIR_SOURCE/testing/which-python")
$python -c 'import pytest' 2>/dev/null || skip "no pytest (Debian: python3-pytest)"
set -a
# shellcheck source=/dev/null
. "$WEIR_SOURCE/testing/launch-env"
set +a

# Quotes in PYTEST_ARGS hold words together, as in a shell.
eval "set -- ${PYTEST_ARGS-}"
"$python" -m pytest -q -rfEs --durations=5 -p no:cacheprovider -c "$WEIR_SOURCE/testing/system/pytest.ini" \
    "$@" "$WEIR_SOURCE/testing/radosgw"
rc=$?
[ $rc -ne 5 ] || skip "no test with Ceph was selected"
exit $rc
