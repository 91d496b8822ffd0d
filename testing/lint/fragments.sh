#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fragments.sh - the lists that bootstrap wrote are those that it would write now
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

./bootstrap --scan "$fresh"
status=0
find "$fresh" -type f | LC_ALL=C sort | while read -r file; do
    name=${file#"$fresh"/}
    cmp -s "$file" "$name" || { echo "$name is stale: run ./bootstrap"; exit 1; }
done || status=1
# A fragment that nothing makes any more
find src testing -name fragment.am | LC_ALL=C sort | while read -r name; do
    [ -f "$fresh/$name" ] || { echo "$name has no folder any more: remove it"; exit 1; }
done || status=1
exit $status
