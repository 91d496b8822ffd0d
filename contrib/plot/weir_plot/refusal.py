# SPDX-License-Identifier: BSD-3-Clause
"""How weir-plot says no: one line that names what was wrong, where, and what would be right."""

BAD_INPUT = 1  # a file that cannot be read or has not what the picture needs
BAD_USAGE = 2  # options that do not fit; argparse uses the same status


class Refusal(Exception):
    """The text is one line for the user; status is the exit status."""

    def __init__(self, text, status=BAD_INPUT):
        super().__init__(" ".join(str(text).split()))
        self.status = status


def reason(error):
    """The words of an OSError without its number and without the path, which the caller names."""
    return error.strerror or str(error)
