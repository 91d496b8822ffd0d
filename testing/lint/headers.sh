#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# headers.sh - every header compiles alone
set -eu
source=${WEIR_SOURCE-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source"
compiler=${WEIR_CC-mpicc}
command -v "${compiler%% *}" >/dev/null 2>&1 || {
    echo "skipped: no compiler '$compiler'"
    exit 77
}

# One header ($0), and what its folder needs.
export compiler
# shellcheck disable=SC2016 # expanded by the inner shell
find src -name '*.h' ! -name config.h | LC_ALL=C sort | xargs -P "$(getconf _NPROCESSORS_ONLN || echo 2)" -n 1 sh -c '
    flags=${WEIR_MPI_CFLAGS-}
    case $0 in
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
