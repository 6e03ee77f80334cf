#!/usr/bin/env python3
"""The trainer alone on the stand-in libraries: eight ranks, every sum right, a clean end.

Also that a fault of its own shows as intended: a slow GPU in longer steps, a killed rank in its exit
status and in an onset file.
"""
import argparse
import os
import signal
import statistics
import sys
import tempfile

from cluster import Layout
from processes import Processes, exit_on_signals, wait_until


def start_ranks(build, directory, processes, *arguments):
    layout = Layout()
    ranks = []
    for rank in range(layout.ranks):
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(layout.ranks),
                   LOCAL_RANK=str(layout.local_rank(rank)), NCCL_SOCKET_IFNAME="lo",
                   C4_CPU_NODE=layout.node_name(layout.node_of(rank)),
                   LD_LIBRARY_PATH=os.path.join(build, "lib", "nccl_cpu"))
        env.pop("LD_PRELOAD", None)
        ranks.append(processes.start(
            f"rank{rank}", [os.path.join(build, "bin", "c4-train"), "--rendezvous", directory,
                            *(a.format(directory=directory) for a in arguments)], env))
    return ranks


def run(build, check, *arguments):
    with tempfile.TemporaryDirectory(prefix="c4-train-") as directory:
        processes = Processes(directory)
        try:
            ranks = start_ranks(build, directory, processes, *arguments)
            check(directory, ranks)
        finally:
            processes.end_all()


def ends_well(_directory, ranks):
    assert wait_until(lambda: not any(r.running() for r in ranks), 60), "did not end"
    for rank in ranks:
        assert rank.popen.returncode == 0, f"{rank.name}: {rank.popen.returncode}\n{rank.tail()}"
    assert "done, all sums right" in ranks[0].tail(), ranks[0].tail()


def slows_down(directory, ranks):
    ends_well(directory, ranks)
    times = [float(line.split()[2]) for line in ranks[0].tail(100).splitlines()
             if line.startswith("step ")]
    before, after = statistics.median(times[2:10]), statistics.median(times[10:])
    assert after > before * 1.05, f"{before} ms before, {after} ms after"
    with open(os.path.join(directory, "onset"), encoding="ascii") as onset:
        assert int(onset.read()) > 1_600_000_000_000_000_000


def loses_rank_5(_directory, ranks):
    assert wait_until(lambda: not ranks[5].running(), 30), "rank 5 lives"
    assert ranks[5].popen.returncode == -signal.SIGKILL
    # The others hang, as with NCCL, and say why.
    assert wait_until(lambda: "asynchronous error" in ranks[4].tail(), 10), ranks[4].tail()
    assert all(r.running() for r in ranks if r is not ranks[5])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    build = os.path.abspath(parser.parse_args().build)
    exit_on_signals()
    run(build, ends_well, "--steps", "12", "--checkpoint-every", "5", "--checkpoint-ms", "50",
        "--eval-every", "4")
    run(build, slows_down, "--steps", "20", "--fault", "slow-gpu", "--fault-rank", "5",
        "--fault-step", "10", "--fault-percent", "40", "--onset-file", "{directory}/onset")
    run(build, loses_rank_5, "--steps", "0", "--fault", "dead-rank", "--fault-rank", "5",
        "--fault-step", "3")
    print("all sums right, faults as intended")
    return 0


if __name__ == "__main__":
    sys.exit(main())
