# SPDX-License-Identifier: BSD-3-Clause
"""model_checkpoint: what is saved is loaded in any shape and is right; what is not published is never taken; wrong bytes are named."""
import json
import os
import signal

import pytest

import conftest

SMALL = "--scale=1/16384 -o ckpt --rules=none "


FILES = {
    "torch": ["rank-%06d.data" % i for i in range(4)],
    "megatron": ["tp-%03d-pp-%03d.data" % (tp, pp) for tp in range(2) for pp in range(2)],
    "deepspeed": ["%s-rank-%06d.data" % (what, i) for what in ("optimizer", "parameters") for i in range(4)],
    "shared": ["checkpoint.data"]}


@pytest.fixture
def mc(ior):
    ior.program = conftest.BUILD / "src" / "model_checkpoint"
    return ior


def published(mc):
    return sorted(p.name for p in (mc.cwd / "ckpt").iterdir())


def rows(mc):
    doc = json.loads((mc.cwd / "r.json").read_text())
    return doc["tests"][0], doc["tests"][0]["checkpoints"]


def overwrite(path, offset, data):
    with open(path, "r+b") as f:
        f.seek(offset)
        f.write(data)


def place_of(path, state, least):
    """Name, offset and bytes of the first tensor of so many bytes at least, by the table of contents of its file."""
    lines = path.read_bytes()
    title = lines[:256].decode()
    tensors = int(title.split(" tensors")[0].split()[-1])
    for i in range(1, tensors + 1):
        words = lines[256 * i:256 * (i + 1)].decode().split()
        if words[0] == str(state) and int(words[3]) >= least:
            return words[-1], int(words[2]), int(words[3])
    raise AssertionError(title)


@pytest.mark.parametrize("layout, zero, loads", [
    ("torch", 0, "--load-tp=1 --load-pp=4"), ("megatron", 1, "--load-tp=4 --load-pp=1 --load-dp=1 --sieve=0"),
    ("deepspeed", 3, "--load-tp=1 --broadcast"), ("shared", 2, "--load-pp=1 --read-back=elsewhere")])
def test_each_layout_loads_in_its_own_shape_and_in_another_job_in_another(mc, layout, zero, loads):
    args = SMALL + "--tp=2 --pp=2 --layout=%s --zero=%d --report=json:r.json" % (layout, zero)
    mc(args, np=4).ok()
    test, (save, load) = rows(mc)
    assert save["bytes"] == test["checkpointBytes"] == 14 * test["parameters"]
    assert load["askedBytes"] >= save["bytes"] and load["readBytes"] >= load["askedBytes"] and load["opens"] >= 4
    assert save["time"] >= save["writeTime"] + save["publishTime"] and load["time"] >= load["findTime"]
    mc(SMALL + "--save=no --report=json:r.json " + loads, np=4, env={"IOR_FAKE_NODES": "2", "IOR_FAKE_TASK_PER_NODES": "2"}).ok()
    assert rows(mc)[1][0]["askedBytes"] >= save["bytes"]
    names = sorted(p.name for p in (mc.cwd / "ckpt" / "checkpoint-00000001").iterdir())
    assert names == sorted(["metadata"] + FILES[layout])


def test_a_file_of_arrays_of_a_model_of_ones_own_loads_in_any_shape(mc, need_backend):
    need_backend("HDF5")
    (mc.cwd / "tiny.txt").write_text("layers = 2\nhidden = 64\nheads = 4\nffn = 128\nvocabulary = 500\n")
    arrays = "-o ckpt --rules=none --layout=arrays -a HDF5 "
    mc(arrays + "--model=tiny.txt --tp=2 --zero=3 --keep=1 -i 2", np=4).ok()
    mc(arrays + "--save=no --load-tp=1 --report=json:r.json", np=1).ok()
    load = rows(mc)[1][0]
    assert published(mc) == ["checkpoint-00000002"] and load["readBytes"] == load["askedBytes"] == load["bytes"]
    data = mc.cwd / "ckpt" / "checkpoint-00000002" / "checkpoint.arrays"
    whole = data.read_bytes()
    overwrite(data, len(whole) // 2, bytes([whole[len(whole) // 2] ^ 1]))
    mc(arrays + "--save=no --load-tp=1", np=1).fails(4, "checkpoint.arrays' tensor ", "bit flip")
    mc(SMALL + "--save=no", np=1).fails(1, "was saved with --layout=arrays by HDF5")


def test_one_rank_reads_for_all_that_need_the_same_and_parameters_are_loaded_alone(mc):
    mc(SMALL + "--tp=2 --report=json:r.json", np=4).ok()
    whole = rows(mc)[1][1]
    mc(SMALL + "--save=no --broadcast --load=parameters --report=json:r.json", np=4).ok()
    load = rows(mc)[1][0]
    assert load["askedBytes"] * 7 == whole["askedBytes"]
    assert load["readBytes"] < whole["readBytes"] / 4 and load["opens"] <= whole["opens"] / 2


def test_old_checkpoints_go_and_the_steps_of_a_later_run_go_on(mc):
    mc(SMALL + "-i 3 --every=10 --keep=2", np=1).ok()
    assert published(mc) == ["checkpoint-00000020", "checkpoint-00000030"]
    (mc.cwd / "ckpt" / "checkpoint-00000020" / "mine").touch()
    assert "because something else is in it" in mc(SMALL + "--keep=1", np=1).ok().stderr
    assert published(mc) == ["checkpoint-00000020", "checkpoint-00000031"]
    mc(SMALL + "-i 2 --remove --keep=0").ok()
    assert published(mc) == ["checkpoint-00000020", "checkpoint-00000031"]
    mc("--scale=1/16384 -o other --rules=none --remove", np=1).ok()
    assert not (mc.cwd / "other").exists()


def test_an_asynchronous_save_is_written_beside_the_work(mc):
    mc(SMALL + "--save=async --compute=0.2 --every=2 --posix.threads=2 --depth=4 --report=json:r.json").ok()
    save = rows(mc)[1][0]
    assert save["workTime"] == 0.4 and save["copyTime"] > 0 and save["time"] >= save["copyTime"] + save["writeTime"]
    assert "one transfer after the other" in mc(SMALL + "--save=async --compute=0.01 --load=no", np=1).ok().stderr


def test_wrong_bytes_are_named_with_file_tensor_offset_and_kind(mc):
    mc(SMALL + "-i 2", np=2).ok()
    old, new = (mc.cwd / "ckpt" / name / "rank-000001.data" for name in published(mc))
    name, at, size = place_of(new, 2, 2048)
    assert name.startswith("optimizer.state.exp_avg.model.")
    right = new.read_bytes()
    for data, kind in ((b"\0" * 512, "zeros"), (old.read_bytes()[at + 512:at + 1024], "stale data"),
                       (right[at + 1024:at + 1536], "misplaced data"), (bytes([right[at + 512] ^ 4]), "bit flip")):
        overwrite(new, at + 512, data)
        run = mc(SMALL + "--save=no", np=1).fails(4, "'ckpt/checkpoint-00000002/rank-000001.data' at offset %d" % (at + 512), name, kind)
        assert "byte 512 of %d" % size in run.stderr
        new.write_bytes(right)
    mc(SMALL + "--save=no", np=1).ok()


def test_what_is_no_whole_checkpoint_is_refused_in_one_line(mc):
    mc(SMALL, np=2).ok()
    place = mc.cwd / "ckpt" / "checkpoint-00000001"
    data, meta = place / "rank-000001.data", place / "metadata"
    text = meta.read_text()
    overwrite(data, 512, b"7")
    mc(SMALL + "--save=no", np=1).fails(4, "tensor model.", "the table of contents at offset 0 does not have")
    overwrite(data, data.stat().st_size - 1, b"x")
    overwrite(data, 512, b"0")
    mc(SMALL + "--save=no", np=1).fails(4, "at offset %d" % (data.stat().st_size - 1), "in the zeros after its")
    overwrite(data, 0, b"\0" * 256)
    mc(SMALL + "--save=no", np=1).fails(4, "rank-000001.data': no table of contents at offset 0")
    data.unlink()
    mc(SMALL + "--save=no", np=1).fails(3, "rank-000001.data", "No such file")
    for cut, words in ((text[:40], "line 3 is not whole"), (text.replace("end\n", ""), "is not whole"), (text.replace("tp = 1", "tp = 1000"), "metadata"),
                       (text.replace("region rank", "region ../rank"), "is not understood"),
                       (text.replace("step = 1", "step = 2"), "of step 2, its directory of step 1")):
        meta.write_text(cut)
        mc(SMALL + "--save=no", np=1).fails(4, "'ckpt/checkpoint-00000001/metadata'", words)
    meta.unlink()
    mc(SMALL + "--save=no", np=1).fails(3, "open metadata 'ckpt/checkpoint-00000001/metadata': No such file")
    os.mkfifo(meta)
    mc(SMALL + "--save=no", np=1).fails(4, "metadata' is not an ordinary file")
    mc("-o nothing --save=no", np=1).fails(3, "'nothing' has no published checkpoint")


def test_what_a_killed_run_has_left_is_never_taken_and_goes_with_the_next_save(mc):
    mc(SMALL, np=2).ok()
    proc = mc.start("--scale=1/1000 -o ckpt --rules=none -i 100", np=2)
    conftest.wait_until(lambda: any(name.endswith(".staged") for name in os.listdir(mc.cwd / "ckpt")))
    os.kill(mc.wait_for_ranks(proc, 2)[1], signal.SIGKILL)
    proc.wait()
    mc.collect(proc)
    left = [name for name in published(mc) if name.startswith(".")]
    (mc.cwd / "ckpt" / ".checkpoint-00000077.staged").mkdir()
    (mc.cwd / "ckpt" / ".checkpoint-00000077.staged" / "mine").touch()
    mc(SMALL + "--save=no --drop-cache=0", np=1).ok()
    assert [name for name in published(mc) if name.startswith(".")] == sorted(left + [".checkpoint-00000077.staged"])
    mc(SMALL + "--keep=1", np=1).ok()
    assert published(mc) == [".checkpoint-00000077.staged", "checkpoint-00000078"]


def test_a_signal_or_a_failing_rank_leaves_the_old_checkpoint_and_nothing_else(mc):
    mc(SMALL, np=1).ok()
    proc = mc.start(SMALL + "--compute=30", np=2)
    pids = mc.wait_for_ranks(proc, 2)
    mc.wait_for_delay(proc, pids)
    (mc.cwd.parent / "second").mkdir()
    second = conftest.Ior(mc.cwd.parent / "second")
    second.program = mc.program
    second("--scale=1/16384 -o %s/ckpt" % mc.cwd, np=1).fails(2, "another model_checkpoint saves into '%s/ckpt'" % mc.cwd)
    os.kill(pids[0], signal.SIGTERM)
    mc.finish(proc).ok(6)
    assert published(mc) == ["checkpoint-00000001"]
    mc(SMALL + "-a DUMMY --dummy.fail-at=100", np=1).fails(3)
    (mc.cwd / "file").touch()
    mc("--scale=1/16384 -o file/ckpt", np=1).fails(2, "file/ckpt")


@pytest.mark.parametrize("args, words", [
    ("--model=llama3", "use one of llama3-8b, llama3-70b"), ("--scale=1/16384 --load-tp=3", "the shape that loads"),
    ("--list --tp=100000000 --pp=100000000 --dp=100000000", "--list shows 2147483647 at most"), ("--tp=3", "tp=3"), ("--save=no --load=no", "nothing is left to do"),
    ("--align=4k -t 1000", "multiple of --align"), ("-a HDF5", "cannot keep plain files"), ("-a DUMMY --save=no", "keeps nothing"),
    ("--existing=replace", "--keep"), ("--scale=1/16384 --load-dp=1 --read-back=elsewhere", "all tasks are on one node"), ("--load-dp=9 --scale=1/16384", "need 9 ranks, there is 1")])
def test_bad_input_is_one_line(mc, args, words):
    status = mc(args + " --rules=none", np=1)
    assert status.returncode == 1 and len(status.errors) == 1 and words in status.stderr, status
    assert not mc.files()  # nothing was saved before


def test_the_list_shows_the_ranks_of_a_job_that_is_not_there(mc):
    out = mc("--model=llama3-70b --tp=8 --pp=4 --dp=2 --list", np=1).ok().stdout
    assert len(out.splitlines()) > 64 and not mc.files()


def test_the_rules_of_mlperf_ask_for_ten_repetitions_and_a_cold_cache(mc):
    def invalid(args, status):
        mc("--scale=1/16384 -o ckpt --optimizer=none --rules=mlperf --strict --report=json:r.json " + args, np=1).ok(status)
        return {f["id"] for f in rows(mc)[0]["findings"] if f["outcome"] == "found" and f["severity"] == "INVALID"}
    assert {"H02", "H15"} <= invalid("-i 2 --drop-cache=0", 5)
    run = invalid("-i 10 --limit=H03:100,H05:100", 0)  # which no file system of the tests need be good for
    assert run == set()
