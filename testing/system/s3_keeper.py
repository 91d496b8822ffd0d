# SPDX-License-Identifier: BSD-3-Clause
"""s3_keeper.py - a server for all workers of a test session: runs until nobody has the lock of its directory any more

usage: s3_keeper.py DIRECTORY COMMAND...

Whoever uses the server holds a shared lock on DIRECTORY/users, which ends with its process, however that ends. The words of the server
go to DIRECTORY/log. At the end DIRECTORY is removed, when the server and the processes that it started, and that end with it, are gone."""
import ctypes
import fcntl
import os
import shutil
import signal
import subprocess
import sys

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def die_with_the_keeper():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_for_all():
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


def main(directory, *command):
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # orphans are children of ours
    with open(os.path.join(directory, "users")) as users:
        with open(os.path.join(directory, "log"), "w") as log:
            server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_the_keeper)
        fcntl.flock(users, fcntl.LOCK_EX)
        server.kill()
        wait_for_all()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
