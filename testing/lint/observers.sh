#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# observers.sh - an observer can be taken out: only the list in engine/observe/all.c needs anything of the object that has its row
set -eu
cd "${WEIR_BUILD-.}"
objects=$(find src -path '*/.libs/*.o' ! -path 'src/.libs/*' 2>/dev/null)
if [ -z "$objects" ]; then
    echo "skipped: nothing is built here"
    exit 77
fi

# shellcheck disable=SC2086 # a list of names without blanks
nm -A $objects | awk '
{ file = $1; sub(/:.*/, "", file); symbol = $NF; type = $(NF - 1) }
type ~ /^[TRDB]$/ { object[symbol] = file }
type == "U" { users[symbol] = users[symbol] " " file }
END {
    for (symbol in users)
        if (users[symbol] ~ /observe\/[^ ]*-all[.]o/ && symbol ~ /^weir_/) {
            row[object[symbol]] = symbol
            rows++
        }
    for (symbol in object)
        if (object[symbol] in row && symbol != row[object[symbol]] && users[symbol]) {
            printf "%s: %s is used by%s\n", row[object[symbol]], symbol, users[symbol]
            failed = 1
        }
    if (rows < 10) {
        print "only " rows + 0 " rows were found"
        failed = 1
    }
    exit failed
}'
