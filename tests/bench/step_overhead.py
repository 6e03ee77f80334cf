#!/usr/bin/env python3
"""What the hook costs a training step: the same job with and without it, in turns.

Runs come in pairs whose order alternates, so that drift of the machine hits both alike. The answer is
the ratio of the median step times, with the 95 % interval that resampling the runs gives: an
overhead inside the interval's width was not measured, only bounded.

  tests/bench/step_overhead.py [--build build/release] [--pairs 6] [--steps 60] [--agents]
"""
import argparse
import json
import os
import random
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
# pylint: disable=wrong-import-position
from cluster import Cluster, ClusterError, Settings
from processes import exit_on_signals, wait_until

WARM_UP_STEPS = 8


def step_times(arguments, hook):
    settings = Settings(build=os.path.abspath(arguments.build), hook=hook, loopback=True,
                        real=arguments.real, agents=arguments.agents,
                        trainer_arguments=("--jitter-percent", "0"))
    with Cluster(settings) as cluster:
        if arguments.agents:
            cluster.start()
        else:
            cluster.start_job()
        wanted = WARM_UP_STEPS + arguments.steps

        def enough():
            cluster.check_job()
            return len(cluster.read_steps()) >= wanted
        if not wait_until(enough, wanted * 2 + 60, 0.5):
            raise ClusterError("the job is too slow or stands still")
        return [ms for _, ms in cluster.steps[WARM_UP_STEPS:wanted]]


def interval(with_hook, without):
    """95 % of the ratio of medians over resampled runs."""
    dice = random.Random(1)
    ratios = []
    for _ in range(2000):
        a = [ms for run in dice.choices(with_hook, k=len(with_hook)) for ms in run]
        b = [ms for run in dice.choices(without, k=len(without)) for ms in run]
        ratios.append(statistics.median(a) / statistics.median(b))
    ratios.sort()
    return ratios[50], ratios[1949]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--steps", type=int, default=60, help="per run, after the warm-up")
    parser.add_argument("--agents", action="store_true", help="analyzer and agents run as well")
    parser.add_argument("--real", action="store_true", help="NVIDIA's libraries")
    arguments = parser.parse_args()
    exit_on_signals()
    runs = {True: [], False: []}
    print("run   hook      median      p90")
    try:
        for pair in range(arguments.pairs):
            for hook in ((True, False) if pair % 2 else (False, True)):
                times = sorted(step_times(arguments, hook))
                runs[hook].append(times)
                print(f"{pair:3}   {'with' if hook else 'without':7} {statistics.median(times):7.2f} "
                      f"ms {times[int(len(times) * 0.9)]:6.2f} ms", flush=True)
    except ClusterError as error:
        print(f"step_overhead: {error}", file=sys.stderr)
        return 2
    medians = {hook: statistics.median(ms for run in runs[hook] for ms in run) for hook in runs}
    ratio = medians[True] / medians[False]
    low, high = interval(runs[True], runs[False])
    print(f"step without {medians[False]:.2f} ms, with {medians[True]:.2f} ms: "
          f"{(ratio - 1) * 100:+.2f} % (95 %: {(low - 1) * 100:+.2f} … {(high - 1) * 100:+.2f} %)")
    print(json.dumps({"benchmark": "step_overhead", "pairs": arguments.pairs,
                      "steps": arguments.steps, "agents": arguments.agents,
                      "without_ms": round(medians[False], 3), "with_ms": round(medians[True], 3),
                      "ratio": round(ratio, 5), "ratio_low": round(low, 5),
                      "ratio_high": round(high, 5)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
