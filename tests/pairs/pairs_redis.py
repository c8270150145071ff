"""What the pairs_*.py share: a `later serve`, a connection to Redis, and what a deviation is."""
import json
import os
import socket
import subprocess


class Deviation(Exception):
    pass


class Serve:
    """A `later serve`: one connection, one prefix for all of its lines."""

    def __init__(self, later, prefix="later", *options):
        self.prefix = prefix
        self.process = subprocess.Popen([later, "serve", "--prefix", prefix, *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, encoding="utf-8")

    def ask(self, words):
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        rows = []
        for line in self.process.stdout:
            if line[0] == "\x1e":
                end = json.loads(line[1:])
                return end["status"], rows, end["words"]
            rows.append(json.loads(line))
        raise Deviation("later serve has ended")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Redis:
    """One server: the path of its socket, or its port. At a Cluster it goes where it is sent."""

    def __init__(self, address, clock=None):
        self.clock, self.others = clock, {}
        if str(address).isdigit():
            self.socket = socket.create_connection(("127.0.0.1", int(address)))
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(address)
        self.file = self.socket.makefile("rb")

    def call(self, *words):
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(
            b"$%d\r\n%s\r\n" % (len(w), w) for w in (str(word).encode() for word in words)))
        answer = self.answer()
        if isinstance(answer, Exception):
            moved, *rest = str(answer).split(" ")
            assert moved == "MOVED", answer
            port = rest[1].rsplit(":", 1)[1]
            if port not in self.others:
                self.others[port] = Redis(port)
            return self.others[port].call(*words)
        return answer

    def answer(self):
        line = self.file.readline()[:-2].decode()
        if line[0] == "$":
            return self.file.read(int(line[1:]) + 2)[:-2].decode() if line != "$-1" else None
        if line[0] == "*":
            return [self.answer() for _ in range(int(line[1:]))]
        return RuntimeError(line[1:]) if line[0] == "-" else line[1:]

    def time(self):
        seconds, micros = self.call("TIME")
        return int(seconds) + int(micros) / 1e6

    def advance(self, seconds):
        goal = self.time() + seconds
        with open(self.clock, "r+b") as file:
            ahead = int.from_bytes(file.read(8), "little") + seconds * 1000000
        file = os.open(self.clock, os.O_WRONLY)
        os.pwrite(file, ahead.to_bytes(8, "little"), 0)
        os.close(file)
        while self.time() < goal:
            pass
