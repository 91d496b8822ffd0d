# SPDX-License-Identifier: BSD-3-Clause
"""A cluster on one machine: a login host 'head' and hosts node1 to node4, each with its own network, name, boot id, processes,
/tmp and /dev/shm, joined by a bridge; grow() adds node5 to node16. run.sh gives us namespaces of our own first, so nothing here
has to be undone."""
import os
import pathlib
import subprocess
import time

import pytest

MOUNT = pathlib.Path("/mnt")  # from run.sh; in memory, the same on all hosts; nobody else sees it
SHARED = MOUNT / "shared"
ETC = MOUNT / "etc"
LOG = MOUNT / "log"
NETWORK = "10.77.0."
NAMES = ["node%d" % i for i in range(1, 17)]
FIRST = 4  # so many of them are there from the start
AHEAD = {"node16": 10}  # seconds that clocks which count from the start of a host are ahead of those of the others

HOST = """
hostname "$1"
cat /proc/sys/kernel/random/uuid >"/mnt/etc/boot_id.$1"
mount --bind "/mnt/etc/boot_id.$1" /proc/sys/kernel/random/boot_id
for dir in /tmp /dev/shm /run ~root; do mount -t tmpfs weir "$dir"; done
mkdir -p /run/sshd /run/slurm
$(command -v sshd) -D -f /mnt/etc/sshd_config -E "/mnt/log/sshd.$1" &
wait
"""

SSHD = """
ListenAddress 0.0.0.0
HostKey /mnt/etc/host_key
AuthorizedKeysFile /mnt/etc/user_key.pub
StrictModes no
UsePAM no
PermitRootLogin yes
MaxSessions 100
MaxStartups 100
UseDNS no
PidFile none
AcceptEnv *
"""

SSH = """
Host *
User root
IdentityFile /mnt/etc/user_key
IdentitiesOnly yes
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
ConnectTimeout 30
ControlPath /mnt/run/ssh-%h
ControlMaster no
"""

SLURM = """
ClusterName=weir
SlurmctldHost=head({network}254)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=/mnt/run/munge
StateSaveLocation=/mnt/slurm
SlurmctldPidFile=/mnt/run/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.pid
SlurmdSpoolDir=/run/slurm/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
KillWait=30
SlurmdTimeout=300
TCPTimeout=20
MessageTimeout=60
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Bed:
    def __init__(self):
        if not os.path.ismount(MOUNT / "source"):  # else the mounts below would be those of this machine
            pytest.exit("the tests on several hosts run in namespaces of their own: start them with testing/cluster/run.sh", 2)
        os.environ.pop("TMPDIR", None)
        for dir in (SHARED, ETC, LOG, MOUNT / "run", MOUNT / "slurm"):
            dir.mkdir()
        for dir in ("/tmp", "/dev/shm", "/run"):
            quiet("mount", "-t", "tmpfs", "weir", dir)
        os.chdir(SHARED)
        (ETC / "hosts").write_text("127.0.0.1 localhost\n" + "".join(
            "%s%d %s\n" % (NETWORK, i, name) for i, name in [(254, "head")] + list(enumerate(NAMES, 1))))
        quiet("mount", "--bind", ETC / "hosts", "/etc/hosts")
        quiet("hostname", "head")
        self.hosts = {}
        self.daemons = []
        batch(["link set lo up", "link add br0 type bridge", "link set br0 up", "addr add %s254/24 dev br0" % NETWORK])
        self.ssh_keys()
        self.grow(NAMES[:FIRST])

    def grow(self, names):
        """Start those of these hosts that are not there, all at the same time."""
        new = [name for name in names if name not in self.hosts]
        batch([line for name in new for line in (
            "netns add " + name, "link add %s type veth peer name eth0 netns %s" % (name, name), "link set %s master br0 up" % name)])
        for name in new:
            batch(["link set lo up", "addr add %s%d/24 dev eth0" % (NETWORK, NAMES.index(name) + 1), "link set eth0 up"], "-n", name)
            self.start_host(name)
        for name in new:
            self.connect(name)

    def ssh_keys(self):
        for key in ("host_key", "user_key"):
            quiet("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", ETC / key)
        (ETC / "sshd_config").write_text(SSHD)
        (ETC / "ssh_config").write_text(SSH)
        wrapper = ETC / "ssh"
        wrapper.write_text('#!/bin/sh\nexec /usr/bin/ssh -F /mnt/etc/ssh_config "$@"\n')
        wrapper.chmod(0o755)

    def start_host(self, name):
        """A host: its processes end with the process that we keep."""
        log = open(LOG / ("host." + name), "wb")
        clock = ["--time", "--monotonic", str(AHEAD[name]), "--boottime", str(AHEAD[name])] if name in AHEAD else []
        self.hosts[name] = subprocess.Popen(
            ["ip", "netns", "exec", name, "unshare", *clock, "--pid", "--fork", "--kill-child", "--mount-proc", "--mount",
             "--uts", "--ipc", "sh", "-ec", HOST, "host", name], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def connect(self, name):
        """A connection that all later ones use."""
        master = [str(ETC / "ssh"), "-o", "ControlMaster=yes", "-N", "-f", name]
        with open(LOG / ("ssh." + name), "ab") as log:
            await_true("sshd of " + name, lambda: subprocess.run(master, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                                 timeout=60).returncode == 0)

    def on(self, name, command, **more):
        """Run a shell command on a host: its standard output"""
        done = subprocess.run([str(ETC / "ssh"), name, command], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, **more)
        assert done.returncode == 0, "%s: %s: %s%s" % (name, command, done.stdout, done.stderr)
        return done.stdout

    def lose(self, name):
        """The host crashes: its processes are gone, its connections are reset."""
        self.hosts[name].kill()
        self.hosts[name].wait(60)

    def bring_back(self, name):
        self.start_host(name)
        subprocess.run([str(ETC / "ssh"), "-O", "exit", name], capture_output=True, timeout=60)
        self.connect(name)

    # ---- Slurm ----

    def slurm(self, names):
        """Start Slurm with slurmctld on this host and slurmd on others."""
        nodes = "\n".join("NodeName=%s NodeAddr=%s%d CPUs=8" % (name, NETWORK, NAMES.index(name) + 1) for name in names)
        conf = ETC / "slurm.conf"
        conf.write_text(SLURM.format(network=NETWORK, nodes=nodes))
        (ETC / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")  # not looked for: nothing here needs one
        os.environ["SLURM_CONF"] = str(conf)
        key = ETC / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.daemon("munged", "--foreground", "--force", "--key-file=%s" % key, "--socket=/mnt/run/munge",
                    "--seed-file=/mnt/run/munge.seed", "--pid-file=/mnt/run/munge.pid", "--log-file=/mnt/log/munged",
                    "--num-threads=2")
        await_true("munged", (MOUNT / "run" / "munge").exists)
        self.daemon("slurmctld", "-D")
        for name in names:
            self.slurmd(name)
        await_true("slurmctld and %d slurmd" % len(names), lambda: self.idle() == sorted(names))

    def idle(self):
        done = subprocess.run(["sinfo", "-h", "-N", "-t", "idle", "-o", "%N"], capture_output=True, text=True, timeout=90)
        return sorted(done.stdout.split())

    def slurmd(self, name):
        self.on(name, "SLURM_CONF=/mnt/etc/slurm.conf setsid %s -D >>/mnt/log/slurmd.%s 2>&1 </dev/null &"
                % (which("slurmd"), name))

    def daemon(self, *argv):
        log = open(LOG / argv[0], "ab")
        self.daemons.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log))


def which(program):
    return subprocess.run(["sh", "-c", "command -v " + program], capture_output=True, text=True, check=True).stdout.strip()


def quiet(*argv):
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, "%s: %s%s" % (" ".join(map(str, argv)), done.stdout, done.stderr)
    return done.stdout


def batch(lines, *options):
    done = subprocess.run(["ip", *options, "-batch", "-"], input="\n".join(lines) + "\n", capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, "ip: " + done.stderr


def logs():
    return "".join("--- %s\n%s\n" % (log, log.read_text(errors="replace")[-3000:]) for log in sorted(LOG.iterdir()))


def await_true(what, condition, seconds=240):
    """Wait for it; machines may be slow."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "%s: not there after %d s\n%s" % (what, seconds, logs())
        time.sleep(0.1)
