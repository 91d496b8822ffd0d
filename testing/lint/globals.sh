#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# globals.sh - no file-scope mutable data, and no static counter in a function either: state is passed
set -eu
cd "${WEIR_BUILD-.}"
command -v objdump >/dev/null 2>&1 || {
    echo "skipped: no objdump (Debian: binutils)"
    exit 77
}
if [ -n "${WEIR_SANITIZED-}" ]; then
    echo "skipped: sanitizers add data of their own"
    exit 77
fi

# Constant tables that hold addresses are in .data.rel.ro of position-independent programs: they are fine.
find src -name '*.o' | LC_ALL=C sort | xargs objdump -t | awk '
/file format/ {
    file = $1
    sub(/:$/, "", file)
    objects++
}
match($0, /^[0-9a-f]+ /) {
    rest = substr($0, RLENGTH + 1)
    flags = substr(rest, 1, 7) # of a symbol, "l     O"; of a section, "l    d "
    section = substr(rest, 9)
    sub(/\t.*/, "", section)
    if (file ~ /library-library[.]l?o$|_la-library[.]o$/ && $NF == "busy")
        next # one run at a time in a process: a fact of the process
    if (file ~ /src_base_libweirbase_la-clock[.]o$|base.*-clock[.]l?o$/ && $NF ~ /^(weir_clock_source|counter)$/)
        next # a process has one clock
    if (flags !~ /[df]/ && section ~ /^([.]l?bss|[.]t?data|[.]tbss|[*]COM[*])/ && section !~ /^[.]data[.]rel[.]ro/) {
        printf "%s: %s can be changed: it belongs into a struct that is passed\n", file, $NF
        failed = 1
    }
}
END {
    if (objects == 0) {
        print "skipped: nothing is built here"
        exit 77
    }
    exit failed
}
'
