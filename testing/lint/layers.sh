#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# layers.sh - who may include whom (doc/dev/architecture.md, section 3)
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"

# shellcheck disable=SC2016 # it is awk
find src -name '*.[ch]' ! -path src/config.h ! -path src/backends/registry.c | LC_ALL=C sort | xargs awk '
function bad(why) {
    printf "%s:%d: includes %s: %s\n", FILENAME, FNR, name, why
    failed = 1
}
# The room of a path: base, par, backends, backends/NAME, engine, drivers/NAME.
function room_of(path,   n, part) {
    n = split(path, part, "/")
    if (n > 2 && (part[1] == "backends" || part[1] == "drivers"))
        return part[1] "/" part[2]
    return n > 1 ? part[1] : "top"
}
function allowed(from, path,   to) {
    to = room_of(path)
    if (from == to || to == "base")
        return 1
    if (from == "base")
        return 0
    if (to == "par")
        return 1
    if (from == "par")
        return 0
    if (from ~ /^backends\//)
        return path ~ "^backends/(" shared ")[.]h$"
    if (from == "backends")
        return 0
    if (to == "backends")
        return path ~ "^backends/(array|backend|plugin|queue|registry|session|session-array)[.]h$"
    if (to == "top" || from == "library")
        return from == "library"
    return from ~ /^drivers(\/|$)/ && to == "engine"
}
BEGIN {
    # What backends share: names, descriptors and hints of files that several of them have, the rest of a transfer.
    shared = "array|backend|complete|mpins|nctable|posixfile|posixns"
}
FNR == 1 { room = room_of(substr(FILENAME, 5)) }
match($0, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]*[>"]/) {
    name = substr($0, RSTART, RLENGTH)
    quoted = name ~ /"/
    sub(/^[^<"]*[<"]/, "", name)
    sub(/[>"]$/, "", name)
    if (name == "mpi.h") {
        if (room !~ /^(top|par|backends\/(mpiio|hdf5|netcdf|ncmpi))$/)
            bad("only weir.h, par and the backends mpiio, hdf5, netcdf and ncmpi speak to MPI")
    } else if (name == "config.h") {
        if (FILENAME !~ /[.]c$/)
            bad("configuration belongs in .c files")
    } else if (!quoted) {
        next
    } else if (name !~ /\// && name != "weir.h") {
        bad("write the path from src/")
    } else if (!allowed(room, name)) {
        bad(room " may not know that")
    }
}
END { exit failed }
' || exit 1
