#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# doors.sh - a program, a backend and the library include of other rooms what the list testing/lint/doors gives them, and the list
# has nothing that nobody needs
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"

# shellcheck disable=SC2016 # it is awk
find src -name '*.[ch]' ! -path src/backends/registry.c ! -path src/library/benchmarks.c | LC_ALL=C sort | xargs awk '
function bad(why) {
    print why
    failed = 1
}
# Set who includes, and in which group it is: a backend, a program, main.c of all programs, or the library.
function set_user(n, part) {
    who = group = ""
    if (part[2] == "library")
        who = part[2]
    if (part[2] == "programs" || part[2] == "backends" && n > 3 && part[3] != "session" && part[3] != "shared") {
        who = part[3]
        group = part[2]
    }
    own = (group ? group "/" : "") who "/"
}
# Is there a line for a header and one of the words behind it? Count each user of a word once.
function listed(header, word) {
    if (!((header, word) in line))
        return 0
    users[header, word] += !((header, word, who) in counted)
    counted[header, word, who] = 1
    return 1
}
FILENAME == "testing/lint/doors" {
    sub(/#.*/, "")
    if (NF && $1 in doors)
        bad(FILENAME ":" FNR ": a second line for " $1)
    doors[$1]
    for (i = 2; i <= NF; i++) {
        line[$1, $i] = FNR
        entry[++entries] = $1 SUBSEP $i
    }
    next
}
FNR == 1 { set_user(split(FILENAME, part, "/"), part) }
who && match($0, /^[ \t]*#[ \t]*include[ \t]*"[^"]*\/[^"]*"/) {
    split($0, part, "\"")
    if (index(part[2], own) != 1 && !listed(part[2], group) && !listed(part[2], who))
        bad(FILENAME ":" FNR ": includes " part[2] ", and testing/lint/doors does not give it to " who)
}
END {
    for (i = 1; i <= entries; i++) {
        split(entry[i], part, SUBSEP)
        least = part[2] == "programs" || part[2] == "backends" ? 3 : 1
        if (users[entry[i]] < least)
            bad("testing/lint/doors:" line[entry[i]] ": " \
                (least > 1 ? "fewer than three " part[2] " include " : part[2] " does not include ") part[1])
    }
    exit failed
}
' testing/lint/doors || exit 1
