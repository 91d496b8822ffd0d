#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# todo.sh - work that was put off has the number of its issue, and pages that the code names are there
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"

word='TO''DO|FIX''ME|X''XX'
if grep -rnIE --include='*.[ch]' --include='*.am' --include='*.ac' --include='*.m4' --include='*.sh' --include='*.py' \
    "(^|[^A-Za-z])($word)([^A-Za-z]|\$)" bootstrap configure.ac Makefile.am contrib src testing |
    grep -vE "($word)[^A-Za-z]*(issue )?#?[0-9]+"; then
    echo "name the issue: TO""DO #12: what is missing"
    exit 1
fi

# From the top of the tree, as doc/dev/style: people must be able to open them.
bad=0
pages=$(grep -rhoE --include='*.[ch]' --include='*.sh' --include='*.m4' '[A-Za-z0-9_./-]+[.]md\b' \
    src testing contrib | LC_ALL=C sort -u)
for page in $pages; do
    [ -f "$page" ] || {
        grep -rnF --include='*.[ch]' --include='*.sh' --include='*.m4' "$page" src testing contrib || :
        echo "there is no page $page"
        bad=1
    }
done
exit $bad
