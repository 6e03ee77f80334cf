#!/usr/bin/env python3
"""What C4 survives: its own programs killed, and a rank killed from outside.

usage: recovery_test.py --build DIR analyzer|agent|rank [--keep-logs DIR]
"""
import argparse
import os
import shutil
import statistics
import struct
import sys
import time

import scenario
from cluster import Cluster, ClusterError, Settings
from faults import FAULTS, Target
from processes import exit_on_signals, wait_until

VICTIM = 5


def expect(condition, message):
    if not condition:
        raise ClusterError(message)


def started(cluster):
    cluster.start()
    cluster.wait_for_rhythm()
    expect(not scenario.faults_of(cluster.verdicts()), "a verdict before any fault")


def break_and_wait(cluster, fault, confirmed):
    """Injects the fault at VICTIM and returns the one right verdict."""
    cluster.pull_trigger(f"{fault.trigger} rank={VICTIM}")
    expect(wait_until(cluster.onset_ns, 20), "the trainer did not take the trigger")
    return right_verdict(cluster, fault, confirmed)


def right_verdict(cluster, fault, confirmed):
    target = Target(VICTIM, cluster.layout.node_of(VICTIM))

    def right():
        for verdict in scenario.faults_of(cluster.verdicts()):
            if fault.names_it(verdict, target, cluster.layout) and (
                    not confirmed or verdict.get("status") == "confirmed"):
                return verdict
        return None
    verdict = wait_until(right, 30, 0.25)
    expect(verdict, f"no right verdict: {cluster.verdicts()}")
    return verdict


def all_agents_connected(cluster):
    agents = (cluster.c4ctl("status") or {}).get("agents", [])
    return sum(1 for agent in agents if agent.get("connected")) == cluster.layout.nodes


def job_goes_on(cluster, steps=5):
    before = len(cluster.read_steps())
    expect(wait_until(lambda: len(cluster.read_steps()) >= before + steps, 20),
           "the job stands still")
    cluster.check_job()


def analyzer_killed(cluster):
    """kill -9 and start on the same store: the verdict is not lost; agents and job go on."""
    started(cluster)
    before = break_and_wait(cluster, FAULTS["slow-gpu"], confirmed=True)
    cluster.analyzer.kill()
    cluster.analyzer.wait()
    job_goes_on(cluster)
    cluster.start_analyzer()
    after = wait_until(lambda: scenario.faults_of(cluster.verdicts()), 10, 0.25)
    expect(after and after[0]["id"] == before["id"], f"lost {before['id']}: {after}")
    for moment in ("onset", "detected", "confirmed"):
        expect(after[0].get(moment) == before.get(moment), f"{moment} of the verdict changed")
    expect(wait_until(lambda: all_agents_connected(cluster), 15), "agents did not come back")
    expect(all(agent.running() for agent in cluster.agents.values()), "an agent ended")
    expect(wait_until(lambda: float(cluster.job().get("step_seconds", 0)) > 0, 15),
           "the rhythm was not learned again")
    job_goes_on(cluster, 20)
    again = scenario.faults_of(cluster.verdicts())
    expect([v["id"] for v in again] == [before["id"]], f"not one and the same verdict: {again}")


def agent_killed(cluster):
    """The job does not notice, nobody is accused, and a new agent takes over."""
    started(cluster)
    node = cluster.layout.node_of(VICTIM)
    before = statistics.median(ms for _, ms in cluster.steps[-10:])
    cluster.agents[node].kill()
    cluster.agents[node].wait()
    job_goes_on(cluster, 20)
    during = statistics.median(ms for _, ms in cluster.steps[-20:])
    expect(during < before * 1.25, f"steps took {before} ms, without the agent {during} ms")
    seen = scenario.faults_of(cluster.verdicts())
    expect(not seen, f"a verdict because an agent is away: {seen}")
    cluster.start_agent(node)
    expect(wait_until(lambda: all_agents_connected(cluster), 15), "the agent did not come back")
    job_goes_on(cluster, 10)
    seen = scenario.faults_of(cluster.verdicts())
    expect(not seen, f"a verdict because an agent came back: {seen}")
    break_and_wait(cluster, FAULTS["hang-gpu"], confirmed=False)


# common/abi: offsets into the header and into an operation's slot.
_MAGIC = b"C4HOOK01"
_KINDS = ("", "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "AlltoAll",
          "Gather", "Scatter", "Send", "Recv")


def last_operations(path):
    """(name, sequence) of the newest operation, and of those in flight, in a hook's file."""
    with open(path, "rb") as file:
        data = file.read()
    expect(data[:8] == _MAGIC, f"{path}: not a hook's file")
    capacity, size, offset = struct.unpack_from("<IIQ", data, 40)
    newest, in_flight = (0, None), []
    for slot in range(offset, offset + capacity * size, size):
        ticket, flying = struct.unpack_from("<QI", data, slot)
        if ticket == 0:
            continue
        operation = (_KINDS[data[slot + 100]], struct.unpack_from("<Q", data, slot + 24)[0])
        newest = max(newest, (ticket, operation))
        if flying:
            in_flight.append(operation)
    return newest[1], in_flight


def rank_killed(cluster):
    """Its file stays readable, and the verdict says what it was doing last."""
    started(cluster)
    child = cluster.ranks[VICTIM]
    child.kill()
    child.wait()
    directory = cluster.run_directory(cluster.layout.node_of(VICTIM))
    files = [name for name in os.listdir(directory) if name.startswith(f"{child.pid}-")]
    expect(len(files) == 1, f"{directory}: {os.listdir(directory)}")
    newest, in_flight = last_operations(os.path.join(directory, files[0]))
    print(f"the file says: newest {newest}, in flight {in_flight}")
    expect(newest, "no operation in the file")
    verdict = right_verdict(cluster, FAULTS["dead-rank"], confirmed=False)
    said = [evidence.get("text", "") for evidence in verdict.get("evidence", [])]
    names = {name for name, _ in [newest, *in_flight]}
    expect(any(name in text for text in said for name in names),
           f"no evidence names one of {names}: {said}")


TESTS = {"analyzer": analyzer_killed, "agent": agent_killed, "rank": rank_killed}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("test", choices=TESTS)
    parser.add_argument("--build", required=True)
    parser.add_argument("--keep-logs", metavar="DIR")
    arguments = parser.parse_args()
    exit_on_signals()
    settings = Settings(build=os.path.abspath(arguments.build))
    if arguments.keep_logs:
        settings.logs = os.path.abspath(os.path.join(arguments.keep_logs,
                                                     f"killed-{arguments.test}"))
        shutil.rmtree(settings.logs, ignore_errors=True)
        settings.trace = os.path.join(settings.logs, "trace.jsonl")
    begin = time.monotonic()
    try:
        with Cluster(settings) as cluster:
            TESTS[arguments.test](cluster)
    except ClusterError as error:
        print(f"{arguments.test}: {error}", file=sys.stderr)
        return 1
    print(f"{arguments.test} killed: {TESTS[arguments.test].__doc__} "
          f"({time.monotonic() - begin:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
