#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# exports.sh - a function or table that no other file of src uses is static, unless a unit test names it
set -eu
source=$(cd "${WEIR_SOURCE-$(dirname "$0")/../..}" && pwd)
cd "${WEIR_BUILD-.}"
if [ -z "$(find src -path '*/.libs/*.o' 2>/dev/null)" ]; then
    echo "skipped: nothing is built here"
    exit 77
fi

# Objects of which the source is gone stay in a build directory: they count neither as the place of a symbol nor as its user.
# What libweir shows to other programs is used there.
unused=$({
    sed -n 's/^    \(weir_[a-z_]*\);$/- U \1/p' "$source/src/library/libweir.map"
    find src -path '*/.libs/*.o' ! -path 'src/.libs/*' | while read -r object; do
        name=${object##*_la-}
        file=${object%/.libs/*}/${name%.o}.c
        [ ! -f "$source/$file" ] && [ ! -f "$file" ] || echo "$object"
    done | xargs nm -A src/programs/*.o
} | awk '
{ symbol = $NF; type = $(NF - 1) }
type ~ /^[TRDB]$/ && symbol ~ /^[a-z][a-z0-9]*_/ { defined[symbol] = 1 }
type == "U" { used[symbol] = 1 }
END {
    for (symbol in defined)
        if (!(symbol in used))
            print symbol
    for (symbol in used)
        n++
    if (n < 500)
        print "only_" n "_symbols_were_found"
}')

# A file that this build leaves out counts, too, and a header with a call that it leaves out.
failed=0
for symbol in $unused; do
    files=$({
        grep -rlw --include='*.c' "$symbol" "$source/src"
        grep -rl --include='*.h' "^[[:blank:]].*\<$symbol(" "$source/src" || :
    } | wc -l)
    if [ "$files" -lt 2 ] && ! grep -rqw --include='*.[ch]' "$symbol" "$source/testing/unit" "$source/testing/backend"; then
        echo "$symbol: no other file uses it: make it static, or remove it"
        failed=1
    fi
done
exit "$failed"
