"""The Redis of flow_chaos.py: one server, or a Cluster of three masters and a replica of each, with what may happen to
it. No write that was answered is lost by that: each is in the file before, and a replica takes over by agreement."""
import os
import random
import signal
import socket
import subprocess
import time


def cli(where, *words):
    told = subprocess.run(["redis-cli", *where, *words], capture_output=True, text=True, check=False).stdout
    return told.strip()


def wait_until(what, seconds, true):
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.05)


class Node:
    """A redis-server in a folder of its own; where: what redis-cli is told to reach it."""

    def __init__(self, folder, where, *options):
        os.makedirs(folder, exist_ok=True)
        self.where = where
        self.words = ["redis-server", "--dir", folder, "--save", "", "--appendonly", "yes", "--appendfsync", "always",
                      "--logfile", folder + "/redis.log", *options]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, start_new_session=True)
        wait_until("a redis-server that answers", 30, lambda: cli(self.where, "ping") == "PONG")

    def again(self, pause):
        self.process.kill()
        self.process.wait()
        time.sleep(pause)
        self.start()

    def stop(self, seconds):
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)

    def end(self):
        self.process.terminate()
        self.process.wait()


class Server:
    def __init__(self, top, chance):
        self.url, self.chance = "unix:%s/redis.sock" % top, chance
        self.nodes = [Node(top, ["-s", top + "/redis.sock"], "--port", "0", "--unixsocket", top + "/redis.sock")]
        self.faults = [self.stop, self.kill]

    def stop(self):
        self.nodes[0].stop(self.chance.random() * 2)

    def kill(self):
        self.nodes[0].again(self.chance.random())


class Cluster:
    SLOTS, TIMEOUT = 16384, 8 # seconds until the others would choose another master

    def __init__(self, top, chance):
        self.chance, self.nodes, self.ids = chance, [], []
        for port in self.free_ports(6):
            self.nodes.append(Node("%s/%d" % (top, port), ["-p", str(port)], "--port", str(port), "--bind", "127.0.0.1",
                                   "--cluster-enabled", "yes", "--cluster-node-timeout", str(1000 * self.TIMEOUT),
                                   "--cluster-allow-replica-migration", "no", "--repl-diskless-sync-delay", "0"))
        names = ["127.0.0.1:" + node.where[1] for node in self.nodes]
        cli([], "--cluster", "create", *names, "--cluster-replicas", "1", "--cluster-yes")
        wait_until("a Cluster", 60, lambda: all("cluster_state:ok" in cli(node.where, "cluster", "info")
                                                for node in self.nodes) and len(self.masters()) == 3)
        self.ids = [cli(node.where, "cluster", "myid") for node in self.nodes]
        self.url = "cluster://" + ",".join(names)
        self.faults = [self.stop, self.kill, self.fail_over, self.move]

    @staticmethod
    def free_ports(count):
        """A node also listens 10000 above its port."""
        found = []
        while len(found) < count:
            port = random.randrange(20000, 50000)
            with socket.socket() as one, socket.socket() as other:
                try:
                    one.bind(("127.0.0.1", port))
                    other.bind(("127.0.0.1", port + 10000))
                    found += [port] if port not in found else []
                except OSError:
                    pass
        return found

    def role(self, node):
        return cli(node.where, "role").split("\n", maxsplit=1)[0]

    def masters(self):
        return [node for node in self.nodes if self.role(node) == "master"]

    def stop(self):
        self.chance.choice(self.nodes).stop(self.chance.random() * 2)

    def kill(self):
        self.chance.choice(self.nodes).again(self.chance.random())

    def fail_over(self):
        """A replica takes over when it has all that its master had."""
        follows = [node for node in self.nodes if "master_link_status:up" in cli(node.where, "info", "replication")]
        for node in self.chance.sample(follows, min(1, len(follows))):
            cli(node.where, "cluster", "failover")
            end = time.monotonic() + 10
            while self.role(node) != "master" and time.monotonic() < end:
                time.sleep(0.05)

    def move(self):
        """The slot of a queue goes to another master, while all goes on."""
        key = "later:{%s}:ready" % self.chance.choice(["a", "b", "c", "wide/0", "wide/1"])
        masters = self.masters()
        slot = cli(masters[0].where, "cluster", "keyslot", key)
        owners = [node for node in masters if not cli(node.where, "exists", key).startswith("MOVED")]
        if len(masters) < 2 or len(owners) != 1:
            return
        source = owners[0]
        target = self.chance.choice([node for node in masters if node is not source])
        ids = [self.ids[self.nodes.index(node)] for node in (source, target)]
        cli(target.where, "cluster", "setslot", slot, "importing", ids[0])
        cli(source.where, "cluster", "setslot", slot, "migrating", ids[1])
        for _ in range(10000):
            keys = cli(source.where, "cluster", "getkeysinslot", slot, "100").split()
            if not keys:
                break
            cli(source.where, "migrate", "127.0.0.1", target.where[1], "", "0", "5000", "keys", *keys)
        else:
            raise TimeoutError("slot %s does not become empty" % slot)
        for node in [target, source] + [node for node in self.masters() if node not in (source, target)]:
            cli(node.where, "cluster", "setslot", slot, "node", ids[1])
