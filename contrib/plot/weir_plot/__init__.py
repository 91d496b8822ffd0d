# SPDX-License-Identifier: BSD-3-Clause
"""Pictures and reports of weir's runs. Layers: refusal <- files <- model <- pictures <- report <- draw <- cli."""

VERSION = "@"  # the scripts say which one; in the source tree none


def add_version(parser):
    number = "of the source tree" if "@" in VERSION else VERSION
    parser.add_argument(
        "--version", action="version", version="%(prog)s (weir) " + number, help="say which version it is"
    )
