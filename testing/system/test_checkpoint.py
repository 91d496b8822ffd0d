# SPDX-License-Identifier: BSD-3-Clause
"""checkpoint_simulator.x, restart_simulator.x and the programs of their parts: files by readers that are not ours, summaries as
the originals have them, numbers that agree with each other."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import conftest
from pairwise import Case, launch

np = pytest.importorskip("numpy", reason="needs python3-numpy to look into the files")
try:
    import h5py
except ImportError:
    h5py = None
MIB = 1 << 20


@pytest.fixture
def run(ior):
    """run(program, options): the program without its '.x', on as many ranks as nx and ny in the options need."""
    def start(name, args="", ranks=None, **more):
        ior.program = conftest.BUILD / "src" / (name + ".x")
        size = [int(n) for n in re.findall(r"--n[xy][ =](\d+)", args)]
        ranks = ranks or (6 * size[0] * size[1] if len(size) == 2 else 6)
        return ior(args, np=ranks, **more)
    return start


@pytest.fixture
def checkpoint(run, need_backend):
    def both(args, restarts="", api="NETCDF", ranks=None):
        need_backend(api)
        first = run("checkpoint_simulator", "%s -a %s" % (args, api), ranks).ok()
        for more in restarts.split(";") if restarts else ():
            run("restart_simulator", "%s -a %s" % (more, api)).ok()
        return first
    return both


def values(im, planes):
    """What weir_rng_at makes of the number of a cell: (plane, 6 im, im)."""
    with np.errstate(over="ignore"):
        z = (np.arange(planes * 6 * im * im, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9e3779b97f4a7c15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
        z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(40)).astype("f4") / np.float32(1 << 24)).reshape(planes, 6 * im, im)


def fields(im, lm, arrays):
    return list(values(im, lm * arrays).reshape(arrays, lm, 6 * im, im))


# ---- files ----

def test_a_file_as_the_original_writes_it(checkpoint, ior):
    """IM 5 on two patches a row: 3 columns of the even rank, 2 of the odd one."""
    h5py = pytest.importorskip("h5py", reason="needs python3-h5py to look into the file")
    out = checkpoint("--nx 2 --ny 1 --im_world 5 --lm 1 --num_arrays 1 --ntrials 1 --num_writers 3 --static_data")
    want = [[2 * (row // 5) + (x >= 3) for x in range(5)] for row in range(30)]
    with h5py.File(ior.cwd / "checkpoint.nc4", "r") as f:
        assert (f["VAR001"][0] == want).all() and f["VAR001"].chunks == (1, 10, 5) and f["VAR001"].dtype == "<f4"
        assert f["VAR001"].id.get_create_plist().get_fill_time() == h5py.h5d.FILL_TIME_NEVER
        assert list(f["VAR001"].attrs["_Netcdf4Coordinates"]) == [2, 1, 0]
    if shutil.which("ncdump"):
        head = subprocess.run(["ncdump", "-h", "checkpoint.nc4"], cwd=ior.cwd, capture_output=True, text=True, check=True).stdout
        assert head.split() == """netcdf checkpoint { dimensions: lon = 5 ; lat = 30 ; lev = 1 ;
            variables: float VAR001(lev, lat, lon) ; // global attributes: :weir_checkpoint = 1, 1, 2, 1 ; }""".split()
    assert re.fullmatch(r""" Trial            1
 \*{51}
 Summary of run: 
Total data volume in megabytes:   0.57220459E-03
Num writers:    3
Total cores:      12
Cube size:       5     1
Split file, 3D_gather, chunk, extra, netcdf output, write barrier, do writes:  FFTFTFT
Number of trial:       1
Application  time: .{16}
Real throughput MB/s, Std Real throughput MB/s, file system MB/S, std file system MB/s
.{16}   0.0000000    .{16}   0.0000000    
""", out.stdout), out


@pytest.mark.parametrize("api, suffix, how", [("NETCDF", "nc4", ""), ("NETCDF", "nc4", " -c"), ("HDF5", "h5", " -c"), ("NCMPI", "nc", ""),
                                              ("MPIIO", "bin", " -c"), ("POSIX", "bin", "")])
def test_any_readers_read_what_any_writers_wrote(checkpoint, ior, api, suffix, how):
    """4 writers for 6 rows of 7 times 7 cells: 2, 1, 2 and 1 rows."""
    size = "--nx 1 --ny 1 --im_world 7 --lm 3 --num_arrays 2 --ntrials 1"
    checkpoint(size + " --num_writers 4" + how, size + " --sweep-writers 1,5,6 --scatter_3d" + how, api)
    path = ior.cwd / ("checkpoint." + suffix)
    if suffix == "bin":
        have = np.fromfile(path, "<f4").reshape(2, 3, 42, 7)
        assert (have == np.array(fields(7, 3, 2))).all()
    elif suffix != "nc":
        h5py = pytest.importorskip("h5py", reason="needs python3-h5py to look into the file")
        with h5py.File(path, "r") as f:
            assert all((f["VAR%03d" % (v + 1)][()] == want).all() for v, want in enumerate(fields(7, 3, 2)))


def test_files_of_others_are_replaced_or_kept(run, ior):
    """And what is read can be taken out of the page cache before."""
    size = "--nx 1 --ny 1 --im_world 7 --lm 3 --num_arrays 2 --ntrials 2 --split_file -a posix "
    (ior.cwd / "checkpoint_002.bin").write_text("of others")
    run("checkpoint_simulator", size + "--num_writers 3 --existing=fail").fails(2, "'checkpoint_002.bin' exists, and --existing=fail")
    assert ior.files() == ["checkpoint_002.bin"]
    run("checkpoint_simulator", size + "--sweep-writers 2,1 --existing=fail").ok()
    run("checkpoint_simulator", size + "--num_writers 3 --existing=replace").ok()
    out = run("restart_simulator", size + "--num_readers 3 --drop-cache").ok()
    assert all("--drop-cache did not work" in w for w in out.warnings), out
    (ior.cwd / "scratch.00001").write_text("of others")
    run("raw_bw", "--nx 4 --n_levs 2 --n_writers 2 --existing=fail", 2).fails(2, "'scratch.00001' exists")
    run("gatherv", "--nx 4 --n_levs 2 --n_writers 1 --existing=fail", 1).fails(1, "--existing", "makes no files")
    assert "existing" not in run("restart_simulator", "--help=all", 1).ok().stdout


def test_split_files_have_the_rows_of_their_writers(checkpoint, ior):
    """IM 5 on two patches in y and x: rows of 3 and 2 cells in turn, of which the original made files of the same length."""
    netCDF4 = pytest.importorskip("netCDF4", reason="needs python3-netcdf4 to look into the file")
    size = "--nx 2 --ny 2 --im_world 5 --lm 2 --num_arrays 2 --ntrials 1 --split_file"
    readers = size.replace("--nx 2", "--nx 1") + " --num_readers 12"  # half as many ranks, with the same rows
    checkpoint(size + " --num_writers 12 --gather_3d", readers + ";" + readers + " --scatter_3d")
    y, want = 0, fields(5, 2, 2)
    for w in range(12):
        with netCDF4.Dataset(ior.cwd / ("checkpoint_%03d.nc4" % w)) as f:
            lat = len(f.dimensions["lat"])
            assert lat == (2 if w % 2 else 3) and f["VAR002"].chunking() == [2, lat, 5]
            assert (f["VAR002"][:].data == want[1][:, y:y + lat]).all()
        y += lat
    assert y == 30


@pytest.mark.parametrize("program, args, through_mpi", [
    ("checkpoint_simulator", "--nx 1 --ny 1 --im_world 9 --lm 2 --ntrials 1 --num_writers 2", True),
    ("checkpoint_simulator", "--nx 1 --ny 1 --im_world 9 --lm 2 --ntrials 1 --num_writers 2 --split_file", False),
    ("checkpoint_simulator", "--nx 1 --ny 1 --im_world 9 --lm 2 --ntrials 1 --num_writers 2 --split_file -a HDF5", False),
    ("checkpoint_simulator", "--nx 1 --ny 1 --im_world 9 --lm 2 --ntrials 1 --num_writers 2 --split_file -a MPIIO", True),
    ("raw_bw", "--nx 9 --n_levs 2 --n_writers 2 --file_type netcdf", False)])
def test_a_file_of_one_writer_is_made_as_without_mpi(run, ior, preload, need_backend, program, args, through_mpi):
    need_backend("NETCDF")
    env = {"LD_PRELOAD": preload("log-mpi-files.c"), "MPI_FILES": str(ior.cwd / "log")}
    for name in [program] + ["restart_simulator"] * (program == "checkpoint_simulator"):
        run(name, args.replace("writers", "readers") if name == "restart_simulator" else args, 6, env=env).ok()
        log = (ior.cwd / "log").read_text() if (ior.cwd / "log").exists() else ""
        assert ("checkpoint" in log or "scratch" in log) == through_mpi, log
        (ior.cwd / "log").unlink(missing_ok=True)


def test_a_split_file_is_as_long_as_the_library_makes_it(checkpoint, ior):
    netCDF4 = pytest.importorskip("netCDF4", reason="needs netCDF4-python to make such a file")
    checkpoint("--nx 1 --ny 1 --im_world 30 --lm 4 --num_arrays 2 --ntrials 1 --num_writers 2 --split_file")
    with netCDF4.Dataset(ior.cwd / "own.nc4", "w") as f:
        for name, n in ("lon", 30), ("lat", 90), ("lev", 4):
            f.createDimension(name, n)
        for name in "VAR001", "VAR002":
            f.createVariable(name, "f4", ("lev", "lat", "lon"), chunksizes=(1, 90, 30), fill_value=False)
        f.setncattr("weir_checkpoint", np.array([1, 0, 1, 1], "i4"))
        for level in range(8):
            f["VAR00%d" % (1 + level // 4)][level % 4] = fields(30, 4, 2)[level // 4][level % 4, :90]
    assert (ior.cwd / "checkpoint_000.nc4").stat().st_size == (ior.cwd / "own.nc4").stat().st_size


# ---- what is verified ----

MARKED = "--nx 1 --ny 1 --im_world 9 --lm 3 --num_arrays 2 --ntrials 1 "
TALL, WIDE = MARKED.replace("--ny 1", "--ny 2"), MARKED.replace("--nx 1", "--nx 2")  # of 12 ranks


def shape(path, change):
    """Let a function change the values of the variables of a file, (2, 3, rows, 9), whatever its format is."""
    if path.suffix in (".nc4", ".h5"):
        h5py = pytest.importorskip("h5py", reason="needs h5py to change the file")
        with h5py.File(path, "r+") as f:
            new = change(np.array([f["VAR001"][()], f["VAR002"][()]]))
            f["VAR001"][...], f["VAR002"][...] = new
        return
    raw = path.read_bytes()
    kind = ">f4" if path.suffix == ".nc" else "<f4"
    head = len(raw) - 2 * 3 * 54 * 9 * 4 if path.suffix == ".nc" else 0  # variables lie one after the other
    new = change(np.frombuffer(raw[head:], kind).reshape(2, 3, -1, 9).copy())
    path.write_bytes(raw[:head] + new.astype(kind).tobytes())


def as_the_original(path):
    """Random values; no attribute, or records of Fortran with their lengths."""
    shape(path, lambda have: np.random.default_rng(7).random(have.shape, "f4"))
    if path.suffix in (".nc4", ".h5"):
        h5py = pytest.importorskip("h5py", reason="needs h5py to change the file")
        with h5py.File(path, "r+") as f:
            del f.attrs["weir_checkpoint"]
    elif path.suffix == ".nc":
        path.write_bytes(path.read_bytes().replace(b"weir_checkpoint", b"some_checkpoint"))
    else:
        planes = np.fromfile(path, "<f4").reshape(6, -1)
        length = np.uint32(planes[0].nbytes).tobytes()
        path.write_bytes(b"".join(length + plane.tobytes() + length for plane in planes))


FORMATS = [("NETCDF", "nc4"), ("HDF5", "h5"), ("NCMPI", "nc"), ("POSIX", "bin"), ("MPIIO", "bin")]
SPLIT = [("NETCDF", "nc4"), ("POSIX", "bin")]


def set_values(name, place, value, before=None):
    """A change of a file: at that place of its values is another one."""
    def change(have):
        assert before is None or have[place] == before
        have[place] = value
        return have
    return lambda folder, suffix: shape(folder / (name + "." + suffix), change)


def not_by_weir(name):
    return lambda folder, suffix: as_the_original(folder / (name + "." + suffix))


def both(*changes):
    return lambda folder, suffix: [change(folder, suffix) for change in changes]


# What is written -> ranks, options of checkpoint_simulator.x
WRITTEN = {
    "numbers": (6, MARKED + "--static_data"), "random": (6, MARKED + "--num_writers 3"), "split": (6, MARKED + "--split_file --num_writers 3"),
    "numbers of 12": (12, TALL + "--static_data --num_writers 4"),  # 1 x 2 on a face of 9 cells
}
FIRST = set_values("checkpoint", (0, 0, 0, slice(3)), 7)  # the first words are not all
READ_SPLIT, OTHERS = MARKED + "--split_file --num_readers 3", not_by_weir("checkpoint_001")
# What is read -> what was written, what has changed it since, ranks, options of restart_simulator.x
READ = {
    "says what is in it": ("numbers", None, 6, MARKED + "--num_readers 2"),
    "other than asked for": ("random", None, 6, MARKED + "--num_readers 2 --static_data"),
    "damaged": ("random", FIRST, 6, MARKED + "--num_readers 2"),
    "damaged, not verified": ("random", FIRST, 6, MARKED + "--num_readers 2 --verify=no"),
    "original": ("random", not_by_weir("checkpoint"), 6, MARKED + "--num_readers 2"),
    "original, verified": ("random", not_by_weir("checkpoint"), 6, MARKED + "--num_readers 2 --verify=yes"),
    "split": ("split", OTHERS, 6, READ_SPLIT),
    "split, damaged": ("split", both(OTHERS, set_values("checkpoint_002", (1, 2, 5, 8), 7)), 6, READ_SPLIT),
    "by 6": ("numbers of 12", None, 6, MARKED),
    "by 12 that lie otherwise": ("numbers of 12", None, 12, WIDE + "--static_data --num_readers 3"),
    "one of 12 damaged": ("numbers of 12", set_values("checkpoint", (1, 1, 5, 4), 0, before=1), 6, MARKED + "--num_readers 6"),
}


def launched(folder, program, cases):
    """Run cases, key -> (ranks, options, files that are there), in one process for each number of ranks."""
    done = {}
    for ranks in sorted({case[0] for case in cases.values()}):
        mine = {key: Case(program + ".x", (words + " -a %s --report=text:t.txt,json:r.json" % key[0]).split())
                for key, (n, words, _) in cases.items() if n == ranks}
        for key, case in mine.items():
            case.given, case.prints = cases[key][2], True
        (folder / str(ranks)).mkdir(parents=True)
        launch(list(mine.values()), folder / str(ranks), ranks)
        done.update(mine)
    return done


def changed(folder, written, change, suffix):
    """The files of a case that has written some, in a folder, with a change."""
    folder.mkdir()
    files = [pathlib.Path(shutil.copy(path, folder)) for path in written.dir.iterdir() if path.name.startswith("checkpoint")]
    if change:
        change(folder, suffix)
    return files


def read_all(top):
    """Write and read every format in every way: "API name" -> what became of it."""
    formats = [(api, suffix) for api, suffix in FORMATS if api in conftest.backends() and (suffix not in ("nc4", "h5") or h5py)]
    wrote = launched(top / "written", "checkpoint_simulator", {
        (api, name): (ranks, words, []) for api, suffix in formats for name, (ranks, words) in WRITTEN.items()
        if name != "split" or (api, suffix) in SPLIT})
    cases = {}
    for api, suffix in formats:
        for name, (source, change, ranks, words) in READ.items():
            if (api, source) in wrote and wrote[api, source].status == 0:
                files = changed(top / ("%s %s" % (api, name)), wrote[api, source], change, suffix)
                cases[api, name] = (ranks, words, files)
    done = {**wrote, **launched(top / "read", "restart_simulator", cases)}
    return {" ".join(key): dict(result=c.result, status=c.status, error=c.error, messages=c.messages(), folder=str(c.dir), what=repr(c)) for key, c in done.items()}


class Reading:
    """What became of the reading of a file: its status, error, messages and document."""

    def __init__(self, found):
        self.__dict__.update(found)
        self.cwd = pathlib.Path(self.folder)
        self.doc = document(self) if self.result == "end" else {}

    def __repr__(self):
        return "%s\n%s, status %s: %s\n%s" % (self.what, self.result, self.status, self.error, self.folder)

    @property
    def notes(self):
        return [line for line in self.messages if line.startswith("NOTE: ") and "not verified" in line]

    @property
    def verified(self):
        return self.doc["tests"][0]["verified"]

    def ok(self, verified):
        assert (self.result, self.status, self.error) == ("end", 0, "") and self.verified == verified, self
        return self

    def fails(self, *words):
        assert (self.result, self.status) == ("end", 4) and all(word in self.error for word in words), self


@pytest.fixture(scope="module")
def all_readings(tmp_path_factory):
    return conftest.once(tmp_path_factory, "checkpoint", read_all)


@pytest.fixture
def reading(all_readings, need_backend):
    def of(api, name):
        need_backend(api)
        if api in ("NETCDF", "HDF5") and not h5py:
            pytest.skip("needs python3-h5py to change the file")
        written = all_readings["%s %s" % (api, READ[name][0])]
        assert (written["result"], written["status"]) == ("end", 0), written
        return Reading(all_readings["%s %s" % (api, name)])
    return of


@pytest.mark.slow
@pytest.mark.parametrize("api, suffix", FORMATS)
def test_only_what_weir_wrote_is_verified(reading, api, suffix):
    """What it wrote, whatever it was, with wrong data; a file of the original; and both as the user wants it."""
    assert reading(api, "says what is in it").ok("yes").notes == []
    reading(api, "other than asked for").ok("yes")
    reading(api, "damaged").fails("wrong data", "VAR001, level 0, row 0, column 0 is 7, should be")
    assert reading(api, "damaged, not verified").ok("no").notes == []
    out = reading(api, "original").ok("no")
    assert len(out.notes) == 1 and "'checkpoint.%s' was not written by weir" % suffix in out.notes[0], out
    text = (out.cwd / "t.txt").read_text()
    assert re.search(r"^\s+\d\S+\s+\S+\s+\d\S+\s+\S+\s*$", text.split("system MB/s\n")[1]), text
    reading(api, "original, verified").fails("wrong data")


@pytest.mark.parametrize("api, suffix", SPLIT)
def test_of_split_files_those_of_weir_are_verified(reading, api, suffix):
    out = reading(api, "split").ok("partly")
    assert [n for n in out.notes if "not verified: 1 of 3 files were not written by weir" in n], out
    reading(api, "split, damaged").fails("wrong data", "'checkpoint_002.%s'" % suffix)


@pytest.mark.parametrize("api, suffix", FORMATS)
def test_numbers_of_ranks_are_verified_by_any_ranks(reading, api, suffix):
    """Written by 12 ranks, 1 x 2 on a face of 9 cells; read by 6 and by 12 that lie otherwise."""
    reading(api, "by 6").ok("yes")
    reading(api, "by 12 that lie otherwise").ok("yes")
    reading(api, "one of 12 damaged").fails("VAR002, level 1, row 5, column 4 is 0, should be 1")


def test_the_numbers_of_ranks_with_one_cell_each_are_verified(checkpoint, run):
    """As many ranks on a face, in y and in x, as it has cells: it cannot have more. HDF5 has the layout in an attribute."""
    sizes = "--nx 1 --ny 1 --im_world 1 --lm 2 --num_arrays 2 --ntrials 1 "
    checkpoint(sizes + "--static_data", api="HDF5")
    done = run("restart_simulator", sizes + "-a HDF5 --report=text:-,json:r.json").ok()
    assert done.document()["tests"][0]["verified"] == "yes"


def test_a_file_with_more_than_is_read(run, ior):
    """A plain file does not say how many levels it has; the first ones are right."""
    run("checkpoint_simulator", MARKED + "--write_binary --num_arrays 1").ok()
    out = run("restart_simulator", MARKED + "--read_binary --num_arrays 1 --lm 2").ok()
    assert [n for n in out.notes if "'checkpoint.bin' has more bytes than are read, 3888 of 5832" in n], out
    out = run("restart_simulator", MARKED + "--read_binary --num_arrays 1").ok()
    assert not [n for n in out.notes if "more bytes" in n], out


# ---- input files ----

def test_input_files_of_the_original(run, ior, need_backend):
    need_backend("NETCDF")
    (ior.cwd / "both.rc").write_text("""# for both programs
NX: 1\nNY: 1\nIM_WORLD: 6   # cells\nLM: 2\nNUM_WRITERS: 3\nNUM_READERS: 2\nNUM_ARRAYS: 2\nNTRIALS: 2
GATHER_3D: .true.\nSCATTER_3D: .true.\nWRITE_BARRIER: .true.\nREAD_BARRIER: .false.\nCHUNK: .false.
""")
    out = run("checkpoint_simulator", "--config_file both.rc --num_writers 6", 6).ok()
    assert out.stdout.startswith(" Using configuration file both.rc\n NOTE: This overrides any other command line options\n"), out
    assert "\nNum writers:    3\n" in out.stdout and "do writes:  FTFFTTT\n" in out.stdout, out
    out = run("restart_simulator", "--config_file both.rc", 6).ok()
    assert "\nNum readers:    2\n" in out.stdout and "do writes:  FTFTFT\n" in out.stdout, out


def test_a_size_that_a_configuration_lacks_is_told(run, ior):
    (ior.cwd / "c.rc").write_text("nx: 1\nNY: 1\nNUM_ARRAYS: 1\nNTRIALS: 1\n")
    out = run("checkpoint_simulator", "--config_file c.rc --im_world 6 --lm 2 --write_binary", 6).ok()
    assert len(out.notes) == 1 and out.notes[0].startswith("IM_WORLD, LM: missing in 'c.rc'"), out
    (ior.cwd / "c.rc").write_text("NX: 1\nNY: 1\nNUM_ARRAYS: 1\nNTRIALS: 1\nIM_WORLD: 6\nLM: 2\n")
    assert "missing in" not in run("checkpoint_simulator", "--config_file c.rc --write_binary", 6).ok().stderr


SIZES = "NX: 1\nNY: 1\nIM_WORLD: 6\nLM: 2\nNUM_ARRAYS: 2\nNTRIALS: 2\n"


def test_the_run_script_of_the_document(ior, bin, need_backend):
    """Two files of fixed names, programs without options; of the sizes and the number of ranks alone a part is left."""
    need_backend("NETCDF")
    (ior.cwd / "checkpoint_benchmark.rc").write_text(SIZES + """NUM_WRITERS: 6
SPLIT_FILE: .false.      # default .false.
GATHER_3D: .false.
WRITE_BARRIER: .false.
CHUNK: .true.
RANDOM_DATA: .true.
DO_WRITES: .true.
NETCDF_WRITES: .true.
""")
    (ior.cwd / "restart_benchmark.rc").write_text(SIZES + """NUM_READERS: 3
SPLIT_FILE: .false.
SCATTER_3D: .false.
read_BARRIER: .false.
DO_READS: .true.
NETCDF_READS: .true.
""")
    script = "rm checkpoint.nc4\nmpirun -np 6 checkpoint_simulator.x\nmpirun -np 6 restart_simulator.x\n"
    done = subprocess.run(["sh", "-c", script], cwd=ior.cwd, env=conftest.program_env({"PATH": bin}), capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0 and done.stdout.count("\nCube size") == 2, done
    assert "\nNum writers:    6\n" in done.stdout and "\nNum readers:    3\n" in done.stdout, done
    for name in "checkpoint", "restart":
        assert done.stderr.count("NOTE: options are read from '%s_benchmark.rc', which is in the working directory" % name) == 1, done


def test_which_options_hold_beside_a_file_that_is_there(run, ior):
    """Those that are given, but for --config_file; another file that is named holds alone, and the empty one is none."""
    def told(out):
        return [note for note in out.notes if ".rc" in note]
    (ior.cwd / "checkpoint_benchmark.rc").write_text(SIZES + "NUM_WRITERS: 6\nNETCDF_WRITES: .F.\n")
    (ior.cwd / "other.rc").write_text(SIZES + "NUM_WRITERS: 3\nNETCDF_WRITES: no\n")
    out = run("checkpoint_simulator", "--num_writers 2 --ntrials 1").ok()
    assert "\nNum writers:    2\n" in out.stdout and "Number of trial:       1\n" in out.stdout, out
    assert "\nCube size:       6     2\n" in out.stdout and "netcdf output" in out.stdout, out
    assert len(told(out)) == 1 and "those of the command line override them" in told(out)[0], out
    out = run("checkpoint_simulator", "--config_file checkpoint_benchmark.rc --num_writers 2").ok()
    assert "\nNum writers:    6\n" in out.stdout, out
    out = run("checkpoint_simulator", "--config_file other.rc").ok()
    assert "\nNum writers:    3\n" in out.stdout and told(out) == [], out
    out = run("checkpoint_simulator", "--config_file /dev/null --nx 1 --ny 1 --im_world 6 --lm 1 --ntrials 1 --write_binary").ok()
    assert "\nNum writers:    1\n" in out.stdout and told(out) == [], out
    run("checkpoint_simulator", "--report=json:checkpoint_benchmark.rc", 1).fails(1, "'checkpoint_benchmark.rc'", "the script")
    (ior.cwd / "checkpoint_benchmark.rc").write_text("NX: yes\n")
    run("checkpoint_simulator", "", 1).fails(1, "checkpoint_benchmark.rc:1: ", "'yes' is not a whole number")


def test_what_has_the_name_of_the_file_and_is_none_is_refused(run, ior):
    """Nobody waits for what writes into a pipe, and a link to nothing does not mean the default case."""
    here = ior.cwd / "checkpoint_benchmark.rc"
    os.mkfifo(here)
    run("checkpoint_simulator", "", 1).fails(1, "'checkpoint_benchmark.rc'", "it is a pipe")
    here.unlink()
    here.symlink_to("nowhere.rc")
    run("checkpoint_simulator", "", 1).fails(1, "open script 'checkpoint_benchmark.rc'", "No such file")
    here.unlink()
    here.mkdir()
    run("checkpoint_simulator", "", 1).fails(1, "read script 'checkpoint_benchmark.rc'", "directory")


@pytest.mark.parametrize("text, words", [
    ("NX: 1\nIM_WROLD: 5\n", "bad.rc:2: "), ("NX: one\n", "bad.rc:1: "), ("NX: 0\n", "bad.rc:1: "), ("NX\n", "'KEY: value'"),
    ("NX: 99999999999999999999\n", "bad.rc:1: ")])
def test_bad_lines_are_named(run, ior, text, words):
    (ior.cwd / "bad.rc").write_text(text)
    run("checkpoint_simulator", "--config_file bad.rc", 1).fails(1, words)


@pytest.mark.parametrize("program, args, ranks, words", [
    ("checkpoint_simulator", "--nx 2 --ny 3 --write_binary", 1, "6 * NX * NY = 36 ranks are needed, there is 1"),
    ("restart_simulator", "--no_such_option", 1, "--no_such_option"),
    ("restart_simulator", "--config_file missing.rc", 1, "missing.rc"),
    ("checkpoint_simulator", "--lm 0", 1, "lm"),
    ("checkpoint_simulator", "--nx 1 --ny 1 --num_writers 7 --write_binary", 6, "there are only 6 * NY = 6 rows"),
    ("checkpoint_simulator", "--nx 1 --ny 1 --im_world 100000000 --lm 100000000 --write_binary", 6, "more than 2^63 bytes"),
    ("checkpoint_simulator", "--nx 1 --ny 1 -a DUMMY", 6, "DUMMY cannot store arrays"),
    ("raw_bw", "--nx 4 --n_levs 2", 1, "--n_writers=N is needed"),
    ("raw_bw", "--nx 4 --n_levs 2 --n_writers 2", 1, "there is only 1 rank"),
    ("raw_bw", "--nx 4 --n_levs 2 --n_writers 1 --file_type hdf", 1, "hdf"),
    ("checkpoint_simulator", "--nx 1 --ny 1 --report=json:checkpoint.nc4", 1, "'checkpoint.nc4'"),
    ("checkpoint_simulator", "--nx 1 --ny 1 --split_file -a posix --num_writers 2 --timeline=checkpoint_001.bin", 1, "'checkpoint_001.bin'"),
    ("restart_simulator", "--nx 1 --ny 1 --path=./r --read_binary --report=json:r.bin", 1, "'r.bin'"),
    ("raw_bw", "--nx 4 --n_levs 2 --n_writers 1 --report=json:./scratch.00000", 1, "scratch.00000"),
    ("checkpoint_simulator", "--nx 1 --ny 1 --write_binary -D 1", 6, "option -D (deadline)"),
    ("combo", "--nx 4 --n_levs 2 --n_writers 1 -D 1", 1, "option -D (deadline)"),
    ("gatherv", "--nx 40000 --n_levs 2 --n_writers 1", 1, "MPI counts only to 2^31 - 1; use more writers"),
    ("gatherv", "--nx 100000000 --n_levs 100000000 --n_writers 1", 1, "more than 2^63 bytes")])
def test_what_cannot_be_is_refused(run, program, args, ranks, words):
    run(program, args, ranks).fails(1, words)


def test_without_netcdf_the_run_says_so_before_it_starts(ior, tmp_path):
    """The program alone, without the plugin beside it."""
    alone = tmp_path / "bin"
    alone.mkdir()
    ior.program = alone / "checkpoint_simulator.x"
    shutil.copy(conftest.BUILD / "src" / "checkpoint_simulator.x", ior.program)
    size = "--nx 1 --ny 1 --im_world 6 --lm 1 --ntrials 1"
    out = ior(size, np=6)
    assert out.returncode != 0 and len(out.errors) == 1 and "this build has no netCDF" in out.errors[0], out
    assert "--write_binary" in out.errors[0] and out.stdout == "" and ior.files() == [], out
    ior(size + " --write_binary", np=6).ok()


# ---- numbers ----

def document(ior):
    test_json = pytest.importorskip("test_json")
    text = (ior.cwd / "r.json").read_text()
    doc = json.loads(text)
    test_json.VALIDATOR.validate(doc)
    return doc


def test_the_summary_follows_from_the_trials(run, ior):
    args = "--nx 1 --ny 1 --im_world 24 --lm 4 --num_arrays 2 --ntrials 3 --num_writers 2 --write_binary --report=text:-,json:r.json"
    out = run("checkpoint_simulator", args + " --sweep-writers 2,3").ok()
    doc = document(ior)
    lines = re.findall(r"^((?:.{16}){4})\n", out.stdout, re.M)
    assert len(lines) == len(doc["tests"]) == len(doc["sweep"]) == 2 and doc["best"] in (2, 3), out
    for test, line in zip(doc["tests"], [l for l in lines if re.search(r"\d", l)]):
        trials, want = test["trials"], []
        for key in "realThroughput", "fileSystemThroughput":
            rates = np.array([t[key] for t in trials]) / MIB
            want += [rates.mean(), rates.std()]
        for phase in test["phases"]:  # of 2 variables with 4 levels by each writer
            writers = test["writers"]
            assert (phase["openCount"], phase["transferCount"], phase["closeCount"]) == (writers, 8 * writers, writers)
            assert 0 < phase["transferP50"] <= phase["transferMax"] < phase["workTime"]
        assert len(trials) == 3 and np.allclose([float(n) for n in line.split()], want, rtol=2e-7), (line, want)
        for t in trials:
            assert t["bytes"] == 6 * 24 * 24 * 4 * 2 * 4 == test["bytes"]
            assert np.isclose(t["realThroughput"], t["bytes"] / t["workTime"])
            assert np.isclose(t["fileSystemThroughput"], t["bytes"] / t["putTime"])
            assert t["applicationThroughput"] < t["realThroughput"] and t["putTimeMax"] <= t["workTime"]
            assert t["gatherTime"] <= t["gatherTimeMax"] <= t["workTime"]
    best = max(doc["sweep"], key=lambda row: row["applicationThroughput"])
    assert best["writers"] == doc["best"] and "Best number of writers: %d (" % doc["best"] in out.stdout
    pytest.importorskip("matplotlib", reason="needs python3-matplotlib for the picture")
    plot = [sys.executable, str(conftest.SOURCE / "contrib" / "plot" / "weir-plot"), "sweep", "r.json", "-o", "r.svg"]
    subprocess.run(plot, cwd=ior.cwd, check=True)
    assert "writers or readers" in (ior.cwd / "r.svg").read_text()


def test_without_writes_there_is_no_rate_of_the_file_system(run, ior):
    out = run("checkpoint_simulator", "--nx 1 --ny 1 --im_world 6 --lm 2 --ntrials 1 --suppress_writes --write_binary "
              "--report=text:-,json:r.json").ok()
    assert out.stdout.endswith("             NaN             NaN\n") and ior.files() == ["r.json"], out
    assert document(ior)["tests"][0]["trials"][0]["putTime"] is None


@pytest.mark.parametrize("program, args", [
    ("gatherv", "--nx 90 --n_levs 10 --n_writers 1 --n_tries 3"), ("combo", "--nx 90 --n_levs 10 --n_writers 1 --n_tries 3"),
    ("checkpoint_simulator", "--nx 1 --ny 1 --im_world 90 --lm 3 --num_arrays 4 --ntrials 1 --suppress_writes"),
    ("checkpoint_simulator", "--nx 1 --ny 1 --im_world 90 --lm 3 --num_arrays 4 --ntrials 1 --write_binary --gather_3d")])
def test_new_buffers_are_a_part_of_the_rate_unless_they_are_kept(run, ior, preload, program, args):
    """As in the originals, which allocate in the measured time."""
    def look(how):
        run(program, args + " --report=json:r.json" + how, 6, env={"LD_PRELOAD": preload("new-buffers.c")}).ok()
        return [document(ior)["tests"][0]["buffers"]] + [int(n) for n in (ior.cwd / "buffers").read_text().split()]
    name, gathers, untouched, _ = look("")
    assert name == "new" and gathers >= 3 and untouched >= 1, (name, gathers, untouched)
    kept, same, touched, _ = look(" --keep_buffers")
    assert kept == "kept" and same == gathers and touched == 0, (kept, same, touched)


@pytest.mark.parametrize("program, args", [("checkpoint_simulator", "--write_binary"), ("restart_simulator", "--suppress_reads --read_binary")])
def test_each_step_makes_its_buffers(run, ior, preload, program, args):
    """Two in each of 12 steps, and two that stand by: where there is no memory for new ones the run ends in order."""
    args += " --nx 1 --ny 1 --im_world 9 --lm 3 --num_arrays 4 --ntrials 1"
    env = {"LD_PRELOAD": preload("new-buffers.c"), "BYTES": str(6 * 9 * 9 * 4)}
    for how, made in ("", 26), (" --keep_buffers", 0):
        run(program, args + how, 6, env=env).ok()
        assert int((ior.cwd / "buffers").read_text().split()[2]) == made
    run(program, args, 6, env={**env, "FAIL_AT": "8"}).fails(2, "rank 0 on ", "memory for two buffers of 1944 bytes: Cannot allocate memory")


# ---- the parts ----

def test_the_lines_of_the_parts(run, ior):
    sizes = "--nx 90 --n_levs 10 --n_writers 2 --n_tries 2 --report=text:-,json:r.json"
    number = r"\s*-?\d+\.\d{4}"
    head = "        NX,    # levs, # writers,     write (GB),    packet (GB),       Time (s), Eff. BW (GB/s), Avg. BW (GB/s), Rel. Std. Dev."
    out = run("raw_bw", sizes, 4).ok()
    first, second, row = out.stdout.split("\n")[:3]
    assert (first, second) == (" Tested with file type: binary", head), out
    assert row.startswith("        90,        10,         2,         0.0019,         0.0010,"), out
    assert re.fullmatch(r"( +\d+,){3}(%s,){5}%s" % (number, number), row) and len(row) == len(head), out
    assert document(ior)["tests"][0]["writeTime"]["mean"] > 0 and ior.files() == ["r.json"]
    out = run("gatherv", sizes, 4).ok()
    head = "    NX,# levs,# writ,group ,       Time (s), Rel. Std. dev.,    BW (GB/sec)"
    assert re.fullmatch(re.escape(head) + r"\n    90,    10,     2,     2,(%s,){2}%s\n" % (number, number), out.stdout), out
    out = run("combo", sizes, 4).ok()
    head = "    NX,# levs,# writ,group ,       Time (s),     G Time (s),     W Time (s),    BW (GB/sec)"
    assert re.fullmatch(re.escape(head) + r"\n    90,    10,     2,     2,(%s,){3}%s\n" % (number, number), out.stdout), out
    times = document(ior)["tests"][0]
    assert np.isclose(times["time"]["mean"], times["gatherTime"]["mean"] + times["writeTime"]["mean"])


def test_a_file_that_was_left_is_overwritten(run, ior, need_backend):
    need_backend("NETCDF")
    (ior.cwd / "scratch.00000").write_text("left")
    out = run("raw_bw", "--nx 8 --n_levs 2 --n_writers 1 --file_type netcdf", 1).ok()
    assert out.stdout.startswith(" Tested with file type: netcdf\n") and ior.files() == [], out


# ---- what a restart takes, and what rates mean ----

def test_what_a_restart_leaves_out_and_what_it_takes(run, ior):
    """Its flags hold on the command line, too; patterns of messages are timed in both forms."""
    size = "--nx 1 --ny 1 --im_world 7 --lm 3 --num_arrays 2 --ntrials 1 --report=text:-,json:r.json "
    out = run("restart_simulator", size + "--suppress_reads --path nothing --scatter_3d").ok()
    assert out.stdout.endswith("             NaN             NaN\n"), out
    trial = document(ior)["tests"][0]["trials"][0]
    assert trial["gatherTime"] > 0 and trial["putTime"] is None
    run("checkpoint_simulator", size + "--static_data --write_binary --num_writers 3").ok()
    before = (ior.cwd / "checkpoint.bin").read_bytes()
    for how in ("", " --scatter_3d", " --extra_info"):
        run("restart_simulator", size + "--static_data --read_binary --num_readers 2" + how).ok()
    assert (ior.cwd / "checkpoint.bin").read_bytes() == before, "reading writes nothing"


def test_rates_are_told_with_what_they_mean(run, ior, need_backend):
    """And hints come from a file."""
    need_backend("NETCDF")
    (ior.cwd / "hints").write_text("IOR_HINT__MPI__cb_buffer_size=1048576\n")
    run("checkpoint_simulator", "--nx 1 --ny 1 --im_world 7 --lm 3 --ntrials 2 --num_writers 2 --netcdf.hintsFileName=hints "
        "--netcdf.showHints --report=text:-,json:r.json").ok()
    test = document(ior)["tests"][0]
    assert test["hints"].count("hints passed") == 1 and "cb_buffer_size = 1048576" in test["hints"]
    assert {k: v["definition"].split(":")[0] for k, v in test["throughput"].items()} == {
        "real": "wiki", "fileSystem": "wiki", "application": "sound", "storage": "sound"}
    for key, rate in test["throughput"].items():
        values = [t[key + "Throughput"] / MIB for t in test["trials"]]
        assert np.allclose([rate["min"], rate["max"], rate["mean"]], [min(values), max(values), np.mean(values)])
    total, = [r for r in test["rates"] if r["operation"] == "write"]
    assert np.isclose(total["harmonicMean"], 2 * test["bytes"] / sum(p["totalTime"] for p in test["phases"]), rtol=0.2)
