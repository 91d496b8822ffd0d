# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# stage.sh - what the entries of make check that run pytest share. They read it with '.', from a folder of testing.
WEIR_SOURCE=${WEIR_SOURCE-$(cd "$(dirname "$0")/../.." && pwd)}
WEIR_BUILD=${WEIR_BUILD-$WEIR_SOURCE}
export WEIR_SOURCE WEIR_BUILD

# skip REASON...: end this test as one that cannot run here
skip() {
    echo "skipped: $*"
    exit 77
}

# not_sanitized WHERE: the build with sanitizers is not tried there
not_sanitized() {
    [ -z "${WEIR_SANITIZED-}" ] || skip "the build with sanitizers is not tried $1"
}

# The libraries below the MPI library get what testing/launch-env says.
launch_env() {
    set -a
    # shellcheck source=/dev/null
    . "$WEIR_SOURCE/testing/launch-env"
    set +a
}

# run_pytest NAME ARGUMENT...: what every stage asks of pytest. Its times go into NAME.junit.xml for testing/times.
run_pytest() {
    stage=$1
    shift
    "$python" -m pytest -q -rfEs -p no:cacheprovider -c "$WEIR_SOURCE/testing/system/pytest.ini" \
        --junitxml="$WEIR_BUILD/testing/$stage.junit.xml" "$@"
}

# end_stage STATUS: the status of pytest as that of a test
end_stage() {
    [ "$1" -ne 5 ] || skip "no test was selected"
    exit "$1"
}

[ "${WEIR_CHECK-}" != light ] || skip "WEIR_CHECK=light"
python=$("$WEIR_SOURCE/testing/which-python")
$python -c 'import pytest' 2>/dev/null || skip "no pytest (Debian: python3-pytest)"
