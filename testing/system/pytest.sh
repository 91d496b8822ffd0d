#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pytest.sh - the system tests, as one entry of make check. PYTEST_ARGS selects: PYTEST_ARGS='-k "easy or hard" -x'
set -u
if [ "${WEIR_CHECK-}" = light ]; then
    echo "skipped: WEIR_CHECK=light"
    exit 77
fi
WEIR_SOURCE=${WEIR_SOURCE-$(cd "$(dirname "$0")/../.." && pwd)}
WEIR_BUILD=${WEIR_BUILD-$WEIR_SOURCE}
# Nothing is written into the sources. The compiled tests are in the build, where all workers find them.
PYTHONPYCACHEPREFIX=$WEIR_BUILD/testing/python
unset PYTHONDONTWRITEBYTECODE
export WEIR_SOURCE WEIR_BUILD PYTHONPYCACHEPREFIX

python=$("$WEIR_SOURCE/testing/which-python")
if ! $python -c 'import pytest' 2>/dev/null; then
    echo "skipped: the system tests need pytest (Debian: python3-pytest)"
    exit 77
fi

tests() {
    /usr/bin/env "$python" -m pytest -q -rfEs -p no:cacheprovider -c "$WEIR_SOURCE/testing/system/pytest.ini" "$@" \
        "$WEIR_SOURCE/testing/system" "$WEIR_SOURCE/testing/faults"
}

set -a
# shellcheck source=/dev/null
. "$WEIR_SOURCE/testing/launch-env"
set +a

# A test mostly waits for a launcher: with xdist (Debian: python3-pytest-xdist) four for each processor. The tests are
# compiled once, not by each worker.
workers=
if $python -c 'import xdist' 2>/dev/null; then
    workers="-n $((4 * $(getconf _NPROCESSORS_ONLN || echo 1)))"
    [ -d "$PYTHONPYCACHEPREFIX" ] || tests --collect-only -p no:xdist >/dev/null 2>&1
fi

# Quotes in PYTEST_ARGS hold words together, as in a shell.
eval "set -- $workers ${PYTEST_ARGS-}"
tests "$@"
rc=$?
[ $rc -ne 5 ] || { echo "skipped: no system test was selected"; exit 77; }
exit $rc
