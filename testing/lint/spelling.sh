#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# spelling.sh - codespell over everything that people read
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"
command -v codespell >/dev/null 2>&1 || {
    echo "skipped: no codespell (Debian: codespell)"
    exit 77
}

# Words that are right here: names of interfaces and units.
words=bu,hist,inout,nam,nd,reord,te
find bootstrap configure.ac Makefile.am README.md contrib doc src testing -type f \
    ! -path 'testing/golden/*' ! -path '*/corpus/*' ! -name '*.[ao]' ! -name '*.log' ! -name '*.trs' ! -name '*.pyc' \
    -exec grep -lI . '{}' + | LC_ALL=C sort | xargs codespell --ignore-words-list="$words" || exit 1
