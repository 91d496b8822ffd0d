# SPDX-License-Identifier: BSD-3-Clause
"""What the backends do that is theirs alone: MMAP, MPIIO, HDF5, NCMPI, and the layouts of POSIX."""
import contextlib
import fcntl
import os
import pathlib
import re
import struct
import subprocess

import pytest

import conftest
import model
from conftest import TELL


@pytest.fixture
def small(tmp_path):
    """A file system of 4 MiB."""
    with conftest.on_tmpfs(tmp_path / "small", "size=4m") as folder:
        yield folder


@contextlib.contextmanager
def nothing_allocates(preload, and_nothing_populates=False):
    yield ["env", "LD_PRELOAD=" + preload("no-allocation.c")] + ["NO_POPULATE=1"] * and_nothing_populates


# ---- POSIX ----

def waits_for_lock(pid, kind):
    """A line of a process that waits for a lock has an arrow."""
    return any(re.search(r"-> POSIX +ADVISORY +%s +%d " % (kind, pid), line) for line in pathlib.Path("/proc/locks").read_text().split("\n"))


@pytest.mark.parametrize("phase, kind, held", [("-r", "READ", fcntl.F_WRLCK), ("-w -E", "WRITE", fcntl.F_RDLCK)])
def test_a_transfer_waits_for_the_lock_that_another_process_has_on_its_range(ior, phase, kind, held):
    ior("-w -k -o f -b 8k -t 4k", np=None).ok()
    with open(ior.cwd / "f", "r+b") as file:
        fcntl.fcntl(file, fcntl.F_SETLK, struct.pack("hhqqi4x", held, os.SEEK_SET, 4096, 4096, 0))
        proc = ior.start(phase + " -k -o f -b 8k -t 4k --posix.rangelocks", np=None)
        conftest.wait_until(lambda: proc.poll() is not None or waits_for_lock(proc.pid, kind))
        assert proc.poll() is None, ior.finish(proc)
    ior.finish(proc).ok()  # the lock has ended with its file


# ---- MMAP ----

@pytest.mark.sanitize
@pytest.mark.parametrize("args, what", [
    ("", dict(block=24576, size=8192, segments=3, packet="o")),
    ("-Y -e --mmap.madv_dont_need", dict(block=3000, size=1000, segments=2, tasks=3, packet="o")),
    ("-F --mmap.madv_pattern", dict(block=24576, size=8192, segments=2, packet="o", private=True)),
], ids=["plain", "odd sizes with sync", "file per process"])
def test_mapped_files_have_the_right_bytes_and_size(ior, need_backend, args, what):
    need_backend("MMAP")
    run = ior("-a MMAP -w -W -R -k -O warningAsErrors=1 %s -b %d -t %d -s %d -G 7 -l o" % (
        args, what["block"], what["size"], what["segments"]), np=what.get("tasks", 2)).ok()
    assert {p.name[len("testFile"):]: p.read_bytes() for p in ior.cwd.iterdir()} == model.files(**what)
    assert run.messages == []


def test_a_full_disk_is_an_error_of_open_for_a_mapped_file(ior, need_backend, small):
    need_backend("MMAP")
    run = ior("--no-space-check -a MMAP -w -b 4m -t 64k -o %s/f" % small)
    run.fails(3, "allocate the 8388608 bytes of '%s/f'" % small, "No space left on device")


@pytest.mark.parametrize("old_kernel", [False, True])
def test_a_full_disk_is_an_error_of_a_transfer_where_nothing_can_be_allocated(ior, need_backend, preload, small, old_kernel):
    need_backend("MMAP")
    with nothing_allocates(preload, old_kernel) as prefix:
        run = ior("--no-space-check -a MMAP -w -b 4m -t 64k -o %s/f" % small, prefix=prefix)
        run.fails(3, "write 65536 bytes", "%s/f" % small, "No space left on device")
        assert [note for note in run.notes if "cannot preallocate files" in note]
        ior("-a MMAP -w -R -l o -b 1m -t 64k -o %s/f" % small, prefix=prefix).ok()


def test_a_mapped_file_that_is_too_short_ends(ior, need_backend):
    need_backend("MMAP")
    (ior.cwd / "testFile").write_bytes(bytes(100000))
    ior("-a MMAP -r -k -b 64k -t 8k").fails(3, "read 8192 bytes at offset 98304", "end of file")
    (ior.cwd / "testFile").write_bytes(b"")
    ior("-a MMAP -r -k -b 64k -t 8k").fails(3, "end of file")


def test_mapping_keeps_what_a_longer_file_has(ior, need_backend):
    need_backend("MMAP")
    (ior.cwd / "testFile").write_bytes(b"x" * 200000)
    ior("-a MMAP -w -E -k -b 64k -t 64k -G 7 -l o", np=1).ok()
    data = (ior.cwd / "testFile").read_bytes()
    assert data == model.files(65536, 65536, tasks=1, packet="o")[""] + b"x" * (200000 - 65536)


def test_private_files_have_the_size_of_one_task(ior, need_backend):
    """Preallocation and mapping give each file its own share and not that of all."""
    need_backend("MMAP")
    ior.script("api=MPIIO,testFile=a\n--mpiio.preallocate=1", "api=MMAP,testFile=b")
    run = ior("-F -w -R -k -b 64k -t 8k -s 2 -G 1 -f s", np=2).ok()
    assert {p.name: p.stat().st_size for p in ior.cwd.glob("?.*")} == {"%s.%08d" % (f, n): 131072 for f in "ab" for n in (0, 1)}
    assert run.warnings == [] and run.accesses() == ["write", "read"] * 2, run


# ---- MPIIO ----

def test_strided_segments_have_their_own_data(ior, need_backend):
    """A strided data type writes and reads each segment's own data, for other tasks' data, too: independent, collective, private."""
    need_backend("MPIIO")
    ior.script("testFile=a", "testFile=b,collective=1", "testFile=c,collective=0,filePerProc=1")
    run = ior("-a MPIIO --mpiio.useFileView --mpiio.useStridedDatatype -w -W -R -C -k -G 7 -l o -b 24576 -t 8192 -s 4 -f s", np=3).ok()
    assert run.warnings == []
    for name in "abc":
        want = model.files(block=24576, size=8192, segments=4, tasks=3, packet="o", private=name == "c")
        assert {p.name[1:]: p.read_bytes() for p in ior.cwd.glob(name + "*")} == want, name


# ---- HDF5 ----

def test_hdf5_checks_odd_numbers_of_transfers(ior, need_backend):
    """Checked reads of several datasets find no errors where there are none."""
    need_backend("HDF5")
    cases = [(blocks, segments, packet) for blocks, segments in (("8k", 5), ("24k", 4), ("40k", 3)) for packet in "oir"]
    ior.script(*("blockSize=%s,segmentCount=%d,dataPacketType=%s" % case for case in cases))
    run = ior("-a HDF5 -w -W -R -t 8k -f s" + TELL, np=2).ok()
    found = {case: [(p["operation"], p["wrong"]) for p in test["phases"]] for case, test in zip(cases, run.document()["tests"])}
    assert found == {case: [("write", 0), ("check write", 0), ("read", 0)] for case in cases} and run.warnings == [], run


# ---- NCMPI ----

NETCDF = {
    "independent": "", "collective": "collective=1", "another's data": "collective=0,reorderTasksConstant=1", "another's data, collective": "collective=1",
    "collective with syncs": "reorderTasksConstant=0,fsync=1,fsyncPerWrite=1", "syncs": "collective=0",
    "one segment": "fsync=0,fsyncPerWrite=0,segmentCount=1", "one segment of another": "reorderTasksConstant=1"}


def test_netcdf_keeps_no_files_of_bytes_and_says_what_does(ior, need_backend):
    need_backend("NETCDF")
    for program, words in (("ior", "-a NETCDF -w"), ("ior", "-a NETCDF -w --dry-run"), ("mdtest", "-a NETCDF -n 2 -w 10 -d d"),
                           ("md-workbench", "-a NETCDF -o d -D 1 -P 2 -I 1"), ("mib", "-F --api=NETCDF -t . -l 2 -s 4k")):
        ior.program = conftest.BUILD / "src" / program
        ior(words, np=None).fails(1, "NETCDF stores only arrays (h5exerciser, the programs for checkpoints)", "use -a HDF5 or -a NCMPI")
        assert ior.files() == [], program


def test_netcdf_data_pass_their_checks_in_every_repetition(ior, need_backend):
    """Also what another task wrote, alone and together."""
    need_backend("NCMPI")
    ior.script(*NETCDF.values())
    run = ior("-a NCMPI -w -W -r -R -i 2 -b 96k -t 32k -s 3 -l o -f s" + TELL, np=3).ok()
    found = {name: [r["access"] for r in test["Results"]] for name, test in zip(NETCDF, run.document()["tests"])}
    assert found == {name: ["write", "read"] * 2 for name in NETCDF} and run.messages == [], run


def test_a_netcdf_file_is_a_header_and_the_file_of_posix(ior, need_backend):
    need_backend("NCMPI")
    ior("-a NCMPI -w -k -b 24k -t 8k -s 2 -G 7 -l o").ok()
    data = (ior.cwd / "testFile").read_bytes()
    assert data[:4] == b"CDF\5" and data[512:] == model.files(24576, 8192, 2, packet="o")[""]


def test_a_part_of_a_netcdf_file_is_written_over_on_request(ior, need_backend):
    need_backend("NCMPI")
    ior("-a NCMPI -w -k -b 24k -t 8k -s 2 -G 7 -l o").ok()
    ior("-a NCMPI -w -E -k -b 24k -t 8k -s 1 -G 8 -l o").ok()
    data = (ior.cwd / "testFile").read_bytes()[512:]
    assert data[:49152] == model.files(24576, 8192, 1, packet="o", signature=8)[""]
    assert data[49152:] == model.files(24576, 8192, 2, packet="o")[""][49152:]


@pytest.mark.parametrize("args, words", [
    ("-F", "file-per-proc not available in current NCMPI"), ("-z", "random offset not available with NCMPI")])
def test_what_netcdf_files_cannot_be_is_refused(ior, need_backend, args, words):
    need_backend("NCMPI")
    ior("-a NCMPI " + args).fails(1, words)


def test_options_without_meaning_for_pnetcdf_are_accepted_with_a_note(ior, need_backend):
    need_backend("NCMPI")
    run = ior("-a NCMPI -b 8k -t 8k --ncmpi.preallocate --ncmpi.useFileView").ok()
    assert len([note for note in run.notes if "have no effect" in note]) == 1


@pytest.mark.parametrize("args", ["", "-c"])
def test_a_netcdf_file_of_another_shape_or_too_short_is_an_error(ior, need_backend, args):
    need_backend("NCMPI")
    ior("-a NCMPI -w -k -b 24k -t 8k -s 2 -G 7").ok()
    ior("-a NCMPI -r -k -b 16k -t 8k -s 2 " + args).fails(3, "has blocks of 3 transfers of 8192 bytes, this test needs 2 of 8192")
    ior("-a NCMPI -r -k -b 24k -t 8k -s 3 " + args).fails(3, "end of file")
    path = ior.cwd / "testFile"
    path.write_bytes(path.read_bytes()[:60000])
    ior("-a NCMPI -r -k -b 24k -t 8k -s 2 " + args).fails(3, "end of file")
    path.write_bytes(b"no netCDF file at all")
    ior("-a NCMPI -r -k -b 24k -t 8k -s 2 " + args).fails(3, "ncmpi_open 'testFile'")


@pytest.mark.parametrize("args", ["", "-c"])
def test_a_full_disk_is_not_success_for_a_netcdf_file(ior, need_backend, small, args):
    need_backend("NCMPI")
    run = ior("--no-space-check -a NCMPI -w -b 4m -t 64k %s -o %s/f" % (args, small))
    assert run.returncode == 3 and any("full" in e or "No space left" in e for e in run.errors), run


# ---- POSIX ----

@pytest.mark.parametrize("option, what", [
    ("lustre.stripecount=4", "Lustre"), ("lustre.stripesize=1m", "Lustre"), ("lustre.startost=0", "Lustre"),
    ("lustre.ignorelocks", "Lustre"), ("lustre.pool=fast", "Lustre"), ("lustre.osts=0-3", "Lustre"), ("lustre.overstripe", "Lustre"), ("gpfs.hintaccess", "GPFS"), ("gpfs.releasetoken", "GPFS"),
    ("gpfs.finegrainwritesharing", "GPFS"), ("gpfs.finegrainreadsharing", "GPFS"), ("gpfs.createsharing", "GPFS"),
    ("beegfs.NumTargets=4", "BeeGFS"), ("beegfs.ChunkSize=1m", "BeeGFS")])
def test_a_layout_that_this_build_cannot_make_is_refused_by_name(ior, option, what):
    if re.search(r"^#define HAVE_%s 1$" % what.upper(), (conftest.BUILD / "src" / "config.h").read_text(), re.M):
        pytest.skip("this build has %s" % what)
    run = ior("-b 8k -t 8k --posix." + option, np=None)
    run.fails(1, "--posix." + option.split("=")[0], "needs a build with " + what)
    assert ior.files() == []


def test_layouts_that_ask_for_nothing_are_accepted(ior):
    ior("-b 8k -t 8k --posix.lustre.stripecount=0 --posix.lustre.startost=-1 --posix.beegfs.ChunkSize=-1 --posix.gpfs.hintaccess=0",
        np=None).ok()
