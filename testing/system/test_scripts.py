# SPDX-License-Identifier: BSD-3-Clause
"""Scripts: how many tests they may have, and which test an error belongs to."""
import json
import sys

import conftest

HEAD = "IOR START\napi=DUMMY\nwriteFile=1\nblockSize=8k\ntransferSize=8k\n"
# Runs the words that follow, and says on standard error how many KiB of memory that took at most.
PEAK = [sys.executable, "-c", "import resource, subprocess, sys; status = subprocess.call(sys.argv[1:]); "
        "print('peak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(status)"]


def peak(ior, tests):
    """KiB that a script with so many tests takes; its last line is wrong, so that none of them runs."""
    (ior.cwd / "s").write_text(HEAD + "RUN\n" * tests + "nonsense=1\n")
    run = ior("-f s", np=None, prefix=PEAK).ok(1)
    assert "nonsense" in run.errors[0], run
    return int(run.stderr.split("peak")[1])


def test_memory_is_in_proportion_to_the_tests_of_a_script(ior):
    assert peak(ior, 3000) - peak(ior, 1) < 3000 * (4 if conftest.SANITIZED else 2)


def test_too_many_tasks_end_a_run_where_warnings_are_errors(ior):
    """In a script the test that asks for them is the last one, also when the one before does not mind warnings."""
    ior("-a DUMMY -w -b 8k -t 8k --warningAsErrors -N 100", np=2).fails(1, "more tasks requested (100)")
    (ior.cwd / "s").write_text(HEAD + "RUN\nnumTasks=100,warningAsErrors=1\nRUN\nnumTasks=1\nRUN\nIOR STOP\n")
    run = ior("-f s --report=text:-,json:r.json", np=2).fails(1, "more tasks requested (100)")
    document = json.loads((ior.cwd / "r.json").read_text())
    assert document["status"] == 1 and document["error"] == run.errors[0] and len(document["tests"]) == 1, run
