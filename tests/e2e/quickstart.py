#!/usr/bin/env python3
"""Shows C4 at work on a simulated cluster: trains, breaks something, prints what C4 says about it.

Exit status: 0 the verdict names what was injected (with --fault none: there is none), 1 it does not,
2 the cluster did not run, 77 the fault cannot be injected here (network faults without namespaces).
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import time

import faults
import scenario
from cluster import Cluster, ClusterError, Layout, Settings
from faults import FAULTS, Target
from processes import exit_on_signals

SKIPPED = 77


def parse_arguments():
    listed = "\n".join(f"  {fault.name:12} {fault.what}" for fault in FAULTS.values())
    parser = argparse.ArgumentParser(
        prog="deploy/quickstart.sh", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Starts an analyzer, nodes with an agent each, and a training job; breaks "
        "something; prints C4's verdict.", epilog=f"faults:\n{listed}\n\n"
        "exit status: 0 verdict right, 1 wrong or none, 2 could not run, 77 not possible here")
    parser.add_argument("--fault", choices=FAULTS, metavar="NAME",
                        help=f"what to break (default: {faults.DEFAULT})")
    parser.add_argument("--nodes", type=int, default=4, help="simulated nodes (4)")
    parser.add_argument("--ranks-per-node", type=int, default=2, help="ranks on each (2)")
    parser.add_argument("--real", action="store_true",
                        help="this machine's GPUs with NVIDIA's NCCL, as one node")
    parser.add_argument("--rank", type=int, help="the rank that the fault strikes")
    parser.add_argument("--node", type=int, help="the node that a network fault strikes")
    parser.add_argument("--repeat", type=int, default=1, metavar="N",
                        help="N runs, each with another victim")
    parser.add_argument("--keep-logs", metavar="DIR",
                        help="all logs, the store and the analyzer's trace")
    parser.add_argument("--json", action="store_true", help="one line of JSON per run, no words")
    parser.add_argument("--strict", action="store_true",
                        help="a verdict later than promised is a failure too")
    parser.add_argument("--loopback", action="store_true",
                        help="no network namespaces, even where they are permitted")
    parser.add_argument("--build", default=os.path.join(os.path.dirname(__file__), "..", "..",
                                                        "build", "release"),
                        help="CMake's build directory (build/release)")
    return parser.parse_args()


def layout_of(arguments):
    if not arguments.real:
        return Layout(arguments.nodes, arguments.ranks_per_node)
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    gpus = listed.stdout.count("GPU ")
    if gpus == 0:
        raise ClusterError("--real: nvidia-smi lists no GPU")
    # Two of each kind of parallelism as far as the GPUs go: tensor, then data, then pipeline.
    tensor = 2 if gpus % 2 == 0 else 1
    data = 2 if gpus % (tensor * 2) == 0 else 1
    return Layout(1, gpus, tensor, gpus // tensor // data, data)


class Live:
    """A line per second while it runs, or nothing."""

    def __init__(self, cluster, quiet):
        self._cluster = cluster
        self._quiet = quiet
        self._begin = time.monotonic()
        self._shown = 0.0
        self._steps = 0

    def tick(self):
        now = time.monotonic()
        if self._quiet or now - self._shown < 1:
            return
        steps = len(self._cluster.read_steps())
        rate = (steps - self._steps) / (now - self._shown) if self._shown else 0
        self._shown, self._steps = now, steps
        job = self._cluster.job()
        verdicts = self._cluster.verdicts() or []
        said = "; ".join(f"{v.get('class')} {v.get('status', '')}" for v in verdicts) or "none"
        print(f"{now - self._begin:5.0f} s  {rate:4.1f} steps/s  "
              f"{int(job.get('collectives', 0)):7d} collectives recorded  "
              f"{int(job.get('lost', 0))} dropped  verdicts: {said}", flush=True)


def target_of(arguments, layout, run):
    rank = scenario.RANK_ORDER[run % len(scenario.RANK_ORDER)] if arguments.rank is None \
        else arguments.rank
    node = scenario.NODE_ORDER[run % len(scenario.NODE_ORDER)] if arguments.node is None \
        else arguments.node
    return Target(rank % layout.ranks, node % layout.nodes)


def introduce(cluster, fault, target):
    layout = cluster.layout
    where = cluster.network.name
    if cluster.why_loopback and not cluster.settings.real:
        where += f" (network namespaces: {cluster.why_loopback}); slow-link and dead-link need them"
    print(f"{layout.nodes} node(s) with {layout.ranks_per_node} rank(s) each, on {where}; "
          f"tensor {layout.tensor} x pipeline {layout.pipeline} x data {layout.data} parallel")
    print(f"fault: {fault.name} - {fault.what}; right answer: {fault.expected(target, layout)}")


def conclude(cluster, outcome, verdict):
    if verdict:
        print()
        print(cluster.c4ctl_text("verdicts", verdict.get("id", "")).rstrip())
    print()
    if outcome["ok"] and "onset_ns" in outcome:
        moments = [("suspected", outcome["detected_s"]), ("confirmed", outcome["confirmed_s"]),
                   ("seen with c4ctl", outcome["named_s"])]
        told = ", ".join(f"{name} {s:.2f} s" if s is not None else f"not yet {name}"
                         for name, s in moments)
        print(f"after the true onset: {told}"
              f"{'; LATE: ' + outcome['late'] if outcome['late'] else ''}")
    print("RIGHT: " + ("the verdict names what was injected" if verdict else "no verdict")
          if outcome["ok"] else f"WRONG: {outcome['why']}")


def run_once(arguments, layout, fault, run):
    settings = Settings(build=os.path.abspath(arguments.build), layout=layout, real=arguments.real,
                        loopback=arguments.loopback or arguments.real)
    if arguments.keep_logs:
        settings.logs = os.path.abspath(os.path.join(arguments.keep_logs, f"{fault.name}-{run}"))
        shutil.rmtree(settings.logs, ignore_errors=True)
        settings.trace = os.path.join(settings.logs, "trace.jsonl")
    if fault.verdict_class is None:
        settings.trainer_arguments = scenario.HEALTHY_TRAINER
    target = target_of(arguments, layout, run)
    with Cluster(settings) as cluster:
        if fault.on_network() and cluster.network.data_nic is None:
            print(f"{fault.name} cannot be injected here: {cluster.why_loopback}")
            return None
        if not arguments.json:
            introduce(cluster, fault, target)
        live = Live(cluster, arguments.json)
        begin = time.monotonic()
        played = scenario.Scenario(cluster, fault, target, live.tick)
        outcome = played.run()
        outcome["cpu_cores"] = round(cluster.processes.cpu_seconds() /
                                     (time.monotonic() - begin), 2)
        if arguments.json:
            print(json.dumps(outcome), flush=True)
        else:
            conclude(cluster, outcome, played.verdict)
        if not outcome["ok"] and arguments.json:
            print(cluster.c4ctl_text("verdicts"), cluster.analyzer.tail(), file=sys.stderr)
    if arguments.keep_logs:
        print(f"logs: {settings.logs}", file=sys.stderr)
    return outcome


def main():
    arguments = parse_arguments()
    exit_on_signals()
    fault = FAULTS[arguments.fault or faults.DEFAULT]
    right = True
    try:
        layout = layout_of(arguments)
        for run in range(arguments.repeat):
            outcome = run_once(arguments, layout, fault, run)
            if outcome is None:
                return SKIPPED
            right = right and outcome["ok"] and not (arguments.strict and outcome.get("late"))
    except ClusterError as error:
        print(f"quickstart: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    if not arguments.fault and not arguments.json:
        others = [name for name in FAULTS if name != fault.name]
        print(f"\nother faults: --fault {', '.join(others)}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
