#!/usr/bin/env python3
"""Runs `c4ctl analyze` on every trace of a folder and holds the answer against <name>.expect.json.

Usage: score_cases.py C4CTL FOLDER

The fault verdict of the highest confidence is held against `class` and `component`, every fault verdict
against `forbidden` (the words are explained in docs/DETECTION.md). Fails when a case that is expected to
be right is wrong, and also when one listed in open.txt has become right: then take it off the list.
"""
import glob
import json
import os
import subprocess
import sys

PLACE = ("kind", "rank", "node", "nic", "gpu", "peer_rank", "peer_node")


def matches(pattern, verdict):
    """Every key of the pattern must match; a list means any of its values, null means absent."""
    component = verdict.get("component", {})
    for key, wanted in pattern.items():
        got = verdict.get(key) if key in ("class", "action", "severity") else component.get(key)
        if key == "action" and wanted == "isolate":
            if "isolate" not in (got or ""):
                return False
        elif isinstance(wanted, list):
            if got not in wanted:
                return False
        elif got != wanted:
            return False
    # Keys without a kind mean a rank, GPU, NIC or node at that place.
    if "kind" not in pattern and any(key in PLACE for key in pattern):
        return component.get("kind") in ("rank", "gpu", "nic", "node")
    return True


def judge(expected, verdicts):
    """Returns what is wrong, or an empty string."""
    faults = [v for v in verdicts if v.get("severity") != "info"]
    for verdict in faults:
        for pattern in expected.get("forbidden", []):
            if pattern.get("class") != "none" and matches(pattern, verdict):
                return f"forbidden: {json.dumps(pattern)}"
    if not faults:
        return "" if "none" in expected["class"] else "no verdict"
    best = max(faults, key=lambda v: v.get("confidence", 0))
    if best["class"] not in expected["class"]:
        return f"class {best['class']}"
    places = [{k: v for k, v in c.items() if k in PLACE} for c in expected.get("component", [])]
    if places and not any(matches(place, best) for place in places):
        return f"component {json.dumps(best.get('component'))}"
    return ""


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    c4ctl, folder = sys.argv[1:]
    with open(os.path.join(folder, "open.txt"), encoding="utf-8") as lines:
        known = {line.split()[0] for line in lines if line.strip() and line[0] != "#"}
    failed, right = 0, 0
    traces = sorted(glob.glob(os.path.join(folder, "*.jsonl")) +
                    glob.glob(os.path.join(folder, "*.jsonl.zst")))
    for trace in traces:
        name = os.path.basename(trace).split(".")[0]
        with open(os.path.join(folder, name + ".expect.json"), encoding="utf-8") as file:
            expected = json.load(file)
        done = subprocess.run([c4ctl, "analyze", "--output", "json", trace], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            wrong = f"exit status {done.returncode}: {done.stderr.strip()}"
        else:
            wrong = judge(expected, json.loads(done.stdout).get("verdicts", []))
        right += not wrong
        if name in known:
            if not wrong:
                failed += 1
                print(f"{name}: right now; take it off open.txt")
            else:
                print(f"{name}: open ({wrong})")
        elif wrong:
            failed += 1
            print(f"{name}: WRONG: {wrong}")
    print(f"{right} of {len(traces)} right, {len(known)} known to be open")
    return 1 if failed or not traces else 0


if __name__ == "__main__":
    sys.exit(main())
