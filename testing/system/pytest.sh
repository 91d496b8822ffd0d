#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pytest.sh - the system tests, as one entry of make check. PYTEST_ARGS selects: PYTEST_ARGS='-k "easy or hard" -x'
# With WEIR_MARK only the tests that have this mark run, with WEIR_QUICK the first case of each test that does not take long.
# WEIR_TESTS are files or names of tests, quoted as in a shell, instead of all.
set -u
# shellcheck source=testing/stage.sh
. "$(dirname "$0")/../stage.sh"
# Nothing is written into the sources. The compiled tests are in the build, where all workers find them.
PYTHONPYCACHEPREFIX=$WEIR_BUILD/testing/python
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX
launch_env

# Quotes in PYTEST_ARGS hold words together, as in a shell. Files without a mark that is asked for need not be read.
eval "set -- ${PYTEST_ARGS-}"
if [ -n "${WEIR_MARK-}" ]; then
    set -- -m "$WEIR_MARK" "$@"
    for file in "$WEIR_SOURCE"/testing/system/test_*.py "$WEIR_SOURCE"/testing/faults/test_*.py; do
        ! grep -q "mark\.$WEIR_MARK\>" "$file" || set -- "$@" "$file"
    done
elif [ -n "${WEIR_TESTS-}" ]; then
    eval "set -- ${PYTEST_ARGS-} $WEIR_TESTS"
else
    set -- "$@" "$WEIR_SOURCE/testing/system" "$WEIR_SOURCE/testing/faults"
fi

# A test mostly waits for a launcher: with xdist (Debian: python3-pytest-xdist) four for each processor, which keep it busy. Each
# takes 2 s of processor time to begin, so there are two for the few tests with a mark, which run beside those of another build.
# The tests are compiled once, not by each worker.
workers=
each=4
[ -z "${WEIR_MARK-}" ] || each=2
if $python -c 'import xdist' 2>/dev/null; then
    workers="-n $((each * $(getconf _NPROCESSORS_ONLN || echo 1)))"
    [ -d "$PYTHONPYCACHEPREFIX" ] || run_pytest collected --collect-only -p no:xdist "$@" >/dev/null 2>&1
fi
# shellcheck disable=SC2086 # two words
run_pytest system $workers "$@"
end_stage $?
