# SPDX-License-Identifier: BSD-3-Clause
"""node.py - Ceph with a service of S3 on one host: a monitor, a manager, an OSD on a file and radosgw, below one directory

usage: node.py DIRECTORY ID SECRET LEAST

ID and SECRET are the keys of its only user, LEAST is the least part of an upload in bytes. The URL of the service is printed when it
answers. Nothing is written outside of DIRECTORY, and only 127.0.0.1 is listened on. It runs until it is killed, and its daemons end
with it, however it ends. When one of them ends before, the last line is "ERROR: ..." and the status 1. Any user may run it."""
import base64
import ctypes
import os
import pathlib
import random
import signal
import socket
import struct
import subprocess
import sys
import time
import uuid

PR_SET_PDEATHSIG = 1
SECONDS = 150  # for the start, on a machine that does much else

# Small: a pool is one placement group with one copy, caches are some MiB. Quick: the monitor takes what changes at once, not each
# second. The modules of the manager, which are Python, would take 270 MiB and 3 s of a processor, and no object needs them.
CONFIGURATION = """[global]
fsid = {fsid}
mon host = {monitor}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
keyring = {at}/keyring
run dir = {at}
crash dir = {at}
log file = {at}/$name.log
admin socket =
mon data = {at}/mon
mon data avail warn = 0
mon data avail crit = 0
mon cluster log to file = false
mon allow pool size one = true
paxos propose interval = 0.05
paxos min wait = 0.02
mgr data = {at}/mgr
mgr module path = {at}/modules
mgr initial modules =
osd data = {at}/osd
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd op num shards = 1
osd op num threads per shard = 2
bluestore block size = 1073741824
bluestore cache autotune = false
bluestore cache size = 33554432
rgw data = {at}
rgw frontends = beast endpoint={gateway}
rgw thread pool size = 32
rgw override bucket index max shards = 1
rgw dynamic resharding = false
rgw multipart min part size = {least}
"""


def die_with(parent):
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def free_port():
    """A port that nobody has, and that the kernel gives to no client."""
    for port in random.sample(range(16384, 32768), 100):
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass
    raise RuntimeError("no port is free")


def keyring(names):
    """All may do all, with one key: they are on this host only."""
    key = base64.b64encode(struct.pack("<HIIH", 1, int(time.time()), 0, 16) + os.urandom(16)).decode()
    caps = "".join('\tcaps %s = "allow *"\n' % who for who in ("mon", "mgr", "osd"))
    return "".join("[%s]\n\tkey = %s\n%s" % (name, key, caps) for name in names)


def answers(address):
    host, _, port = address.partition(":")
    try:
        socket.create_connection((host, int(port)), 1).close()
        return True
    except OSError:
        return False


class Node:
    def __init__(self, directory, least):
        self.at = pathlib.Path(directory).resolve() / "ceph"
        self.daemons, self.end = [], time.monotonic() + SECONDS
        self.fsid, self.monitor = str(uuid.uuid4()), "[v2:127.0.0.1:%d/0]" % free_port()
        self.gateway = "127.0.0.1:%d" % free_port()
        for name in ("mon", "mgr", "osd", "modules"):
            (self.at / name).mkdir(parents=True)
        (self.at / "keyring").write_text(keyring(("mon.", "mgr.x", "osd.0", "client.admin")))
        (self.at / "keyring").chmod(0o600)
        (self.at / "ceph.conf").write_text(CONFIGURATION.format(at=self.at, least=least, fsid=self.fsid, monitor=self.monitor, gateway=self.gateway))
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("CEPH_")}
        self.env["CEPH_CONF"] = str(self.at / "ceph.conf")

    def start(self, *words):
        us = os.getpid()
        with open(self.at / (words[0] + ".out"), "a") as out:
            return subprocess.Popen(words, cwd=self.at, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                    preexec_fn=lambda: die_with(us))

    def fail(self, name, what):
        words = (self.at / (name + ".out")).read_text().strip().split("\n")[-1]
        raise RuntimeError("%s %s: %s" % (name, what, words))

    def daemon(self, *words):
        self.daemons.append(self.start(*words, "-f"))

    def wait_for(self, is_done, name):
        """Until is_done(), while all daemons run."""
        while not is_done():
            for daemon in self.daemons:
                if daemon.poll() is not None:
                    self.fail(daemon.args[0], "has ended with status %d" % daemon.returncode)
            if time.monotonic() > self.end:
                self.fail(name, "is not ready after %d s" % SECONDS)
            time.sleep(0.05)

    def finish(self, tool):
        self.wait_for(lambda: tool.poll() is not None, tool.args[0])
        if tool.returncode:
            self.fail(tool.args[0], "has failed")

    def run(self, *words):
        self.finish(self.start(*words))

    def set_up(self, id, secret):
        osd = str(uuid.uuid4())
        self.run("monmaptool", "--create", "--fsid", self.fsid, "--addv", "a", self.monitor, "monmap")
        disk = self.start("ceph-osd", "-i", "0", "--mkfs", "--no-mon-config", "--monmap", "monmap", "--osd-uuid", osd)
        self.run("ceph-mon", "-i", "a", "--mkfs", "--monmap", "monmap", "--keyring", "keyring")
        self.daemon("ceph-mon", "-i", "a")
        self.daemon("ceph-mgr", "-i", "x")
        self.run("ceph", "osd", "new", osd)
        self.finish(disk)
        self.daemon("ceph-osd", "-i", "0")
        self.run("radosgw-admin", "user", "create", "--uid=weir", "--display-name=weir", "--access-key", id, "--secret-key", secret)
        self.daemon("radosgw", "-n", "client.admin")
        self.wait_for(lambda: answers(self.gateway), "radosgw")


def main(directory, id, secret, least):
    try:
        node = Node(directory, least)
        node.set_up(id, secret)
        print("http://" + node.gateway, flush=True)
        node.end = float("inf")
        node.wait_for(lambda: False, "")
    except (OSError, RuntimeError) as e:
        sys.exit("ERROR: %s" % e)


if __name__ == "__main__":
    main(*sys.argv[1:])
