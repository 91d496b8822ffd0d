#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# headers.sh - every header compiles alone. The build has shown that of a header which a source includes before all others; the
# compiler is asked about the rest
set -eu
source=${WEIR_SOURCE-$(cd "$(dirname "$0")/../.." && pwd)}
build=$(cd "${WEIR_BUILD-.}" && pwd)
cd "$source"
compiler=${WEIR_CC-mpicc}
command -v "${compiler%% *}" >/dev/null 2>&1 || {
    echo "skipped: no compiler '$compiler'"
    exit 77
}

# The sources of the objects in this build.
built() {
    (cd "$build" && find src -path '*/.libs/*.o' ! -path 'src/.libs/*' 2>/dev/null) | while read -r object; do
        name=${object##*_la-}
        file=${object%/.libs/*}/${name%.o}.c
        [ ! -f "$file" ] || echo "$file"
    done
}

# The headers that these include first.
# shellcheck disable=SC2016 # it is awk
shown=$(built | xargs awk '
FNR == 1 { before = 1 }
before && /^#include "/ { split($0, part, "\""); print " src/" part[2] " " }
/^#include/ { before = 0 }' /dev/null)

# One header ($0), and what its folder needs.
export compiler shown
# shellcheck disable=SC2016 # expanded by the inner shell
find src -name '*.h' ! -name config.h | LC_ALL=C sort | while read -r header; do
    case $shown in *" $header "*) ;; *) echo "$header" ;; esac
done | xargs -r -P "$(getconf _NPROCESSORS_ONLN || echo 2)" -n 1 sh -c '
    flags=${WEIR_MPI_CFLAGS-}
    case $0 in
    src/backends/shared/h5*)
        if [ ! -f "${WEIR_BUILD-.}/src/libweir-hdf5.la" ]; then
            echo "$0: not checked, because HDF5 is not in this build"
            exit 0
        fi
        flags="$flags ${WEIR_BACKEND_CFLAGS-}"
        ;;
    src/backends/s[eh][sa]*/*) ;;
    src/backends/*/*)
        name=${0#src/backends/}
        if [ ! -f "${WEIR_BUILD-.}/src/libweir-${name%%/*}.la" ]; then
            echo "$0: not checked, because its backend is not in this build"
            exit 0
        fi
        flags="$flags ${WEIR_BACKEND_CFLAGS-}"
        ;;
    esac
    echo "#include \"$0\"" |
        $compiler $flags -I. -Isrc -D_GNU_SOURCE -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -x c - ||
        { echo "$0: does not compile alone"; exit 1; }
' || exit 1
