# SPDX-License-Identifier: BSD-3-Clause
"""Options of the programs, crossed with each other and with a clean run, a rank that fails and a signal.

Every pair of values occurs in a run, and every three values of a few parameters that decide how ranks work together. Each run
must end (no hang, no crash), with the status that its fault gives, the same on all ranks, with words for an error, a JSON file
that agrees, no open file or thread more than before, and no file left that it should have removed."""
import itertools
import json
import os
import random
import shutil
import subprocess
import time

import pytest

import conftest
from pairwise import Case, Cover, launch

pytestmark = pytest.mark.slow
RANKS = 3  # each has a neighbour on either side, and one of them is neither first nor last
MORE = 4
OUTCOMES = ["clean", "fail", "signal"]
REPORT = "--report=text:/dev/null,json:r.json"
# What every program has
FEW = "--timeline=time.npy --timeline-limit=3"
ENGINE = ["", FEW, "--interval=0.001 --progress=always --clock=monotonic", "--timeline=time.npy,sample=1/2,slowest=1 --rules=io500 --anonymous --strict",
          "--findings --peak=1t --limit=H01:1 --existing=fail",
          "--rules=none --no-space-check"]
REPEATED = "--until=1 --until-max=5"  # at least 5 and at most 5
TIMELINE = [words for words in ENGINE if "--timeline" in words]
UNTIL = {"--until", "--until-max", "--until-time"}  # of ior above; for others test_until crosses them
LONG = 60  # seconds that a run would take if it did not end early: longer than the limit of a case


class Program:
    """The parameters of a program, what of it cannot go together, and what must hold after a run."""
    name = None
    ranks = RANKS
    parameters = {}
    core = ()
    never = []  # parameters -> values that are refused together
    wanted = []  # parameters -> values that stand together in a case
    apart = set()  # options that are not crossed: other tests have them
    left = ()   # beginnings of the names of files that may be there afterwards

    def allowed(self, case):
        """May this case, or part of a case, be run?"""
        return not any(all(case.get(name, "?") in values for name, values in rule.items()) for rule in self.never)

    def words(self, case):
        return " ".join(v for k, v in case.items() if k != "outcome").split()

    def fault(self, n, case):
        """The fault of rank 1, and words that belong to it."""
        raise NotImplementedError

    def more_cases(self):
        """Cases of their own."""
        return []

    def cases(self):
        cover = Cover(self.parameters, self.allowed, self.core, self.wanted)
        made = []
        for n, values in enumerate(cover.cases()):
            fault, more = ("clean", 0), []
            if values["outcome"] != "clean":
                fault, more = self.fault(n, values)
            made.append(Case(self.name, self.words(values) + more + [REPORT], fault))
            made[-1].values = values
        return made + self.more_cases()

    def statuses(self, case):
        """The exit statuses that are right."""
        return {"clean": (0,), "fail": (2, 3), "signal": (0, 6)}[case.values["outcome"]]

    def kept(self, case):
        """Does the command line say that files stay?"""
        raise NotImplementedError

    def wrong(self, case):
        """What is wrong with the result of a case, None when nothing is."""
        if case.result != "end":
            return {"hang": "hangs", "crash": "crashes", None: "was not run"}[case.result]
        invalid = case.status == 5 and "--strict" in case.values.get("engine", "")  # the run itself was good
        if case.status not in self.statuses(case) and not (invalid and 0 in self.statuses(case)):
            return "status %d instead of %s" % (case.status, self.statuses(case))
        if (case.status == 0) != (case.error == ""):
            return "status %d, but the error is '%s'" % (case.status, case.error)
        if case.files > 0 or case.threads > 0:
            return "leaves %d open files and %d threads" % (case.files, case.threads)
        names = [n for n in case.names() if not n.startswith(self.left)]
        if names and not self.kept(case):
            return "leaves %s" % names
        return self.wrong_document(case)

    def wrong_document(self, case):
        try:
            found = case.document()
        except ValueError as e:
            return "JSON: %s" % e
        if found is None:
            return None if case.status == 1 else "no JSON"
        if found.get("status") != case.status:
            return "JSON has status %s, the run %d" % (found.get("status"), case.status)
        anonymous = "--anonymous" in case.values.get("engine", "")
        if case.status and not anonymous and (found.get("error") or "")[:40] != case.error[:40]:
            return "JSON has the error '%s', the run '%s'" % (found.get("error"), case.error)
        if anonymous and (not found["Command line"].startswith("(left") or case.status and not found.get("error")):
            return "JSON has a command line, or no error"
        return None


def rule(**values):
    return {name: [v] if isinstance(v, str) else list(v) for name, v in values.items()}


# ---- ior ----

ORIGINAL = "-z -O randomOffsetDeal=original,randomOffsetSeed=%d"
RANDOM = ["-z", "-z -z -X 3", ORIGINAL % 2, ORIGINAL % 3]
REORDER = ["-C", "-Z", "-Z -Z -X -2 --drop-cache", "-C -Q 2"]
WEAR_OUT = ["-D 1 -O stoneWallingWearOut=1", "-D 1 -O stoneWallingWearOut=1,stoneWallingWearOutIterations=2"]
MIN_TIME = "-O minTimeDuration=0.1"
STEADY = "--until=steady,round=0.05,window=2,most=0.2"
PHASES = ["", "-w -r", "-w -W", "-w -W -r -R", "-w -R"]
STATUS_FILE = "-O stoneWallingStatusFile=stone"
DEPTH, THREADS = "--depth=3 --dummy.reverse", "--posix.threads=2"
MIX = "--mix=read:60,write:40"
RATES = ["", "--rate=9000ops --arrivals=shifted --burst=5:0.001", "--rate-total=100m --arrivals=poisson", "--burst=3:0.001", "--rate=50%..90%:2 --rate-time=0.01"]
SOAK = float(os.environ.get("WEIR_SOAK_SECONDS") or 0)  # of each program
SWEEP = "--sweep=ranks --sweep-time=0.01 --sweep-turns=2 --rerun-suspects"


class Ior(Program):
    name = "ior"
    parameters = {
        "access": ["-a DUMMY --dummy.store", "-a DUMMY --dummy.store -c", "-a POSIX", "-a MPIIO", "-a MPIIO -c"],
        "order": [""] + RANDOM,
        "size": ["-b 4k -t 4k", "-b 64k -t 8k", "-b 8k -t 4k -s 3"],
        "stop": ["", "-D 1", MIN_TIME] + WEAR_OUT,
        "outcome": OUTCOMES,
        "phases": ["-w"] + PHASES,
        "file": ["", "-F", "-F -u"],
        "sync": ["", "-e", "-Y"],
        "keep": ["", "-k", "-K"],
        "names": ["-o f", "-o f -m", "-o f -E"],
        "repetitions": ["", "-i 2", REPEATED],
        "reorder": [""] + REORDER,
        "tasks": ["", "-N 2", "-N 3", "-N 100"],
        "nodes": ["", "-O numNodes=2", "-O numTasksOnNode0=2"],
        "data": ["", "-l offset", "-l random -G 7", "-l incompressible", "-l signature",
                 "-l random:compress=2.5,dedupe=3"],
        "warnings": ["", "--warning-as-errors"],
        "barriers": ["", "-g"],
        "delay": ["", "-O interIODelay=100"],
        "memory": ["", "-O memoryPerTask=1m", "-M 4m"],
        "verbose": ["", "-v", "-v -v -v -v"],
        "other": ["", "-x", "-j 1", "-O summaryAlways=1,debug=x,platform=y -A 7", "--random-prefill=4k", "-T 5", "--dry-run", STEADY],
        "output": ["", "-O saveRankPerformanceDetailsCSV=ranks.csv", "-O savePerOpDataCSV=ops", STATUS_FILE],
        "timeout": ["", "--io-timeout=100"],
        "queue": ["", DEPTH, THREADS],
        "sweep": ["", SWEEP],
        "mix": ["", MIX],
        "rate": RATES,
        "engine": ENGINE,
    }
    core = ("access", "order", "size", "stop", "outcome")
    never = [
        rule(queue=DEPTH, access="-a POSIX"),
        rule(mix=MIX, access=["-a DUMMY --dummy.store -c", "-a MPIIO -c"]),
        rule(mix=MIX, order="-z -z -X 3"),
        rule(mix=MIX, sweep=SWEEP),
        rule(mix=MIX, phases=[""]),  # without -w there is no file
        rule(queue=THREADS, access=["-a DUMMY --dummy.store", "-a DUMMY --dummy.store -c", "-a MPIIO", "-a MPIIO -c"]),
        rule(sweep=SWEEP, access=["-a DUMMY --dummy.store -c", "-a MPIIO -c"]),
        rule(sweep=SWEEP, rate=RATES[1:]),
        rule(mix=MIX, rate=RATES[-1]),
        rule(order=RANDOM, reorder=REORDER, file=""),
        rule(order=RANDOM, access="-a MPIIO -c"),
        rule(order="", other="--random-prefill=4k"),
        rule(other="--dry-run", outcome=["fail", "signal"]),  # nothing is done that could fail
        rule(output=STATUS_FILE, keep=["", "-K"]),
        rule(warnings="--warning-as-errors", stop=["-D 1"] + WEAR_OUT, sync=["-e", "-Y"]),  # a slow disk takes more than a second
        rule(repetitions=REPEATED, stop=["-D 1", MIN_TIME] + WEAR_OUT),  # five times as long
        rule(output=STATUS_FILE, stop=["", "-D 1", MIN_TIME]),
        rule(repetitions=REPEATED, other=STEADY),  # one --until
        rule(stop=MIN_TIME, phases=PHASES),  # each phase takes as long
        rule(tasks="-N 100", warnings="--warning-as-errors"),
        rule(engine=FEW, warnings="--warning-as-errors"),
        rule(warnings="--warning-as-errors", stop=MIN_TIME),  # the file is longer than expected
        rule(warnings="--warning-as-errors", order=[ORIGINAL % 2, ORIGINAL % 3]),
        rule(nodes="-O numNodes=2", reorder="-Z"),  # no task is so far away
    ]
    # More than three that found a defect: a stop in the middle of a pass, a rank without offsets
    wanted = [{"access": "-a DUMMY --dummy.store -c", "order": "", "size": size, "stop": MIN_TIME, "outcome": outcome}
              for size in ("-b 64k -t 8k", "-b 8k -t 4k -s 3") for outcome in ("fail", "signal")]
    wanted += [{"access": "-a MPIIO", "order": ORIGINAL % 3, "size": "-b 4k -t 4k", "sync": "-Y", "outcome": "clean",
                "phases": "-w", "file": "", "tasks": ""}]
    left = ("r.json", "ranks.csv", "ops-", "stone", "time.")
    apart = set("-f -M -d -y --help --version --dump-options allocateBufferOnGPU GPUid GPUDirect --gpu-path summaryFile summaryFormat assumeRate".split())
    apart |= {"readBack"}  # needs tasks on two nodes: Elsewhere

    def words(self, case):
        words = super().words(case)
        if case["outcome"] != "clean":
            words = [w.replace("minTimeDuration=0.1", "minTimeDuration=%d" % LONG) for w in words]
        return words

    def fault(self, n, case):
        if case["outcome"] == "signal":
            return ("signal", 1 + 7 * (n % 5)), ["-O", "interIODelay=2000"] if n % 2 else []
        if "DUMMY" in case["access"]:
            operation = ("xfer", "open", "close")[n % (2 if case["stop"] == MIN_TIME else 3)]
            return ("clean", 0), ["--dummy.fail-rank=1", "--dummy.fail-at=1", "--dummy.fail-op=" + operation]
        if n % 3 == 0 and not conftest.SANITIZED:
            return ("memory", 0), ["-O", "memoryPerTask=40m"]
        return ("file-size", 1000), []  # room for what MPI_File_open of Open MPI writes, which would hang

    def statuses(self, case):
        values = case.values
        if values["outcome"] == "refused":
            return (1,)
        if values["outcome"] == "signal" and values.get("stop") == MIN_TIME:
            return (6,)
        if values["outcome"] == "fail" and "original" in values["order"]:
            return (0, 2, 3)  # rank 1 may have nothing to do
        if case.fault[0] == "file-size" and "MPIIO -c" in values["access"]:
            return (0, 2, 3)  # another rank may do the writing
        return super().statuses(case)

    def more_cases(self):
        case = Case(self.name, ("-a DUMMY -b 4k -t 4k --warning-as-errors -N 100 " + REPORT).split())
        case.values = {"outcome": "refused"}
        return [case]

    def kept(self, case):
        return case.values.get("keep") == "-k"


class Elsewhere(Ior):
    """Tasks of two nodes, which read what the other node wrote: the data are right, and each byte is read once."""
    ranks = MORE  # two on each node
    parameters = {
        "elsewhere": ["--read-back=elsewhere"],
        "access": ["-a DUMMY --dummy.store", "-a POSIX", "-a MPIIO -c"],
        "file": ["", "-F", "-F -u"],
        "outcome": OUTCOMES,
        "phases": ["-w -r", "-w -W", "-w -R"],
        "order": ["", "-z", "-z -z -X 3"],
        "size": ["-b 8k -t 4k", "-b 8k -t 4k -s 3"],
        "repetitions": ["", "-i 2", REPEATED],
        "tasks": ["", "-N 2"],
        "stop": ["", "-D 1"] + WEAR_OUT[:1],
        "cache": ["", "--drop-cache"],
        "keep": ["", "-k"],
        "data": ["", "-l signature"],
        "other": ["", "-g", "-e", "-j 1", "--dry-run"],
        "names": ["-o f", "-o f -m", "-o f -E"],
        "engine": ENGINE,
    }
    core = ("access", "file", "outcome")
    never = [rule(order=["-z", "-z -z -X 3"], file=""), rule(order=["-z", "-z -z -X 3"], access="-a MPIIO -c"),
             rule(other="--dry-run", outcome=["fail", "signal"]),
             rule(repetitions=REPEATED, stop=["-D 1"] + WEAR_OUT[:1])]
    wanted = ()

    def more_cases(self):
        """Two of three tasks are on one node; all nodes have seen all of it after the first reading."""
        refused = [Case(self.name, ("--read-back=elsewhere -a DUMMY -b 4k -t 4k %s %s" % (words, REPORT)).split())
                   for words in ("-N 3", "-w -W -R", "-w -r -C")]
        for case in refused:
            case.values = {"outcome": "refused"}
        return refused


# ---- mdtest ----

BY_RANK_0 = ["-c", "-u -c", "-S"]  # it alone makes and removes
WRITTEN = ["-w 100 -e 100", "-w 5000 -e 5000 -X", "-w 10 --verify-write -y", "-w 64 -G 5 --dataPacketType=o"]


class Mdtest(Program):
    name = "mdtest"
    parameters = {
        "access": ["-a DUMMY --dummy.store", "-a POSIX"],
        "kind": ["", "-D", "-F"],
        "phases": ["", "-C -r", "-C -T -r", "-C -E -r", "-C -U -r", "-C"],
        "tree": ["-n 4", "-I 2 -z 1 -b 2", "-n 8 -z 2 -b 2 -L", "-n 0"],
        "outcome": OUTCOMES,
        "limits": ["", "--max-time-duration=1 --io-timeout=20"],
        "place": ["", "-u", "-S", "-c", "-u -c"],
        "shift": ["", "-N 1", "-N 2 --random-seed=3", "-R"],
        "data": [""] + WRITTEN,
        "tasks": ["", "-l 2", "-f 1 -l 3 -s 2"],
        "repetitions": ["", "-i 2"],
        "stop": ["", "-W 1", "-W 1 -x stone"],
        "how": ["", "-k", "-Y", "-B 1", "-t", "--dry-run"],
        "verbose": ["", "-v", "-V 3"],
        "tables": ["", "-P", "-Z", "--print-all-procs", "--showRankStatistics", "--latency"],
        "output": ["", "--saveRankPerformanceDetails=ranks.csv", "--savePerOpDataCSV=ops"],
        "command": ["", "--run-cmd-before-phase=true", "--run-cmd-after-phase=true"],
        "warnings": ["", "--warningAsErrors"],
        "sweep": ["", SWEEP],
        "rate": ["", "--rate=2000ops --arrivals=shifted", "--rate-total=9000ops --burst=3:0.001", "--rate=50% --rate-time=0.01"],
        "more": ["", "--readdir --chmod", "--xattr=100", "--symlink", "--link --move"],
        "engine": ENGINE,
    }
    core = ("access", "place", "phases", "outcome")
    never = [
        rule(more="--link --move", tree=["-n 4", "-n 0"]),
        rule(more="--link --move", kind="-D"),
        rule(more=["--symlink", "--link --move"], place="-S"),
        rule(more="--readdir --chmod", how="-B 1"),
        rule(more="--xattr=100", how="-k"),
        rule(stop=["-W 1", "-W 1 -x stone"], tree=["-I 2 -z 1 -b 2", "-n 8 -z 2 -b 2 -L"]),
        rule(sweep=SWEEP, rate=["--rate=2000ops --arrivals=shifted", "--rate-total=9000ops --burst=3:0.001", "--rate=50% --rate-time=0.01"]),
        rule(how="-B 1", place=["-c", "-u -c"]),
        rule(how="-B 1", shift=["-N 1", "-N 2 --random-seed=3"]),
        rule(how="-B 1", warnings="--warningAsErrors"),
        rule(engine=FEW, warnings="--warningAsErrors"),
        rule(how="-k", data=WRITTEN),
        rule(how="-k", place="-S"),
        rule(outcome=["fail", "signal"], tree="-n 0"),  # nothing is done that could fail
        rule(outcome=["fail", "signal"], how="--dry-run"),
        rule(outcome="fail", access="-a POSIX", kind="-D"),  # no limit of a process is in the way of a directory
        rule(outcome="fail", access="-a POSIX", engine=TIMELINE, phases="-C"),
        rule(outcome="fail", access="-a POSIX", how="-k", phases="-C"),
        rule(outcome="fail", access="-a POSIX", place=BY_RANK_0),  # a limit of rank 0 is in the way of the results, too
        rule(phases="-C", tasks=["-l 2", "-f 1 -l 3 -s 2"]),  # the first test leaves what the second makes
        rule(data="-w 5000 -e 5000 -X", phases=["-C -r", "-C -T -r", "-C -U -r", "-C"]),  # nothing is read
        rule(data=["", "-w 10 --verify-write -y", "-w 64 -G 5 --dataPacketType=o"], phases=["", "-C -E -r"],
             warnings="--warningAsErrors"),  # files are opened and not read
    ]
    left = ("r.json", "ranks.csv", "ops-", "stone", "time.")
    apart = {"-g", "-p", "--cleanup", "--drop-cache", "--help", "--version", "--dump-options", "--gpu-memory", "--gpu-id", "--gpu-direct", "--gpu-path"}

    def words(self, case):
        return super().words(case) + ["-d", "d"]

    def fault(self, n, case):
        if case["outcome"] == "signal":
            return ("signal", 1 + 7 * (n % 5)), ["--dummy.delay-create=3000"] if "DUMMY" in case["access"] else []
        if "DUMMY" in case["access"]:
            rank = 0 if case["place"] in BY_RANK_0 else 1
            operations = self.operations(case)
            return ("clean", 0), ["--dummy.fail-rank=%d" % rank, "--dummy.fail-at=1", "--dummy.fail-op=" + operations[n % len(operations)]]
        if case["engine"] in TIMELINE or case["how"] == "-k":
            return ("removal", 1), []  # a limit is in the way of MPI_File_open, too, and not in that of mknod
        return ("files" if n % 2 or not case["data"] else "file-size", 0), []

    def operations(self, case):
        """Which occur on the rank that makes and removes. Where rank 0 cannot remove directories, -d itself is left."""
        found = ["mkdir"] if case["kind"] != "-F" else []
        if case["kind"] != "-D" and case["how"] != "-k":
            found += ["open", "close"]
        if case["phases"] == "" or "-r" in case["phases"]:
            found += ["unlink"] if case["kind"] != "-D" else []
            found += ["rmdir"] if case["kind"] != "-F" and case["place"] not in BY_RANK_0 else []
        return found

    def kept(self, case):
        return case.values["phases"] == "-C"


# ---- md-workbench ----

class Workbench(Program):
    name = "md-workbench"
    parameters = {
        "access": ["-a DUMMY --dummy.store", "-a POSIX"],
        "phases": ["", "-1 -2 -3", "-1 -3", "-1 -2"],
        "outcome": OUTCOMES,
        "count": ["-I 2 -P 3 -D 2", "-I 2 -P 5 -D 1", "-I 0 -P 1 -D 1"],
        "offset": ["", "-O 0", "-O 3", "-O 9"],
        "data": ["", "-S 0", "-S 1 -X", "-S 5000 -X -G 3", "--dataPacketType=r", "--dataPacketType=o -X",
                 "--dataPacketType=random:compress=2,dedupe=3 -X"],
        "repetitions": ["-R 1", "-R 2"],
        "waiting": ["", "-t 1", "-T"],
        "stop": ["", "-w 1", "-w 1 -W"],
        "reading": ["", "--read-only"],
        "errors": ["", "--ignore-precreate-errors"],
        "output": ["", "-L lat", "-L lat --latency-all", "--savePerOpDataCSV ops --saveRankPerformanceDetails ranks.csv"],
        "limits": ["", "--max-time-duration=1 --io-timeout=20 --delay=0"],
        "verbose": ["", "-q", "-v -v"],
        "reports": ["", "--print-detailed-stats", "--process-reports"],
        "position": ["", "--start-item=5", "--run-info-file=position"],
        "rate": ["", "--rate=2000ops --arrivals=poisson", "--rate-total=5000ops --burst=3:0.001"],
        "engine": ENGINE,
    }
    core = ("access", "phases", "outcome", "offset")
    left = ("r.json", "lat", "position", "md-workbench.status", "ops-", "ranks.csv", "time.")
    apart = {"--rate-time", "--warningAsErrors", "--drop-cache", "--help", "--version", "--dump-options", "--gpu-memory", "--gpu-id", "--gpu-direct", "--gpu-path"}

    def words(self, case):
        return super().words(case) + ["-o", "d"]

    def fault(self, n, case):
        if case["outcome"] == "signal":
            return ("signal", 1 + 7 * (n % 5)), ["--dummy.delay-create=3000"] if "DUMMY" in case["access"] else []
        if "DUMMY" in case["access"]:
            operation = ("open", "mkdir", "xfer", "unlink", "rmdir", "stat")[n % 6]
            return ("clean", 0), ["--dummy.fail-rank=1", "--dummy.fail-at=1", "--dummy.fail-op=" + operation]
        if "--timeline" in case["engine"]:
            return ("file-size", 1000), []
        return ("files" if n % 2 else "file-size", 0), []

    def statuses(self, case):
        if case.values["outcome"] == "fail":
            return (0, 2, 3)
        return super().statuses(case)

    def kept(self, case):
        return case.values["phases"] == "-1 -2"


def shuffled(kind, seed):
    """A program with its values in another order, so that other cases hold all pairs. A fault may miss them, and three values may be
    refused together: these statuses are right, too."""
    order = random.Random(seed)
    values = {name: order.sample(found, len(found)) for name, found in kind.parameters.items()}

    class Shuffled(kind):
        parameters = values

        def statuses(self, case):
            return super().statuses(case) + (0, 1)

        def operations(self, case):
            return super().operations(case) or ["mkdir"]
    return Shuffled()


# ---- the tests ----

def run(program, cases, tmp_path, libraries=()):
    launch(cases, tmp_path, program.ranks, libraries=libraries)
    wrong = [(w, c) for c in cases for w in [program.wrong(c)] if w]
    assert not wrong, "\n" + "\n".join("%s: %r\n    status %s: %s" % (w, c, c.status, c.error) for w, c in wrong)
    failed = [c for c in cases if c.values["outcome"] == "fail"]
    ended = [c for c in cases if c.values["outcome"] == "signal"]
    missed = [c for c in failed if not c.status]
    assert len(missed) <= 0.2 * len(failed), "the faults do not reach %d of %d runs\n%s" % (len(missed), len(failed), missed)
    assert sum(1 for c in ended if c.status) * 2 >= len(ended), "the signals do not reach the runs"


@pytest.mark.parametrize("part", [0, 1, 2])
def test_ior(part, tmp_path):
    if "MPIIO" not in conftest.backends():
        pytest.skip("this build has no MPIIO backend")
    program = Ior()
    program.ranks = MORE if part == 0 else RANKS
    run(program, program.cases()[part::3], tmp_path)


def test_what_another_node_wrote(tmp_path, preload):
    if "MPIIO" not in conftest.backends():
        pytest.skip("this build has no MPIIO backend")
    program = Elsewhere()
    run(program, program.cases(), tmp_path, [preload("two-nodes.c")])


def test_mdtest(tmp_path):
    program = Mdtest()
    run(program, program.cases(), tmp_path)


def test_md_workbench(tmp_path):
    program = Workbench()
    run(program, program.cases(), tmp_path)


# From the files of options to the results
@pytest.mark.skipif(not SOAK, reason="WEIR_SOAK_SECONDS, which testing/run --release sets, is not set")
@pytest.mark.parametrize("kind", [Ior, Mdtest, Workbench], ids=lambda kind: kind.name)
def test_a_long_soak(kind, tmp_path):
    """Other crossings of all options, as many as the time allows. The seed stands in the name of the directory of a case that is wrong."""
    end = time.monotonic() + SOAK
    seed = int(time.time())
    while time.monotonic() < end:
        place = tmp_path / ("seed-%d" % seed)
        place.mkdir()
        program = shuffled(kind, seed)
        cases = launch(program.cases(), place, program.ranks)
        assert sum(1 for case in cases if case.status != 1) > 0.8 * len(cases), "most of them are refused"
        wrong = [(what, case) for case in cases for what in [program.wrong(case)] if what]
        assert not wrong, "\n".join("%s: %r\n    status %s: %s" % (what, c, c.status, c.error) for what, c in wrong)
        shutil.rmtree(place)
        seed += 1


STARVED = ["ior -a DUMMY -w -b 4k -t 4k -o f", "mdtest -a DUMMY -n 1 -C -r --print-all-procs -d d"]


def test_a_rank_without_memory_ends_the_run(tmp_path):
    cases = []
    for rank, line, n in itertools.product((0, 1), STARVED, range(24, 200, 8)):
        program, *words = line.split()
        cases.append(Case(program, words + [REPORT], ("allocation@%d" % rank, n)))
    launch(cases, tmp_path, 2)
    wrong = [c for c in cases if c.result != "end" or c.status not in (0, 1, 2, 3) or c.files > 0 or c.threads > 0]
    assert not wrong, "\n" + "\n".join("%s, status %s: %r" % (c.result, c.status, c) for c in wrong)
    assert sum(1 for c in cases if c.status == 2) > len(cases) / 3, "the fault does not reach the runs"
    jsonschema = pytest.importorskip("jsonschema", reason="needs python3-jsonschema to check the documents")
    schema = jsonschema.Draft202012Validator(json.loads((conftest.BUILD / "doc" / "result.schema.json").read_text()))
    unlike = [c for c in cases if c.document() and not schema.is_valid(c.document())]
    assert not unlike, unlike


# One allocation alone fails on rank 0, where the results are written: its numbers. The place of a file (its mount, devices and the room
# there) is asked for by few of them, which must be among those of the last command. Rank 0 asks for it alone, so one rank shows that.
SOME = range(5, 1300, 27)
POORER = {"ior -a DUMMY -w -b 4k -t 4k -o f -v": SOME, "ior -a DUMMY -w -b 4k -t 4k -o f --anonymous": SOME,
          "md-workbench -a DUMMY -D 1 -P 1 -I 1 -o d": SOME, "mdtest -a DUMMY -n 1 -C -r --print-all-procs -d d": SOME}
POORER_ALONE = {"ior -w -r -b 4k -t 4k -o f": range(300, 800)}


def told(case):
    """What the outputs of a run have, without what depends on time."""
    found = case.document()
    test = found["tests"][0]
    filled = {where: {key: value not in ("", [], {}) for key, value in place["provenance"].items()}
              for where, place in (("run", found), ("test", test))}
    lines = [[line.split()[:1] for line in (case.dir / name).read_text().splitlines()] for name in ("t.txt", "c.csv")]
    lines[1] = len(lines[1])
    return dict(lines=lines, filled=filled, environment=sorted(found["provenance"]["environment"]), keys=sorted(test), path=test.get("Path"),
                options=sorted(test["configuration"]["options"]), rows={key: len(value) for key, value in test.items() if key in ("Results", "rates", "phases")})


def starved(lines, path, ranks):
    """Each line with each of its numbers, after one without a fault: the 'whole' of those that follow."""
    cases = []
    for line, n in [(line, n) for line, numbers in lines.items() for n in (0, *numbers)]:
        program, *words = line.split()
        cases.append(Case(program, words + ["--report=text:t.txt,csv:c.csv,json:r.json"], ("once@0", n)))
        cases[-1].whole = cases[-1] if n == 0 else cases[-2].whole
    path.mkdir()
    return launch(cases, path, ranks)


def test_nothing_is_lost_where_one_allocation_fails(tmp_path):
    """Either the run says so, or all is in the outputs. (With --anonymous texts may be left out instead.)"""
    cases = starved(POORER, tmp_path / "2", 2) + starved(POORER_ALONE, tmp_path / "1", 1)
    wrong = [c for c in cases if c.result != "end" or c.status not in (0, 2, 3) or (c.status == 0) != (c.error == "")]
    assert not wrong, "\n".join("%s, status %s: %r" % (c.result, c.status, c) for c in wrong)
    assert sum(1 for c in cases if c.status == 2) > len(cases) / 3, "the fault does not reach the runs"
    assert all(case.whole.status == 0 for case in cases)
    lost = [(case, key, was, found[key]) for case in cases if case.status == 0
            for found in [told(case)] for key, was in told(case.whole).items() if found[key] != was]
    assert not lost, "\n".join("%r: %s is %s instead of %s" % (case, key, found, was) for case, key, was, found in lost)


def test_without_memory_no_option_is_blamed(tmp_path):
    """Those of other file systems are compared with their defaults, twelve in a row."""
    cases = [Case("ior", ["-w", "-b", "4k", "-t", "4k", "-o", "f", REPORT], ("once@0", n)) for n in range(5, 500, 11)]
    launch(cases, tmp_path, 2)
    assert not [c for c in cases if c.result != "end" or c.status not in (0, 2, 3)], [(c.status, c.error) for c in cases]
    assert any("option --posix." in c.error and "memory" in c.error for c in cases), "no case reaches the comparison"


# Options, the number of the removal of rank 1 that fails, what is left: the file that the error names
KEPT = [("-F", 1, "f.00000001"), ("-F -C -i 2", 2, "f.00000001"), ("-F -u", 1, "1/f.00000001"), ("-F -m -i 2", 2, "f.00000001.1"),
        ("-F -Z -Z", 1, "f.00000001"), ("-F -E --existing=reuse", 1, "f.00000001")]


def test_a_file_that_cannot_be_removed_is_named(tmp_path):
    cases = [Case("ior", ("-a POSIX -w -r -b 4k -t 4k -o f %s %s" % (words, REPORT)).split(), ("removal@1", n)) for words, n, _ in KEPT]
    launch(cases, tmp_path, 3)
    for case, (_, _, name) in zip(cases, KEPT):
        files = [n for n in case.names() if (case.dir / n).is_file() and n != "r.json"]
        assert case.status == 3 and "rank 1 on" in case.error and "remove '%s'" % name in case.error and files == [name], (case, case.error)


def test_a_case_that_waits_too_long_for_something_else_than_a_processor_hangs(tmp_path):
    """The next one is run. The first one sleeps; what waits for a processor beside it makes ALL longer, and OWN not."""
    words = "-a DUMMY -w -b 4k -t 4k --dummy.delay-xfer=%d " + REPORT
    slow, quick = cases = [Case("ior", (words % 1000000000).split()), Case("ior", (words % 0).split())]
    launch(cases, tmp_path, 2, seconds=3)
    assert slow.result == "hang", slow.error
    whole, own = (int(word) for word in slow.error.split() if word.isdigit())
    assert 3 <= own <= whole, slow.error
    assert quick.result == "end" and quick.status == 0, quick.error


@pytest.mark.parametrize("program", [Ior(), Mdtest(), Workbench()], ids=lambda p: p.name)
def test_every_option_is_crossed_or_known_to_be_apart(program):
    check_options(program)


def check_options(program):
    words = {w for values in program.parameters.values() for v in values for w in v.replace(",", " ").replace("=", " ").split()}
    words |= {"-o", "-d", "--report"} | UNTIL | program.apart
    done = subprocess.run([str(conftest.BUILD / "src" / program.name), "--dump-options=json"], capture_output=True, text=True,
                          env=conftest.program_env(), check=True)
    missing = []
    for row in json.loads(done.stdout):
        names = ["-%s" % row["letter"], "--%s" % row["name"]] + row["keys"]
        if row["table"] is None and row["type"] not in ("old", "gone", "directives") and not words & set(names):
            missing.append(row["name"] or row["keys"])
    assert not missing, "new options? Give them values in the parameters, or name them in 'apart': %s" % missing


def test_the_generator_covers_every_pair_and_keeps_what_is_never_together():
    values = {"a": ["1", "2", "3"], "b": ["x", "y"], "c": ["", "p", "q"], "d": ["0", "1"]}

    def allowed(case):
        return not (case.get("a") == "2" and case.get("b") == "y")
    cover = Cover(values, allowed, ("a", "c", "d"), [{"a": "1", "b": "x", "c": "p", "d": "0"}])
    cases = cover.cases()
    assert all(allowed(c) for c in cases) and cases == Cover(values, allowed, ("a", "c", "d"), cover_wanted(cover)).cases()
    for target in cover.targets():
        assert any(target <= c.items() for c in cases), target
    assert not cover.infeasible and len(cases) <= 3 * 3 * 2 + 3


def cover_wanted(cover):
    return [dict(part) for part in cover.wanted]
