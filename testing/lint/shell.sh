#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shell.sh - shellcheck over every shell script
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"
command -v shellcheck >/dev/null 2>&1 || {
    echo "skipped: no shellcheck (Debian: shellcheck)"
    exit 77
}

find bootstrap .ci contrib doc src testing -type f ! -path '*/corpus/*' ! -path '*/golden/*' \
    -exec awk 'FNR == 1 && /^#!.*[\/ ](ba)?sh( |$)/ { print FILENAME }' '{}' + |
    LC_ALL=C sort | xargs shellcheck -x || exit 1
