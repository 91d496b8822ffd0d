# SPDX-License-Identifier: BSD-3-Clause
"""Command lines and scripts that were written for IOR 3.x and 4.x: every option is taken, or stands among the differences."""
import json
import re

import pytest

import conftest

DIFFERENCES = (conftest.SOURCE / "doc" / "guide" / "differences.md").read_text()
ABSENT = DIFFERENCES.split("## Not there yet")[1].split("\n## ")[0]


def values(ior, args, np=None):
    """The run, and optionValues of its tests."""
    run = ior("%s --report=text:-,json:r.json" % args, np=np, timeout=60).ok()
    return run, [test["optionValues"] for test in json.loads((ior.cwd / "r.json").read_text())["tests"]]


# ---- 3.x: mapped to today's meaning with one note ----

MAPPED = [
    # option of 3.x, key of 3.x, backend, {today's option: value}
    ("-B", "useO_DIRECT=1", "POSIX", {"posix.odirect": 1}),
    ("-H", "showHints=1", "MPIIO", {"mpiio.showHints": 1}),
    ("-H", "showHints=1", "HDF5", {"hdf5.showHints": 1}),
    ("-J 64k", "setAlignment=64k", "HDF5", {"hdf5.setAlignment": 65536}),
    ("-n", "noFill=1", "HDF5", {"hdf5.noFill": 1}),
    ("-p", "preallocate=1", "MPIIO", {"mpiio.preallocate": 1}),
    ("-V -S", "useFileView=1,useStridedDatatype=1", "MPIIO", {"mpiio.useFileView": 1, "mpiio.useStridedDatatype": 1}),
    ("-V", "useFileView=1", "MPIIO", {"mpiio.useFileView": 1}),
    ("-U hints", "hintsFileName=hints", "MPIIO", {"mpiio.hintsFileName": "hints"}),
    ("-U hints", "hintsFileName=hints", "HDF5", {"hdf5.hintsFileName": "hints"}),
    ("-H", "showHints=1", "NCMPI", {"ncmpi.showHints": 1}),
    ("-U hints", "hintsFileName=hints", "NCMPI", {"ncmpi.hintsFileName": "hints"}),
    ("-S -V", "useStridedDatatype=1,useFileView=1", "MPIIO", {"mpiio.useFileView": 1, "mpiio.useStridedDatatype": 1}),
    ("-q", "quitOnError=1", "DUMMY", {}),
]


@pytest.mark.parametrize("option, key, api, want", MAPPED)
def test_an_option_of_3x_is_taken_for_todays(ior, need_backend, option, key, api, want):
    need_backend(api)
    (ior.cwd / "hints").write_text("IOR_HINT__MPI__cb_nodes=1\n")
    for spelling in (option, "-O " + key, "-O " + key.upper() if "hints" not in key else "-O " + key):
        run, found = values(ior, "-a %s -w -b 64k -t 64k %s" % (api, spelling))
        assert {k: found[0][k] for k in want} == want
        notes = [n for n in run.notes if "3.x" in n]
        assert len(notes) == 1 + key.count(",") and run.warnings == [], run
        for name in want:
            assert any(name in n for n in notes), run


def test_offsets_as_data_are_a_packet_type_today(ior):
    run = ior("-w -k -G 1 -O storeFileOffset=1").ok()
    assert run.notes == ["option storeFileOffset is from IOR 3.x; using dataPacketType=offset"]
    ior("-R -G 1 -l offset").ok()


def test_the_note_comes_from_one_task_only(ior):
    run = ior("-a DUMMY -w -q -n -p", np=4).ok()
    old = [n for n in run.notes if "3.x" in n]
    assert len(old) == 3 and all(n.startswith("option -") for n in old), run.notes
    assert len(set(run.notes)) == len(run.notes), run.notes


def test_a_script_of_3x_runs(ior, need_backend):
    need_backend("MPIIO")
    (ior.cwd / "hints").write_text("IOR_HINT__MPI__cb_nodes=1\n")
    (ior.cwd / "s").write_text("IOR START\n\tapi=MPIIO\n\ttestFile=./x\n\thintsFileName=hints\n\tuseFileView=1\n\tuseStridedDatatype=0\n"
                               "\tpreallocate=0\n\tshowHints=0\n\tsetAlignment=1\n\tnoFill=0\n\tquitOnError=0\n\tblockSize=16k\n\ttransferSize=8k\nRUN\n"
                               "\tuseFileView=0\n\tcollective=1\nRUN\nIOR STOP\n")
    run, found = values(ior, "-f s", np=2)
    assert [v["mpiio.useFileView"] for v in found] == [1, 0] and [v["collective"] for v in found] == [0, 1]
    assert found[0]["mpiio.hintsFileName"] == "hints" and run.warnings == []


@pytest.mark.parametrize("words", ["-P=0", "-I=no", "-O useSharedFilePointer=0", "-O individualDataSets=0", "-O storeFileOffset=0"])
def test_what_is_gone_and_switched_off_is_what_holds_anyway(ior, words):
    run = ior("-a DUMMY -w " + words, np=2).ok()
    assert len(run.notes) == 1 and "has no effect now" in run.notes[0] and not run.warnings, run


@pytest.mark.parametrize("words, part", [
    ("-P", "shared file pointers"), ("-I", "individual data sets"), ("-Pw", "shared file pointers"), ("-P=1", "shared file pointers"),
    ("-O useSharedFilePointer=1", "shared file pointers"), ("-O individualDataSets=1", "individual data sets")])
def test_what_has_no_meaning_any_more_is_an_error_that_says_so(ior, words, part):
    run = ior("-a DUMMY -w " + words, np=2).fails(1, part)
    assert run.messages == ["ERROR: " + run.errors[0]] and run.stdout == ""


LAYOUT = [("lustreStripeCount", "2", "posix.lustre.stripecount"), ("lustreStripeSize", "1m", "posix.lustre.stripesize"),
          ("lustreStartOST", "1", "posix.lustre.startost"), ("lustreIgnoreLocks", "1", "posix.lustre.ignorelocks"),
          ("gpfsHintAccess", "1", "posix.gpfs.hintaccess"), ("gpfsReleaseToken", "1", "posix.gpfs.releasetoken"),
          ("beegfsNumTargets", "2", "posix.beegfs.NumTargets"), ("beegfsChunkSize", "64k", "posix.beegfs.ChunkSize")]


@pytest.mark.parametrize("key, value, now", LAYOUT)
def test_layouts_of_file_systems_are_accepted_and_refused_where_they_cannot_be(ior, key, value, now):
    """The default changes nothing; another value needs the file system, and the error names the option of today."""
    default = {"lustreStartOST": "-1", "beegfsNumTargets": "-1", "beegfsChunkSize": "-1"}.get(key, "0")
    run = ior("-w -b 8k -t 8k -O %s=%s" % (key, default), np=1).ok()
    assert len([n for n in run.notes if now in n and "3.x" in n]) == 1
    run = ior("-w -b 8k -t 8k -O %s=%s" % (key, value), np=1)
    assert run.returncode in (0, 1, 3) and (run.returncode == 0 or now.split(".")[1] in run.errors[0].lower()), run


@pytest.mark.parametrize("np, segments", [(1, 16), (2, 16), (3, 5)])
def test_random_offsets_with_blocks_of_one_transfer_shuffle_over_all_segments(ior, np, segments, preload):
    log = ior.cwd.parent / "log"
    ior("-w -W -R -z -l o -G 1 -b 4k -t 4k -s %d --random-offset-seed=9" % segments, np=np,
        prefix=["env", "LD_PRELOAD=" + preload("log-files.c"), "FILE_LOG=%s" % log]).ok()
    offs = [int(line.split()[2]) for line in log.read_text().split("\n") if line.startswith("write ")]
    assert sorted(offs) == list(range(0, np * segments * 4096, 4096)) and offs != sorted(offs)


# ---- 4.x ----

# Keys with a value that is not the default and works with DUMMY and two tasks.
KEYS = """
api=DUMMY refNum=1 blockSize=8k collective=1 reorderTasksConstant=1 reorderTasks=1 interTestDelay=0 deadlineForStonewalling=60 fsync=1
useExistingTestFile=1 filePerProc=1 intraTestBarriers=1 setTimeStampSignature=5 repetitions=2 outlierThreshold=5 keepFile=1 keepFileWithError=1
dataPacketType=offset multiFile=1 memoryPerNode=1m numTasks=1 testFile=t taskPerNodeOffset=2 readFile=1 checkRead=0 segmentCount=2 transferSize=4k
maxTimeDuration=5 uniqueDir=0 verbose=1 writeFile=1 checkWrite=0 singleXferAttempt=1 reorderTasksRandomSeed=4 dualMount=0 fsyncPerWrite=1 randomOffset=1
reorderTasksRandom=2 warningAsErrors=1 summaryFile=- summaryFormat=default saveRankPerformanceDetailsCSV=ranks savePerOpDataCSV=ops
summaryAlways=1 debug=text platform=name interIODelay=1 stoneWallingWearOut=1 stoneWallingWearOutIterations=4 stoneWallingStatusFile=status
minTimeDuration=1 numNodes=1 numTasksOnNode0=2 memoryPerTask=64k allocateBufferOnGPU=0 GPUid=-1 GPUDirect=0 useO_DIRECT=1 dryRun=1
""".split()
NEEDS = {"stoneWallingWearOut": "deadlineForStonewalling=60", "stoneWallingStatusFile": "keepFile=1,deadlineForStonewalling=60,stoneWallingWearOut=1",
         "interTestDelay": "", "reorderTasksRandom": "filePerProc=1"}
LONG = ["--collective=1", "--dataPacketType=o", "--random-offset-seed=3", "--warningAsErrors=1", "--dryRun=1"]


def test_every_key_is_taken_in_a_script(ior):
    lines = ["IOR START"]
    for pair in KEYS:
        # a test of its own for each: what it sets goes back with the lines of the next one
        lines.append("api=DUMMY,blockSize=8k,transferSize=4k,repetitions=1,keepFile=0,verbose=0,numTasks=-1,randomOffset=0,filePerProc=0,reorderTasks=0,"
                     "reorderTasksRandom=0,reorderTasksRandomSeed=0,taskPerNodeOffset=1,summaryAlways=0,deadlineForStonewalling=0,stoneWallingWearOut=0,minTimeDuration=0,memoryPerTask=0")
        if pair.startswith("memoryPerTask"):
            continue
        lines += [x for x in (NEEDS.get(pair.split("=")[0], ""), pair) if x]
        if pair.startswith("stoneWallingStatusFile"):
            break
        lines.append("RUN")
    (ior.cwd / "s").write_text("\n".join(lines) + "\nRUN\nIOR STOP\n")
    run = ior("-f s", np=2, timeout=60).ok()
    assert len(run.summary) >= len(KEYS) - 20
    rest = KEYS[[k.startswith("stoneWallingStatusFile") for k in KEYS].index(True):]
    for pair in rest:
        ior("-a DUMMY -w -b 8k -t 4k -D 60 -k -O stoneWallingWearOut=1 -O " + pair, np=2).ok()


def test_every_letter_and_long_name_is_taken(ior):
    words = ("-a DUMMY -A 3 -b 16k -c -C -d 0 -D 60 -e -E -F -g -G 4 -i 2 -j 9 -k -K -l o -m -M 1m -N 2 -o t -O refNum=2 -Q 1 -r -s 2 -t 4k "
             "-T 9 -u -v -w -x -X 3 -Y --random-offset-seed 3")
    run, found = values(ior, words, np=2)
    assert found[0]["ref-num"] == 2 and found[0]["max-time-duration"] == 9 and run.warnings == []
    values(ior, "-a DUMMY -w -z -F -Z -Z --randomPrefill 4k -b 16k -t 4k " + " ".join(LONG), np=2)
    values(ior, "-a DUMMY -R -W -w --dryRun", np=2)
    (ior.cwd / "t0").mkdir()
    assert "-y" in ior("--help=all", np=None).ok().stdout and "-h" in ior("--help=all", np=None).stdout


BACKEND_OPTIONS = {
    "POSIX": "odirect=1 rangelocks=1 lustre.stripecount=0 lustre.stripesize=0 lustre.startost=-1 lustre.ignorelocks=0 gpfs.hintaccess=0 "
             "gpfs.releasetoken=0 gpfs.finegrainwritesharing=0 gpfs.finegrainreadsharing=0 gpfs.createsharing=0 beegfs.NumTargets=-1 beegfs.ChunkSize=-1",
    "AIO": "max-pending=32 granularity=4",
    "MPIIO": "hintsFileName=h showHints=1 preallocate=1 useFileView=1 useStridedDatatype=1",
    "HDF5": "hintsFileName=h showHints=1 collectiveMetadata=1 individualDataSets=0 setAlignment=4k noFill=1 chunkSize=512",
    "NCMPI": "hintsFileName=h showHints=1 preallocate=1 useStridedDatatype=1 useFileView=1",
    "MMAP": "madv_dont_need=1 madv_pattern=1",
    "DUMMY": "delay-create=1 delay-close=1 delay-sync=1 delay-xfer=1 delay-only-rank0=1",
}


@pytest.mark.parametrize("api", BACKEND_OPTIONS)
def test_every_option_of_a_backend_is_taken(ior, need_backend, api):
    need_backend(api)
    (ior.cwd / "h").write_text("IOR_HINT__MPI__cb_nodes=1\n")
    words = ["--%s.%s" % (api.lower(), word) for word in BACKEND_OPTIONS[api].split()]
    if "direct" in words[0] and ior("--posix.odirect -w -b 64k -t 64k", np=1).returncode:
        words = words[1:]
    _, found = values(ior, "-a %s -w -r -b 64k -t 64k -s 2 %s" % (api, " ".join(words)), np=2)
    for word in words:
        name, value = word[2:].split("=")
        assert str(found[0][name]) == value.replace("4k", "4096"), word


@pytest.mark.parametrize("name", ["individualDataSets"])
def test_what_is_not_there_stands_among_the_differences(name):
    assert name in ABSENT


@pytest.mark.parametrize("words", ["-a HDFS", "-a S3-libs3"])
def test_what_is_not_there_is_refused(ior, words):
    ior("-w " + words, np=None).fails(1, words.split("=")[0].split()[-1].lstrip("-"))


@pytest.mark.parametrize("line", re.findall(r"^ior (-.*?)(?:  +#.*| *; ior.*)?$", """
ior -a POSIX -C -Q 2 -g -b 2m -t 1m -i 3 -o f -s 1 -r -w -v -F
ior -a POSIX -C -Q 2 -g -b 4096 -t 4096 -i 3 -o f -s 512 -r -w -v
ior -t 64k -b 512k -s 20 -D 30 -F -C -e -g -O stoneWallingWearOut=1 -i 2
ior -F -C -e -g -b 1m -t 4k -s2 -D45 -w -z --posix.odirect -l random -i 2 -o f
ior -a MPIIO -v -i 2 -F -C -e -t 1m -b 2m -s 2 -o ./f
ior -w -k -b 64k -t 4k -F -z -o f
ior -r -z -l random -b 64k -t 4k -F -D 25 -i 3 -o f
""", re.M))
def test_the_lines_of_recipes_run_as_they_are_typed(ior, line):
    if " -r -z" in " " + line:
        ior("-w -k -b 64k -t 4k -F -z -o f").ok()
    run = ior(line, np=2).ok()
    row = [text for text in run.stdout.split("\n") if re.match(r"^(write|read) .* (POSIX|MPIIO) +0$", text)][-1].split()
    assert row[25] in ("POSIX", "MPIIO") and row[26] == "0" and row[0] in ("write", "read")


@pytest.mark.parametrize("variable, value, key, shown", [("IOR_FAKE_NODES", "2", "nodes", "2"), ("IOR_FAKE_TASK_PER_NODES", "2", "clients per node", "2")])
def test_the_variables_of_the_environment_work(ior, variable, value, key, shown):
    assert ior("-a DUMMY -w", np=4, env={variable: value}).ok().options[key] == shown
