# SPDX-License-Identifier: BSD-3-Clause
"""A line of a history that cannot be written whole is taken back."""
import json

import pytest

from faults_support import environment


@pytest.mark.parametrize("fault, words", [
    ("call=write short=100;call=write count=2 errno=ENOSPC", "No space left on device"),
    ("call=fsync errno=EDQUOT", "Disk quota exceeded")])
def test_a_full_disk_leaves_no_half_line(ior, shim, fault, words):
    path = ior.cwd / "h.jsonl"
    path.write_text('{"before": 1}\n')
    run = ior("-a DUMMY -w --report=jsonl:h.jsonl", np=None, env=environment(ior, shim, fault))
    run.fails(2, "add a line to 'h.jsonl'", words)
    assert path.read_text() == '{"before": 1}\n'


def test_a_line_that_is_written_in_pieces_is_whole(ior, shim):
    ior("-a DUMMY -w --report=jsonl:h.jsonl", np=None, env=environment(ior, shim, "call=write times=3 short=100")).ok()
    assert json.loads((ior.cwd / "h.jsonl").read_text())["status"] == 0
