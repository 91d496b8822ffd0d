#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# banned.sh - functions of src/base/banned.h, also where the compiler does not see them; no exit outside main
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"

# A name in a comment or in a string is no call: take those out first, and keep the line numbers.
# shellcheck disable=SC2016 # it is awk
find src -name '*.[ch]' ! -path src/base/banned.h ! -path src/config.h | LC_ALL=C sort | xargs awk '
FNR == 1 { comment = 0 }
{
    line = $0
    gsub(/\\./, "", line)
    gsub(/"[^"]*"/, "\"\"", line)
    if (comment) {
        if (!sub(/^.*\*\//, "", line))
            next
        comment = 0
    }
    gsub(/\/\*[^*]*(\*[^\/*][^*]*)*\*\//, "", line)
    sub(/\/\/.*/, "", line)
    if (sub(/\/\*.*/, "", line))
        comment = 1
    if (match(line, /(^|[^A-Za-z0-9_.>])(v?sprintf|gets|str(n?cpy|n?cat|tok)|ato(i|l|ll|f))[ \t]*(\(|[,;)])/)) {
        printf "%s:%d: banned function: %s\n", FILENAME, FNR, $0
        failed = 1
    }
    if (match(line, /(^|[^A-Za-z0-9_.>])(_exit|_Exit|abort|exit|quick_exit)[ \t]*\(/) && FILENAME !~ /\/main\.c$/) {
        printf "%s:%d: only main ends the process: %s\n", FILENAME, FNR, $0
        failed = 1
    }
}
END { exit failed }
' || exit 1
