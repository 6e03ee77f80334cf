#!/usr/bin/env python3
"""What c4-agent costs a node: CPU and memory under a synthetic load, with an analyzer that takes it in.

8 ranks of 1,000 operations/s each by default. The promise is at most 1 % of one core and 64 MiB.
Usage: whole_agent.py [--build DIR] [--analyzer PROGRAM] [--ranks N] [--rate N] [--seconds N]
"""
import argparse
import os
import subprocess
import tempfile
import time


def ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def memory_mib(pid, key):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
        for line in status:
            if line.startswith(key + ":"):
                return int(line.split()[1]) / 1024
    return 0


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(here, "../../../build/release"))
    parser.add_argument("--analyzer", help="c4-analyzer (default: the build's; 'none': nobody listens)")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--rate", type=int, default=1000, help="operations per second and rank")
    parser.add_argument("--seconds", type=int, default=30)
    arguments = parser.parse_args()
    programs = os.path.join(arguments.build, "bin")
    analyzer = arguments.analyzer or os.path.join(programs, "c4-analyzer")
    running = []
    with tempfile.TemporaryDirectory() as directory:
        try:
            port = "1"
            if analyzer != "none":
                port_file = os.path.join(directory, "port")
                running.append(subprocess.Popen([analyzer, "--listen", "127.0.0.1:0", "--port-file",
                                                 port_file, "--store", ":memory:"],
                                                stderr=subprocess.DEVNULL))
                while not os.path.exists(port_file) or not open(port_file).read().strip():
                    time.sleep(0.05)
                port = open(port_file, encoding="ascii").read().strip()
            run = os.path.join(directory, "run")
            os.mkdir(run)
            running.append(subprocess.Popen([os.path.join(programs, "agent-load"), run,
                                             str(arguments.ranks), str(arguments.rate)]))
            agent = subprocess.Popen([os.path.join(programs, "c4-agent"), "--analyzer",
                                      f"127.0.0.1:{port}", "--node", "bench", "--run-dir", run],
                                     stderr=subprocess.DEVNULL)
            running.append(agent)
            time.sleep(3)  # connecting and the first reading are not the steady state
            before = ticks(agent.pid)
            time.sleep(arguments.seconds)
            used = (ticks(agent.pid) - before) / os.sysconf("SC_CLK_TCK")
            print(f"{arguments.ranks} ranks, {arguments.rate} operations/s each, "
                  f"{arguments.seconds} s: {100 * used / arguments.seconds:.2f} % of a core, "
                  f"{memory_mib(agent.pid, 'VmRSS'):.1f} MiB resident, "
                  f"peak {memory_mib(agent.pid, 'VmHWM'):.1f} MiB")
        finally:
            for process in running:
                process.kill()
                process.wait()


if __name__ == "__main__":
    main()
