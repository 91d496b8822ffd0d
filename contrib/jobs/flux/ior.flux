#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ior.flux - ior under Flux: flux batch --nodes=4 --exclusive ior.flux DIRECTORY [IOR-OPTION...]
#
# The data come into DIRECTORY/ior.JOB, which is removed at the end; the results into ior.JOB where the job was
# submitted: ior.txt, ior.json, ior.csv. A signal before the end of the job ends ior in order: it reports what it has,
# removes its files, and ends with status 6. The guide page cluster.md says more.
# Variables: IOR, the program; WEIR_TASKS, tasks of each node, 8; WEIR_SECONDS until the signal, which should come two
# minutes before the end of the job. Written from the manual of Flux: nobody has run it yet.
#flux: --job-name=ior
#flux: --time-limit=30m
set -u

job=$(flux getattr jobid) from=$PWD
nodes=$(flux resource list --no-header --format='{nnodes}')
launch=(timeout --signal=TERM "${WEIR_SECONDS:-1680}" flux run --nodes="$nodes" --tasks-per-node="${WEIR_TASKS:-8}")

# ---- the same in all job scripts ----
data=${1:-${DIR:?give the directory to measure}}/ior.$job
results=$from/ior.$job
if [ $# -gt 0 ]; then
    shift
else
    # shellcheck disable=SC2086 # options are words
    set -- ${IOR_WORDS-}
fi

# The signal that ends the job reaches this shell, too, which without a trap would end before ior. With one it waits.
trap 'echo "ior: the job was told to end"' HUP INT TERM USR1 USR2 XCPU
mkdir -p "$results" && mkdir "$data" && cd "$results" || exit 2

# Reading is done by the next node (-C). Make -b times all tasks more than the memory of all nodes.
"${launch[@]}" "${IOR:-ior}" -F -C -e -g -t 16m -b 16g -i 3 -o "$data/file" \
    --report=text:-,text:ior.txt,json:ior.json,csv:ior.csv "$@"
status=$?

# ior.json is written last. Files that are there with it were kept (-k); without it, ior was killed or lost a node.
if rmdir "$data" 2>/dev/null; then
    :
elif [ -s ior.json ]; then
    echo "ior: kept: $data"
else
    echo "ior: ended before it could remove its files; removing $data"
    rm -rf "$data"
fi
exit $status
