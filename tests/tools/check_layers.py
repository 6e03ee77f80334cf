#!/usr/bin/env python3
"""Fails when a folder includes what it may not (docs/ARCHITECTURE.md, "Layers").

Reads the #include lines of every C and C++ file that git would track. A project include is a quoted
path from the repository root; the table below says, folder by folder, which folders it may name.
Anything not in the table may include nothing of ours but common/.

Usage: check_layers.py [ROOT]      exit status 0 clean, 1 violations (one per line), 2 usage
"""
import os
import re
import sys

# folder -> folders it may include besides itself. The longest matching folder decides.
ALLOWED = {
    "common": [],
    "common/abi": [],  # freestanding
    "nccl_hook": ["common/abi"],
    "agent/rings": ["common", "common/abi", "agent/limits.h"],
    "agent/telemetry": ["common", "agent/limits.h"],
    "agent/uplink": ["common", "proto", "agent/limits.h"],
    "agent/app": ["common", "common/abi", "proto", "agent"],
    "agent": ["common"],
    "analyzer/model": ["common"],
    "analyzer/ingest": ["common", "proto", "analyzer/model"],
    "analyzer/detect": ["common", "analyzer/model"],
    "analyzer/localise": ["common", "analyzer/model"],
    "analyzer/verdict": ["common", "analyzer/model"],
    "analyzer/act": ["common", "analyzer/model"],
    "analyzer/store": ["common", "proto", "analyzer/model"],
    "analyzer/engine": ["common", "analyzer/model", "analyzer/detect", "analyzer/localise",
                        "analyzer/verdict"],
    "analyzer/api": ["common", "proto", "analyzer/model", "analyzer/ingest", "analyzer/engine",
                     "analyzer/store"],
    "analyzer/cli": ["common", "proto", "analyzer/model", "analyzer/ingest", "analyzer/engine",
                     "analyzer/api"],
    "analyzer/app": ["common", "proto", "analyzer"],
    "tests/nccl_cpu": [],          # a library of its own, knows nothing of C4
    "tests/train": ["tests/nccl_cpu"],
    "tests": ["common", "common/abi", "proto", "nccl_hook", "agent", "analyzer", "tests"],
}
# Folders that must do without the libraries that the rest of C4 uses (DESIGN: the hook needs libc
# and libdl only; the layout is freestanding).
FREESTANDING = {
    "common/abi": re.compile(r"^(atomic|cstddef|cstdint)$"),
    "nccl_hook": re.compile(r"^(?!absl/|grpc|google/|spdlog/|fmt/|string$|vector$|map$|unordered_map$|memory$|"
                            r"mutex$|thread$|functional$|iostream$|sstream$|fstream$|filesystem$)"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
ROOTS = ("common", "nccl_hook", "agent", "analyzer", "tests")


def folder_of(path, table):
    folder = os.path.dirname(path)
    while folder and folder not in table:
        folder = os.path.dirname(folder)
    return folder


def allowed(include, source_folder):
    if include.startswith("c4/v1/"):  # generated from proto/
        return "proto" in ALLOWED[source_folder]
    target_folder = folder_of(include, ALLOWED)
    for entry in ALLOWED[source_folder] + [source_folder]:
        if entry in (include, target_folder):
            return True
        # "agent", "analyzer" and "tests" stand for all their subfolders, "common" for itself alone.
        if entry != "common" and include.startswith(entry + "/"):
            return True
    return False


def check_file(root, path):
    problems = []
    source_folder = folder_of(path, ALLOWED)
    with open(os.path.join(root, path), encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, include = match.groups()
            ours = include.startswith("c4/v1/") or (
                include.split("/")[0] in ROOTS and "/" in include)
            if ours:
                if not allowed(include, source_folder):
                    problems.append(f"{path}:{number}: {source_folder}/ may not include {include}")
            elif quote == '"' and not source_folder.startswith("tests"):
                # A quoted include that is not a path from the root hides where it points.
                if os.path.exists(os.path.join(root, os.path.dirname(path), include)):
                    problems.append(f"{path}:{number}: write the path of {include} from the root")
            folder = folder_of(path, FREESTANDING)
            if not ours and folder and not FREESTANDING[folder].match(include):
                problems.append(f"{path}:{number}: {folder}/ must do without <{include}>")
    return problems


def main():
    if len(sys.argv) > 2:
        print(__doc__, file=sys.stderr)
        return 2
    root = sys.argv[1] if len(sys.argv) == 2 else "."
    problems, files = [], 0
    for top in ROOTS:
        for directory, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".h", ".cc", ".c", ".cpp")):
                    files += 1
                    problems += check_file(
                        root, os.path.relpath(os.path.join(directory, name), root))
    for problem in problems:
        print(problem)
    if not files:
        print(f"{root}: no source files found", file=sys.stderr)
        return 2
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
