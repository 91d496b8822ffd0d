#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# todo.sh - work that was put off has the number of its issue
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"

word='TO''DO|FIX''ME|X''XX'
if grep -rnIE --include='*.[ch]' --include='*.am' --include='*.ac' --include='*.m4' --include='*.sh' --include='*.py' \
    "(^|[^A-Za-z])($word)([^A-Za-z]|\$)" bootstrap configure.ac Makefile.am contrib src testing |
    grep -vE "($word)[^A-Za-z]*(issue )?#?[0-9]+"; then
    echo "name the issue: TO""DO #12: what is missing"
    exit 1
fi
