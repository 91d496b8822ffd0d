# SPDX-License-Identifier: BSD-3-Clause
"""Buffers in memory of a GPU, with libraries of ours in the place of the vendors' (stand-ins/gpu): the processor cannot touch
memory of that device, so a program that does ends with a signal."""
import ctypes
import json
import os
import re
import subprocess

import pytest

import conftest
import mdtest_support
import mdw_support
import mib_support
import s3_support
from s3_support import certificates, no_keys, rclone, rclone_server  # noqa

STAND_INS = conftest.HERE / "stand-ins" / "gpu"
SMALL = "-w -W -r -R -b 64k -t 16k -o f "

if conftest.SANITIZED:
    pytestmark = pytest.mark.skip(reason="memory without access and the libraries of a sanitizer do not go together")


def is_here(library):
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


WITHOUT_GPU = pytest.mark.skipif(is_here("libcuda.so.1") or is_here("libamdhip64.so"), reason="a driver for GPUs is installed here")


class Libraries:
    """The libraries of a vendor, and what they have counted."""

    def __init__(self, made, cwd):
        self.made, self.cwd = made, cwd

    def env(self, vendor="cuda", **more):
        return {"LD_LIBRARY_PATH": "%s/%s" % (self.made, vendor), "GPU_LOG": str(self.cwd / "device.log"),
                "FILE_LOG": str(self.cwd / "file.log"), **more}

    def _lines(self, name):
        path = self.cwd / name
        lines = [[int(word) for word in line.split()] for line in path.read_text().splitlines()] if path.exists() else []
        path.unlink(missing_ok=True)
        return sorted(lines)

    def device(self):
        """A row for each task since the last call: rank, device, allocations, copies to the device, to the host, bytes, left."""
        return self._lines("device.log")

    def file(self):
        """rank, files, reads, writes, bytes, handles and buffers left."""
        return self._lines("file.log")


def compile_all(top):
    for vendor, device, file, more in (("cuda", "libcuda.so.1", "libcufile.so.0", []),
                                       ("hip", "libamdhip64.so", "libhipfile.so", ["-DHIP"])):
        (top / vendor).mkdir()
        for source, name in (("device.c", device), ("file.c", file)):
            subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", *more, str(STAND_INS / source), "-o",
                            str(top / vendor / name), "-ldl"], check=True)
    (top / "nofile").mkdir()
    os.symlink(top / "cuda" / "libcuda.so.1", top / "nofile" / "libcuda.so.1")
    return str(top)


@pytest.fixture
def gpu(tmp_path_factory, tmp_path):
    return Libraries(conftest.once(tmp_path_factory, "gpu-stand-ins", compile_all), tmp_path)


mdtest = conftest.fixture_of(mdtest_support.Mdtest)
mdw = conftest.fixture_of(mdw_support.Workbench)
mib = conftest.fixture_of(mib_support.Mib)


def facts(cwd, name="r.json"):
    (test,) = json.loads((cwd / name).read_text())["tests"]
    return test


# ---- every kind of memory, every way ----

WAYS = [("cuda", "1", "", "mapped", "Managed", "CPU"), ("cuda", "2", "", "mapped", "Managed", "GPU"),
        ("cuda", "3", "", "staged", "GPU", "GPU"), ("cuda", "1", "--gpu-path=staged", "staged", "Managed", "CPU"),
        ("cuda", "2", "--gpu-path=staged", "staged", "Managed", "GPU"),
        ("cuda", "1", "--gpuDirect --posix.odirect", "direct", "Managed", "CPU"),
        ("cuda", "2", "-O GPUDirect=1 --posix.odirect", "direct", "Managed", "GPU"),
        ("cuda", "3", "--gpu-path=direct --posix.odirect", "direct", "GPU", "GPU"),
        ("hip", "3", "", "staged", "GPU", "GPU"), ("hip", "2", "", "mapped", "Managed", "GPU"),
        ("hip", "3", "--gpuDirect --posix.odirect", "direct", "GPU", "GPU")]


@pytest.mark.parametrize("vendor, kind, words, path, buffer, access", WAYS)
def test_data_go_through_the_memory_that_was_asked_for(ior, gpu, vendor, kind, words, path, buffer, access):
    hidden = {"GPU_MANAGED": "hidden"} if kind == "2" and path != "mapped" else {}
    run = ior(SMALL + "-O allocateBufferOnGPU=%s %s --report=text:-,json:r.json" % (kind, words), np=None,
              env=gpu.env(vendor, **hidden)).ok()
    assert run.accesses() == ["write", "read"] and not run.warnings, run
    assert (run.options["memoryBuffer"], run.options["dataAccess"], run.options["GPUDirect"]) == (
        buffer, access, str(int(path == "direct"))), run
    told = facts(ior.cwd)["gpu"]
    assert (told["path"], told["driver"], told["name"], told["bus"]) == (path, vendor.upper(), "Stand-in 0", "0000:a0:00.0"), told
    copies = {row["operation"]: (row["copies"], row["bytes"]) for row in facts(ior.cwd).get("gpuCopies", [])}
    assert copies == (dict.fromkeys(("write", "check write", "read"), (4, 65536)) if path == "staged" else {})
    ((_, _, made, _, _, _, left),) = gpu.device()
    assert made == (2 if kind == "3" or kind == "2" or path == "staged" else 1) and left == 0
    if path == "direct":
        assert gpu.file() == [[0, 3, 8, 4, 3 * 65536, 0, 0]]


@pytest.mark.parametrize("words", ["", "-l signature --depth=4", "--s3.object=transfer -l random"])
def test_objects_of_a_service(ior, gpu, need_backend, rclone, words):
    need_backend("S3")
    ior(s3_support.SMALL + "-w -W -r -R -O allocateBufferOnGPU=3 %s -o %s" % (words, rclone.name("d/x")), np=None, env={**rclone.env, **gpu.env()}).ok()
    ((_, _, _, _, _, copied, left),) = gpu.device()
    assert copied >= 3 * 256 * 1024 and left == 0


def test_direct_transfers_of_threads(ior, gpu):
    """Each thread of the queue makes the context its own."""
    ior(SMALL + "-O allocateBufferOnGPU=3,GPUDirect=1 --posix.odirect --posix.threads=3 -l random", np=None, env=gpu.env()).ok()
    assert gpu.file() == [[0, 3, 8, 4, 3 * 65536, 0, 0]]


def test_short_transfers_of_the_library_are_continued(ior, gpu):
    ior(SMALL + "-O allocateBufferOnGPU=3,GPUDirect=1 --posix.odirect", np=None, env=gpu.env(FILE_SHORT="4096")).ok()
    assert gpu.file() == [[0, 3, 32, 16, 3 * 65536, 0, 0]]


def test_other_programs(mdtest, mdw, mib, gpu):
    mdtest("-F -n 3 -w 3k -e 3k -i 2 --verify-read --verify-write --allocateBufferOnGPU -d {d}", np=None, env=gpu.env()).ok()
    assert [row[2:5] for row in gpu.device()] == [[2, 0, 0]]  # managed memory
    mdtest("-F -n 3 -w 3k -e 3k -i 2 --verify-read --verify-write --allocateBufferOnGPU=3 -d {d}", np=None, env=gpu.env()).ok()
    ((_, _, made, inward, outward, _, left),) = gpu.device()
    assert made == 4 and inward > 0 and outward > 0 and left == 0
    mdw("-I 3 -P 4 -D 2 -S 3901 -X --allocateBufferOnGPU=3", np=None, env=gpu.env()).ok()
    assert len(gpu.device()) == 1
    mib("-l 5 -s 16k --verify --allocateBufferOnGPU=3 -t .", np=None, env=gpu.env()).ok()
    ((_, _, _, inward, outward, _, left),) = gpu.device()
    assert inward >= 10 and outward >= 10 and left == 0


MODEL = "--scale=1/16384 -o ckpt --rules=none "


@pytest.fixture
def mc(ior):
    ior.program = conftest.BUILD / "src" / "model_checkpoint"
    return ior


@pytest.mark.parametrize("words, path", [("", "staged"), ("--posix.odirect --gpu-path=direct", "direct"), ("--save=async", "staged"),
                                         ("--save=async --posix.odirect --gpu-direct", "direct")])
def test_the_state_of_a_model_is_on_the_gpu(mc, gpu, words, path):
    """An asynchronous save copies the state from the GPU and writes the copy; a load brings it back."""
    mc(MODEL + "--gpu-memory=3 --remove --report=text:-,json:r.json " + words, np=2, env=gpu.env()).ok()
    test = facts(mc.cwd)
    assert test["gpu"]["path"] == path and mc.files() == ["r.json"]
    copied = {row["operation"]: row["bytes"] for row in test.get("gpuCopies", [])}
    staged = {"load"} if path == "staged" else set()
    assert set(copied) == staged | ({"copy"} if "async" in words else {"save"} if staged else set()), copied
    rows = gpu.device()
    assert [row[1] for row in rows] == [0, 1] and all(row[4] > 0 and row[6] == 0 for row in rows), rows
    assert all(left == [0, 0] for left in [row[5:] for row in gpu.file()])


def test_a_copy_that_spoils_a_state_is_found(mc, gpu):
    for words in ("", "--save=async "):
        run = mc(MODEL + "--gpu-memory=3 --remove " + words, np=None, env=gpu.env(GPU_CORRUPT="1"))
        assert run.returncode == 4 and "wrong data" in run.errors[-1], run
    mc(MODEL + "--gpu-memory=2 --layout=arrays -a HDF5", np=None, env=gpu.env()).fails(1, "--layout=arrays uses host memory")


# ---- the device of a task ----

@pytest.mark.parametrize("words, devices", [("", [0, 1, 2, 0]), ("-O GPUid=1", [1, 1, 1, 1]), ("-O GPUid=near", [0, 1, 2, 0])])
def test_tasks_of_a_node_take_devices_in_turn(ior, gpu, words, devices):
    run = ior("-w -b 16k -t 16k -F -o f -O allocateBufferOnGPU=3 %s --report=text:-,json:r.json" % words, np=4, env=gpu.env(GPU_DEVICES="3")).ok()
    assert [row[1] for row in gpu.device()] == devices
    assert [note for note in run.notes if "share a GPU" in note] and facts(ior.cwd)["gpu"]["shared"] == 1, run


def test_tasks_with_devices_of_their_own_share_none(ior, gpu):
    run = ior("-w -b 16k -t 16k -F -o f -O allocateBufferOnGPU=3 --report=json:r.json", np=2, env=gpu.env()).ok()
    assert not [note for note in run.notes if "share a GPU" in note] and facts(ior.cwd)["gpu"]["shared"] == 0, run


def test_a_transfer_in_compatibility_mode_is_not_called_direct(ior, gpu):
    run = ior("-w -b 16k -t 16k -o f -O allocateBufferOnGPU=3,GPUDirect=1 --posix.odirect --report=json:r.json", np=None,
              env=gpu.env(FILE_COMPAT="1")).ok()
    assert facts(ior.cwd)["gpu"]["compatibilityMode"] == 1
    (found,) = [f for f in facts(ior.cwd)["findings"] if f["id"] == "H44"]
    assert (found["severity"], found["value"]) == ("SUSPECT", 1) and "memory of the host" in found["text"], (found, run)


def test_devices_that_need_no_kernel_module_are_direct_without_it(ior, gpu):
    ior("-w -b 16k -t 16k -o f -O allocateBufferOnGPU=3,GPUDirect=1 --posix.odirect --report=json:r.json", np=None,
        env=gpu.env(FILE_COMPAT="1", FILE_PEER="1")).ok()
    assert facts(ior.cwd)["gpu"]["compatibilityMode"] == 0


def test_hipfile_does_not_show_whether_it_is_direct(ior, gpu):
    """Its properties are larger than those of cuFile, its version has three numbers, and its driver closes by another name."""
    ior("-w -b 16k -t 16k -o f -O allocateBufferOnGPU=3,GPUDirect=1 --posix.odirect --report=json:r.json", np=None,
        env=gpu.env("hip", FILE_COMPAT="1")).ok()
    told = facts(ior.cwd)
    assert (told["gpu"]["compatibilityMode"], told["gpu"]["fileVersion"]) == (0, 0), told["gpu"]
    assert {f["outcome"] for f in told["findings"] if f["id"] == "H44"} <= {"not judged"}, told["findings"]


@pytest.mark.parametrize("vendor", ["cuda", "hip"])
def test_a_buffer_that_cannot_be_registered_is_used(ior, gpu, vendor):
    """As with little BAR memory: the library has buffers of its own."""
    run = ior(SMALL + "-O allocateBufferOnGPU=3,GPUDirect=1 --posix.odirect", np=None, env=gpu.env(vendor, FILE_REGISTER="5036")).ok()
    assert [note for note in run.notes if "not registered" in note and "code 5036" in note], run
    assert gpu.file() == [[0, 3, 8, 4, 3 * 65536, 0, 0]]


def test_numa_nodes_of_gpu_and_task(ior, gpu):
    """The place of the stand-in is not in /sys: its node and the distance are not known."""
    ior("-w -b 16k -t 16k -o f --gpu-memory=3 --gpu-id=near --report=json:r.json", np=None, env=gpu.env()).ok()
    told = facts(ior.cwd)["gpu"]
    assert told["numaNode"] == told["numaDistance"] == -1 and told["taskNumaNode"] >= 0, told


NAMES = ["-O allocateBufferOnGPU=3,GPUid=1", "-O allocateBufferOnGPU=3 -O gpuID=1", "--allocateBufferOnGPU=3 --GPUid=1",
         "--allocateBufferOnGPU 3 --gpuID 1", "--gpu-memory=3 --gpu-id=1"]


@pytest.mark.parametrize("program", ["ior", "mdtest", "mdw", "mib"])
def test_every_name_of_the_options_is_one_of_every_program(ior, mdtest, mdw, mib, gpu, program):
    run, words = {"ior": (ior, "-w -b 16k -t 16k -o f "), "mdtest": (mdtest, "-F -n 2 -w 4k -e 4k -d {d} "), "mdw": (mdw, "-I 2 -P 2 -D 1 -S 4096 "),
                  "mib": (mib, "-l 4 -s 16k -t . ")}[program]
    for names in NAMES if program == "ior" else NAMES[2:]:
        run(words + names, np=None, env=gpu.env()).ok()
        assert [row[1] for row in gpu.device()] == [1], names
        run(words + names + " --gpuDirect --posix.odirect", np=None, env=gpu.env()).ok()
        assert gpu.device() and gpu.file()[0][4] > 0, names
    run(words + "--gpu-memory", np=None, env=gpu.env()).ok()
    assert len(gpu.device()) == 1


# ---- what is refused ----

REFUSED = [("--gpuDirect", "--gpuDirect and --gpu-path are for buffers in memory of a GPU"),
           ("--gpu-path=staged", "are for buffers in memory of a GPU"),
           ("-O allocateBufferOnGPU=3,GPUDirect=1", "add --posix.odirect"), ("-O allocateBufferOnGPU=3 -a MMAP",
            "allocateBufferOnGPU=3 with MMAP: its buffers are in host memory; use -a POSIX"),
           ("-O allocateBufferOnGPU=3,GPUDirect=1 --gpu-path=staged", "contradict each other"),
           ("-O allocateBufferOnGPU=3 --gpu-path=mapped", "cannot access device memory"),
           ("-O allocateBufferOnGPU=3 --gpu-path=mapped -a DUMMY --dummy.store", "cannot access device memory"),
           ("-O allocateBufferOnGPU=3 --gpu-path=mapped -a MPIIO", "does not report support for device memory"),
           ("-O allocateBufferOnGPU=2 --gpu-path=mapped -a AIO", "choose staged"),
           ("-O allocateBufferOnGPU=3,GPUDirect=1 -a AIO --posix.odirect", "with AIO: GPUDirect: cuFile has no files of this backend"),
           ("-O allocateBufferOnGPU=3,GPUid=x", "GPUid: 'x'"), ("-O allocateBufferOnGPU=4", "allocateBufferOnGPU")]


@pytest.mark.parametrize("words, text", REFUSED)
def test_what_cannot_be_is_refused(ior, gpu, words, text):
    run = ior("-w -b 16k -t 16k -o f " + words, np=None, env=gpu.env())
    assert run.returncode == 1 and len(run.errors) == 1 and text in run.errors[0] and ior.files() == [], run


@WITHOUT_GPU
def test_a_device_that_is_not_there(ior, gpu):
    for env, words, text in ((gpu.env(GPU_DEVICES="0"), "", "CUDA: no device; HIP: libamdhip64.so"),
                             ({}, "", "libcuda.so.1: cannot open"), (gpu.env(), ",GPUid=2", "GPU 2: this task sees 2"),
                             (gpu.env("nofile"), ",GPUDirect=1 --posix.odirect", "libcufile.so.0")):
        run = ior("-w -b 16k -t 16k -o f -O allocateBufferOnGPU=3" + words, np=None, env=env)
        assert run.returncode == 2 and len(run.errors) == 1 and text in run.errors[0] and ior.files() == [], run


def test_programs_with_buffers_of_the_host_say_so(ior):
    done = subprocess.run([str(conftest.BUILD / "src" / "h5exerciser"), "--gpu-memory=3"], capture_output=True, text=True, cwd=ior.cwd,
                          env=conftest.program_env())
    assert done.returncode == 1 and "in memory of the host" in done.stderr, done


# ---- the libraries of the vendor ----

def vendor_file(path):
    """A file that the set-up takes from PyPI."""
    found = sorted(s3_support.SERVERS.glob("lib/python3*/site-packages/nvidia/" + path))
    if not found:
        pytest.skip("no headers of CUDA and cuFile from PyPI (contrib/quickstart --tests)")
    return found[0]


def signatures(*more):
    return ["gcc", "-std=gnu11", "-Wall", "-Werror", "-I%s" % (conftest.SOURCE / "src"), "-I%s" % (conftest.BUILD / "src"), *more,
            str(STAND_INS / "signatures.c")]


def compiled(words):
    done = subprocess.run(words + ["-fsyntax-only"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_signatures_and_numbers_are_those_of_the_headers():
    words = signatures(*("-I%s" % vendor_file(path).parent for path in ("cuda_runtime/include/cuda.h", "cufile/include/cufile.h")))
    compiled(words)
    names = re.findall(r'"(cu\w+)"', subprocess.run(words + ["-E", "-P"], capture_output=True, text=True, check=True).stdout.split("looked_up")[1])
    ours = "".join((conftest.SOURCE / "src" / "base" / "gpu" / name).read_text() for name in ("gpu.h", "vendor.c"))
    assert len(names) == 6 and all(re.search(r"\b%s\b" % re.sub("^cuFile|^cu", "", name), ours) for name in names), names


def test_signatures_of_the_other_vendor_are_those_of_its_manual():
    compiled(signatures("-DHIP"))


@pytest.mark.parametrize("row", ["F(free_host, result, (const void *), MemFreeHost, HostFree)", "F(free_host, int *, (void *), MemFreeHost, HostFree)",
                                 "F(free_host, result, (void *), Free_Host, Free_Host)"])
@pytest.mark.parametrize("vendor", ["cuda", "hip"])
def test_a_row_with_another_signature_is_found(tmp_path, vendor, row):
    table = (conftest.SOURCE / "src" / "base" / "gpu" / "gpu.h").read_text()
    wrong = table.replace("F(free_host, result, (void *), MemFreeHost, HostFree)", row)
    (tmp_path / "base" / "gpu").mkdir(parents=True)
    (tmp_path / "base" / "gpu" / "gpu.h").write_text(wrong)
    (tmp_path / "base" / "gpu" / "vendor.c").write_text((conftest.SOURCE / "src" / "base" / "gpu" / "vendor.c").read_text())
    more = ["-DHIP"] if vendor == "hip" else ["-I%s" % vendor_file(path).parent for path in ("cuda_runtime/include/cuda.h", "cufile/include/cufile.h")]
    words = signatures(*more)
    done = subprocess.run(words[:3] + ["-I%s" % tmp_path] + words[3:] + ["-fsyntax-only"], capture_output=True, text=True)
    assert wrong != table and done.returncode != 0 and re.search("Free_?Host|FreeHost", done.stderr, re.I), done.stderr


def test_the_real_cufile_says_what_it_lacks(ior, gpu):
    """It needs more of libcuda than the stand-in has: one line, and nothing is written."""
    folder = vendor_file("cufile/lib/libcufile.so.0").parent
    env = gpu.env()
    env["LD_LIBRARY_PATH"] = "%s:%s/nofile" % (folder, gpu.made)
    run = ior("-w -b 16k -t 16k -o f -O allocateBufferOnGPU=3,GPUDirect=1 --posix.odirect", np=None, env=env)
    assert run.returncode == 2 and len(run.errors) == 1 and "cuFileDriverOpen: " in run.errors[0] and "code 50" in run.errors[0], run
    assert ior.files() == ["cufile.log"]


# ---- failures ----

FAULTS = [("GPU_FAIL", "alloc:1", 2, r"allocate memory of the device: out of memory \(error 2\)"), ("GPU_FAIL", "host:1", 2, "allocate pinned memory"),
          ("GPU_FAIL", "use:1:999", 2, r"take the device: another error \(error 999\)"),
          ("GPU_FAIL", "copy:3:700", 3, "write 16384 bytes at offset .* illegal memory access"),
          ("GPU_FAIL", "copy:9:700", 3, "illegal memory access")]


@pytest.mark.parametrize("name, value, status, text", FAULTS)
def test_a_failure_on_one_rank_ends_all(ior, gpu, name, value, status, text):
    run = ior(SMALL + "-F -O allocateBufferOnGPU=3", np=2, env=gpu.env(GPU_RANK="1", **{name: value}))
    assert run.returncode == status and len(run.errors) == 1 and "rank 1 on " in run.errors[0], run
    assert re.search(text, run.errors[0]) and ior.files() == [], run


@pytest.mark.parametrize("value, text", [("2", "code 5011"), ("2:1", "cuFileWrite: Input/output error")])
def test_a_direct_transfer_that_fails_is_named(ior, gpu, value, text):
    for threads in ("", " --posix.threads=2"):
        run = ior("-w -b 64k -t 16k -o f -O allocateBufferOnGPU=3,GPUDirect=1 --posix.odirect" + threads, np=None, env=gpu.env(FILE_FAIL=value))
        at = "16384" if not threads else r"\d+"  # threads come in any order
        assert run.returncode == 3 and re.search("write 16384 bytes at offset %s of 'f'.*%s" % (at, text), run.errors[0]), run
    run = ior("-w -b 64k -t 16k -o f -O allocateBufferOnGPU=3,GPUDirect=1 --posix.odirect", np=None, env=gpu.env(FILE_OPEN="5001"))
    assert run.returncode == 2 and "nvidia_fs" in run.errors[0] and ior.files() == [], run


def test_a_dry_run_needs_no_gpu(ior):
    ior(SMALL + "-O allocateBufferOnGPU=3 --dry-run", np=None).ok()


# ---- the script for a real GPU ----

@pytest.fixture
def script(tmp_path):
    """Run testing/gpu/run with small files and some ways."""
    def run(env, ways="host|device"):
        return subprocess.run([str(conftest.SOURCE / "testing" / "gpu" / "run"), "--build", str(conftest.BUILD), "--dir", str(tmp_path), "--size",
                               "32m", "--turns", "1", "--ways", ways], capture_output=True, text=True, env={**conftest.program_env(), **env})
    return run


@pytest.mark.slow
def test_the_script_for_a_real_gpu_passes(script, gpu):
    done = script(gpu.env(), "host|device|managed, direct")
    rows = [line for line in done.stdout.split("\n") if re.match("(host|device|managed), |host ", line)]
    assert done.returncode == 0 and not done.stderr and len(rows) > 50, done
    assert all(re.search("right$|[0-9-]$", row) for row in rows), done.stdout
    assert "Stand-in 0, CUDA driver 12090, bus 0000:a0:00.0" in done.stdout


@WITHOUT_GPU
def test_the_script_for_a_real_gpu_names_what_is_missing(script, gpu):
    done = script({"LD_LIBRARY_PATH": ""})
    assert done.returncode == 77 and "skipped: ERROR: " in done.stdout and "libcuda.so.1" in done.stdout, done


@pytest.mark.slow
def test_the_script_for_a_real_gpu_sees_wrong_data(script, gpu):
    done = script(gpu.env(GPU_CORRUPT="3"), "device, staged")
    assert done.returncode == 1 and re.search("device, staged .*(wrong|[Ii]ncorrect|differ)", done.stdout), done
