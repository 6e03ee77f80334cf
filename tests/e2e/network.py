"""The network of a simulated cluster: one network namespace per node, or plain loopback.

    ctl ── mgmt bridge ──┬── node0 mgmt0      agent -> analyzer, rendezvous
                         └── node1 mgmt0 …
        ── hsn bridge ───┬── node0 hsn0       the job's data; tbf on both ends
                         └── node1 hsn0 …

Bridges live in a namespace too (ctl), so the machine's own network is untouched. Names carry the
driver's process id; what a killed driver left behind is removed by the next one.
"""
import os
import re
import subprocess

_PREFIX = "c4e2e"
_NAME = re.compile(_PREFIX + r"-(\d+)-\w+$")

# A third of it must be easy to tell from all of it, and all of it must not dominate a step: the
# default job moves 2 MiB per node and step for data parallelism, 28 ms at this rate.
RATE_MBIT = 600
# One full-size GSO packet. More would let a message's beginning through at memory speed.
_BURST_BYTES = 32768
# Deep enough that TCP's window fills it without a drop: a drop would cost a retransmission timeout.
_LIMIT_BYTES = 8 << 20


class NetworkError(Exception):
    """A command that sets up or changes the network failed."""


def _run(*argv):
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NetworkError(f"{' '.join(argv)}: {done.stderr.strip()}")
    return done.stdout


class Loopback:
    """Every node is this machine. The network cannot be hurt one node at a time."""

    interface = "lo"
    control_address = "127.0.0.1"
    data_nic = None
    name = "loopback"

    def __init__(self, nodes):
        self.nodes = nodes

    def prefix(self, _node):
        return []

    def control_prefix(self):
        return []

    def node_address(self, _node):
        return "127.0.0.1"

    def close(self):
        pass


class Namespaces:
    """Needs root (CAP_NET_ADMIN and CAP_SYS_ADMIN)."""

    interface = "hsn0"
    data_nic = "hsn0"
    control_address = "10.77.0.1"
    name = "network namespaces"

    def __init__(self, nodes):
        self.nodes = nodes
        self._id = f"{_PREFIX}-{os.getpid()}"
        self._control = f"{self._id}-ctl"
        try:
            self._create()
        except BaseException:
            self.close()
            raise

    def _create(self):
        _run("ip", "netns", "add", self._control)
        self._in(self._control, "link", "set", "lo", "up")
        for bridge in ("mgmt", "hsn"):
            self._in(self._control, "link", "add", bridge, "type", "bridge")
            self._in(self._control, "link", "set", bridge, "up")
        self._in(self._control, "addr", "add", f"{self.control_address}/24", "dev", "mgmt")
        for node in range(self.nodes):
            namespace = self._namespace(node)
            _run("ip", "netns", "add", namespace)
            self._in(namespace, "link", "set", "lo", "up")
            self._connect(node, "mgmt", "mgmt0", self.node_address(node))
            self._connect(node, "hsn", "hsn0", f"10.78.0.{10 + node}")
            self.set_rate(node, RATE_MBIT)

    def _connect(self, node, bridge, interface, address):
        port = f"{bridge}{node}"
        namespace = self._namespace(node)
        self._in(self._control, "link", "add", port, "type", "veth", "peer", "name", interface,
                 "netns", namespace)
        self._in(self._control, "link", "set", port, "master", bridge, "up")
        self._in(namespace, "addr", "add", f"{address}/24", "dev", interface)
        self._in(namespace, "link", "set", interface, "up")

    def _in(self, namespace, *arguments):
        _run("ip", "-n", namespace, *arguments)

    def _namespace(self, node):
        return f"{self._id}-n{node}"

    def prefix(self, node):
        """`ip netns exec` also mounts a /sys that shows the namespace's interfaces."""
        return ["ip", "netns", "exec", self._namespace(node)]

    def control_prefix(self):
        return ["ip", "netns", "exec", self._control]

    def node_address(self, node):
        return f"10.77.0.{10 + node}"

    def set_rate(self, node, mbit):
        """Both directions of the node's data interface: its own end and the bridge's."""
        for namespace, device in ((self._namespace(node), "hsn0"), (self._control, f"hsn{node}")):
            _run("tc", "-n", namespace, "qdisc", "replace", "dev", device, "root", "tbf",
                 "rate", f"{mbit}mbit", "burst", str(_BURST_BYTES), "limit", str(_LIMIT_BYTES))

    def set_link_down(self, node):
        self._in(self._namespace(node), "link", "set", "hsn0", "down")

    def close(self):
        for namespace in [self._namespace(n) for n in range(self.nodes)] + [self._control]:
            subprocess.run(["ip", "netns", "del", namespace], capture_output=True, check=False)


def _is_driver(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as command:
            return b"python" in command.read()
    except OSError:
        return False


def remove_stale():
    """Namespaces of drivers that are no longer there, and the processes in them."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False)
    for line in listed.stdout.splitlines():
        name = line.split(" ")[0]
        match = _NAME.match(name)
        if not match or _is_driver(match.group(1)):
            continue
        pids = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True,
                              check=False).stdout.split()
        for pid in pids:
            try:
                os.kill(int(pid), 9)
            except OSError:
                pass
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def open_network(nodes, loopback=False):
    """The best network that is permitted here, and why it is not better (or None)."""
    if loopback:
        return Loopback(nodes), "asked for"
    try:
        remove_stale()
        return Namespaces(nodes), None
    except (NetworkError, OSError) as error:
        return Loopback(nodes), str(error)
