#!/usr/bin/env python3
"""Instructions that the hook executes per collective, against the number in golden_instructions.json.

Callgrind counts instead of measuring, so the result does not depend on the machine's load, and a change
of the hot path shows up in review as a change of the golden number. When it is meant: run with --update
and commit the file. The tolerance covers compilers of the same major version; the number is for
x86-64 and Release builds, elsewhere the test is skipped (exit status 77).

Usage: golden_instructions.py [--update] PROGRAM HOOK GOLDEN VALGRIND
"""
import json
import os
import re
import subprocess
import sys
import tempfile

TOLERANCE = 0.05
CALLS = 1000
SKIPPED = 77


def count(program, hook, valgrind, timing, function):
    """Instructions inside `function` and what it calls, in the thread that runs it."""
    with tempfile.TemporaryDirectory() as directory:
        environment = dict(os.environ, C4_TIMING=timing, C4_RUN_DIR=directory, LD_PRELOAD=hook)
        output = os.path.join(directory, "callgrind.out")
        subprocess.run([valgrind, "--tool=callgrind", f"--toggle-collect={function}",
                        "--collect-atstart=no", f"--callgrind-out-file={output}", program],
                       env=environment, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        with open(output, encoding="utf-8") as lines:
            return int(re.search(r"^(?:summary|totals): (\d+)", lines.read(), re.M).group(1))


def main():
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    program, hook, golden_path, valgrind = arguments
    if os.uname().machine != "x86_64" or not os.path.exists(valgrind):
        return SKIPPED
    measured = {}
    for timing in ("host", "events"):
        hooked = count(program, hook, valgrind, timing, "HookedCalls")
        bare = count(program, hook, valgrind, timing, "BareCalls")
        measured[timing] = round((hooked - bare) / CALLS)
    print("instructions per collective:", measured)
    if "--update" in sys.argv:
        with open(golden_path, "w", encoding="utf-8") as golden:
            json.dump({"instructions_per_collective": measured}, golden, indent=2)
            golden.write("\n")
        return 0
    with open(golden_path, encoding="utf-8") as golden:
        expected = json.load(golden)["instructions_per_collective"]
    problems = [f"{timing}: {measured[timing]}, the golden number is {expected[timing]}"
                for timing in measured
                if abs(measured[timing] - expected[timing]) > TOLERANCE * expected[timing]]
    print("\n".join(problems) if problems else "within 5 % of the golden numbers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
