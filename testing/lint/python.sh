#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# python.sh - pyflakes over the Python that is installed, whose lines are not too long; in that of the tests no name is undefined
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"

find contrib/plot contrib/jobs -type f '(' -name '*.py' -o -name 'weir-*' ')' \
    -exec awk 'length > 120 { print FILENAME ":" FNR ": longer than 120"; found = 1 } END { exit found }' '{}' + || exit 1
python=$(testing/which-python)
find testing -name '*.py' -exec "$python" testing/lint/names.py '{}' +
if ! $python -c 'import pyflakes' 2>/dev/null; then
    echo "skipped: no pyflakes (Debian: python3-pyflakes)"
    exit 77
fi
find contrib/plot contrib/jobs -type f '(' -name '*.py' -o -name 'weir-*' ')' -exec "$python" -m pyflakes '{}' +
