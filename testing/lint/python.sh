#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# python.sh - pyflakes over the Python that is installed and that of the tests; lines of the first are not too long
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"

find contrib/plot -type f '(' -name '*.py' -o -name 'weir-*' ')' \
    -exec awk 'length > 120 { print FILENAME ":" FNR ": longer than 120"; found = 1 } END { exit found }' '{}' + || exit 1
python=$(testing/which-python)
if ! $python -c 'import pyflakes' 2>/dev/null; then
    echo "skipped: no pyflakes (Debian: python3-pyflakes)"
    exit 77
fi
find contrib/plot -type f '(' -name '*.py' -o -name 'weir-*' ')' -exec "$python" -m pyflakes '{}' +
# Fixtures are imported and not used by name, which it takes for mistakes: of the tests only names that are nowhere.
! find testing -name '*.py' -exec "$python" -m pyflakes '{}' + | grep 'undefined name'
