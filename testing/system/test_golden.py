# SPDX-License-Identifier: BSD-3-Clause
"""The text that other people's scripts read: line by line the shapes in testing/golden.

After a change that is meant, WEIR_UPDATE_GOLDEN=1 writes the files anew; read the difference.
"""
import pytest

import shape

FAKE = {"IOR_FAKE_NODES": "2", "IOR_FAKE_TASK_PER_NODES": "2"}
SCRIPT = """
text before the start is not read
IOR START
    api=POSIX
    testFile=one
    writefile=1
    readFile = 1
    blockSize=32k
    transferSize=8k
    repetitions=2
RUN
    testFile=two   # trailing comment
    filePerProc=1, segmentCount=3
  run
    api=MPIIO
    fileperproc=0
    refNum=77
    verbose=1
RUN
IOR STOP
neither is text after the end
"""

# name of the golden file, tasks, arguments, environment, backend
CASES = [
    ("default-1-task", 1, "", None, None),
    ("2-tasks-2-segments-2-repetitions", 2, "-w -r -b 64k -t 16k -s 2 -i 2", None, None),
    ("verbose-1-with-checks", 2, "-v -w -W -R -b 64k -t 16k -G 7", None, None),
    ("verbose-2", 2, "-v -v -w -r -b 64k -t 16k", None, None),
    ("file-per-process-keep", 2, "-k -F -e -g -b 64k -t 16k -w", None, None),
    ("stonewall-wear-out", 2, "-v -a DUMMY --dummy.delay-xfer=600000 --dummy.delay-only-rank0 -w -k -b 8k -t 8k -s 4 -D 1 -F "
     "-O stoneWallingWearOut=1", None, None),
    ("reorder-constant", 4, "-C -b 64k -t 16k -w -r", FAKE, None),
    ("reorder-random-file-per-process", 4, "-Z -X 5 -F -b 64k -t 16k -w -r", FAKE, None),
    ("random-offsets", 2, "-z -F -b 64k -t 16k -r -w -A 42", None, None),
    ("read-only", 2, "-r -b 64k -t 16k -o old", None, None),
    ("mpiio-collective", 2, "-a MPIIO -c -b 64k -t 16k -s 2", None, "MPIIO"),
    ("hdf5", 2, "-a hdf5 -v -b 64k -t 16k -s 2", None, "HDF5"),
    ("script", 2, "-f script -G 11", None, "MPIIO"),
    ("text-3.3", 2, "-w -r -b 64k -t 16k -i 2", {"WEIR_TEXT": "3.3"}, None),
    ("text-3.3-reordered", 2, "-v -w -r -W -R -C -k -b 64k -t 16k -O summaryFormat=3.3", None, None),
]


@pytest.mark.parametrize("name, np, args, env, backend", CASES, ids=[case[0] for case in CASES])
def test_the_output_has_the_shape_of_the_golden_file(ior, need_backend, name, np, args, env, backend):
    if backend:
        need_backend(backend)
    (ior.cwd / "script").write_text(SCRIPT)
    (ior.cwd / "old").write_bytes(bytes(131072))
    run = ior(args, np=np, env=env).ok()
    assert run.errors == []
    shape.assert_golden(name, shape.shape(run.stdout, ior.cwd))


@pytest.mark.parametrize("name", [case[0] for case in CASES])
def test_a_golden_file_has_the_headings_that_parsers_know(name):
    lines = (shape.GOLDEN / (name + ".txt")).read_text().split("\n")
    assert shape.RESULT_HEAD in lines
    head = lines[lines.index("Summary of all tests:") + 1]
    assert len(head.split()) == 27
    assert head.split()[25] == "API" and head.split()[26] == "RefNum"
    assert "Options: " in lines and "Results: " in lines
    assert lines[-2].startswith("Finished            : ") and lines[-1] == ""


def test_the_form_of_the_text_can_be_asked_for_in_several_ways(ior):
    run = ior("-b 64k -t 16k --report=text:-,text-3.3:old,json:j", np=None).ok()
    old = (ior.cwd / "old").read_text()
    assert run.stdout.startswith("IOR-4.1.0+weir-") and old.startswith("IOR-3.3.0: ")
    assert "memoryBuffer" in run.stdout and "memoryBuffer" not in old and "\nremove " in old and "\nremove " not in run.stdout
    assert ior("-b 64k -t 16k", np=None, env={"WEIR_TEXT": "4"}).ok().stdout.startswith("IOR-4.1.0+weir-")
    ior("-b 64k -t 16k", np=None, env={"WEIR_TEXT": "3.2"}).fails(1, "WEIR_TEXT", "'3.2'", "3.3 or 4")
    ior("-b 64k -t 16k -O summaryFormat=3.4", np=None).fails(1, "summaryFormat", "'3.4'")


def test_a_broken_number_is_not_taken_for_the_shape():
    good = "write     352.25     1475       0.001109    1024.00    256.00     0.000251   0.005423   0.001979   0.005678   0   "
    with pytest.raises(AssertionError):
        shape.result_row(good)  # 1475 is below 3600 and needs two digits
    shape.result_row(good.replace("1475   ", "1475.10"))
    with pytest.raises(AssertionError):
        shape.result_row(good.replace("1475   ", "1475.10").replace("  0.001109", " 0.001109 "))


@pytest.mark.parametrize("text", ["0.000001", "0.999999", "1.00", "3599.99", "3600", "123456789012"])
def test_the_number_rule_accepts_what_it_prints(text):
    assert shape.number(text).rstrip() == text


@pytest.mark.parametrize("text", ["0.0001", "1", "3601.25", "inf", "nan", "1e5"])
def test_the_number_rule_refuses_what_it_does_not_print(text):
    with pytest.raises((AssertionError, ValueError)):
        shape.number(text)
