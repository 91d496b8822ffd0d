#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# words.sh - comments begin with their subject, and words that were replaced do not come back into names (doc/dev/style.md)
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"

# shellcheck disable=SC2016 # it is awk
check='
function bad(why) {
    printf "%s:%d: %s\n", FILENAME, FNR, why
    failed = 1
}
# The first words of a comment, once.
function judge_begin(text) {
    sub(/^[*! \t]+/, "", text)
    if (text == "")
        return
    begins = 0
    if (match(text, /^(What|Those|Somebody|Who|Whoever)[^A-Za-z]/))
        bad("a comment begins with \"" substr(text, 1, RLENGTH - 1) "\": name its subject")
}
# The parts of the names in a piece of code: "weir_" with a module, or a word that has gone everywhere.
function judge_names(code,   n, i, name, part) {
    if (match(code, /(->|[.])(most|least)[^A-Za-z0-9_(]/))
        bad(substr(code, RSTART, RLENGTH - 1) ": a member is called max, min, or what it is")
    if (tolower(code) !~ any)
        return
    n = split(code, name, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= n; i++)
        for (part in today)
            if (index("_" tolower(name[i]) "_", "_" part "_"))
                bad(name[i] ": " part " is called " today[part])
}
BEGIN {
    today["weir_driver"] = "program"; today["weir_trust"] = "checks"; today["weir_guard"] = "preflight"
    today["weir_content"] = "data"; today["weir_chain"] = "lanes"; today["itemdata"] = "items"
    today["weir_together"] = "collective"; today["weir_confirm"] = "agree_same"; today["phase_aside"] = "phase_extra"
    today["tidy"] = "cleanup"; today["fate"] = "applied"; today["lacks"] = "missing"; today["surroundings"] = "environment"
    today["spoil"] = "invalidate"; today["catch_up"] = "resync"; today["hears"] = "poll"; today["hear"] = today["heard"] = "poll"
    today["neighbour"] = "nothing: it went"; today["weir_peer"] = today["weir_ring"] = today["neighbour"]
    today["picks"] = "sampled"; today["tally"] = "rollsum"; today["weir_pace"] = "ratelimit"; today["weir_news"] = "ranks_progress"
    today["weir_board"] = "shared_status"; today["mix_board"] = "rollmax"; today["weir_roots"] = "leaders"
    today["weir_below"] = "underlying"; today["weir_lone"] = "subset"; today["weir_made"] = "test_files"; today["mpiio_flight"] = "request"
    today["tell"] = today["told"] = "report, send or broadcast"; today["say"] = today["said"] = "report or print"; today["room"] = "capacity, space or buffer"; today["weir_look"] = today["place_look"] = "scan, stat or poll"
    today["lock_step"] = "collective_steps"
    for (part in today)
        any = any (any ? "|" : "") part
}
FNR == 1 {
    inside = 0
    name = FILENAME
    gsub(/.*\/|[.][ch]$/, "", name)
    gsub(/-/, "_", name)
    judge_names("weir_" name)
}
{
    line = $0
    if (!inside)
        gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    while (line != "") {
        at = index(line, inside ? "*/" : "/*")
        piece = at ? substr(line, 1, at - 1) : line
        line = at ? substr(line, at + 2) : ""
        if (!inside)
            judge_names(piece)
        else if (begins)
            judge_begin(piece " ")
        if (at) {
            inside = !inside
            begins = inside
        }
    }
}
END { exit failed }'

# The check itself: it refuses each of these files but the last.
tries=$(mktemp -d)
trap 'rm -rf "$tries"' EXIT
printf '/* What a file holds. */\n' >"$tries/a.c"
printf '/*\n * Those of a run. */\n' >"$tries/b.c"
printf 'int n; /* Who calls */\n' >"$tries/c.c"
printf 'x->lacks = weir_driver_of(y);\n' >"$tries/d.c"
printf 'n = x->most;\n' >"$tries/f.c"
printf '/* A node that lacks "MPI", whoever asks; what a driver says. */\nputs("/* What a fate"); mpi_drivers = content;\n' >"$tries/e.c"
for try in a b c d f; do
    awk "$check" "$tries/$try.c" >"$tries/said" && { echo "words.sh finds nothing in:"; cat "$tries/$try.c"; exit 1; }
done
awk "$check" "$tries/e.c" || { echo "words.sh refuses ordinary English"; exit 1; }

find src -name '*.[ch]' ! -path src/config.h | LC_ALL=C sort | xargs awk "$check"
"$(testing/which-python)" testing/lint/words.py
