# SPDX-License-Identifier: BSD-3-Clause
"""The manifests of contrib/jobs/kubernetes: what is in them, by the types of Kubernetes and of the mpi-operator, and what their commands do.

No cluster is needed. kubectl, where it is there, reads jobs and pods into its own types and drops the fields that it does not know.
On several hosts: testing/cluster/test_hosts.py."""
import json
import re
import shutil
import subprocess
import sys

import pytest

import conftest

yaml = pytest.importorskip("yaml", reason="needs python3-yaml to read the manifests")
SCRIPT = conftest.SOURCE / "contrib" / "jobs" / "kubernetes" / "weir-kubernetes"

# ---- what the API takes: a type, a set of values, a list of one kind, or the fields of an object, of which those with '!' must be there ----

LABEL = re.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
COUNT = re.compile("[0-9]+")  # a number of YAML, not a text
QUANTITY = re.compile(r"'[0-9]+(\.[0-9]+)?(m|[kMGTPE]|[KMGTPE]i)?'")
LABELS = {re.compile(r"([a-z0-9.-]+/)?[A-Za-z0-9._-]+"): str}
RESOURCES = {re.compile("[a-z0-9./-]+"): QUANTITY}
CONTAINER = {"name!": LABEL, "image!": str, "command": [str], "workingDir": str, "securityContext": {"runAsUser": COUNT},
             "volumeMounts": [{"name!": LABEL, "mountPath!": str}], "resources": {"requests": RESOURCES, "limits": RESOURCES}}
TERM = {"labelSelector": {"matchLabels": LABELS}, "topologyKey!": str}
POD = {"metadata": {"labels": LABELS},
       "spec!": {"containers!": [CONTAINER], "volumes": [{"name!": LABEL, "persistentVolumeClaim": {"claimName!": str}}],
                 "restartPolicy": {"Never", "OnFailure"}, "terminationGracePeriodSeconds": COUNT,
                 "securityContext": {"fsGroup": COUNT, "fsGroupChangePolicy": {"Always", "OnRootMismatch"}},
                 "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}}}
METADATA = {"name!": LABEL, "namespace": LABEL, "labels": LABELS}
REPLICAS = {"replicas": COUNT, "restartPolicy": {"Never", "OnFailure"}, "template!": POD}
JOB = {"apiVersion!": {"batch/v1"}, "kind!": {"Job"}, "metadata!": METADATA, "spec!": {"backoffLimit": COUNT, "template!": POD}}
MPI_JOB = {"apiVersion!": {"kubeflow.org/v2beta1"}, "kind!": {"MPIJob"}, "metadata!": METADATA,
           "spec!": {"slotsPerWorker": COUNT, "mpiImplementation": {"OpenMPI", "Intel", "MPICH"}, "sshAuthMountPath": str,
                     "launcherCreationPolicy": {"AtStartup", "WaitForWorkersReady"},
                     "runPolicy": {"cleanPodPolicy": {"None", "Running", "All"}, "backoffLimit": COUNT, "ttlSecondsAfterFinished": COUNT,
                                   "activeDeadlineSeconds": COUNT, "suspend": bool},
                     "mpiReplicaSpecs!": {"Launcher!": REPLICAS, "Worker": REPLICAS}}}


def faults(value, kind, where=""):
    """What the API would refuse."""
    if isinstance(kind, list):
        if not isinstance(value, list) or not value:
            return ["%s is no list with something in it" % where]
        return [f for i, below in enumerate(value) for f in faults(below, kind[0], "%s[%d]" % (where, i))]
    if isinstance(kind, dict):
        if not isinstance(value, dict):
            return ["%s is no object" % where]
        found = ["%s.%s is missing" % (where, key[:-1]) for key in kind if isinstance(key, str) and key.endswith("!") and key[:-1] not in value]
        for key, below in value.items():
            one = next((k for name, k in kind.items() if (name.fullmatch(key) if isinstance(name, re.Pattern) else name.rstrip("!") == key)), None)
            found += faults(below, one, "%s.%s" % (where, key)) if one else ["%s.%s is no field" % (where, key)]
        return found
    good = value in kind if isinstance(kind, set) else isinstance(value, kind) if isinstance(kind, type) else \
        kind.fullmatch(str(value) if kind is LABEL else repr(value))
    return [] if good else ["%s is %r" % (where, value)]


def pods(manifest):
    spec = manifest["spec"]
    return [spec["template"]] if manifest["kind"] == "Job" else [spec["mpiReplicaSpecs"][part]["template"] for part in ("Launcher", "Worker")]


def expanded(words):
    """As Kubernetes does: $$ is $, and $(NAME) a variable."""
    assert not any(re.search(r"(?<!\$)(\$\$)*\$\(", word) for word in words), words
    return [word.replace("$$", "$") for word in words]


def written(*args):
    return subprocess.run([sys.executable, str(SCRIPT), *args], capture_output=True, text=True, timeout=60, encoding="utf-8", errors="surrogateescape")


@pytest.fixture
def manifest(tmp_path):
    def make(*args):
        done = written(*args)
        assert done.returncode == 0 and done.stderr == "", done
        made = yaml.safe_load(done.stdout)
        assert faults(made, JOB if made["kind"] == "Job" else MPI_JOB) == [], done.stdout
        for pod in pods(made):
            names = [v["name"] for v in pod["spec"]["volumes"]]
            assert len(set(names)) == len(names) and all(m["name"] in names for c in pod["spec"]["containers"] for m in c["volumeMounts"])
            job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"}, "spec": {"template": pod}}
            seen_by_kubectl(json.dumps(job), job, tmp_path)
        if made["kind"] == "Job":
            seen_by_kubectl(done.stdout, made, tmp_path)  # by another reader of YAML, too
        return made
    return make


def seen_by_kubectl(text, job, tmp_path):
    """kubectl reads a job into its types and prints it: every field is still there, with the value that it had."""
    if not shutil.which("kubectl"):
        return
    (tmp_path / "job.yaml").write_text(text, encoding="utf-8")
    done = subprocess.run(["kubectl", "set", "env", "--local", "-f", str(tmp_path / "job.yaml"), "-o", "json", "SEEN=yes"], capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done

    def without(big, small):
        if isinstance(small, dict):
            return {k: without(big.get(k) if isinstance(big, dict) else None, v) for k, v in small.items()}
        if isinstance(small, list):
            return [without(b, s) for b, s in zip(big or [], small)]
        return big
    assert without(json.loads(done.stdout), job) == job, done.stdout


HARD = ["ior", "-o", "./a b", "it's", 'a "word"', "$(HOME) $HOME $$", "s3:", "a: b", "- x", "#", "yes", "007", "1e3", "~", "", "tab\tend\n", "back\\slash",
        "\u00e9\u00df\U0001f600", "\x85\u2028\ufeff", "{a: b}", "*x", "&y", "%z", "--", "-1"]


# ---- what is in them ----

@pytest.mark.parametrize("nodes", [1, 3])
def test_words_of_a_command_line_come_through(manifest, nodes):
    made = manifest("--claim=c", "--nodes=%d" % nodes, "--ranks=2", "--", *HARD)
    command = expanded(pods(made)[0]["spec"]["containers"][0]["command"])
    assert command[:3] == ["mpirun", "-n", str(2 * nodes)] and command[-len(HARD):] == HARD


def test_one_node_is_a_job_with_the_claim(manifest):
    made = manifest("--claim=scratch.me", "--namespace=bench", "--name=night", "--image=registry.example:5000/weir@sha256:0", "--ranks=8",
                    "--requests=cpu=4,memory=8Gi", "--limits=memory=8Gi,nvidia.com/gpu=1", "--", "mdtest", "-d", "tree")
    assert (made["kind"], made["metadata"]["name"], made["metadata"]["namespace"]) == ("Job", "night", "bench")
    spec = made["spec"]["template"]["spec"]
    container, = spec["containers"]
    assert made["spec"]["backoffLimit"] == 0 and spec["restartPolicy"] == "Never"  # a second run would mix its results with the first one's
    assert container["image"] == "registry.example:5000/weir@sha256:0" and container["workingDir"] == "/data"
    assert container["resources"] == {"requests": {"cpu": "4", "memory": "8Gi"}, "limits": {"memory": "8Gi", "nvidia.com/gpu": "1"}}
    assert [(m["name"], m["mountPath"]) for m in container["volumeMounts"]] == [("data", "/data")]
    assert spec["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "scratch.me"}}]


@pytest.mark.parametrize("mpi, option", [("OpenMPI", "--hostfile"), ("MPICH", "-f")])
def test_several_nodes_are_an_mpijob_whose_workers_mount_the_claim(manifest, mpi, option):
    made = manifest("--claim=scratch", "--results=kept", "--nodes=4", "--ranks=8", "--mpi=" + mpi, "--mount=/scratch", "--limits=cpu=8", "--", "ior")
    spec = made["spec"]
    launcher, worker = pods(made)
    assert spec["slotsPerWorker"] == 8 and spec["mpiImplementation"] == mpi and spec["runPolicy"] == {"cleanPodPolicy": "Running", "backoffLimit": 0}
    assert [spec["mpiReplicaSpecs"][part]["replicas"] for part in ("Launcher", "Worker")] == [1, 4]
    assert launcher["spec"]["containers"][0]["command"] == ["mpirun", "-n", "32", option, "/etc/mpi/hostfile", "ior"]
    assert "resources" not in launcher["spec"]["containers"][0] and worker["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "8"}}
    for pod in launcher, worker:
        container, = pod["spec"]["containers"]
        assert [(m["name"], m["mountPath"]) for m in container["volumeMounts"]] == [("data", "/scratch"), ("results", "/results")]
        assert container["workingDir"] == "/scratch" and [v["persistentVolumeClaim"]["claimName"] for v in pod["spec"]["volumes"]] == ["scratch", "kept"]
    term, = worker["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["labelSelector"]["matchLabels"] == worker["metadata"]["labels"] and term["topologyKey"] == "kubernetes.io/hostname"


def test_the_image_has_what_the_workers_start(manifest):
    """sshd with this configuration, as the user of the pods, and ssh that finds it."""
    made = manifest("--claim=c", "--nodes=2", "--", "ior")
    worker = pods(made)[1]["spec"]["containers"][0]
    container = conftest.SOURCE / "contrib" / "packaging" / "container"
    image, sshd, ssh = ((container / name).read_text() for name in ("Containerfile", "sshd_config", "ssh_config"))
    home = "/home/weir"
    assert worker["command"] == ["/usr/sbin/sshd", "-De", "-f", home + "/.sshd_config"] and worker["securityContext"] == {"runAsUser": 1000}
    assert made["spec"]["sshAuthMountPath"] == home + "/.ssh" and "--uid 1000 weir" in image
    assert "COPY contrib/packaging/container/sshd_config %s/.sshd_config\n" % home in image and "openssh-server" in image
    port, = re.findall(r"^Port (\d+)$", sshd, re.M)
    assert int(port) > 1023 and "    Port %s\n" % port in ssh and "HostKey %s/.ssh/id_rsa\n" % home in sshd


@pytest.mark.parametrize("args, words", [
    (["--", "ior"], "required: --claim"), (["--claim=c"], "name the program"), (["--claim=c", "--", "-w"], "name the program"),
    (["--claim=C_1", "--", "ior"], "'C_1' is not the name of a PersistentVolumeClaim"), (["--claim=c", "--nodes=0", "--", "ior"], "'0' is not a number"),
    (["--claim=c", "--ranks=1.5", "--", "ior"], "'1.5' is not a number"), (["--claim=c", "--name=" + 46 * "x", "--", "ior"], "at most 45"),
    (["--claim=c", "--name=1x", "--", "ior"], "'1x' is not a name"), (["--claim=c", "--namespace=a.b", "--", "ior"], "'a.b' is not a name of a namespace"),
    (["--claim=c", "--mount=data", "--", "ior"], "'data' is not an absolute path"), (["--claim=c", "--mount=/home", "--", "ior"], "need that directory"),
    (["--claim=c", "--mount=/results", "--results=r", "--", "ior"], "results are mounted on /results"),
    (["--claim=c", "--limits=memory:8", "--", "ior"], "is not a list like cpu=8"), (["--claim=c", "--limits=memory=8GB", "--", "ior"], "'memory=8GB' is not"),
    (["--claim=c", "--limits=cpu=1,cpu=2", "--", "ior"], "'cpu=1,cpu=2' has a resource twice"),
    (["--claim=c", "--image=", "--", "ior"], "is not a name of an image"), (["--claim=c", "--mpi=LAM", "--", "ior"], "'LAM'"),
    (["--claim=c", "ior"], "unrecognized arguments: ior"), (["--claim=c", "--", "ior", b"\xff"], "a word is not UTF-8")])
def test_bad_input_is_one_line(args, words):
    done = written(*args)
    assert done.returncode == 2 and done.stdout == "" and words in done.stderr and done.stderr.count("\n") == 1, done
    assert done.stderr.startswith("weir-kubernetes: "), done


def test_output_that_cannot_be_written_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, str(SCRIPT), "--claim=c", "--", "ior"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr == "weir-kubernetes: standard output: No space left on device\n", done


# ---- what they do ----

def test_the_command_of_a_job_runs(manifest, bin, tmp_path):
    made = manifest("--claim=c", "--ranks=2", "--", "ior", "-w", "-r", "-F", "-b", "64k", "-t", "64k", "-k", "-o", "./a $(HOME) $$1 'b'", "--report=json:r.json")
    volume = tmp_path / "volume"
    volume.mkdir()
    container, = made["spec"]["template"]["spec"]["containers"]
    command = expanded(container["command"])
    if not conftest.OPEN_MPI:
        command = [word for word in command if word not in ("--map-by", "slot:OVERSUBSCRIBE")]
    done = subprocess.run(command, cwd=volume, env=conftest.program_env({"PATH": bin}), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done
    assert sorted(p.name for p in volume.iterdir()) == ["a $(HOME) $$1 'b'.00000000", "a $(HOME) $$1 'b'.00000001", "r.json"]
    assert json.loads((volume / "r.json").read_text())["provenance"]["tasks"] == 2
