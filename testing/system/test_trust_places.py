# SPDX-License-Identifier: BSD-3-Clause
"""What a number is worth depends on what the files stand on: file systems that stand on others, images, holes, compression.

Each run that is found to be dishonest has an honest one beside it."""
import json
import os
import shutil
import subprocess

import pytest

import conftest


def judged(ior, args, **kwargs):
    ior(args + " --report=json:r.json", np=None, **kwargs).ok()
    test, = json.loads((ior.cwd / "r.json").read_text())["tests"]
    return {f["id"]: f for f in test["findings"]}, test


def outcomes(findings, *ids):
    return {i: findings[i]["severity"] if findings[i]["outcome"] == "found" else findings[i]["outcome"] for i in ids}


def namespace(ior, steps):
    """A prefix that runs a program with mounts that nobody else sees. Skips where they cannot be made."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("mounting needs root and unshare")
    prefix = ["unshare", "-m", "sh", "-c", "%s || exit 77; exec \"$@\"" % steps, "sh"]
    done = subprocess.run(prefix + ["true"], cwd=ior.cwd, capture_output=True, text=True, timeout=60)
    if done.returncode == 77:
        pytest.skip("nothing of this kind can be mounted here: " + done.stderr)
    return prefix


@pytest.fixture
def on_disk(ior):
    """The working directory is on a block device of the machine, not on an image or in memory."""
    number = os.stat(ior.cwd).st_dev
    device = os.path.realpath("/sys/dev/block/%d:%d" % (os.major(number), os.minor(number)))
    if not os.path.isdir(device) or "/loop" in device:
        pytest.skip("the tests do not run on a disk")


# ---- file systems that stand on others ----

@pytest.fixture
def overlay(ior):
    for name in ("low", "up", "work", "m"):
        (ior.cwd / name).mkdir()
    return namespace(ior, "mount -t overlay weir -o lowerdir=low,upperdir=up,workdir=work m")


def test_the_page_cache_below_overlayfs_is_seen(ior, overlay, on_disk):
    """cachestat(2) sees no page there: every container was found to be fine."""
    f, _ = judged(ior, "-t 1m -b 8m -o m/f", prefix=overlay)
    assert f["H03"]["outcome"] == "found" and f["H03"]["value"] == 100, f["H03"]
    assert f["H05"]["outcome"] == "not judged" and "dirty" in f["H05"]["text"], f["H05"]
    f, _ = judged(ior, "-t 1m -b 8m -e --drop-cache -o m/f", prefix=overlay)
    assert outcomes(f, "H03") == {"H03": "fine"}, f["H03"]


def test_direct_transfers_on_overlayfs_leave_nothing_in_the_page_cache(ior, overlay, on_disk):
    f, _ = judged(ior, "-t 1m -b 8m --posix.odirect -o m/f", prefix=overlay)
    assert outcomes(f, "H05", "H27") == {"H05": "fine", "H27": "fine"}, (f["H05"], f["H27"])


def test_the_pages_of_somebody_elses_file_are_not_known(ior):
    """Linux says of each page that it is there to who neither owns the file nor may write it."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("a file of another user needs root and setpriv")
    with open(ior.cwd / "f", "wb") as file:
        file.write(os.urandom(conftest.MIB))
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    os.chown(ior.cwd / "f", 65534, 65534)
    own = judged(ior, "-r -k -E -t 64k -b 1m -o f --drop-cache")[0]["H03"]
    other = judged(ior, "-r -k -E -t 64k -b 1m -o f --drop-cache", prefix=["setpriv", "--bounding-set=-all"])[0]["H03"]
    assert own["value"] == other["value"] or other["outcome"] == "not judged" and "owns" in other["text"], (own, other)


def test_bytes_that_no_device_moved_are_suspect_where_the_page_cache_cannot_be_seen(ior, on_disk):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("a file of another user needs root and setpriv")
    (ior.cwd / "f").write_bytes(os.urandom(8 * conftest.MIB))
    with open(ior.cwd / "f", "rb") as file:
        os.fsync(file.fileno())
        file.read()
    os.chown(ior.cwd / "f", 65534, 65534)
    own, _ = judged(ior, "-r -k -E -t 1m -b 8m -o f")
    f, test = judged(ior, "-r -k -E -t 1m -b 8m -o f", prefix=["setpriv", "--bounding-set=-all"])
    if own["H04"]["outcome"] == "not judged" or f["H03"]["outcome"] != "not judged":
        pytest.skip("the device is not known, or any user sees the page cache")
    assert own["H04"]["severity"] == "NOTE" and own["H03"]["outcome"] == "found", own
    assert outcomes(f, "H04") == {"H04": "SUSPECT"} and "cannot see" in f["H04"]["text"] and test["verdict"] == "SUSPECT", f["H04"]


# ---- holes ----

@pytest.mark.parametrize("how", ["--drop-cache -i 2", "--posix.odirect"])
@pytest.mark.parametrize("make", ["truncate -s 8m f", "fallocate -l 8m f"])
def test_what_was_never_written_is_not_read_from_storage(ior, on_disk, make, how):
    if subprocess.run(make.split(), cwd=ior.cwd).returncode != 0:
        pytest.skip("the file system cannot do that")
    f, test = judged(ior, "-r -k -E -t 1m -b 8m -o f " + how)
    assert f["H14"]["outcome"] == "found" and f["H14"]["value"] == 0 and "holes" in f["H14"]["text"], f["H14"]
    assert outcomes(f, "H04") == {"H04": "SUSPECT"} and test["verdict"] == "SUSPECT", f["H04"]


def test_what_was_written_and_is_cold_is_read_from_storage(ior, on_disk):
    judged(ior, "-w -k -e -t 1m -b 8m -o f")
    for how in ("--drop-cache -i 2", "--posix.odirect"):
        f, _ = judged(ior, "-r -k -E -t 1m -b 8m -o f " + how)
        assert outcomes(f, "H04", "H14") == {"H04": "fine", "H14": "fine"}, (how, f["H04"], f["H14"])


def test_a_file_that_is_half_holes_is_found_whatever_the_file_system(ior):
    """Where the file system reports no extents (tmpfs), SEEK_HOLE tells."""
    for place in ("f", "/dev/shm/weir-holes-%d" % os.getpid()):
        path = ior.cwd / place
        try:
            with open(path, "wb") as file:
                file.truncate(8 * conftest.MIB)
                file.write(os.urandom(4 * conftest.MIB))
            f, _ = judged(ior, "-r -k -E -t 1m -b 8m -o %s" % path)
            assert f["H14"]["outcome"] == "found" and abs(f["H14"]["value"] - 50) < 2, f["H14"]
        finally:
            path.unlink()


def test_data_that_wait_to_be_written_are_no_holes(ior):
    """Their blocks are only reserved until then."""
    f, _ = judged(ior, "-w -r -t 1m -b 8m -o f")
    assert outcomes(f, "H14") == {"H14": "fine"} and f["H14"]["value"] == 100, f["H14"]


# ---- images ----

def test_the_pages_of_an_image_are_a_cache_below_the_file_system(ior, on_disk):
    """Direct transfers end in the page cache of the image; /proc/self/io says that they reached a device, which is the loop."""
    with conftest.on_a_loop_device(ior.cwd):
        f, test = judged(ior, "-t 1m -b 8m -k --posix.odirect -o disk/f")
        conftest.timely(f["H05"]["outcome"] == "found", f)  # others can have all files written
        assert outcomes(f, "H05", "H27") == {"H05": "SUSPECT", "H27": "SUSPECT"} and test["verdict"] == "SUSPECT", f
        assert f["H04"]["outcome"] == "found" and f["H04"]["value"] > 50, f["H04"]
        assert test["provenance"]["device"].startswith("loop") and not test["provenance"]["movingDevices"].startswith("loop"), test
        f, test = judged(ior, "-t 1m -b 8m -r -k --posix.odirect -o disk/f")
        assert outcomes(f, "H04") == {"H04": "SUSPECT"} and f["H04"]["text"].endswith("(the files are in an image)"), f["H04"]
        f, test = judged(ior, "-t 1m -b 8m -w -r -e --drop-cache -o disk/f")
        assert outcomes(f, "H03", "H05") == {"H03": "fine", "H05": "fine"} and f["H04"]["outcome"] == "fine", f


def test_an_image_that_is_moved_past_the_page_cache_is_a_disk(ior, on_disk):
    with conftest.on_a_loop_device(ior.cwd, "--direct-io=on"):
        f, test = judged(ior, "-t 1m -b 8m --posix.odirect -o disk/f")
        assert outcomes(f, "H04", "H05", "H27") == {"H04": "fine", "H05": "fine", "H27": "fine"}, f
        assert test["provenance"]["movingDevices"] == test["provenance"]["device"], test["provenance"]


def test_pages_of_an_image_that_cannot_be_seen_are_not_known(ior, on_disk):
    with conftest.on_a_loop_device(ior.cwd) as path:
        (ior.cwd / "image").unlink()
        f, _ = judged(ior, "-t 1m -b 8m -e --drop-cache -o %s/f" % path)
        assert outcomes(f, "H03", "H05") == {"H03": "not judged", "H05": "not judged"} and "image" in f["H03"]["text"], f["H03"]
        conftest.timely(f["H04"]["severity"] == "SUSPECT", f["H04"])  # requests of others on the disk are counted, too
        assert f["H04"]["outcome"] == "found", f["H04"]


# ---- compression ----

def test_a_file_system_that_compresses_is_found(ior, on_disk):
    """By its extents, by what the device moved, and by the option of its mount where the data cannot be compressed."""
    bed = dict(make="mkfs.btrfs -q -f", mount="compress=zstd")
    with conftest.on_a_loop_device(ior.cwd, "--direct-io=on", **bed):
        f, test = judged(ior, "-t 1m -b 16m -e --drop-cache -o disk/f")
        assert outcomes(f, "H04", "H13") == {"H04": "SUSPECT", "H13": "SUSPECT"} and test["verdict"] == "SUSPECT", (f["H04"], f["H13"])
        assert f["H13"]["text"].endswith("% of the bytes are compressed on the device"), f["H13"]
        f, test = judged(ior, "-t 1m -b 16m -e --drop-cache -l random -o disk/f")
        assert outcomes(f, "H04", "H13") == {"H04": "fine", "H13": "SUSPECT"}, (f["H04"], f["H13"])
        assert "mounted with compress=zstd" in f["H13"]["text"], f["H13"]


def test_a_file_system_that_could_compress_and_does_not_is_no_finding(ior, on_disk):
    with conftest.on_a_loop_device(ior.cwd, "--direct-io=on", make="mkfs.btrfs -q -f"):
        f, test = judged(ior, "-t 1m -b 16m -e --drop-cache -l random -o disk/f")
        assert outcomes(f, "H03", "H04", "H05", "H13", "H14") == dict.fromkeys(("H03", "H04", "H05", "H13", "H14"), "fine"), f
        assert test["provenance"]["device"] == test["provenance"]["movingDevices"] != "", test["provenance"]


# ---- libraries that take the calls ----

@pytest.mark.parametrize("name, of", [("libpil4dfs.so", "DAOS"), ("libioil.so.2", "DAOS"), ("libgkfs_intercept.so", "GekkoFS"), ("libdarshan.so", None)])
def test_no_page_cache_is_judged_where_a_library_takes_the_calls(ior, tmp_path, name, of):
    """An empty library with such a name: what the real one does with the calls was not tried."""
    if conftest.SANITIZED or not shutil.which("gcc"):
        pytest.skip("a preloaded library needs gcc, and does not go together with a sanitizer")
    library = tmp_path / name
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", str(library)], check=True)
    plain, _ = judged(ior, "-t 256k -b 1m")
    assert outcomes(plain, "H02", "H03") == {"H02": "SUSPECT", "H03": "SUSPECT"}, plain
    run = ior("-t 256k -b 1m --report=json:r.json", np=None, env={"LD_PRELOAD": str(library)}).ok()
    doc = json.loads((ior.cwd / "r.json").read_text())
    findings = {f["id"]: f for f in doc["tests"][0]["findings"]}
    shown = "%s (%s)" % (name, of) if of else ""
    assert doc["provenance"]["environment"]["interception"] == shown
    assert [n for n in run.notes if "interception" in n] == ["interception library loaded: %s; findings about the page cache are not judged" % shown] * bool(of)
    if not of:
        assert outcomes(findings, "H02", "H03") == {"H02": "SUSPECT", "H03": "SUSPECT"}
        return
    for rule in ("H02", "H03", "H05"):
        assert findings[rule]["outcome"] == "not judged" and "a preloaded library takes the I/O calls" in findings[rule]["text"], findings[rule]
    assert outcomes(findings, "H04")["H04"] != "SUSPECT", findings["H04"]  # the page cache may have them: nothing is known
    run = ior("-t 256k -b 1m --drop-cache", np=None, env={"LD_PRELOAD": str(library)}).ok()
    assert any("the effect is not known" in w for w in run.warnings), run
