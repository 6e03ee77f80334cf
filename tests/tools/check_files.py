#!/usr/bin/env python3
"""Fails when a source file is longer than a reader can hold: headers 150 lines, .cc 300 lines.

A file of one concern fits; one that does not is usually two. Usage: check_files.py [ROOT]
"""
import os
import sys

LIMITS = {".h": 150, ".cc": 300}
ROOTS = ("common", "nccl_hook", "agent", "analyzer", "tests")


def main():
    root = sys.argv[1] if len(sys.argv) == 2 else "."
    problems, files = [], 0
    for top in ROOTS:
        for directory, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                limit = LIMITS.get(os.path.splitext(name)[1])
                if limit is None:
                    continue
                files += 1
                path = os.path.join(directory, name)
                with open(path, encoding="utf-8") as lines:
                    count = sum(1 for _ in lines)
                if count > limit:
                    problems.append(f"{os.path.relpath(path, root)}: {count} lines, at most {limit}")
    print("\n".join(problems) if problems else f"{files} files within their limits")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
