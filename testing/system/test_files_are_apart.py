# SPDX-License-Identifier: BSD-3-Clause
"""No two files of a run are one: under derived names, other spellings, links, and over the tests of a script."""
import os

import pytest

from mdtest_support import mdtest  # noqa: F401  (a fixture)
from mdw_support import SMALL, mdw  # noqa: F401  (a fixture)

SMALL_IOR = "-w -b 8k -t 8k "


def refused(program, args, *words):
    """Status 1 before anything is done: each file holds what it held, and there is no new one."""
    before = {name: (program.cwd / name).read_bytes() for name in program.files() if (program.cwd / name).is_file()}
    program(args, np=2).fails(1, *words)
    assert {name: (program.cwd / name).read_bytes() for name in program.files() if (program.cwd / name).is_file()} == before


CLASHES = [
    ("-F -O summaryFile={d}/f.00000001 -o {d}/f", ["summaryFile", "-o (testFile)", "f.00000001"]),
    ("-m -O summaryFile=a.1 -o a -i 2", ["summaryFile", "testFile", "a.1"]),
    ("-F -m -i 2 -o a@b --report=csv:b.00000001.1", ["--report", "testFile", "b.00000001.1"]),
    ("-F -u -o d/x --report=json:d/1/x.00000001", ["--report", "testFile", "d/1/x.00000001"]),
    ("-F -u -o x --report=json:0/x.00000000", ["--report", "testFile"]),
    ("--report=csv:{d}/r,json:./r", ["two outputs", "/r'"]),
    ("-O savePerOpDataCSV=ops -o ops-0-00000.csv", ["savePerOpDataCSV", "testFile", "ops-0-00000.csv"]),
    ("-O savePerOpDataCSV={d}/ops,saveRankPerformanceDetailsCSV=ops-2-00001.csv -i 3", ["savePerOpDataCSV", "saveRankPerf"]),
    ("-F -o ops-0-0000 -O savePerOpDataCSV=o -O summaryFile=ops-0-0000.00000001", ["summaryFile", "testFile"]),
    ("-o link --report=json:mine", ["--report", "testFile"]),
    ("-o hard --report=json:mine", ["--report", "testFile"]),
    ("-a MPIIO -o mine -U mine", ["hintsFileName", "testFile", "'mine'"]),
    ("-f script", ["-f (script)", "testFile", "'script'"]),
]


@pytest.mark.parametrize("args, words", CLASHES)
def test_ior_refuses_two_files_that_are_one(ior, args, words):
    (ior.cwd / "mine").write_text("# mine\n")
    (ior.cwd / "d" / "1").mkdir(parents=True)
    (ior.cwd / "link").symlink_to("mine")
    os.link(ior.cwd / "mine", ior.cwd / "hard")
    (ior.cwd / "script").write_text("IOR START\nwriteFile=1\ntestFile=./script\nRUN\nIOR STOP\n")
    refused(ior, SMALL_IOR + args.format(d=ior.cwd), *words)


def test_the_tests_of_a_script_have_files_of_their_own(ior):
    for first, second, words in (
            ("saveRankPerformanceDetailsCSV=x", "testFile=./x", ["saveRank", "test 0", "testFile", "test 1"]),
            ("testFile=a\nfilePerProc=1", "stoneWallingStatusFile=a.00000000\nkeepFile=1\nreadFile=1\nwriteFile=0", ["stoneWallingStatusFile"]),
            ("saveRankPerformanceDetailsCSV=x", "saveRankPerformanceDetailsCSV=./x", ["'x'", "'./x'", "write the name the same way"]),
            ("savePerOpDataCSV=p", "savePerOpDataCSV=./p", ["'p'", "'./p'", "write the name the same way"])):
        (ior.cwd / "s").write_text("IOR START\napi=POSIX\nwriteFile=1\nblockSize=8k\ntransferSize=8k\n%s\nRUN\n%s\nRUN\nIOR STOP\n"
                                   % (first, second))
        refused(ior, "-f s", *words)


def test_what_only_looks_like_one_file_is_none(ior):
    """Names that begin alike, files that are only read, the same file in two tests, and devices."""
    ior("-F -o f --report=csv:f.0,json:f.00000002,text:f -O savePerOpDataCSV=f " + SMALL_IOR, np=2).ok()
    assert {"f", "f.0", "f.00000002", "f-0-00000.csv", "f-0-00001.csv"} == set(ior.files())
    ior("-o f.data -r -k -w -b 8k -t 8k --report=json:/dev/null,csv:/dev/null -O summaryFile=/dev/null", np=2).ok()
    (ior.cwd / "s").write_text("IOR START\nblockSize=8k\ntransferSize=8k\nkeepFile=1\ntestFile=t\nsavePerOpDataCSV=p\n"
                               "saveRankPerformanceDetailsCSV=x\nwriteFile=1\nRUN\ntestFile=./t\nwriteFile=0\nreadFile=1\nRUN\nIOR STOP\n")
    ior("-f s", np=2).ok()
    assert (ior.cwd / "x").read_text().count("\n") == 5


def test_mdtest_and_md_workbench_refuse_them_too(mdtest, mdw):  # noqa: F811
    refused(mdtest, "-n 1 --saveRankPerformanceDetails=x --report=csv:x", "--report", "--saveRankPerformanceDetails", "'x'")
    refused(mdtest, ["-n", "1", "--savePerOpDataCSV=./p", "--report=csv:p-File creation-00001.csv"], "--report", "--savePerOpDataCSV")
    refused(mdtest, "-n 1 -W 5 -x st --report=json:./st", "--report", "-x (stonewall-status)")
    refused(mdw, SMALL + "--run-info-file=r --report=json:r", "--report", "--run-info-file")
    refused(mdw, SMALL + "-L lat --latency-all --report=json:lat-0.00-0-cleanup-all.csv", "--report", "-L (latency)")
    refused(mdw, SMALL + "-T -L lat --report=json:lat-0.25-0-stat.csv", "--report", "-L (latency)")
