#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# guide.sh - the guide has short lines and sentences, and the links of all documents lead somewhere
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"
python=$(testing/which-python)

# The check itself: it refuses each of these pages but the last.
tries=$(mktemp -d)
trap 'rm -rf "$tries"' EXIT
awk 'BEGIN { for (i = 0; i < 101; i++) printf "x"; print "" }' >"$tries/a"
awk 'BEGIN { for (i = 0; i < 36; i++) print "word" }' >"$tries/b"
printf '# One\n[no file](nowhere)\n' >"$tries/c"
printf '# One\n[no heading](#two)\n' >"$tries/d"
for try in a b c d; do
    "$python" testing/lint/guide.py "$tries/$try" >/dev/null && { echo "guide.py finds nothing in:"; cat "$tries/$try"; exit 1; }
done
awk 'BEGIN { print "# One: 1\n\n```text"; for (i = 0; i < 36; i++) print "word"; print "```\n[this](#one-1) and that." }' >"$tries/e"
"$python" testing/lint/guide.py "$tries/e" || { echo "guide.py refuses a good page"; exit 1; }

exec "$python" testing/lint/guide.py
