#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shape.sh - circles of modules and sizes stay within testing/lint/budgets, which a commit can lower, and raise with a reason only
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"
exec "$(testing/which-python)" testing/lint/shape.py "$@"
