# SPDX-License-Identifier: BSD-3-Clause
"""Help, scripts, file names, hints, and which stream says what."""
import fnmatch
import json
import os
import re
import subprocess

import pytest

import conftest
from conftest import PEAK, TELL, timely


# ---- without a launcher, without MPI ----

@pytest.mark.sanitize
@pytest.mark.parametrize("args, part", [("--help", "Synopsis"), ("-h", "Synopsis"), ("--version", "ior"), ("--dump-options=json", "["),
                                        ("--dump-options=man", "."), ("--dump-options=words", "-"), ("--help=POSIX", "odirect"),
                                        ("--help=dummy", "fail-at")])
def test_questions_are_answered_without_a_launcher(ior, args, part):
    run = ior(args, np=None, timeout=10).ok()
    assert part in run.stdout and run.messages == [] and ior.files() == []


@pytest.mark.parametrize("args", ["--help", "--version"])
def test_an_answer_is_given_once_by_many_ranks(ior, args):
    alone = ior(args, np=None).ok()
    many = ior(args, np=3).ok()
    assert many.stdout == alone.stdout and many.messages == []


def test_help_lists_every_option_of_every_backend(ior):
    text = ior("--help=all", np=None).ok().stdout
    absent = text.partition("Not in this build:")[2].replace(",", " ").split()
    for row in json.loads(ior("--dump-options=json", np=None).ok().stdout):
        if row["type"] in ("old", "gone"):
            continue
        name = "--" + row["name"] if row["name"] else row["keys"][0]
        is_absent = any(fnmatch.fnmatch(name.lstrip("-"), pattern) for pattern in absent)
        assert name in text or is_absent or row["name"] == "dump-options", name
        assert row["help"], name


def test_every_option_has_one_row_only(ior):
    rows = json.loads(ior("--dump-options=json", np=None).ok().stdout)
    for key in ("letter", "name"):
        seen = [row[key].lower() if key == "name" else row[key] for row in rows if row[key]]
        assert len(seen) == len(set(seen))


def test_the_banner_carries_the_version(ior):
    version = ior("--version", np=None).ok().stdout.split()[-1]
    first = ior("-a DUMMY -w", np=1).ok().stdout.split("\n")[0]
    assert first == "IOR-4.1.0+weir-%s: MPI Coordinated Test of Parallel I/O" % version


# ---- the line of the file system ----

def test_the_size_of_the_file_system_is_right(ior):
    """Space is counted in fragments. Others take and free it, too: until nobody does in the run."""
    runs = []

    def undisturbed():
        before = os.statvfs(ior.cwd)
        runs.append((before, ior("-w -b 8k -t 8k -O summaryFormat=JSON", np=None).ok()))
        return abs(os.statvfs(ior.cwd).f_bfree - before.f_bfree) < before.f_blocks / 1000
    conftest.wait_until(undisturbed)
    st, run = runs[-1]
    data = run.document()["tests"][0]
    size = st.f_blocks * st.f_frsize / 2 ** 30
    unit = 1024 if data["Capacity"].endswith("TiB") else 1
    assert abs(float(data["Capacity"].split()[0]) * unit - size) <= 0.051 * unit
    assert abs(float(data["Used Capacity"][:-1]) - 100 * (1 - st.f_bfree / st.f_blocks)) < 0.5


def test_a_file_system_that_counts_no_inodes_is_shown(ior):
    """No inodes are no division by zero."""
    with conftest.on_tmpfs(ior.cwd / "m", "size=8m,nr_inodes=0"):
        run = ior("-w -b 8k -t 8k -o m/f", np=None).ok()
        assert re.search(r"Inodes: 0\.0 Mi   Used Inodes: 0\.0%$", run.stdout, re.M) and "nan" not in run.stdout


# ---- streams ----

def test_results_go_to_stdout_and_messages_to_stderr(ior):
    (ior.cwd / "testFile").write_text("old")
    run = ior("-w -W -r -v -b 16k -t 8k -i 2").ok()
    assert not re.search(r"^(WARNING|NOTE|ERROR)", run.stdout, re.M)
    assert run.messages and all(re.match(r"^(WARNING|NOTE): ", line) for line in run.messages)


def test_a_run_without_incidents_says_nothing_on_stderr(ior):
    assert ior("-w -W -r -R -v -C -F -g -b 16k -t 8k").ok().messages == []


def test_messages_are_whole_lines_said_once(ior):
    """With several tasks each warning is there once, as one line, and not among the results."""
    (ior.cwd / "testFile").write_bytes(bytes(10 ** 6))
    run = ior("-w -r -N 9 -b 16k -t 8k -i 2", np=3).ok()
    assert len(run.warnings) == len(set(run.warnings)) == 2 and all(re.match(r"^(WARNING|NOTE): \S", line) for line in run.messages)
    assert "WARNING" not in run.stdout
    run = ior("-a DUMMY -w -b 16k -t 8k --dummy.fail-at=1", np=3).fails(3)
    assert run.messages == ["ERROR: " + run.errors[0]]


def test_results_go_into_a_file_on_request(ior):
    run = ior("-w -k -b 16k -t 8k -O summaryFile=out.txt").ok()
    assert run.stdout.strip() == "" or "out.txt" in run.stdout
    text = (ior.cwd / "out.txt").read_text()
    assert text.startswith("IOR-4.1.0+weir-") and "Summary of all tests:" in text and "Finished" in text


def test_the_command_line_is_shown_as_it_was(ior):
    run = ior("-a DUMMY -w -b 16k -t 8k").ok()
    assert run.options["Command line"] == "%s -a DUMMY -w -b 16k -t 8k" % conftest.IOR


@pytest.mark.parametrize("extra, rows", [("", 2), ("-v", 3), ("-W", 2), ("-R", 2)])
def test_the_results_have_one_row_per_phase(ior, extra, rows):
    run = ior("-w -r -b 16k -t 8k " + extra).ok()
    assert len(run.rows) == rows and (rows == 3) == ("remove" in run.accesses())


# ---- scripts ----

SCRIPT = """IOR START
    api=DUMMY
    blockSize=16k, transferSize=8k
    writeFile=1
RUN
    refNum=7     # inherits everything else
    segmentCount=2
RUN
RUN
    --dummy.delay-xfer=1, -t=4k
    readFile=1
run
ior stop
nonsense
"""


def test_a_script_runs_its_tests_in_order_and_each_inherits_from_the_one_before(ior):
    (ior.cwd / "s").write_text(SCRIPT)
    run = ior("-f s -A 3").ok()
    got = [(row["test"], row["operation"], row["refnum"], row["segcnt"], row["xsize"], row["blksiz"]) for row in run.summary]
    assert got == [(0, "write", 3, 1, 8192, 16384), (1, "write", 7, 2, 8192, 16384), (2, "write", 7, 2, 8192, 16384),
                   (3, "write", 7, 2, 4096, 16384), (3, "read", 7, 2, 4096, 16384)]
    assert re.findall(r"^TestID +: (\d)$", run.stdout, re.M) == ["0", "1", "2", "3"]
    assert len(re.findall(r"^Finished", run.stdout, re.M)) == 1 and run.messages == []


def test_options_of_a_backend_belong_to_the_test_they_stand_in(ior):
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY, writeFile=1, blockSize=8k, transferSize=8k\nRUN\n"
                               "--dummy.delay-xfer=300000\nRUN\n--dummy.delay-xfer=0\nRUN\nIOR STOP\n")
    run = ior("-f s" + TELL, np=None).ok()
    work = [row["work"] for row in run.rows]
    assert work[1] >= 0.3 and [t["optionValues"]["dummy.delay-xfer"] for t in run.document()["tests"]] == [0, 300000, 0]
    timely(work[0] < 0.25 and work[2] < 0.25, work)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_script_may_have_the_line_ends_of_other_systems(ior, ending):
    (ior.cwd / "s").write_bytes(SCRIPT.replace("\n", ending).encode())
    assert len(ior("-f s").ok().summary) == 5


def test_a_script_without_run_is_one_test(ior):
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\nwriteFile=1\n")
    assert len(ior("-f s", np=1).ok().summary) == 1


@pytest.mark.sanitize
@pytest.mark.parametrize("line, part", [("noSuchKey=1", "noSuchKey"), ("blockSize", "blockSize"), ("blockSize=4q", "4q"), ("IOR END", "IOR END"),
                                        ("blockSize=4k,,", ""), ("-w", "-w"), ("api=NOSUCH", "NOSUCH"), ("transferSize=3000", "transfer"),
                                        ("blockSize=4k transferSize=4k", "4k")])
def test_a_mistake_in_a_script_is_reported_with_file_and_line(ior, line, part):
    (ior.cwd / "my script").write_text("comment\nIOR START\n\n# note\napi=DUMMY\n%s\nRUN\nIOR STOP\n" % line)
    run = ior(["-f", "my script"], np=2, timeout=20).fails(1, part)
    assert "my script:6" in run.errors[0] or line in ("api=NOSUCH", "transferSize=3000"), run
    assert run.stdout == "" and ior.files() == ["my script"]


def test_a_mistake_in_a_later_test_is_found_before_the_first_one_runs(ior):
    (ior.cwd / "s").write_text("IOR START\nkeepFile=1\nRUN\ntransferSize=3000\nRUN\nIOR STOP\n")
    run = ior("-f s", timeout=20).fails(1, "test 1")
    assert ior.files() == ["s"] and run.stdout == ""


def test_a_script_line_may_be_long(ior):
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY,%s writeFile=1\nRUN\nIOR STOP\n" % ("refNum=1," * 1000))
    assert ior("-f s", np=1).ok().summary[0]["refnum"] == 1


# ---- names ----

def test_each_repetition_has_its_file_on_request(ior):
    ior("-w -k -m -F -i 2 -b 8k -t 8k -o t").ok()
    assert ior.files() == ["t.00000000.0", "t.00000000.1", "t.00000001.0", "t.00000001.1"]


def test_the_files_of_each_repetition_are_removed_again(ior):
    run = ior("-w -R -m -i 2 -b 8k -t 8k -G 1").ok()
    assert ior.files() == [] and run.warnings == []


def test_names_joined_by_an_at_sign_are_distributed_over_the_tasks(ior):
    ior("-w -k -F -b 8k -t 8k -o a@b", np=3).ok()
    assert ior.files() == ["a.00000000", "a.00000002", "b.00000001"]
    ior("-w -R -F -C -b 8k -t 8k -o a@b -G 2", np=3).ok()
    assert ior.files() == []


def test_a_shared_file_takes_the_first_of_several_names(ior):
    ior("-w -k -b 8k -t 8k -o a@b", np=2).ok()
    assert ior.files() == ["a"]


def test_a_directory_of_its_own_for_each_task_is_made_and_removed(ior):
    (ior.cwd / "d").mkdir()
    run = ior("-w -r -F -u -k -b 8k -t 8k -o d/x").ok()
    assert ior.files() == ["d", "d/0", "d/0/x.00000000", "d/1", "d/1/x.00000001"]
    assert run.options["Path"] == "d/0/x.00000000"
    again = ior("-w -W -R -C -F -u -i 2 -b 8k -t 8k -o e -G 1").ok()
    assert [name for name in ior.files() if not name.startswith("d")] == [] and again.warnings == []


def test_a_directory_that_was_there_stays(ior):
    (ior.cwd / "0").mkdir()
    ior("-w -F -u -b 8k -t 8k -o x").ok()
    assert ior.files() == ["0"]


def test_a_directory_for_each_task_needs_no_slash_and_goes_away(ior):
    """Those that a run has made: not what was there before, and each of them after every repetition."""
    ior("-w -k -F -u -b 8k -t 8k -o plain").ok()
    assert ior.files() == ["0", "0/plain.00000000", "1", "1/plain.00000001"]
    other = conftest.Ior(ior.cwd / "0")
    other("-w -r -i 2 -F -u -b 8k -t 8k -o plain").ok()
    assert other.files() == ["plain.00000000"]


@pytest.mark.parametrize("names", ["@a", "a@", "a@@b"])
def test_an_empty_name_in_a_list_is_refused(ior, names):
    ior(["-F", "-w", "-o", names], np=None).fails(1, names)


def test_a_directory_as_name_gets_a_file_for_each_task(ior):
    (ior.cwd / "d").mkdir()
    ior("-w -k -F -b 8k -t 8k -G 1 -o d/").ok()
    names = ior.files()
    assert len(names) == 3 and names[0] == "d" and all(name.startswith("d/") for name in names[1:]), names
    assert names[1].endswith("00000000") and names[2].endswith("00000001")
    ior("-R -F -k -b 8k -t 8k -G 2 -o d/ -W").ok(4)  # found again, though the signature is another


def test_a_relative_name_is_relative_to_where_the_program_started(ior):
    (ior.cwd / "a").mkdir()
    (ior.cwd / "a" / "b").mkdir()
    ior("-w -k -b 8k -t 8k -o ./a/../a/b/c").ok()
    assert "a/b/c" in ior.files()


@pytest.mark.sanitize
@pytest.mark.parametrize("length", [255, 4000])
@pytest.mark.parametrize("api", ["POSIX", "POSIX -F", "MPIIO", "HDF5"])
def test_a_long_name_is_a_name(ior, need_backend, length, api):
    need_backend(api.split()[0])
    pieces = "dddddddddd/" * 400
    directory = pieces[:max(length - 30, 0)].rsplit("/", 1)[0]
    # step by step: the whole path may be longer than one call takes
    here = os.open(ior.cwd, os.O_RDONLY)
    for piece in directory.split("/"):
        if piece:
            os.mkdir(piece, dir_fd=here)
            below = os.open(piece, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
    os.close(here)
    name = directory + "/" + "f" * (length - len(directory) - 1)
    assert len(name) == length
    if len(name) - len(directory) > 240:
        pytest.skip("the last piece would be too long")
    run = ior("-a %s -w -r -R -b 8k -t 8k -G 1 -o %s" % (api, name), timeout=30).ok()
    assert run.options["test filename"] == name
    assert run.warnings == []


def test_a_name_that_is_too_long_is_an_error(ior):
    ior("-w -b 8k -t 8k -o " + "x" * 300, timeout=20).fails(1, "xxxxxxxx", "too long")
    ior("-w -b 8k -t 8k -o " + "x/" * 5000, timeout=20).fails(1, "too long")
    for backend in ("MPIIO", "HDF5", "NCMPI", "URING"):
        if backend in conftest.backends():
            ior("-a %s -w -b 8k -t 8k -o " % backend + "x" * 300, np=None).fails(1, "xxxxxxxx", "too long")


@pytest.mark.parametrize("program, args", [("ior", "-r -b 8k -t 8k -o "), ("mdtest", "-n 1 -d "), ("md-workbench", "-P 2 -I 2 -D 1 -o "),
                                           ("mib", "-l 2 -s 4k -F -t "), ("h5exerciser", "-a POSIX --numdims 1 --minels 8 --iterations 1 --out "),
                                           ("model_checkpoint", "--scale=1/16384 -o "), ("model_checkpoint", "--scale=1/16384 --save=no -o "),
                                           ("weir-io500", "")])
@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3000 + "x"], ids=["name", "path"])
def test_a_name_that_is_too_long_is_refused_by_every_program(ior, program, args, name):
    if program == "weir-io500":
        (ior.cwd / "c.ini").write_text("[global]\ndatadir = %s\n" % name)
    run = subprocess.run([str(conftest.BUILD / "src" / program), *(args + (name if args else "c.ini")).split()], cwd=ior.cwd, capture_output=True,
                         text=True, env=conftest.program_env(), timeout=60)
    assert run.returncode == 1 and re.search(r"^ERROR: .*'x[x/]*\S*': File name too long$", run.stderr, re.M), run
    assert not [f for f in ior.files() if f.startswith("x")]


@pytest.mark.parametrize("program, args", [("mdtest", "-n 1 -d "), ("mdtest", "-n 1 -z 2 -b 2 -d "), ("md-workbench", "-P 2 -I 2 -D 1 -o "),
                                           ("model_checkpoint", "--scale=1/16384 -o ")])
def test_names_that_are_too_long_in_a_directory_are_refused_before_the_run(ior, program, args):
    """The path of the directory itself is not too long."""
    name = ("x" * 200 + "/") * 20 + "x" * 65
    subprocess.run(["mkdir", "-p", name], cwd=ior.cwd, check=True)
    run = subprocess.run([str(conftest.BUILD / "src" / program), *(args + name).split()], cwd=ior.cwd, capture_output=True, text=True,
                         env=conftest.program_env(), timeout=60)
    assert run.returncode == 1 and re.search(r"^ERROR: .*names .*(: File name too long| and the system allows 4095)$", run.stderr, re.M), run
    assert subprocess.run(["ls", "-A", name], cwd=ior.cwd, check=True, capture_output=True).stdout == b""


def test_nothing_is_made_of_a_path_that_is_too_long_further_on(ior):
    (ior.cwd / "c.ini").write_text("[global]\ndatadir = new/%s\n" % ("x" * 300))
    run = subprocess.run([str(conftest.BUILD / "src" / "weir-io500"), "c.ini"], cwd=ior.cwd, capture_output=True, text=True,
                         env=conftest.program_env(), timeout=60)
    assert run.returncode == 1 and "File name too long" in run.stderr and not (ior.cwd / "new").exists(), run


def test_the_path_of_a_result_that_no_call_takes_costs_little_memory(ior):
    run = ior("-a DUMMY -b 8k -t 8k --report=json:%sx" % ("m/" * 60000), np=None, prefix=PEAK, timeout=60)
    assert run.returncode == 2 and "too long" in run.errors[0] and run.peak_kib < 400 << 10, (run.peak_kib, run.errors[0][:100])


@pytest.mark.parametrize("key", ["datadir", "resultdir"])
def test_a_dry_run_of_io500_refuses_a_path_that_is_too_long(ior, key):
    (ior.cwd / "c.ini").write_text("[global]\n%s = %s\n" % (key, "x/" * 3000))
    run = subprocess.run([str(conftest.BUILD / "src" / "weir-io500"), "c.ini", "--dry-run"], cwd=ior.cwd, capture_output=True, text=True,
                         env=conftest.program_env(), timeout=60)
    assert run.returncode == 1 and "[global] %s: " % key in run.stderr and "File name too long" in run.stderr, run


def test_a_name_with_blanks_quotes_and_other_letters_is_a_name(ior):
    for name in ("a b", "a'b\"c", "gr\u00fc\u00dfe", "a,b", "%s%n", "-name"):
        ior(["-w", "-k", "-b", "8k", "-t", "8k", "-o", "./" + name]).ok()
        assert ior.files() == [name]
        (ior.cwd / name).unlink()


# ---- other forms ----

def test_json_is_one_document_with_the_keys_that_readers_use(ior):
    run = ior("-w -r -v -i 2 -b 16k -t 8k -O summaryFormat=JSON")
    data = json.loads(run.ok().stdout)
    assert {"Version", "Began", "Command line", "Machine", "tests", "summary", "Finished"} <= set(data)
    test = data["tests"][0]
    assert [row["access"] for row in test["Results"]] == ["write", "read", "remove"] * 2
    assert test["Options"]["xfersize"] == "8192 bytes" and test["TestID"] == 0
    for row in data["summary"]:
        assert {"operation", "API", "TestID", "blockSize", "transferSize", "numTasks", "bwMaxMIB", "bwMinMIB", "bwMeanMIB", "OPsMax"} <= set(row)


def test_json_quotes_what_must_be_quoted(ior):
    run = ior(["-w", "-b", "8k", "-t", "8k", "-O", "summaryFormat=JSON", "-o", "./a\"b\\c"])
    assert json.loads(run.ok().stdout)["tests"][0]["Options"]["test filename"] == "./a\"b\\c"


def test_csv_has_a_heading_and_a_row_for_each_phase(ior):
    """The columns of old readers; the verdict is in three more, with the remarks."""
    args = "-w -r -i 2 -b 16k -t 8k -O summaryFormat=CSV"
    lines = ior(args + " --rules=none").ok().stdout.strip().split("\n")
    head = "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter"
    assert lines[0] == head and len(lines) == 5
    assert [line.split(",")[0] for line in lines[1:]] == ["write", "read", "write", "read"]
    assert all(len(line.split(",")) == 12 and line.split(",")[10] == "2" for line in lines[1:])
    lines = ior(args).ok().stdout.strip().split("\n")
    assert lines[0] == head + ",verdict,findings,remarks" and all(len(line.split(",")) == 15 for line in lines), lines


def test_csv_says_what_each_line_is_of(ior):
    """One heading, and test, repetition and operation in every line of the full form; the short form has one heading, too."""
    (ior.cwd / "s").write_text("IOR START\napi=DUMMY\nrepetitions=2\nRUN\nRUN\nIOR STOP\n")
    lines = ior("-f s --report=csv:-", np=None).ok().stdout.strip().split("\n")
    assert [tuple(line.split(",")[:3]) for line in lines[1:]] == [(t, i, op) for t in "01" for i in "01" for op in ("write", "read")]
    lines = ior("-f s -O summaryFormat=CSV", np=None).ok().stdout.strip().split("\n")
    assert len(lines) == 9 and sum(line.startswith("access,") for line in lines) == 1


# ---- hints ----

def hints(run, title):
    text = run.stdout + run.stderr
    found = re.search(re.escape(title) + r" \{\n((?:\t.*\n)*)\}", text)
    assert found, run
    return dict(line.strip().split(" = ", 1) for line in found.group(1).strip("\n").split("\n") if line.strip())


def test_hints_come_from_the_environment_and_a_file(ior, need_backend):
    need_backend("MPIIO")
    (ior.cwd / "hints").write_text("# mine\nIOR_HINT__MPI__cb_buffer_size=65536\nother line\nIOR_HINT__MPI__cb_nodes=1\n")
    env = {"IOR_HINT__MPI__cb_nodes": "2", "IOR_HINT__MPI__striping_factor": "1"}
    args = "-a MPIIO -w -b 16k -t 8k --mpiio.showHints --mpiio.hintsFileName=hints"
    given = hints(ior(args, env=env).ok(), "hints passed to MPI_File_open()")
    assert given["cb_buffer_size"] == "65536" and given["cb_nodes"] == "1" and given["striping_factor"] == "1"


def test_many_hints_and_odd_ones_do_no_harm(ior, need_backend):
    need_backend("MPIIO")
    env = {"IOR_HINT__MPI__k%02d" % i: "a=b%d" % i for i in range(40)}
    env["IOR_HINT__MPI__empty"] = ""
    env["IOR_HINT__OTHER__x"] = "1"
    run = ior("-a MPIIO -w -b 16k -t 8k --mpiio.showHints", np=None, env=env).ok()
    given = hints(run, "hints passed to MPI_File_open()")
    assert given["k39"] == "a=b39" and given["k00"] == "a=b0" and "x" not in given


def test_a_hint_of_an_unknown_kind_is_left_out_with_one_message(ior, need_backend):
    """It does not repeat the hint before it; the mark of an editor is no prefix."""
    need_backend("MPIIO")
    (ior.cwd / "h").write_text("\ufeffIOR_HINT__MPI__first=1\nIOR_HINT__XYZ__second=2\nIOR_HINT__MPI__third=3\n")
    run = ior("-a MPIIO --mpiio.showHints --mpiio.hintsFileName=h -w -b 8k -t 8k -o ./f", np=2).ok()
    shown = run.stdout.split("hints passed to MPI_File_open() {\n")[1].split("}")[0]
    assert shown.count("first = 1") == 1 and shown.count("third = 3") == 1 and "second" not in shown and shown.count("=") == 2
    assert len([line for line in run.messages if "XYZ" in line or "second" in line]) == 1, run


def test_a_hints_file_that_is_not_there_is_said(ior, need_backend):
    need_backend("MPIIO")
    run = ior("-a MPIIO -w -b 16k -t 8k --mpiio.hintsFileName=nowhere", timeout=20)
    assert any("nowhere" in line for line in run.messages), run


# ---- a dry run ----

def test_a_dry_run_touches_nothing_with_any_backend(ior):
    """Everything but the I/O happens, with checks and without an error, in a directory that is not there."""
    apis = [api for api in ("POSIX", "AIO", "MPIIO", "HDF5", "NCMPI", "MMAP", "DUMMY") if api in conftest.backends()]
    ior.script(*("api=" + api for api in apis))
    run = ior("--dry-run -v -w -W -r -R -C -e -i 2 -b 16k -t 8k -o nowhere/f -G 1 -f s" + TELL).ok()
    assert run.options["dryRun"] == "1" and ior.files() == ["r.json", "s"] and run.warnings == []
    found = {t["Parameters"]["api"]: [r["access"] for r in t["Results"] if r["access"] != "remove"] for t in run.document()["tests"]}
    assert found == {api: ["write", "read"] * 2 for api in apis}, run


def test_a_dry_run_takes_no_memory_and_waits_for_nothing(ior):
    """Neither that of -M, nor buffers as large as its transfers, nor before each phase."""
    proc = ior.start("-w -W -r -R -t 256m -b 512m -M 512m -d 86400 -i 2 --dry-run", np=None)
    ended = []
    conftest.wait_until(lambda: ended.append(os.wait4(proc.pid, os.WNOHANG)) or ended[-1][0] == proc.pid)
    _, status, usage = ended[-1]
    assert status == 0 and usage.ru_maxrss < 200 * 1024, (status, usage)
