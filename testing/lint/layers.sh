#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# layers.sh - who may include whom (doc/dev/architecture.md, section 3): a room includes itself and the rooms of its row
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"

# shellcheck disable=SC2016 # it is awk
find src -name '*.[ch]' ! -path src/config.h ! -path src/backends/registry.c ! -path src/library/benchmarks.c | LC_ALL=C sort | xargs awk '
function bad(why) {
    printf "%s:%d: includes %s: %s\n", FILENAME, FNR, name, why
    failed = 1
}
# The room of a path is its folder; a backend and a program have one room each.
function room_of(path,   n, part) {
    n = split(path, part, "/")
    return n > 2 ? part[1] "/" part[2] : n > 1 ? part[1] : "top"
}
# The row of a room: NAME stands for every backend and every program.
function row_of(room) {
    if (room in row)
        return room
    return room ~ /^backends\// ? "backends/NAME" : room ~ /^programs\// ? "programs/NAME" : ""
}
function may(room, includes) { row[room] = " " includes " " }
function allowed(from, path,   to) {
    to = room_of(path)
    return from == to || index(row[row_of(from)], " " to " ") || index(row[row_of(from)], " " path " ")
}
BEGIN {
    base = "base base/text base/shape base/node base/options base/data base/gpu"
    par = base " par par/io"
    may("top", "")
    may("base", "")
    may("base/text", "base")
    may("base/shape", "base base/text")
    may("base/node", "base base/text")
    may("base/options", "base base/text base/shape base/node")
    may("base/data", "base base/text base/shape base/node")
    may("base/gpu", "base base/text base/node")
    may("par", base)
    may("par/io", par)
    may("backends", base " par")
    may("backends/session", par " backends")
    may("backends/shared", par " backends")
    may("backends/NAME", par " backends backends/shared backends/session/queue.h backends/session/complete.h")
    engine = par " backends backends/session"
    may("engine", engine " engine/steps engine/report engine/check/rules.h")
    may("engine/steps", engine " engine engine/report")
    may("engine/report", engine)
    may("engine/about", engine " engine engine/report engine/observe/all.h")
    may("engine/place", engine " engine engine/report engine/observe/all.h")
    may("engine/observe", engine " engine engine/report engine/about engine/place")
    may("engine/check", engine " engine engine/report engine/about engine/place engine/observe")
    all = engine " engine engine/report engine/about engine/place engine/observe engine/check"
    may("programs", all)
    may("programs/NAME", all)
    # They run benchmarks through weir.h and use the engine for the rest: no part of libweir
    may("programs/weir-mix", all " top")
    may("programs/weir-io500", all " top")
    may("library", all " top")
}
FNR == 1 { room = room_of(substr(FILENAME, 5)) }
FNR == 1 && !row_of(room) { name = "nothing"; bad("the folder has no row in layers.sh") }
match($0, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]*[>"]/) {
    name = substr($0, RSTART, RLENGTH)
    quoted = name ~ /"/
    sub(/^[^<"]*[<"]/, "", name)
    sub(/[>"]$/, "", name)
    if (name == "mpi.h") {
        if (room !~ /^(top|par|par\/io|backends\/(mpiio|hdf5|netcdf|ncmpi|shared))$/)
            bad("only weir.h, par, backends/shared and the backends mpiio, hdf5, netcdf and ncmpi speak to MPI")
    } else if (name == "config.h") {
        bad("the build includes it into every object")
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
