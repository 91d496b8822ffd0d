#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mutants.sh - each defect of testing/mutants.txt still fits the sources, and its tests are there
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"

"$(testing/which-python)" testing/mutants --check
