"""The faults that can be injected, how, and what the right answer to each is."""
from dataclasses import dataclass
from typing import Callable, Optional

import network as net

# How much of its bandwidth a slow link keeps.
SLOW_LINK_MBIT = net.RATE_MBIT // 3


@dataclass(frozen=True)
class Target:
    """Where the fault strikes. Network faults strike a node, the others a rank."""

    rank: int
    node: int


@dataclass(frozen=True)
class Fault:
    name: str
    what: str                      # for people
    verdict_class: Optional[str]   # None: no verdict is the right answer
    kind: str = ""                 # of the component
    hang: bool = False
    trigger: str = ""              # words for the trainer's trigger file
    inject: Optional[Callable] = None  # or: changes the network; (network, node)

    def on_network(self):
        return self.inject is not None

    def expected(self, target, layout):
        if self.verdict_class is None:
            return "no verdict"
        if self.kind == "nic":
            return f"{self.verdict_class}, nic {net.Namespaces.data_nic} of " \
                   f"{layout.node_name(target.node)}"
        if self.kind == "software":
            return f"{self.verdict_class}, software, rank {target.rank} named"
        return f"{self.verdict_class}, {self.kind} of rank {target.rank}"

    def names_it(self, verdict, target, layout):
        """Whether the verdict's class and component are the injected ones."""
        component = verdict.get("component", {})
        if verdict.get("class") != self.verdict_class:
            return False
        if self.kind == "nic":
            return self._names_nic(component, target, layout)
        return component.get("kind") == self.kind and component.get("rank") == target.rank

    def _names_nic(self, component, target, layout):
        node, nic = layout.node_name(target.node), net.Namespaces.data_nic
        if component.get("kind") == "nic":
            return component.get("node") == node and component.get("nic", nic) == nic
        # With two nodes one cannot tell whose end of the only path it is.
        ends = (component.get("node"), component.get("peer_node"))
        return layout.nodes == 2 and component.get("kind") == "link" and node in ends


FAULTS = {fault.name: fault for fault in (
    Fault("slow-gpu", "one GPU's compute kernels take 20 % longer", "non_communication_slow",
          "gpu", trigger="fault=slow-gpu percent=20"),
    Fault("slow-host", "one rank's host is 45 ms late with each microbatch's work",
          "non_communication_slow", "rank", trigger="fault=slow-host ms=45"),
    Fault("slow-link", "one node's NIC is limited to a third, both directions",
          "communication_slow", "nic",
          inject=lambda network, node: network.set_rate(node, SLOW_LINK_MBIT)),
    Fault("hang-host", "one rank's host stops calling, its thread lives on",
          "non_communication_hang", "rank", hang=True, trigger="fault=hang-host"),
    Fault("hang-gpu", "a kernel on one GPU never ends", "non_communication_hang", "gpu", hang=True,
          trigger="fault=hang-gpu"),
    Fault("dead-rank", "one rank's process is killed", "process_failure", "rank", hang=True,
          trigger="fault=dead-rank"),
    Fault("dead-link", "one node's NIC goes down", "communication_hang", "nic", hang=True,
          inject=lambda network, node: network.set_link_down(node)),
    Fault("mismatch", "one rank passes another count than the others", "mismatched_collective",
          "software", hang=True, trigger="fault=mismatch kind=count"),
    Fault("mismatch-op", "one rank calls another operation than the others",
          "mismatched_collective", "software", hang=True, trigger="fault=mismatch kind=op"),
    Fault("none", "nothing, with a checkpoint's and an evaluation's pause", None),
)}
DEFAULT = "slow-gpu"
