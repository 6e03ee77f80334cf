"""A cluster on one machine: analyzer, one agent per node, and the ranks of a training job.

Everything runs the shipped programs; only the machines, and without --real the GPUs, are simulated.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

import network as net
from processes import Processes, wait_until

ANALYZER_PORT = 7400
RENDEZVOUS_PORT = 29400
JOB = "quickstart"
_STEP = re.compile(r"^step (\d+) ([\d.]+) ms", re.MULTILINE)


class ClusterError(Exception):
    """The cluster did not come up, or fell over where it must not."""


@dataclass
class Layout:
    """Who runs where. rank = (pipeline * data_parallel + data) * tensor_parallel + tensor."""

    nodes: int = 4
    ranks_per_node: int = 2
    tensor: int = 0
    pipeline: int = 0
    data: int = 0

    def __post_init__(self):
        if not self.tensor:  # tensor parallelism inside a node, pipeline stages across nodes
            self.tensor = self.ranks_per_node
            self.pipeline = 2 if self.nodes % 2 == 0 else 1
            self.data = self.nodes // self.pipeline

    @property
    def ranks(self):
        return self.nodes * self.ranks_per_node

    def node_of(self, rank):
        return rank // self.ranks_per_node

    def local_rank(self, rank):
        return rank % self.ranks_per_node

    @staticmethod
    def node_name(node):
        return f"node{node}"


@dataclass
class Settings:
    build: str                  # CMake's build directory
    layout: Layout = field(default_factory=Layout)
    hook: bool = True
    real: bool = False          # NVIDIA's libraries instead of the stand-ins
    loopback: bool = False      # even where namespaces are permitted
    agents: bool = True
    trainer_arguments: tuple = ()
    trace: str = ""             # analyzer --record
    logs: str = ""              # "": a temporary directory, removed unless keep is called


class Cluster:
    """Use as a context manager. Methods raise ClusterError, or return what they say."""

    def __init__(self, settings):
        self.settings = settings
        self.layout = settings.layout
        self._temporary = not settings.logs
        self.directory = settings.logs or tempfile.mkdtemp(prefix="c4-e2e-")
        os.makedirs(self.directory, exist_ok=True)
        self.processes = Processes(self.directory)
        self.network, self.why_loopback = net.open_network(self.layout.nodes, settings.loopback)
        self.trigger = os.path.join(self.directory, "trigger")
        self.onset_file = os.path.join(self.directory, "onset")
        self.analyzer = None
        self.agents = {}
        self.ranks = {}
        self._port = None
        self._log_offset = 0
        self.steps = []  # (step, ms) as rank 0 printed them

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.processes.end_all()
        self.network.close()
        if self._temporary:
            shutil.rmtree(self.directory, ignore_errors=True)

    # Programs.

    def program(self, name):
        path = os.path.join(self.settings.build, "bin", name)
        if not os.path.exists(path):
            raise ClusterError(f"{path} is not there: build first (deploy/quickstart.sh does)")
        return path

    def start_analyzer(self):
        """Also starts it again on the same store, at the same address."""
        port_file = os.path.join(self.directory, "analyzer.port")
        if os.path.exists(port_file):
            os.remove(port_file)
        argv = [self.program("c4-analyzer"), "--store", os.path.join(self.directory, "analyzer.db"),
                "--port-file", port_file]
        if self._is_loopback():
            argv += ["--listen", f"127.0.0.1:{self._port or 0}"]
        else:
            argv += ["--listen", f"{self.network.control_address}:{ANALYZER_PORT}", "--insecure"]
        if self.settings.trace:
            argv += ["--record", self.settings.trace]
        self.analyzer = self.processes.start("analyzer", argv, self._environment(),
                                             self.network.control_prefix())
        read = lambda: os.path.exists(port_file) and open(port_file, encoding="ascii").read().strip()
        self._port = wait_until(lambda: read() or not self.analyzer.running(), 20) or None
        if not self._port or not self.analyzer.running():
            raise ClusterError(f"the analyzer did not start:\n{self.analyzer.tail()}")

    def server(self):
        return f"{self.network.control_address}:{self._port}"

    def start_agent(self, node):
        argv = [self.program("c4-agent"), "--analyzer", self.server(), "--node",
                self.layout.node_name(node), "--run-dir", self.run_directory(node)]
        self.agents[node] = self.processes.start(f"agent-{self.layout.node_name(node)}", argv,
                                                 self._environment(), self.network.prefix(node))

    def run_directory(self, node):
        path = os.path.join(self.directory, "run", self.layout.node_name(node))
        os.makedirs(path, exist_ok=True)
        return path

    def start_job(self):
        for rank in range(self.layout.ranks):
            self._start_rank(rank)

    def start(self):
        self.start_analyzer()
        if self.settings.agents:
            for node in range(self.layout.nodes):
                self.start_agent(node)
        self.start_job()

    def _start_rank(self, rank):
        layout = self.layout
        node = layout.node_of(rank)
        if self._is_loopback():
            rendezvous = os.path.join(self.directory, "rendezvous")
            os.makedirs(rendezvous, exist_ok=True)
        else:
            rendezvous = f"{self.network.node_address(0)}:{RENDEZVOUS_PORT}"
        env = self._environment()
        env.update(RANK=str(rank), WORLD_SIZE=str(layout.ranks),
                   LOCAL_RANK=str(layout.local_rank(rank)), C4_JOB_ID=JOB,
                   C4_NODE_NAME=layout.node_name(node), C4_RUN_DIR=self.run_directory(node))
        if not self.settings.real:
            env.update(LD_LIBRARY_PATH=os.path.join(self.settings.build, "lib", "nccl_cpu"),
                       C4_CPU_NODE=layout.node_name(node),
                       NCCL_SOCKET_IFNAME=self.network.interface)
        if self.settings.hook:
            env["LD_PRELOAD"] = self.hook()
        argv = [self.program("c4-train"), "--tp", str(layout.tensor), "--pp", str(layout.pipeline),
                "--dp", str(layout.data), "--steps", "0", "--rendezvous", rendezvous,
                "--trigger", self.trigger, "--onset-file", self.onset_file,
                *self.settings.trainer_arguments]
        prefix = self.network.prefix(node)
        if prefix and "LD_PRELOAD" in env:
            # Not into `ip` itself: the hook goes where the job is.
            prefix = [*prefix, "env", f"LD_PRELOAD={env.pop('LD_PRELOAD')}"]
        self.ranks[rank] = self.processes.start(f"rank{rank}", argv, env, prefix)

    def hook(self):
        path = os.path.join(self.settings.build, "lib", "libc4hook.so")
        if not os.path.exists(path):
            raise ClusterError(f"{path} is not there: build first")
        return path

    def _environment(self):
        """This process's own, without what would leak in from an outer job."""
        drop = ("C4_", "NCCL_", "SLURM_", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LD_PRELOAD")
        if self.settings.real:
            drop = tuple(name for name in drop if name != "NCCL_")
        return {k: v for k, v in os.environ.items() if not k.startswith(drop)}

    def _is_loopback(self):
        return isinstance(self.network, net.Loopback)

    # What is going on.

    def read_steps(self):
        """New lines of rank 0. Returns all steps so far."""
        try:
            with open(self.ranks[0].log, encoding="utf-8", errors="replace") as log:
                log.seek(self._log_offset)
                text = log.read()
        except (OSError, KeyError):
            return self.steps
        whole = text[:text.rfind("\n") + 1]
        self._log_offset += len(whole.encode())
        self.steps += [(int(step), float(ms)) for step, ms in _STEP.findall(whole)]
        return self.steps

    def c4ctl(self, *arguments):
        """Parsed JSON, or None when the analyzer does not answer."""
        argv = [*self.network.control_prefix(), self.program("c4ctl"), "--server", self.server(),
                *arguments, "-o", "json"]
        try:
            done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=10,
                                  env=self._environment())
            return json.loads(done.stdout) if done.returncode == 0 else None
        except (subprocess.TimeoutExpired, json.JSONDecodeError):
            return None

    def c4ctl_text(self, *arguments):
        """As an operator sees it."""
        argv = [*self.network.control_prefix(), self.program("c4ctl"), "--server", self.server(),
                *arguments]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=10,
                              env=self._environment())
        return done.stdout + done.stderr

    def job(self):
        """c4ctl's line about the job; {} while it is not known."""
        for job in (self.c4ctl("jobs") or {}).get("jobs", []):
            if job.get("name") == JOB:
                return job
        return {}

    def verdicts(self):
        """None when the analyzer does not answer."""
        answer = self.c4ctl("verdicts")
        return None if answer is None else answer.get("verdicts", [])

    def check_job(self):
        for rank, child in self.ranks.items():
            if not child.running():
                raise ClusterError(f"rank {rank} ended with {child.popen.returncode}:\n"
                                   f"{child.tail()}")

    def wait_for_rhythm(self, steps=15, timeout_s=90):
        """Until the job has made `steps` steps and the analyzer knows their period."""
        def learned():
            self.check_job()
            if len(self.read_steps()) < steps:
                return False
            return not self.settings.agents or float(self.job().get("step_seconds", 0)) > 0
        if not wait_until(learned, timeout_s, 0.5):
            raise ClusterError(f"no rhythm after {timeout_s} s: {len(self.steps)} steps, "
                               f"c4ctl says {self.job()}")

    # Faults.

    def pull_trigger(self, words, steps_ahead=3):
        """Tells the trainer. Three steps ahead, so that every rank reads it before it matters."""
        step = (self.read_steps() or [(0, 0)])[-1][0] + steps_ahead
        partial = self.trigger + ".partial"
        with open(partial, "w", encoding="ascii") as out:
            out.write(f"{words} step={step}\n")
        os.rename(partial, self.trigger)

    def onset_ns(self):
        """When the trainer's fault began; None until it has."""
        try:
            with open(self.onset_file, encoding="ascii") as file:
                return int(file.read())
        except (OSError, ValueError):
            return None

    @staticmethod
    def now_ns():
        return time.time_ns()
