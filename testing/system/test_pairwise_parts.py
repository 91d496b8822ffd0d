# SPDX-License-Identifier: BSD-3-Clause
"""As test_pairwise.py, for mib, h5exerciser, the checkpoint programs, those of their parts, and model_checkpoint."""
import itertools

import pytest

import conftest
from pairwise import Case, launch
from test_pairwise import ENGINE, FEW, MORE, OUTCOMES, RANKS, REPORT, Ior, Mdtest, Program, Workbench, check_options, rule, run

pytestmark = pytest.mark.slow
OUTPUT = ["", "--rank-csv=ranks.csv --op-csv=ops"]
# What is apart for the other programs is so here, too
OTHERS = {"--" + name.lstrip("-") for program in (Ior, Mdtest, Workbench) for name in program.apart if len(name) > 2}
OTHERS |= {"--delay", "--max-time-duration", "--deadline", "--verbose", "--io-timeout", "--existing", "--clock", "--strict", "--gpu-memory", "--gpu-id",
          "--gpu-direct", "--gpu-path", "--help", "--version", "--dump-options"}
MAKES_NOTHING = [words.replace(" --existing=fail", "") for words in ENGINE]  # of which no file can be there
LEFT = ("r.json", "ranks.csv", "ops-", "time.")


class Part(Program):
    """What these have in common: a rank that fails does so for want of memory or of room in its files."""
    ranks = MORE
    left = LEFT
    memory = []  # words that make each rank take a bit more than MEMORY_SPARE of many.c at once: all of them touch it

    def writes(self, case):
        """Does the last rank write more than the limit of its files?"""
        return True

    def fault(self, n, case):
        if case["outcome"] == "signal":
            return ("signal", 1 + 7 * (n % 5)), self.longer
        if self.memory and (n % 2 or not self.writes(case)):
            return ("memory", 0), self.memory
        return ("file-size@%d" % (self.ranks - 1), 1000), []


class Mib(Part):
    name = "mib"
    ranks = RANKS
    parameters = {
        "access": ["--api=DUMMY --dummy.store", "--api=POSIX", "--api=MPIIO"],
        "phases": ["", "-W", "-R -W"],
        "outcome": OUTCOMES,
        "limits": ["-l 4 -L 60", "-l 5 -L 0"],
        "size": ["-s 16k", "-s 3000"],
        "random": ["", "-b", "-b100"],
        "profiles": ["", "-p prof", "-p prof -a"],
        "shown": ["", "-S -H", "-E -I -P"],
        "names": ["", "-n"],
        "remove": ["", "-r"],
        "verify": ["", "--verify", "--verify --dataPacketType=random:compress=2,dedupe=3", "--dataPacketType=random"],
        "cache": ["", "--drop-cache"],
        "repetitions": ["", "--repetitions=2"],
        "queue": ["", "--depth=3 --dummy.reverse"],
        "rate": ["", "--rate=20m --arrivals=poisson", "--rate-total=5000ops --burst=2:0.001"],
        "directory": ["", "-d ."],
        "output": OUTPUT,
        "warnings": ["", "--warning-as-errors"],
        "engine": ENGINE,
    }
    core = ("access", "phases", "outcome", "remove")
    never = [rule(queue="--depth=3 --dummy.reverse", access="--api=POSIX"),
             rule(warnings="--warning-as-errors", engine=FEW), rule(warnings="--warning-as-errors", cache="--drop-cache"),
             rule(warnings="--warning-as-errors", limits="-l 5 -L 0")]
    left = LEFT + ("prof.",)
    apart = OTHERS | {"--rate-time", "--directio", "-M", "-V", "-F", "-t"}

    def words(self, case):
        return super().words(case) + ["-F", "-t", "."]

    def fault(self, n, case):
        if case["outcome"] == "fail" and "DUMMY" in case["access"]:
            operation = ("xfer", "open", "close", "sync")[n % 4]
            return ("clean", 0), ["--dummy.fail-rank=1", "--dummy.fail-at=1", "--dummy.fail-op=" + operation]
        self.longer = ["-L", "60"] + (["--dummy.delay-xfer=20000"] if "DUMMY" in case["access"] else ["-l", "500"])
        return super().fault(n, case)

    def kept(self, case):
        return case.values["remove"] == ""


class Exerciser(Part):
    name = "h5exerciser"
    parameters = {
        "access": ["--api=" + a for a in ("HDF5", "POSIX", "MPIIO", "NETCDF", "NCMPI")],
        "grid": ["--numdims 1 --dimranks 4 --minels 32", "--numdims 2 --dimranks 2 2 --minels 8 6", "--numdims 3 --dimranks 1 2 2 --minels 4"],
        "outcome": OUTCOMES,
        "part": ["", "--fileblocks 2 --filestrides 3", "--memblock 2 --memstride 3"],
        "indep": ["", "--indepio"],
        "sizes": ["", "--nsizes 2 --bufmult 3"],
        "attributes": ["", "--addattr"],
        "derived": ["", "--derivedtype"],
        "chunks": ["", "--usechunked"],
        "metadata": ["", "--metacoll"],
        "shift": ["", "--rshift 1", "--rshift 5"],
        "check": ["", "--maxcheck 100"],
        "keep": ["", "--keepfile"],
        "cache": ["", "--drop-cache"],
        "repetitions": ["--iterations 1", "--iterations 2"],
        "output": OUTPUT,
        "warnings": ["", "--warning-as-errors"],
        "engine": ENGINE,
    }
    core = ("access", "indep", "outcome", "part")
    never = [
        rule(access=["--api=" + a for a in ("POSIX", "MPIIO", "NETCDF", "NCMPI")], attributes="--addattr"),
        rule(access=["--api=" + a for a in ("POSIX", "MPIIO", "NETCDF", "NCMPI")], metadata="--metacoll"),
        rule(access=["--api=" + a for a in ("POSIX", "MPIIO", "NCMPI")], chunks="--usechunked"),
        rule(access=["--api=NETCDF", "--api=NCMPI"], derived="--derivedtype"),
        rule(access="--api=NETCDF", part="--fileblocks 2 --filestrides 3"), rule(access="--api=NETCDF", part="--memblock 2 --memstride 3"),
        rule(warnings="--warning-as-errors", engine=FEW), rule(warnings="--warning-as-errors", cache="--drop-cache"),
    ]
    apart = OTHERS
    memory = "--numdims 1 --dimranks 4 --minels 5m --no-space-check".split()
    longer = ["--iterations", "200"]

    def words(self, case):
        return super().words(case) + ["-o", "f"]

    def kept(self, case):
        return case.values["keep"] == "--keepfile"


SIZE = {"--nx", "--ny", "--im_world", "--lm", "--num_arrays"}
FIELDS = "--nx=1 --ny=1 --im_world=9 --lm=2 --num_arrays=2"


class Checkpoint(Part):
    name = "checkpoint_simulator.x"
    ranks = 6
    parameters = {
        "access": ["-a " + a for a in ("NETCDF", "HDF5", "NCMPI", "MPIIO", "POSIX")],
        "how": ["", "-c"],
        "outcome": OUTCOMES,
        "split": ["", "--split_file"],
        "writers": ["--num_writers=1", "--num_writers=4", "--num_writers=6", "--sweep-writers=2,6"],
        "whole": ["", "--gather_3d"],
        "barrier": ["", "--write_barrier"],
        "chunks": ["", "--no_chunking", "--chunk=0"],
        "data": ["", "--static_data", "--random_data=0"],
        "writes": ["", "--suppress_writes", "--do_writes=0"],
        "sync": ["", "-e"],
        "trials": ["--ntrials=1", "--ntrials=2"],
        "info": ["", "--extra_info"],
        "buffers": ["", "--keep_buffers"],
        "output": OUTPUT,
        "warnings": ["", "--warning-as-errors"],
        "engine": ENGINE,
    }
    core = ("access", "how", "outcome", "split")
    never = [rule(warnings="--warning-as-errors", engine=FEW), rule(access="-a NCMPI", split="--split_file")]
    apart = OTHERS | SIZE | {"--config_file", "--netcdf_writes", "--write_binary", "NUM_READERS", "SCATTER_3D", "READ_BARRIER", "DO_READS",
                      "NETCDF_READS"}
    left = LEFT + ("f",)
    memory = ["--im_world=600", "--lm=14", "--no-space-check"]

    def writes(self, case):
        return case["writes"] == "" and case["writers"] != "--num_writers=1"

    longer = ["--ntrials=300"]

    def words(self, case):
        return FIELDS.split() + super().words(case) + ["-o", "f"]

    def kept(self, case):
        return True


class Restart(Checkpoint):
    name = "restart_simulator.x"
    parameters = dict({k: v for k, v in Checkpoint.parameters.items() if k not in ("chunks", "sync", "writers", "whole", "barrier", "writes")},
                      writers=["--num_readers=1", "--num_readers=4", "--num_readers=6"], whole=["", "--scatter_3d"],
                      engine=MAKES_NOTHING, barrier=["", "--read_barrier"], writes=["", "--suppress_reads", "--do_reads=0"], cache=["", "--drop-cache"],
                      verify=["", "--verify=yes", "--verify=no"])
    never = Checkpoint.never + [rule(warnings="--warning-as-errors", cache="--drop-cache"),
                                rule(split="--split_file", writers=["--num_readers=1", "--num_readers=4"])]
    apart = OTHERS | SIZE | {"--config_file", "--netcdf_reads", "--read_binary", "--sweep-writers", "NUM_WRITERS", "GATHER_3D", "WRITE_BARRIER",
                      "DO_WRITES", "NETCDF_WRITES", "CHUNK"}

    def fault(self, n, case):
        if case["outcome"] == "fail":
            return ("memory", 0), self.memory
        return super().fault(n, case)

    def give(self, cases, tmp_path):
        """Each reads files that another run has written."""
        kinds = [k for k in itertools.product(self.parameters["access"], ["", "--split_file"], ["", "--static_data"])
                 if self.allowed({"access": k[0], "split": k[1]})]
        made = [Case(Checkpoint.name, (FIELDS + " --num_writers=6 --ntrials=1 -o f %s %s %s %s" % (*kind, REPORT)).split()) for kind in kinds]
        (tmp_path / "made").mkdir()
        launch(made, tmp_path / "made", self.ranks)
        assert all(m.status == 0 for m in made), made
        for case in cases:
            data = "--static_data" if case.values["data"] else ""
            files = made[kinds.index((case.values["access"], case.values["split"], data))].dir
            case.given = [p for p in files.iterdir() if p.name.startswith("f")]


class Parts(Part):
    parameters = {
        "writers": ["--n_writers=1", "--n_writers=3", "--n_writers=4"],
        "outcome": OUTCOMES,
        "tries": ["", "--n_tries=2"],
        "output": OUTPUT,
        "warnings": ["", "--warning-as-errors"],
        "engine": ENGINE,
    }
    core = ("writers", "outcome")
    never = [rule(warnings="--warning-as-errors", engine=FEW)]
    apart = OTHERS | {"--nx", "--n_levs"}
    memory = ["--nx=1300", "--n_levs=4", "--no-space-check"]

    def writes(self, case):
        return case["writers"] != "--n_writers=1"

    longer = ["--n_tries=2000"]

    def words(self, case):
        return ["--nx=12", "--n_levs=3"] + super().words(case)

    def kept(self, case):
        return False


class Raw(Parts):
    name = "raw_bw.x"
    parameters = dict(Parts.parameters, access=["--file_type=binary", "--file_type=netcdf", "-a MPIIO", "-a HDF5"])
    core = ("access", "writers", "outcome")


class Combo(Parts):
    name = "combo.x"
    parameters = dict(Parts.parameters, access=["", "-a NETCDF"], buffers=["", "--keep_buffers"])


class Gatherv(Parts):
    name = "gatherv.x"
    parameters = dict(Parts.parameters, engine=MAKES_NOTHING, buffers=["", "--keep_buffers"])

    def writes(self, case):
        return False


MODELS = {"small.model": "layers = 4\nhidden = 16\nheads = 4\nkv-heads = 2\nffn = 32\nvocabulary = 50\n",
          "moe.model": "layers = 4\nhidden = 16\nheads = 4\nffn = 8\nvocabulary = 50\nexperts = 4\ntied = yes\nbias = yes\n"}


class Model(Part):
    name = "model_checkpoint"
    parameters = {
        "access": ["-a POSIX", "-a POSIX --posix.threads=2 --depth=3", "-a MPIIO --depth=3", "-a DUMMY --dummy.reverse --depth=2", "-a MMAP",
                   "-a HDF5"],
        "layout": ["", "--layout=megatron", "--layout=deepspeed", "--layout=shared", "--layout=arrays"],
        "outcome": OUTCOMES,
        "shape": ["", "--tp=2 --dp=2", "--tp=2 --pp=2", "--pp=4"],
        "zero": ["", "--zero=1", "--zero=3"],
        "model": ["--model=small.model", "--model=moe.model", "--model=moe.model --ep=2"],
        "bytes": ["", "--dtype=fp32 --optimizer=sgd", "--optimizer=none"],
        "data": ["", "--dataPacketType=random:compress=2,dedupe=3"],
        "save": ["", "--save=async --compute=0.002 --every=2"],
        "load": ["", "--load=no", "--load=parameters --broadcast", "--load-tp=1 --load-pp=1 --load-dp=3", "--load-tp=4 --load-pp=1 --sieve=0",
                 "--read-back=same --drop-cache=0"],
        "keep": ["", "--keep=1", "--keep=0", "--remove"],
        "sizes": ["", "--align=512 --transfer-size=1k", "--align=1 --transfer-size=3000"],
        "repetitions": ["", "-i 3"],
        "output": OUTPUT,
        "warnings": ["", "--warning-as-errors"],
        "engine": MAKES_NOTHING,
    }
    core = ("access", "layout", "outcome")
    never = [rule(model="--model=moe.model --ep=2", shape=["--tp=2 --pp=2", "--pp=4"]),
             rule(model="--model=moe.model --ep=2", load=["--load-tp=1 --load-pp=1 --load-dp=3", "--load-tp=4 --load-pp=1 --sieve=0"]),
             rule(layout="--layout=arrays", access=[words for words in parameters["access"] if words != "-a HDF5"]),
             rule(layout=[words for words in parameters["layout"] if words != "--layout=arrays"], access="-a HDF5"),
             rule(layout="--layout=arrays", load="--load=parameters --broadcast"),
             rule(layout="--layout=arrays", save="--save=async --compute=0.002 --every=2"),
             rule(access="-a DUMMY --dummy.reverse --depth=2", load=[words for words in parameters["load"] if words]),
             rule(warnings="--warning-as-errors", engine=FEW)]
    left = LEFT + ("c", "small.model", "moe.model")
    apart = OTHERS | {"--scale", "--list", "--load-ep", "--path", "--preset", "--play"}
    longer = ["-i", "300"]

    def words(self, case):
        return super().words(case) + ["-o", "c"]

    def fault(self, n, case):
        if case["outcome"] == "fail" and "DUMMY" in case["access"]:
            operation = ("xfer", "open", "close", "sync")[n % 4]
            return ("clean", 0), ["--dummy.fail-rank=0", "--dummy.fail-at=1", "--dummy.fail-op=" + operation]
        return super().fault(n, case)

    def statuses(self, case):
        """A store into a mapping of a file that another rank has made long enough has no limit."""
        return (0, 2, 3) if case.values["outcome"] == "fail" and "MMAP" in case.values["access"] else super().statuses(case)

    def wrong(self, case):
        found = super().wrong(case)
        odd = [n for n in case.names() if n.startswith("c/.") or (case.values["keep"] == "--remove" and n.startswith("c/"))]
        return found or (odd and "leaves %s" % odd) or None

    def kept(self, case):
        return False

    def give(self, cases, tmp_path):
        for name, text in MODELS.items():
            (tmp_path / name).write_text(text)
        for case in cases:
            case.given = [tmp_path / name for name in MODELS]


PROGRAMS = [Mib(), Exerciser(), Checkpoint(), Restart(), Model(), Raw(), Combo(), Gatherv()]


@pytest.mark.skipif(conftest.SANITIZED, reason="limits of memory and a sanitizer do not go together")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_program(program, tmp_path):
    if not set("HDF5 NETCDF NCMPI MPIIO".split()) <= set(conftest.backends()):
        pytest.skip("this build has not all backends")
    cases = program.cases()
    if isinstance(program, (Restart, Model)):
        program.give(cases, tmp_path)
    run(program, cases, tmp_path)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_every_option_is_crossed_or_known_to_be_apart(program):
    check_options(program)
