# SPDX-License-Identifier: BSD-3-Clause
"""What tests that run ior under the shim share."""
import pathlib

import conftest

SECONDS = 20  # to the end of a run, start included; ten from the fault on, and a busy machine


def backend_of(args):
    return args.split("-a ")[1].split()[0] if "-a " in args else "POSIX"


def check_time(run):
    conftest.timely(run.elapsed <= SECONDS * conftest.PATIENCE, run)


def is_stopped(pid):
    """Has a signal stopped this process?"""
    try:
        stat = pathlib.Path("/proc/%d/stat" % pid).read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] == "T"


def environment(ior, shim, fault):
    return {"LD_PRELOAD": shim, "FAULT_PREFIX": str(ior.cwd) + "/", "FAULT": fault} if fault else {}
