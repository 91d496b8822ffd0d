# SPDX-License-Identifier: BSD-3-Clause
"""A proxy before a server of S3 that does what networks and services do on bad days, and counts who asked what.

    with Proxy("127.0.0.1:9000") as proxy:
        proxy.rule(slow_down(), method="PUT", first=2)
        ... requests to proxy.url ...
        assert proxy.count("PUT") == 5

A rule names the requests that it is for and what is done with them: a function of the request and of 'ask', which asks the server. It
returns the answer, None: none, the connection is lost."""
import http.client
import itertools
import re
import socket
import socketserver
import ssl
import threading
import time


class Request:
    """One request as it came: method, path, query (text), headers (names in lower case), connection (number); later body, status,
    answer."""

    def __init__(self, method, target, headers, connection):
        self.method, self.headers, self.body, self.connection = method, headers, b"", connection
        self.target = target
        self.path, _, self.query = target.partition("?")
        self.status, self.answer, self.rule, self.begin = None, None, None, time.monotonic()

    def __repr__(self):
        return "%s %s -> %s" % (self.method, self.target, self.status)

    @property
    def part(self):
        """The number of the part that it sends, else None."""
        found = re.search(r"(?:^|&)partNumber=(\d+)", self.query)
        return int(found.group(1)) if found else None

    def take(self, words):
        """Read the body. Is all of it there?"""
        length = int(self.headers.get("content-length", 0))
        most = getattr(self.rule and self.rule["do"], "reads", length)
        self.body = words.read(min(length, most))
        return most >= length == len(self.body)


class Answer:
    """lie: the length that the header says, where it is not that of the body; cut: bytes of the body until the connection is lost."""

    def __init__(self, status, headers=(), body=b"", lie=None, cut=None):
        self.status, self.headers, self.body, self.lie, self.cut = status, dict(headers), body, lie, cut


# ---- what can be done ----

def error(status, code, message="as the test wants it", headers=(), **elements):
    """An error of the service."""
    more = "".join("<%s>%s</%s>" % (name, text, name) for name, text in elements.items())
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>%s</Code><Message>%s</Message>%s</Error>' % (code, message, more)
    answer = Answer(status, {"Content-Type": "application/xml", **dict(headers)}, text.encode())
    return lambda request, ask: answer


def slow_down():
    return error(503, "SlowDown", "Please reduce your request rate.")


def internal():
    return error(500, "InternalError", "We encountered an internal error. Please try again.")


def skewed(seconds):
    """The clocks differ: the server's is so much ahead."""
    now = time.time() + seconds
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(now))
    return error(403, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large.",
                 {"Date": date}, ServerTime=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)))


def redirect(url, status=307, region="eu-test-2"):
    """The object is elsewhere, at the URL of an endpoint."""
    def do(request, ask):
        return error(status, "TemporaryRedirect" if status == 307 else "PermanentRedirect", "Please use the endpoint that is named.",
                     {"Location": url + request.target, "x-amz-bucket-region": region}, Endpoint=url.partition("//")[2])(request, ask)
    return do


def drop(request, ask):
    """No answer, and the server is not asked."""


def drop_after(request, ask):
    """No answer, though it was done."""
    ask()


def lose(after):
    """The connection is lost when so many bytes of the body have come."""
    def do(request, ask):
        """Not with a body that has fewer."""
        return ask()
    do.reads = after
    return do


def delay(seconds):
    def do(request, ask):
        time.sleep(seconds)
        return ask()
    return do


class Gate:
    """Requests wait before it until it is opened, or until 'together' of them wait, then some seconds more, so that others can come. Where
    nothing opens it, their connections are lost after a minute."""

    def __init__(self, together=None, seconds=0):
        self.opened, self.numbers, self.together, self.seconds = threading.Event(), itertools.count(1), together, seconds

    def open(self):
        self.opened.set()

    def __call__(self, request, ask):
        if next(self.numbers) == self.together:
            self.open()
        if not self.opened.wait(60):
            return None
        time.sleep(self.seconds)
        return ask()


def changed(**how):
    """The server's answer with other words: lie=BYTES, cut=BYTES, body=FUNCTION, status=N, headers={NAME: TEXT or None}."""
    def do(request, ask):
        answer = ask()
        headers = how.get("headers", {})
        answer.headers = {k: v for k, v in answer.headers.items() if k.lower() not in [name.lower() for name in headers]}
        answer.headers.update((k, v) for k, v in headers.items() if v is not None)
        answer.body = how["body"](answer.body) if "body" in how else answer.body
        answer.status = how.get("status", answer.status)
        answer.lie, answer.cut = how.get("lie"), how.get("cut")
        if callable(answer.lie):
            answer.lie = answer.lie(len(answer.body))
        return answer
    return do


def corrupt(at=0):
    """A bit of the body is another one."""
    return changed(body=lambda body: body[:at] + bytes([body[at] ^ 1]) + body[at + 1:] if len(body) > at else body)


def truncate(after):
    """The connection is lost after some bytes of the body."""
    return changed(cut=after)


def corrupt_sent(at=0):
    """A bit of what is sent is another one when it reaches the server."""
    def do(request, ask):
        return ask(request.body[:at] + bytes([request.body[at] ^ 1]) + request.body[at + 1:])
    return do


def stale(asked):
    """What these requests were answered, for ever."""
    old = {(r.target, r.headers.get("range")): r.answer for r in asked}
    return lambda request, ask: old.get((request.target, request.headers.get("range"))) or ask()


def by_host(request, ask):
    """The bucket is before the name of the host, and the server wants it in the path: one that does not look at signatures."""
    bucket, _, host = request.headers["host"].partition(".")
    return ask(target="/" + bucket + request.target, headers={**request.headers, "host": host})


# ---- the proxy ----

class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A client that goes away is no news."""


class Proxy:
    """upstream: "host:port" of a server without TLS; tls: (certificate, key) files of this one, None: without TLS."""

    def __init__(self, upstream=None, tls=None):
        self.upstream, self.tls = upstream, tls
        self.log, self.rules, self.lock = [], [], threading.Lock()
        self.numbers, self.open, self.most_open, self.in_flight, self.most_in_flight = itertools.count(), 0, 0, 0, 0
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                proxy.serve(self.request)

        self.server = Server(("127.0.0.1", 0), Handler)
        self.host = "127.0.0.1:%d" % self.server.server_address[1]
        self.url = "%s://%s" % ("https" if tls else "http", self.host)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def rule(self, do, method=None, path=None, query=None, part=None, first=None, every=None, after=0):
        """path, query: expressions that are searched; part: its number. Of the requests that match, not the first 'after', then only
        the first so many, or each so manieth. The first rule that is for a request is taken."""
        self.rules.append({"do": do, "method": method, "path": path, "query": query, "part": part, "first": first, "every": every,
                           "after": after, "seen": 0, "done": 0})
        return self.rules[-1]

    def asked(self, method=None, query=None, path=None):
        """The requests that match."""
        with self.lock:
            return [r for r in self.log if (method in (None, r.method)) and (query is None or re.search(query, r.query)) and
                    (path is None or re.search(path, r.path))]

    def count(self, method=None, query=None, path=None):
        return len(self.asked(method, query, path))

    @property
    def connections(self):
        """How many connections had a request."""
        return len({r.connection for r in self.asked()})

    def forget(self):
        with self.lock:
            self.log.clear()
            self.most_open, self.most_in_flight = self.open, 0

    # ---- one connection ----

    def serve(self, sock):
        number = next(self.numbers)
        if self.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.tls)
            sock = context.wrap_socket(sock, server_side=True)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            self.open += 1
            self.most_open = max(self.most_open, self.open)
        upstream = http.client.HTTPConnection(self.upstream) if self.upstream else None
        try:
            with sock.makefile("rb") as words:
                while self.exchange(sock, words, number, upstream):
                    pass
        finally:
            with self.lock:
                self.open -= 1
            if upstream:
                upstream.close()
            sock.close()

    def exchange(self, sock, words, number, upstream):
        """One request and its answer. Is the connection there after it?"""
        line = words.readline().decode("latin-1").split()
        if len(line) != 3:
            return False
        headers = {}
        for header in iter(lambda: words.readline().decode("latin-1").rstrip("\r\n"), ""):
            name, _, text = header.partition(":")
            headers[name.lower()] = text.strip()
        if headers.pop("expect", None):
            sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        request = Request(line[0], line[1], headers, number)
        with self.lock:
            self.log.append(request)
            request.rule = next((rule for rule in self.rules if self.is_for(rule, request)), None)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            answer = self.answer(request, upstream) if request.take(words) else None
        finally:
            with self.lock:
                self.in_flight -= 1
        if answer is None:
            return False
        request.status, request.answer = answer.status, answer
        return self.send(sock, request, answer)

    @staticmethod
    def is_for(rule, request):
        if rule["method"] not in (None, request.method) or rule["part"] not in (None, request.part):
            return False
        if any(rule[name] is not None and not re.search(rule[name], getattr(request, name)) for name in ("path", "query")):
            return False
        rule["seen"] += 1
        n = rule["seen"] - rule["after"]
        if n < 1 or (rule["first"] is not None and n > rule["first"]) or (rule["every"] and n % rule["every"]):
            return False
        rule["done"] += 1
        return True

    def answer(self, request, upstream):
        def ask(body=None, target=None, headers=None):
            """The server may have closed a connection that it had kept. rclone 1.75 answers 500 to one of some PUTs that come together and
            make one directory ("Dir.Rename error: file does not exist"): in 17 of 548 directories with 8 of them."""
            for again in (True, False):
                try:
                    upstream.request(request.method, target or request.target, request.body if body is None else body, headers or request.headers)
                    got = upstream.getresponse()
                    answer = Answer(got.status, got.getheaders(), got.read())
                    if got.status != 500 or not again:
                        return answer
                except (ConnectionError, http.client.RemoteDisconnected, http.client.CannotSendRequest):
                    upstream.close()
                    if not again:
                        return None
            return None
        return request.rule["do"](request, ask) if request.rule else ask()

    @staticmethod
    def send(sock, request, answer):
        headers = {k: v for k, v in answer.headers.items() if k.lower() not in ("transfer-encoding", "connection", "content-length")}
        said = next((v for k, v in answer.headers.items() if k.lower() == "content-length"), None)
        length = answer.lie if answer.lie is not None else said if request.method == "HEAD" and said else len(answer.body)
        head = "HTTP/1.1 %d X\r\n%s\r\n" % (answer.status, "".join(
            "%s: %s\r\n" % pair for pair in [*headers.items(), *([("Content-Length", length)] if answer.status != 204 else [])]))
        body = b"" if request.method == "HEAD" else answer.body if answer.cut is None else answer.body[:answer.cut]
        sock.sendall(head.encode("latin-1") + body)
        return answer.cut is None and answer.lie in (None, len(answer.body)) or request.method == "HEAD"
