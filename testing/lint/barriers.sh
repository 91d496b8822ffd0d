#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# barriers.sh - barriers are written in engine/phase.c, and only there (par offers them)
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"

if find src -name '*.[ch]' ! -path 'src/par/*' ! -path src/engine/phase.c \
    -exec grep -nE '(weir_barrier|MPI_I?[Bb]arrier)[[:space:]]*\(' /dev/null '{}' +; then
    echo "a barrier outside engine/phase.c changes what is measured: make it a flag of the phase"
    exit 1
fi
