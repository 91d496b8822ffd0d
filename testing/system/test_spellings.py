# SPDX-License-Identifier: BSD-3-Clause
"""Options in every spelling that job scripts use, and one clear line for what is wrong."""
import json
import subprocess

import pytest

import conftest


def shown(run, **what):
    """Compare lines of the Options block; '_' stands for a blank."""
    for key, value in what.items():
        assert run.options[key.replace("_", " ")] == value, run


BLOCKS = ["-b 4k", "-b4k", "-b=4k", "-b=4K", "--block-size 4k", "--block-size=4k", "--blockSize=4k", "--BLOCKSIZE 4k", "-b 4KB",
          "-b 4KiB", "-b 4kib", "-b 4096", "-O blockSize=4k", "-O BLOCKSIZE=4k", "-O=blocksize=4k", "-OblockSize=4k", "-O -b=4k",
          "-O --block-size=4k", "-O 'blockSize = 4k'", "-wrb 4k", "-wrb4k", "-wrb=4k", "'-b 4k'", "'-b  4k '"]


@pytest.mark.parametrize("words", BLOCKS)
def test_the_block_size_is_understood_as(ior, words):
    run = ior("%s -t 1k -a DUMMY -w" % words, np=None).ok()
    shown(run, blocksize="4096 bytes")
    assert ior.files() == [], run  # "4k" is a value and nothing else: no -k


@pytest.mark.parametrize("size, text", [
    ("64", "64 bytes"), ("64k", "65536 bytes"), ("2M", "2 MiB"), ("64MiB", "64 MiB"), ("64mb", "64 MiB"), ("3g", "3 GiB"),
    ("1T", "1 TiB"), ("1p", "1024 TiB"), ("1536m", "1.50 GiB"),
])
def test_a_size_with_suffix_is_binary(ior, size, text):
    run = ior("-a DUMMY --dry-run -w -t %s -b %s -O stoneWallingWearOutIterations=1" % ("8" if size == "64" else "1k", size), np=None)
    run = run.ok()
    shown(run, blocksize=text)


def test_a_word_with_a_trailing_blank_is_the_option(ior):
    shown(ior(["-C ", "-b", "8k", "-t", "4k", "-a", "DUMMY"]).ok(), ordering_inter_file="constant task offset")


def test_option_and_value_in_one_word_with_a_blank_are_understood(ior):
    run = ior(["-C", "-Q 1", "-b 8k", "-t 4k", "-a DUMMY"]).ok()
    shown(run, ordering_inter_file="constant task offset", task_offset="1", blocksize="8192 bytes", api="DUMMY")


def test_flags_in_one_word_are_all_set(ior):
    run = ior("-Cge -wrkF -vv -b 8k -t 4k").ok()
    shown(run, ordering_inter_file="constant task offset", access="file-per-process", verbose="2")
    assert ior.files() == ["testFile.00000000", "testFile.00000001"]
    assert run.accesses() == ["write", "read"]


def test_a_dash_between_flags_begins_another_word_with_a_note(ior):
    """A published script of tests has -z-k."""
    run = ior("-w -z-k -b 8k -t 4k").ok()
    shown(run, ordering_in_a_file="random")
    assert run.notes[0] == "'-z-k' is read as '-z -k'" and ior.files() == ["testFile"]


@pytest.mark.parametrize("words", ["-vvv", "-v -v -v", "-v -vv", "-v=3", "-O verbose=3", "--verbose=3"])
def test_verbosity_is_counted(ior, words):
    shown(ior("%s -b 8k -t 4k -a DUMMY" % words, np=None).ok(), verbose="3")


def test_a_negative_value_needs_no_equals_sign(ior):
    for words in ("-G -1", "-G-1", "-G=-1"):
        run = ior("%s -w -k -b 8k -t 4k" % words, np=None).ok()
        assert (ior.cwd / "testFile").read_bytes()[:8] == b"\xff" * 8, run


@pytest.mark.parametrize("words", ["-i=2", "-i2", "-i 2", "--repetitions=2", "-O repetitions=2"])
def test_repetitions_are_understood_as(ior, words):
    assert len(ior("%s -a DUMMY -b 8k -t 4k -w" % words, np=None).ok().rows) == 2


def test_a_list_of_directives_is_read_from_left_to_right(ior):
    run = ior("-O blockSize=16k,transferSize=8k,segmentCount=3,filePerProc=1 -O transferSize=4k,api=dummy -w").ok()
    shown(run, blocksize="16384 bytes", xfersize="4096 bytes", segments="3", access="file-per-process", api="dummy")


@pytest.mark.parametrize("key", ["segmentCount", "segmentcount", "SEGMENTCOUNT", "SeGmEnTcOuNt"])
def test_keys_match_in_any_case(ior, key):
    shown(ior("-O %s=5 -a DUMMY -w" % key, np=None).ok(), segments="5")


@pytest.mark.parametrize("name", ["DUMMY", "dummy", "Dummy", "dUMMY"])
def test_the_backend_is_found_in_any_case_and_shown_as_typed(ior, name):
    shown(ior("-a %s -w" % name, np=None).ok(), api=name)


@pytest.mark.parametrize("words", ["-O dummy.delay-xfer=1", "-O --dummy.delay-xfer=1", "--dummy.delay-xfer=1", "--dummy.delay-xfer 1"])
def test_options_of_a_backend_are_understood_as(ior, words):
    ior("%s -a DUMMY -w" % words, np=None).ok()


@pytest.mark.parametrize("words, flag", [("-c", True), ("--collective", True), ("-O collective=1", True), ("-c=0", False),
                                         ("-c -c=0", False), ("-O collective=0", False), ("-O collective=yes", True),
                                         ("-O collective=false", False)])
def test_a_flag_is_switched_on_and_off(ior, words, flag):
    shown(ior("%s -a DUMMY -w" % words, np=None).ok(), type="collective" if flag else "independent")


@pytest.mark.parametrize("words", ["-w -w -r", "-F -F", "-e -e", "-C -C"])
def test_a_flag_given_twice_is_the_flag(ior, words):
    run = ior("%s -b 8k -t 4k" % words).ok()
    if "-F" in words:
        shown(run, access="file-per-process")
    if "-C" in words:
        shown(run, ordering_inter_file="constant task offset")
    assert run.warnings == []


def test_the_last_of_two_values_wins(ior):
    shown(ior("-b 4k -b 16k -t 4k -a DUMMY -w", np=None).ok(), blocksize="16384 bytes")


def test_a_file_name_with_an_equals_sign_is_a_name(ior):
    ior("-w -k -b 8k -t 4k -o a=b", np=None).ok()
    assert ior.files() == ["a=b"]


@pytest.mark.parametrize("words, part", [
    ("-w7", "7"), ("-w9", "9"), ("-Cg9 -b 4k", "9"), ("-4", "4"), ("--nonsense", "nonsense"), ("--blocksizes=4k", "blocksizes"),
    ("-", "-"), ("--", "--"), ("foo", "foo"), ("-b", "b"), ("-b=", "b"), ("-O", "O"), ("-O blockSize", "blockSize"),
    ("-O blockSize=", "blockSize"), ("-O nonsense=1", "nonsense"), ("-O blockSize=4k,", ""), ("-O ,", ""), ("-O blockSize=4k,x=1", "x"),
    ("-w=", "w"), ("-l q", "q"), ("-a NOSUCH", "NOSUCH"), ("-O api=NOSUCH", "NOSUCH"), ("-t 3000 -b 8192", "-t"),
    ("-t 0", "-t"), ("-b 4k -t 8k", "-b"), ("-b 12 -t 4", "8"), ("-C -Z", "-Z"), ("-z -C", "-z"), ("-z -Z", "-z"), ("-N 0", "-N"),
    ("-O stoneWallingWearOut=1", "-D"), ("-f nosuchscript", "nosuchscript"), ("-o ''", "-o"), ("-o @a -F", "@a"),
    ("-b 4e -t 4", "4e"), ("-b 9223372036854775807", "-b"), ("-b 4g -t 4g -s 4g", "-s"), ("-u -F -o a@b", "-u"),
    ("-r -R -z -b 8k -t 4k", "seed"), ("-O summaryFormat=XML", "XML"), ("-A 99999999999", "99999999999"),
])
@pytest.mark.sanitize
def test_a_mistake_is_answered_with_one_line_and_status_1(ior, words, part):
    run = ior(words, np=None, timeout=20).fails(1, part)
    assert run.messages == ["ERROR: " + run.errors[0]], run
    assert run.stdout == "" and ior.files() == [], run


@pytest.mark.parametrize("words, part", [("-t 3000 -b 8192", "-t"), ("-a NOSUCH", "NOSUCH"), ("-F -o @a", "@a"), ("-f nosuchscript", "nosuchscript")])
def test_a_mistake_that_several_ranks_see_is_reported_once(ior, words, part):
    run = ior(words, np=3, timeout=20).fails(1, part)
    assert run.messages == ["ERROR: " + run.errors[0]] and run.stdout == "", run


def rows():
    text = subprocess.run([str(conftest.IOR), "--dump-options=json"], capture_output=True, text=True, check=True,
                          env=conftest.program_env()).stdout
    return json.loads(text)


def wrong_values():
    for row in rows():
        word = "--" + row["name"] if row["name"] else "-O " + row["keys"][0]
        kind = row["type"]
        values = []
        if kind in ("int", "size", "count"):
            values = ["abc", "", "1.5", "0x10", "4kk", "99999999999999999999999", "-99999999999999999999999", "1 2", "--1"]
            least = -2 ** 31 if kind != "size" else -2 ** 63
            if row["min"] is not None and row["min"] > least and row["keys"][:1] not in (["repetitions"], ["interTestDelay"]):
                values.append(str(row["min"] - 1))
            if row["max"] is not None and row["max"] < 2 ** 63 - 1:
                values.append(str(row["max"] + 1))
        elif kind == "flag":
            values = ["maybe", "2x", "", "-1"]
        elif row["choices"]:
            values = ["nonsense", ""]
        for value in values:
            yield pytest.param(word, value, id="%s=%s" % (word.replace("-O ", ""), value))


@pytest.mark.parametrize("word, value", wrong_values())
def test_a_wrong_value_is_refused_by_name(ior, word, value):
    run = ior(word.split()[:-1] + [word.split()[-1] + "=" + value], np=None, timeout=10)
    run.fails(1)
    assert run.messages == ["ERROR: " + run.errors[0]] and run.stdout == "", run
    name = word.split()[-1].lstrip("-").lower()
    assert name in run.errors[0].lower() or value == "", run
    assert value == "" or value in run.errors[0], run


@pytest.mark.parametrize("value", ["0", "-3"])
def test_too_few_repetitions_become_one_with_a_message(ior, value):
    run = ior("-i %s -a DUMMY -w" % value, np=2).ok()
    assert len(run.rows) == 1 and len(run.messages) == 1, run


def test_a_mistake_among_many_ranks_is_reported_every_time(ior):
    for _ in range(4):
        ior("-b 4q", np=4).fails(1, "4q")


def test_an_option_that_is_almost_right_is_answered_with_the_right_one(ior):
    ior("--block-sise 4k", np=None).fails(1, "--block-size")


@pytest.mark.parametrize("words, answer", [
    ("-a POSX", "(did you mean 'POSIX'?)"), ("-a OPSIX", "(did you mean 'POSIX'?)"), ("--report=jsn:x", "(did you mean 'json'?)"), ("--progress=alwayz", "(did you mean 'always'?)"),
    ("-b 10", "block size (-b 10 bytes) must not be smaller than transfer size (-t 262144 bytes, the default)"),
    ("-b 10 -t 256k", "transfer size (-t 262144 bytes)"), ("-b -1", "block size (-b -1) must not be negative"),
    ("-b 1.5g", "; write 1536m"), ("-b 0.25t", "; write 256g"), ("--limit=H01:1+", "''"), ("--limit=H01:1,", "''"),
    ("--dry-run --assume-rate=0", "'0' is out of range: it must be from 1"), ("--dry-run --assume-rate=-2g", "'-2g' is out of range: it must be from 1"),
    ("--dry-run --assume-rate=some.json", "option --assume-rate (assumeRate): 'some.json' is not a whole number with an optional suffix k, m, g, t or p")])
def test_what_is_wrong_is_answered_with_what_would_be_right(ior, words, answer):
    ior("-w " + words, np=None).fails(1, answer)


@pytest.mark.parametrize("words", ["-a ZFS", "--report=xml:x", "-b 0.1g", "-b 1.5"])
def test_nothing_is_proposed_that_is_not_near(ior, words):
    run = ior("-w " + words, np=None).fails(1)
    assert "did you mean" not in run.stderr and "write" not in run.errors[0]


@pytest.mark.parametrize("words, said", [
    ("-l randum", "'randum' is read as 'random'"), ("-t 1kb", "'1kb' is read as 1024 bytes"), ("-O blockSize=1mb", "'1mb' is read as 1048576 bytes"),
    ("-C", None), ("-r -C", "-C has no effect with one task"), ("-z -c -a POSIX", "-c has no effect: POSIX has no collective transfers"), ("-z -b 256k", "-z has no effect: each file has one transfer"),
    ("-i 0", "value 0 is too small, using 1"), ("--interval=0", "0 shows no intervals"), ("--assume-rate=2g", "no effect without --dry-run"),
    ("-l r", None), ("-l rand", None), ("-t 1k", None), ("-t 1KiB", None), ("--interval=1", None), ("--dry-run --assume-rate=2g", None)])
def test_what_may_mean_something_else_is_told(ior, words, said):
    run = ior("-a DUMMY -w " + words, np=None).ok()
    assert len(run.notes) == (1 if said else 0) and all(said in note for note in run.notes), run
