# SPDX-License-Identifier: BSD-3-Clause
"""What the system tests share: how to run the real binary, and how to read what it prints.

WEIR_BUILD   build directory; the program is WEIR_BUILD/src/ior
WEIR_SOURCE  source directory
WEIR_MPIRUN  launcher with its options; else MPIEXEC, else mpirun
"""
import contextlib
import fcntl
import json
import os
import pathlib
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

# A shell that starts the tests in the background ignores SIGINT, and nohup SIGHUP, which children would inherit.
for _number, _handler in (signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, _handler)

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("WEIR_SOURCE", HERE.parent.parent)).resolve()
BUILD = pathlib.Path(os.environ.get("WEIR_BUILD", SOURCE)).resolve()
IOR = BUILD / "src" / "ior"
MIB = 2 ** 20
SANITIZED = bool(os.environ.get("WEIR_SANITIZED", "").strip())
# A sanitized program on a busy machine needs its time. Limits catch hangs, they measure nothing.
PATIENCE = 4 if SANITIZED else 1
LEAST = 60  # seconds. Where a load of 40 on two processors is, a launch takes ten.


# ---- the launcher ----

def launcher():
    words = shlex.split(os.environ.get("WEIR_MPIRUN") or os.environ.get("MPIEXEC") or "mpirun")
    if not shutil.which(words[0]):
        pytest.exit("no launcher of MPI programs: '%s' is not there; set WEIR_MPIRUN" % words[0], 77)
    version = subprocess.run([words[0], "--version"], capture_output=True, text=True).stdout
    is_open = "Open MPI" in version or "OpenRTE" in version
    if is_open and "--oversubscribe" not in words:
        words.append("--oversubscribe")
    return words, is_open, "romio341" if re.search(r"Open MPI\) [5-9]", version) else "romio321"


LAUNCHER, OPEN_MPI, ROMIO = launcher()  # ROMIO: the name of that component of Open MPI
OPEN_MPI_ENV = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_ess_singleton_isolated": "1",  # a program without launcher starts faster
    "OMPI_MCA_btl": "self,vader",  # one host: nothing needs TCP, whose set-up crashes now and then on a busy machine
    "OMPI_MCA_pml": "ob1",  # nobody looks for networks that are not there: 0.2 s of every launch
}
# Below a limit on the size of files: Open MPI's file of shared memory would be above it, and its launcher crashes now and
# then while it says so.
SMALL_FILES = {"OMPI_MCA_btl": "self,tcp"}


# Where Open MPI makes the directory of a job. All programs without launcher have one name for it,
# and each removes it at its end, maybe while another one makes it: of 437 programs in three loops
# with one such place six did not begin.
SESSIONS = "OMPI_MCA_orte_tmpdir_base"


def program_env(env=None):
    """The environment of one job: no two that may run at one time have the same."""
    out = dict(os.environ)
    for name in list(out):
        if name.startswith(("IOR_", "WEIR_")) and name not in ("WEIR_SOURCE", "WEIR_BUILD"):
            del out[name]
    out.update(OPEN_MPI_ENV)
    if SESSIONS in os.environ:
        out[SESSIONS] = tempfile.mkdtemp(prefix="", dir=os.environ[SESSIONS])
    out.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    out.update(env or {})
    if out.get("OMPI_MCA_io") == "romio321":  # as ids of tests and the guide have it
        out["OMPI_MCA_io"] = ROMIO
    return out


def runs_of_the_guide():
    """doc/dev/findings.md: for each block the commands, and what each of them shows: [[("ior -b 64k", {"H01"}), ...], ...]"""
    page = (SOURCE / "doc" / "dev" / "findings.md").read_text()
    blocks = re.findall(r"^```shell\n(.*?)^```$", page, re.M | re.S)
    lines = [[re.split(r" +# ", line) for line in block.rstrip().replace("\\\n", "").split("\n")] for block in blocks]
    return [[(command, {word for word in says.split() if re.fullmatch(r"H\d\d", word)}) for command, says in block] for block in lines]


def is_alive(pid):
    """Zombies are not: nobody may wait for orphans in a container."""
    try:
        return pathlib.Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(what, seconds=60):
    """Wait for what() to be true, so long on a quiet machine."""
    end = time.monotonic() + seconds * PATIENCE
    while not what():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.02)


def wait_for_end(proc, seconds):
    """As proc.wait, which looks every 50 ms only: the kernel says when the process ends."""
    if proc.poll() is None:
        fd = os.pidfd_open(proc.pid)
        select.select([fd], [], [], seconds)
        os.close(fd)
    return proc.wait(0)


def children(pid):
    """Every process below pid, from /proc."""
    parent = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                text = pathlib.Path("/proc", entry, "stat").read_text()
            except OSError:
                continue
            parent[int(entry)] = int(text.rsplit(")", 1)[1].split()[1])
    found, todo = [], [pid]
    while todo:
        up = todo.pop()
        below = [p for p, pp in parent.items() if pp == up]
        found += below
        todo += below
    return sorted(found)


def ranks_of(pid, program=None):
    """The processes of the program itself below pid."""
    found = []
    for p in children(pid):
        try:
            if os.path.samefile("/proc/%d/exe" % p, program or IOR):
                found.append(p)
        except OSError:
            pass
    return found


CLOCK_NANOSLEEP = {"x86_64": "230", "aarch64": "115", "riscv64": "115", "ppc64le": "248", "s390x": "262"}


def is_in_a_delay(pid):
    """Does the main thread sleep by the steady clock? It is then in a transfer of DUMMY that takes long, or waits after a transfer or
    before a phase. The MPI library sleeps by the time of day, if at all."""
    try:
        with open("/proc/%d/syscall" % pid) as f:
            return f.read().split()[:2] == [CLOCK_NANOSLEEP.get(os.uname().machine), "0x1"]
    except PermissionError:
        pytest.skip("this machine does not say in which call a process is")
    except OSError:  # it has ended
        return False


def kill_all(proc):
    """End what we started and nothing else."""
    pids = children(proc.pid) + [proc.pid]
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def copy_sources(path, needed):
    """A copy of the source tree at path that nobody has configured, or a skip where there is no file 'needed' in it."""
    if not (SOURCE / needed).exists():
        pytest.skip("no complete source tree: no " + needed)
    made = shutil.ignore_patterns(".git", ".build*", "config.status", "config.log", "autom4te.cache",
                                  "*.o", "*.a", "*.so", "*.lo", "*.la", ".deps", ".libs", "libtool",
                                  "__pycache__", "scratch-build", "_build", "_inst")
    shutil.copytree(SOURCE, path, ignore=made, symlinks=True)
    subprocess.run(["chmod", "-R", "u+w", str(path)], check=True)
    for name in ("ior", "mdtest", "md-workbench", "config.h", "stamp-h1"):  # of a build in the source tree
        (path / "src" / name).unlink(missing_ok=True)
    return path


def reuse_objects(build, top_srcdir, changed=()):
    """Give a build directory that nobody has configured yet the objects of the build under test: make then compiles what is
    new, and everything where config.h becomes another one. top_srcdir as the new Makefile will have it; sources below the
    folders in 'changed' are always compiled."""
    makefile = BUILD / "Makefile"
    found = re.search(r"^top_srcdir = (.*)$", makefile.read_text(), re.M) if makefile.exists() else None
    if not found or found.group(1) == "." or SANITIZED:
        return  # built in the source tree
    old = re.compile(r"(^|\s)%s/" % re.escape(found.group(1)), re.M)
    for top, _, files in os.walk(BUILD / "src"):
        place = pathlib.Path(top).relative_to(BUILD)
        for name in files:
            if any(str(place).startswith(c) for c in changed):
                continue
            if name.endswith((".o", ".lo", ".dirstamp")) or (str(place) == "src" and name in ("config.h", "stamp-h1")):
                (build / place).mkdir(parents=True, exist_ok=True)
                shutil.copy2(pathlib.Path(top, name), build / place / name)
            elif name.endswith((".Po", ".Plo")):
                (build / place).mkdir(parents=True, exist_ok=True)
                (build / place / name).write_text(old.sub(r"\g<1>%s/" % top_srcdir, pathlib.Path(top, name).read_text()))


# ---- what is asked again ----

class Untimely(AssertionError):
    """A duration or a rate that a machine which stands still for a moment can spoil."""


class LauncherCrash(AssertionError):
    """The launcher, or MPI_Init, crashed by its own words: nothing of ours ran there."""


class ServiceFault(AssertionError):
    """A service that stands in for others failed by its own words, as none of them may."""


def timely(claim, *what):
    """A claim about how long something took at most, or how much was done in a time at least. No other claim belongs here: a
    hang, a status, data or files that are left fail the first time."""
    if not claim:
        raise Untimely("too late, too slow or too few: " + "\n".join(str(w) for w in what))


CRASH = re.compile(r"^\[[-\w.]+:(\d+)\] \*\*\* Process received signal \*\*\*$", re.M)
# Open MPI 4.1 on a busy machine: a message of a quick peer comes in over TCP before the function that takes it is known (a call of
# NULL in btl_tcp). Seen in 2 of 22 jobs with six endless loops beside them.
CRASH_OF_INIT = re.compile(r"^\[[-\w.]+:\d+\] \[ *\d+\] \S+\((?:ompi_mpi_init|P?MPI_Init(?:_thread)?)\+0x", re.M)
# The same crash where the stack shows only the signal's own frame. The others then cannot map the memory of the lost process, or cannot
# connect to it; Open MPI tries both at the first message of all, later both are there. Seen in 1 of some 60 whole runs.
CALL_OF_NULL = re.compile(r"^\[\S+\] Failing at address: \(nil\)\n\[\S+\] \[ *0\] \S*libc\.so\S+\n\[\S+\] \*\*\* End of error message", re.M)
NEVER_REACHED = re.compile(r"^A system call failed during shared memory initialization|^WARNING: Open MPI failed to TCP connect to a peer", re.M)


def crashed_in_init(stderr):
    return CRASH_OF_INIT.search(stderr) or (CALL_OF_NULL.search(stderr) and NEVER_REACHED.search(stderr))


# PMIx waits 2 s for the launcher's answer at the end of MPI_Finalize, then the process ends; a launcher that gets no processor for so long
# takes it for one that never called MPI_Finalize. Rank 0 writes its line of findings when all phases have ended. Seen in 2 of some 30 000
# jobs with a load of 25 on 2 processors.
LOST_END = re.compile(r"^node \S+ exiting improperly\.", re.M)
FINDINGS = re.compile(r"^NOTE: (test \d+: )?(SOUND|SUSPECT|INVALID)( by \w+ rules)?( \(\d|$)", re.M)


def check_launcher(pid, stderr):
    """pid: that of the launcher, None when there is none. Open MPI begins the words of a crash with the process, and shows its stack."""
    if str(pid) in CRASH.findall(stderr) or crashed_in_init(stderr) or (LOST_END.search(stderr) and FINDINGS.search(stderr)):
        raise LauncherCrash(stderr)


# ---- what a run printed ----

OPERATIONS = ("write", "read", "mix-write", "mix-read", "mix-list", "mix-head", "mix-del")
RESULT_COLUMNS = "access bw iops latency block xfer open work close total iter".split()
SUMMARY_COLUMNS = ("operation bw_max bw_min bw_mean bw_sd ops_max ops_min ops_mean ops_sd mean_s wall_s wall_mib test "
                   "tasks tpn reps fpp reord reordoff reordrand seed segcnt blksiz xsize aggs api refnum").split()
LAUNCHER_NOISE = re.compile(
    r"^(Primary job|a non-zero exit code|(mpirun|prterun) (detected|noticed)|(thus causing )?the job to be terminated|\s*Process name:|\s*Exit code:"
    r"|={20,}|=   (BAD|PID|RANK|EXIT|CLEAN|YOU|KILLED)|YOUR APPLICATION TERMINATED|This typically refers to|Please see the FAQ"
    r"|-{40,}$|\[proxy:|\[mpiexec|mpirun: (Forwarding|abort is already)|\[\w[-\w.]*:\d+\] \d+ more process)")



TELL = " --report=text:-,json:r.json "  # for Run.document()
# Runs the command that follows and writes "peak KIB" on standard error.
PEAK = [sys.executable, "-c", "import resource, subprocess, sys; status = subprocess.call(sys.argv[1:]); "
        "print('peak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(status)"]


def no_number(word):
    raise AssertionError("%s is not JSON" % word)


def cell(text):
    return None if text in ("-", "NA") else float(text)


class Run:
    """One finished run: returncode, stdout, stderr, elapsed, and what can be read from them."""

    def __init__(self, args, returncode, stdout, stderr, elapsed, cwd):
        self.args, self.returncode, self.stdout, self.stderr = args, returncode, stdout, stderr
        self.elapsed, self.cwd = elapsed, cwd

    def __repr__(self):
        return "ior %s\nstatus %s after %.1f s\n--- stdout\n%s--- stderr\n%s" % (
            " ".join(self.args), self.returncode, self.elapsed, self.stdout, self.stderr)

    @property
    def messages(self):
        """Lines of stderr without what the launcher has to say and without progress."""
        lines = self.stderr.replace("\r", "\n").split("\n")
        return [line for line in lines if line.strip() and not LAUNCHER_NOISE.match(line) and not FINDINGS.match(line)]

    @property
    def findings(self):
        """The lines that say what the tests are worth, one each; nearly every run of these tests is too short to be sound."""
        return [line for line in self.stderr.replace("\r", "\n").split("\n") if FINDINGS.match(line)]

    def _said(self, title):
        return [line[len(title):] for line in self.messages if line.startswith(title)]

    @property
    def errors(self):
        return self._said("ERROR: ")

    @property
    def warnings(self):
        return self._said("WARNING: ")

    @property
    def notes(self):
        return self._said("NOTE: ")

    @property
    def rows(self):
        """Rows of the results tables as dicts: access and iter as they are, the others numbers or None."""
        rows = []
        for line in self.stdout.split("\nSummary of all tests:")[0].split("\n"):
            words = line.split()
            if words and words[0] in ("remove", *OPERATIONS) and len(words) == len(RESULT_COLUMNS):
                row = dict(zip(RESULT_COLUMNS, words))
                rows.append({k: v if k == "access" else int(v) if k == "iter" else cell(v) for k, v in row.items()})
        return rows

    def accesses(self):
        return [row["access"] for row in self.rows]

    def document(self, name="r.json"):
        """The JSON file of a run with --report=json:r.json, or the document on standard output."""
        path = self.cwd / name
        return json.loads(path.read_text() if path.exists() else self.stdout, parse_constant=no_number)

    def phases(self):
        """The rows "phases" of all tests of the document."""
        return [phase for test in self.document()["tests"] for phase in test["phases"]]

    @property
    def peak_kib(self):
        """KiB of memory that a run with prefix=PEAK had at most."""
        return int(re.search(r"^peak (\d+)$", self.stderr, re.M).group(1))

    @property
    def summary(self):
        rows = []
        tail = self.stdout.split("\nSummary of all tests:\n")
        assert len(tail) == 2, self
        for line in tail[1].split("\n")[1:]:
            words = line.split()
            if words and words[0] in OPERATIONS:
                assert len(words) == len(SUMMARY_COLUMNS), self
                row = dict(zip(SUMMARY_COLUMNS, words))
                rows.append({k: v if k in ("operation", "api") else cell(v) for k, v in row.items()})
        return rows

    @property
    def options(self):
        """The "key : value" lines before the first results; those of later tests do not overwrite."""
        found = {}
        for line in self.stdout.split("\n"):
            m = re.match(r"^(\S.{0,19}?) *: (.*)$", line)
            if m:
                found.setdefault(m.group(1), m.group(2))
        return found

    def ok(self, status=0):
        assert self.returncode == status, self
        return self

    def fails(self, status, *words):
        """One ERROR line, the right status, and these words in the line."""
        assert self.returncode == status, self
        assert len(self.errors) == 1, self
        for word in words:
            assert word in self.errors[0], self
        return self


# ---- are the numbers of a table sound? ----

def shown(value):
    """Half of the last digit of a number of the results table."""
    return 0.5e-6 if value < 1 else 0.5e-2 if value < 3600 else 0.5


def agrees(a, a_err, b, b_err, product, slack):
    """Is product within what a and b, both rounded, can make?"""
    return (a - a_err) * (b - b_err) * (1 - slack) <= product <= (a + a_err) * (b + b_err) * (1 + slack)


def sound(run, data=None):
    """Check every row; data: bytes that each write or read row must have moved, None: any that is consistent."""
    rows = [row for row in run.rows if row["access"] != "remove"]
    barriers = " -g" in " ".join(run.args)
    assert rows, run
    for row in rows:
        for key, value in row.items():
            assert key == "access" or (value is not None and value >= 0 and value == value and value != float("inf")), run
        xfer = row["xfer"] * 1024
        if data is not None:
            assert agrees(row["bw"], shown(row["bw"]), row["total"], shown(row["total"]), data / MIB, 1e-9), (row, data, run)
            assert agrees(row["iops"], shown(row["iops"]), row["work"], shown(row["work"]), data / xfer, 1e-9), (row, run)
        assert row["work"] <= row["total"] + 2e-6 or row["work"] <= row["total"] * 1.001, run
        if barriers:
            parts = row["open"] + row["work"] + row["close"]
            timely(parts <= row["total"] * 1.002 + 2e-3, run)  # clocks are compared, which is not exact on a busy machine
    check_summary(run, rows, data)


def check_summary(run, rows, data):
    summary = run.summary
    assert len({(row["test"], row["operation"]) for row in summary}) == len(summary), run
    for row in [row for row in summary if row["reps"] == 0]:  # wanted, but never measured
        assert all(row[key] is None for key in SUMMARY_COLUMNS[1:12]), run
    summary = [row for row in summary if row["reps"]]
    for row in summary:
        assert row["bw_min"] <= row["bw_mean"] <= row["bw_max"] or row["reps"] == 1, run
        if row["reps"] == 1:
            assert row["bw_max"] == row["bw_min"] == row["bw_mean"] and row["bw_sd"] == 0, run
            assert row["ops_max"] == row["ops_min"] == row["ops_mean"] and row["ops_sd"] == 0, run
        assert agrees(row["bw_max"], 0.5e-2, 1, 0, row["ops_max"] * row["xsize"] / MIB, 0.5e-2 / max(row["ops_max"], 1e-2)), run
        if data is not None:
            assert abs(row["aggs"] - data / MIB) <= 0.0501, run
    if len(summary) <= 2:
        for row in summary:
            mine = [r for r in rows if r["access"] == row["operation"]]
            assert len(mine) == row["reps"], run
            best = max(r["bw"] for r in mine)
            assert abs(best - row["bw_max"]) <= shown(best) + 0.5e-2, run


# ---- a file system of one's own ----

def tmpfs(path, options):
    """Make the directory and mount a tmpfs there, or skip."""
    path.mkdir()
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("mounting a tmpfs needs root and mount")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("no tmpfs can be mounted here: " + done.stderr.strip())


@contextlib.contextmanager
def on_tmpfs(path, options):
    """A tmpfs with these options of mount at path, which is made here. Skips where none can be mounted."""
    tmpfs(path, options)
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


@contextlib.contextmanager
def on_a_loop_device(cwd, *options, make="mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0", mount="rw"):
    """A file system in cwd/disk on the file cwd/image, with these options of losetup; its directory. Skips where there can be none."""
    make = make.split()
    if os.geteuid() != 0 or not all(shutil.which(tool) for tool in (make[0], "mount", "losetup")):
        pytest.skip("a file system on a loop device needs root, losetup, mount and " + make[0])
    path, image = cwd / "disk", cwd / "image"
    path.mkdir()
    with open(image, "wb") as f:
        f.truncate(128 * MIB)
    subprocess.run(make + [str(image)], check=True, capture_output=True)
    done = subprocess.run(["losetup", "--find", "--show", *options, str(image)], capture_output=True, text=True)
    device = done.stdout.strip()
    if done.returncode != 0:
        pytest.skip("no loop device can be had here: " + done.stderr.strip())
    try:
        done = subprocess.run(["mount", "-o", mount, device, str(path)], capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip("nothing can be mounted here: " + done.stderr.strip())
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], capture_output=True)
        subprocess.run(["losetup", "--detach", device], check=True)


# ---- fixtures ----

class Ior:
    """ior(args) runs the program in the test's own directory. A class of another program has its file, and its words()."""
    file = None

    def __init__(self, cwd):
        self.cwd = cwd
        self.program = IOR
        self.started = []

    def words(self, args):
        """The words of a command line, from a text as a shell takes it or from a list."""
        return shlex.split(args) if isinstance(args, str) else [str(a) for a in args]

    def command(self, args, np, prefix=()):
        words = self.words(args)
        start = [] if np is None else LAUNCHER + ["-np" if OPEN_MPI else "-n", str(np)]
        return words, start + list(prefix) + [str(self.file or self.program)] + words

    def start(self, args, np=2, env=None, prefix=()):
        words, command = self.command(args, np, prefix)
        if np and np > 1:
            env = {**(env or {}), **naps(*filter(None, [(env or {}).get("LD_PRELOAD")]))}
        out = open(self.cwd.parent / (self.cwd.name + ".out"), "w+b")
        err = open(self.cwd.parent / (self.cwd.name + ".err"), "w+b")
        proc = subprocess.Popen(command, cwd=self.cwd, env=program_env(env), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                start_new_session=True)
        proc.words, proc.out, proc.err, proc.begin, proc.launched = words, out, err, time.monotonic(), np is not None
        self.started.append(proc)
        return proc

    def wait_for_ranks(self, proc, np, timeout=60):
        """The pids of np rank processes, lowest rank first as far as pids tell. They may be in MPI_Init, where a signal ends them."""
        until = time.monotonic() + timeout * PATIENCE
        while time.monotonic() < until and proc.poll() is None:
            pids = ranks_of(proc.pid, self.file or self.program)
            if len(pids) == np:
                return pids
            time.sleep(0.02)
        raise AssertionError("the %d ranks did not come up" % np)

    def wait_for_output(self, proc):
        """MPI_Init is over when the first words are there."""
        wait_until(lambda: proc.poll() is not None or os.fstat(proc.out.fileno()).st_size > 0)

    def wait_for_delay(self, proc, pids):
        """Until a run with delays is in one of them: a phase, or the wait before it, has begun."""
        wait_until(lambda: proc.poll() is not None or any(is_in_a_delay(pid) for pid in pids))
        assert proc.poll() is None, "the run has ended"

    def begin(self, args, np, prefix=(), env=None):
        """A run with delays whose first phase has begun, and the pids of its ranks."""
        proc = self.start(args, np=np, env=env, prefix=prefix)
        pids = self.wait_for_ranks(proc, np) if np else [proc.pid]
        self.wait_for_delay(proc, pids)
        return proc, pids

    def change_while_it_waits(self, preload, args, change, np=2, after="write"):
        """The run waits before each phase (-d), and before the second one until the files were changed: what it says. after: the
        first one."""
        proc = self.start(args + " -d 0.001", np=np, env={"LD_PRELOAD": preload("hold-sleep.c"), "HOLD": "2"})
        wait_until(lambda: proc.poll() is not None or b"\n%s " % after.encode() in os.pread(proc.out.fileno(), 1 << 20, 0))
        change()
        (self.cwd / "go").touch()
        return self.finish(proc)

    def finish(self, proc, timeout=120):
        limit = max(timeout, LEAST) * PATIENCE
        try:
            wait_for_end(proc, limit)
        except subprocess.TimeoutExpired:
            kill_all(proc)
            proc.wait()
            raise AssertionError("hangs: still running after %d s\n%r" % (limit, self.collect(proc)))
        return self.collect(proc)

    def collect(self, proc):
        elapsed = time.monotonic() - proc.begin
        texts = []
        for f in (proc.out, proc.err):
            f.seek(0)
            texts.append(f.read().decode("utf-8", "replace"))
            f.close()
            os.unlink(f.name)
        self.started.remove(proc)
        check_launcher(proc.pid if proc.launched else None, texts[1])
        run = Run(proc.words, proc.returncode, texts[0], texts[1], elapsed, self.cwd)
        assert "runtime error:" not in run.stderr and "Sanitizer" not in run.stderr, run
        return run

    def end(self):
        """End whatever the test has left running."""
        for proc in list(self.started):
            kill_all(proc)
            proc.wait()
            self.collect(proc)

    def __call__(self, args, np=2, env=None, timeout=120, prefix=()):
        """np=None: without a launcher, as one rank is started where nothing else is asked for: that is faster. timeout in
        seconds, LEAST at least: a run that takes longer is killed and fails the test."""
        if np == 1 and OPEN_MPI and not prefix:
            np = None
        return self.finish(self.start(args, np, env, prefix), timeout)

    def script(self, *tests, name="s"):
        """Write a script for -f: tests are lines or lists "key=value,key=value", and each begins with the values of the one before."""
        (self.cwd / name).write_text("IOR START\n" + "".join("%s\nRUN\n" % test for test in tests) + "IOR STOP\n")

    def files(self):
        """Every name below the working directory."""
        return sorted(str(p.relative_to(self.cwd)) for p in self.cwd.rglob("*"))


def fixture_of(kind):
    """A fixture that runs a program; kind: Ior or a class derived from it. All programs of a test have one directory."""
    @pytest.fixture
    def runner(tmp_path):
        cwd = tmp_path / "work"
        cwd.mkdir(exist_ok=True)
        made = kind(cwd)
        yield made
        made.end()
    return runner


ior = fixture_of(Ior)


@pytest.fixture
def bin(tmp_path):
    """A PATH that begins with the programs, and with a launcher that takes more tasks than processors: for scripts of users."""
    path = tmp_path / "bin"
    path.mkdir()
    for name in ("ior", "mdtest", "md-workbench", "mib", "checkpoint_simulator.x", "restart_simulator.x",
                 "raw_bw.x", "gatherv.x", "combo.x", "h5exerciser", "hdf5Exerciser", "model_checkpoint", "weir-io500", "weir-mix"):
        (path / name).symlink_to(BUILD / "src" / name)
    (path / "weir-compare").symlink_to(SOURCE / "contrib" / "plot" / "weir-compare")
    (path / "with-rclone").symlink_to(SOURCE / "contrib" / "with-rclone")
    (path / "weir-kubernetes").symlink_to(SOURCE / "contrib" / "jobs" / "kubernetes" / "weir-kubernetes")
    noted = tmp_path / "launches"
    (path / "mpirun").write_text('#!/bin/sh\necho >>%s\nexec %s %s "$@"\n' % (
        shlex.quote(str(noted)), shutil.which(LAUNCHER[0]), shlex.join(LAUNCHER[1:])))
    (path / "mpirun").chmod(0o755)
    yield "%s%s%s" % (path, os.pathsep, os.environ["PATH"])
    launches.extend(noted.read_text() if noted.exists() else "")


_backends = []


def backends():
    if not _backends:
        text = subprocess.run([str(IOR), "--help=all"], capture_output=True, text=True, env=program_env()).stdout
        _backends.extend(re.findall(r"^Module (\S+)$", text, re.M))
    return _backends


@pytest.fixture
def need_backend():
    def need(name):
        if name not in backends():
            pytest.skip("this build has no %s backend" % name)
    return need


def once(tmp_path_factory, name, make):
    """What make(folder) returns, of values that JSON has. The first worker that asks for it makes
    it, for all of them. Where that fails the next one has a folder of its own."""
    base = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent
    with open(base / (name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        results = base / (name + ".json")
        if not results.exists():
            folder = pathlib.Path(tempfile.mkdtemp(prefix=name + "-", dir=base))
            results.write_text(json.dumps(make(folder)))
        return json.loads(results.read_text())


def library(name):
    """The path of the library for LD_PRELOAD made from a file of this directory. It is made once, in the build, for all workers."""
    source, out = HERE / name, BUILD / "testing" / "preload" / (name[:-2] + ".so")
    newest = max(path.stat().st_mtime for path in (source, HERE / "real-hdf5.h"))
    if not out.exists() or out.stat().st_mtime < newest:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent) as made:  # other workers and threads may make the same one
            subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-Wall", "-Werror", "-o", made + "/so", str(source), "-ldl"], check=True)
            os.rename(made + "/so", out)
    return str(out)


def naps(*libraries):
    """The environment in which ranks that wait for others sleep (nap.c), with these preloaded libraries, too. Waiting is a fifth of the
    processor time of a launch with two ranks beside others, and up to a half where ranks wait long."""
    if not SANITIZED and shutil.which("gcc"):
        libraries += (library("nap.c"),)
    return {"LD_PRELOAD": ":".join(libraries)} if libraries else {}


@pytest.fixture(scope="session")
def preload():
    """preload("shift-clock.c") is the path of a library for LD_PRELOAD made from a file of this directory."""
    def make(name):
        if SANITIZED:
            pytest.skip("a preloaded library and a sanitizer do not go together")
        if not shutil.which("gcc"):
            pytest.skip("no gcc to make the preloaded library")
        return library(name)
    return make


def ask_again(config):
    """Up to three times what its duration, the launcher or a service has failed, nothing else."""
    if config.pluginmanager.hasplugin("rerunfailures"):
        config.option.reruns, config.option.reruns_delay = 3, 1
        config.option.only_rerun = [r"^(\w+\.)?(Untimely|LauncherCrash|ServiceFault)\b"]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A service failed a test of which a fixture has service_faults(): lines of its log."""
    if call.when == "call" and call.excinfo and call.excinfo.errisinstance(AssertionError):
        of = [made for made in item.funcargs.values() if hasattr(made, "service_faults")]
        said = [line for made in of for line in made.service_faults()]
        if said:
            fault = ServiceFault("\n".join([*said, str(call.excinfo.value)]))
            where = call.excinfo.tb
            call.excinfo = pytest.ExceptionInfo.from_exc_info((ServiceFault, fault, where))
    yield


def shares_its_module(item):
    """Has it a fixture that is made once for the tests of a module? These stay together."""
    return any(made.scope == "module" for name in item.fixturenames for made in item._fixtureinfo.name2fixturedefs.get(name, ()))


def takes_long(item):
    return item.get_closest_marker("slow") or item.get_closest_marker("waits")


def places_of(items):
    """Where each test is in the order of its folder, from 0 to 1, and that of all tests which take long: in the first half."""
    place, long = {}, [item for item in items if takes_long(item) and not shares_its_module(item)]
    for folder in {item.path.parent for item in items}:
        mine = [item for item in items if item.path.parent == folder]
        modules = {item.path: n / len(mine) for n, item in reversed(list(enumerate(mine)))}
        place.update((item, modules[item.path] if shares_its_module(item) else n / len(mine)) for n, item in enumerate(mine))
    place.update((item, n / len(long) / 2) for n, item in enumerate(long))
    return place


def take_a_few(config, items):
    """Of each test the first case, and none that takes long."""
    taken = {}
    for item in items:
        if not item.get_closest_marker("slow"):
            taken.setdefault(item.nodeid.partition("[")[0], item)
    chosen = set(taken.values())
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]


def pytest_collection_modifyitems(config, items):
    """The folders go on beside each other, and not one after the other: tests of faults wait, the others need the processors. What
    takes long is no neighbour of its kind, which would be given to the same worker, and does not begin at the end."""
    if os.environ.get("WEIR_QUICK"):
        take_a_few(config, items)
    place = places_of(items)
    if len({item.path.parent for item in items}) > 1:
        items.sort(key=place.get)


def pytest_configure(config):
    if not os.access(IOR, os.X_OK):
        pytest.exit("%s is not there; build first, and say WEIR_BUILD=<build directory>" % IOR, 2)
    ask_again(config)


# ---- what a test takes, for testing/times ----

launches = []  # an entry for each start of the launcher in this process
BEGUN = pytest.StashKey()  # processor seconds and launches before a test


def note_launch(event, args):
    """An audit hook: a process of Python begins another one."""
    if event == "subprocess.Popen" and os.path.basename(os.fspath(args[1][0])) == os.path.basename(LAUNCHER[0]):
        launches.append(event)


sys.addaudithook(note_launch)


def cpu_seconds():
    """Processor time of this process and of those that it waited for."""
    return sum(os.times()[:4])


def use_own_sessions(base):
    """Session directories of this worker, also of programs that program_env() is not asked for."""
    if SESSIONS not in os.environ:
        (base / "mpi").mkdir()
        os.environ[SESSIONS] = str(base / "mpi")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item):
    use_own_sessions(item.config._tmp_path_factory.getbasetemp())
    item.stash[BEGUN] = cpu_seconds(), len(launches)
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item):
    yield
    cpu, number = item.stash[BEGUN]
    item.user_properties += [("test", item.nodeid), ("cpu", "%.2f" % (cpu_seconds() - cpu)), ("launches", len(launches) - number)]


def as_utf8(value):
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: as_utf8(inner) for key, inner in value.items()}
    return type(value)(as_utf8(inner) for inner in value) if isinstance(value, (list, tuple)) else value


@pytest.hookimpl(hookwrapper=True)
def pytest_report_to_serializable():
    """A worker cannot send bytes that are no UTF-8, which some tests put into names: they are escaped."""
    outcome = yield
    outcome.force_result(as_utf8(outcome.get_result()))


def told_of_reruns(terminalreporter):
    """A line for each test that was repeated, with the reason: testing/run shows them again at its end."""
    for report in terminalreporter.stats.get("rerun", []):
        words = getattr(report.longrepr, "reprcrash", None)
        reason = words.message if words else str(report.longrepr)
        terminalreporter.write_line("REPEATED %s - %s" % (report.nodeid, " | ".join(reason.strip().split("\n"))[:400]))


def pytest_terminal_summary(terminalreporter):
    told_of_reruns(terminalreporter)
