# SPDX-License-Identifier: BSD-3-Clause
"""Pictures and reports of weir's runs. Layers: refusal <- files <- model <- pictures <- report <- draw <- cli."""
