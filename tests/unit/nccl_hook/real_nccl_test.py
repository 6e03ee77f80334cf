#!/usr/bin/env python3
"""Runs a program over NVIDIA's libnccl.so.2 with and without the hook: both must print the same.

On a machine with a GPU the results are those of success, elsewhere NCCL's errors; the hook changes
neither. Skipped (77) where the library is not installed.

Usage: real_nccl_test.py PROGRAM HOOK LIBRARY_DIRECTORY
"""
import glob
import os
import subprocess
import sys
import tempfile

SKIPPED = 77


def main():
    program, hook, libraries = sys.argv[1:]
    if not os.path.exists(os.path.join(libraries, "libnccl.so.2")):
        return SKIPPED
    outputs = []
    with tempfile.TemporaryDirectory() as directory:
        for preload in ("", hook):
            environment = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": libraries,
                           "C4_RUN_DIR": directory, "LD_PRELOAD": preload}
            run = subprocess.run([program], env=environment, capture_output=True, text=True,
                                 timeout=100, check=False)
            if run.returncode == SKIPPED:
                return SKIPPED
            outputs.append((run.returncode, run.stdout))
        files = glob.glob(os.path.join(directory, "*.c4"))
    print(outputs[1][1])
    if outputs[0] != outputs[1]:
        print("without the hook:", outputs[0])
        return 1
    if len(files) != 1:
        print("hook files:", files)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
