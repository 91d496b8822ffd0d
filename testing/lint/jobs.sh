#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# jobs.sh - the job scripts differ in their first part only: users copy one file, so each of them is whole
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"

first=contrib/jobs/slurm/ior.sbatch
same=$(sed -n '/^# ---- the same in all job scripts/,$p' $first)
[ -n "$same" ] || {
    echo "$first: no part that is the same in all job scripts"
    exit 1
}
for script in contrib/jobs/*/ior.*; do
    bash -n "$script" || exit 1
    [ "$(sed -n '/^# ---- the same in all job scripts/,$p' "$script")" = "$same" ] || {
        echo "$script: the part that is the same in all job scripts is not that of $first"
        exit 1
    }
done
