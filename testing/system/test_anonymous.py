# SPDX-License-Identifier: BSD-3-Clause
"""Results for others: --anonymous leaves names of hosts, users and files out of documents."""
import json
import socket

import conftest
import pytest

REPORT = " --report=json:r.json,csv:r.csv,text:- --timeline=time.npy"
# What each program is given; all of it has the words 'hush' or 'secret'.
RUNS = {
    "ior": "-F -b 4k -t 4k -o secret/hush -O saveRankPerformanceDetailsCSV=hush.csv -O platform=hush -i 2",
    "mdtest": "-n 2 -u -d secret/hush -Z",
    "md-workbench": "-o secret/hush -I 1 -P 1 -D 1 --run-info-file=secret/hush.status -L secret/hush",
    "h5exerciser": "--numdims 1 --minels 8 -i 1 -o secret/hush",
    "model_checkpoint": "--model=hush.model -o secret/hush",
    "checkpoint_simulator.x": "--nx 1 --ny 1 --im_world 6 --lm 1 -i 1 -o secret/hush",
}


def hash_of(ior, name="r.json"):
    return [t["configuration"]["hash"] for t in json.loads((ior.cwd / name).read_text())["tests"]]


@pytest.mark.parametrize("program", RUNS)
def test_documents_for_others_have_no_names(ior, program):
    if not (conftest.BUILD / "src" / program).exists():
        pytest.skip("this build has no " + program)
    ior.program = conftest.BUILD / "src" / program
    (ior.cwd / "secret").mkdir()
    (ior.cwd / "hush.model").write_text("name = hush\nlayers = 1\nhidden = 8\nheads = 2\nffn = 8\nvocabulary = 9\n")
    np = 6 if program.startswith("checkpoint") else None
    args = RUNS[program] + REPORT
    ior(args, np=np).ok()
    plain, known = (ior.cwd / "r.json").read_text(), hash_of(ior)
    assert "hush" in plain and socket.gethostname() in plain
    run = ior(args + " --anonymous", np=np, env={"USER": "jane", "ROMIO_HINTS": "/home/jane/hints"}).ok()
    for name in ("r.json", "r.csv", "time.timeline.json"):
        text = (ior.cwd / name).read_text()
        words = [w for w in ("hush", "secret", "jane", str(ior.cwd), '"%s"' % socket.gethostname()) if w in text]
        assert not words, (name, words)
    result = json.loads((ior.cwd / "r.json").read_text())
    assert hash_of(ior) == known and result["Command line"] == "(left out)", run
    assert [h["name"] for h in result["provenance"]["hosts"]] == ["host0"] and result["provenance"]["environment"]["variables"]["ROMIO_HINTS"] == "(left out)"
    assert json.loads((ior.cwd / "time.timeline.json").read_text())["tests"][0]["hosts"] == result["provenance"]["hosts"]


def test_errors_and_notes_lose_their_names_in_documents_only(ior):
    run = ior("-b 4k -t 4k -o none/hush --anonymous --report=json:r.json", np=None).fails(3, "none/hush")
    text = (ior.cwd / "r.json").read_text()
    assert "rank 0 on host0: create '(left out)'" in json.loads(text)["error"] and "hush" not in text, run


# Errors about a file under a name that is not the one that was given.
@pytest.mark.parametrize("args", ["-F -u -r -o hush", "-F -u -r -o hushes/hush", "-r -o \"/none/o'hush\"", "-a NCMPI -o a:hush",
                                  "-a MPIIO -o ufs:hush --existing=fail"])
def test_errors_about_parts_of_names_lose_them_too(ior, need_backend, args):
    if "NCMPI" in args:
        need_backend("NCMPI")
    if "ufs:" in args:
        (ior.cwd / "hush").write_text("x")
    run = ior(args + " -b 4k -t 4k --anonymous --report=json:r.json", np=None)
    text = (ior.cwd / "r.json").read_text()
    assert run.returncode != 0 and "hush" in run.stderr, run
    assert "(left out)" in json.loads(text)["error"] and "hush" not in text, text


def test_variables_that_name_files_are_left_out(ior):
    files = dict.fromkeys(("ROMIO_HINTS", "MPICH_MPIIO_HINTS", "DARSHAN_LOGDIR", "HDF5_PLUGIN_PATH", "H5FD_SUBFILING_SUBFILE_PREFIX",
                           "H5FD_SUBFILING_CONFIG_FILE_PREFIX"), "my hints/hush")
    ior("-b 4k -t 4k --anonymous --report=json:r.json", np=None, env=dict(files, ROMIO_PRINT_HINTS="1")).ok()
    found = json.loads((ior.cwd / "r.json").read_text())["provenance"]["environment"]["variables"]
    assert {name: found[name] for name in files} == dict.fromkeys(files, "(left out)") and found["ROMIO_PRINT_HINTS"] == "1"
