#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# barriers.sh - barriers are written in engine/phase.c, and only there (par offers them), but for those that a benchmark
# measures: "weir_barrier(...); /* of the pattern */"
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"

if find src -name '*.[ch]' ! -path 'src/par/*' ! -path src/engine/phase.c \
    -exec grep -nE '(weir_barrier|MPI_I?[Bb]arrier)[[:space:]]*\(' /dev/null '{}' + | grep -v '/\* of the pattern \*/$'; then
    echo "a barrier outside engine/phase.c changes what is measured: make it a flag of the phase"
    exit 1
fi
