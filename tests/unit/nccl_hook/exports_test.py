#!/usr/bin/env python3
"""What libc4hook.so asks of a training image, and what it shows to it.

It must load in images older than the build machine: no glibc version above 2.17, no library but libc
and libdl. It must not change what a program binds to, except what it wraps. dlsym must pass lookups on
by a jump (nccl_hook/dlsym_interposer.cc says why).

Usage: exports_test.py LIBRARY FUNCTIONS_H OBJDUMP
"""
import re
import subprocess
import sys

OLDEST_GLIBC = (2, 17)
NEEDED = {"libc.so.6", "libdl.so.2"}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def wrapped_functions(path):
    with open(path, encoding="utf-8") as lines:
        text = lines.read()
    block = text.split("#define C4_HOOK_FUNCTIONS(X)")[1].split("#define")[0]
    return {"nccl" + name for name in re.findall(r"\bX\((\w+),", block)}


def main():
    library, functions, objdump = sys.argv[1:]
    problems = []
    headers = run(objdump, "-p", library)
    for version in re.findall(r"\bGLIBC_([\d.]+)", headers):
        if tuple(map(int, version.split("."))) > OLDEST_GLIBC:
            problems.append(f"needs GLIBC_{version}: bind it in nccl_hook/glibc_compat.h")
    needed = set(re.findall(r"NEEDED\s+(\S+)", headers))
    if needed != NEEDED:
        problems.append(f"needs the libraries {sorted(needed)}, not {sorted(NEEDED)}")
    exported = set()
    for line in run(objdump, "-T", library).splitlines():
        if "*UND*" not in line and re.match(r"^[0-9a-f]{8,}", line):
            exported.add(line.split()[-1])
    expected = wrapped_functions(functions) | {"dlsym"}
    if exported != expected:
        problems.append(f"exports too much {sorted(exported - expected)} "
                        f"or too little {sorted(expected - exported)}")
    flags = run("readelf", "-d", library)
    for flag in ("NODELETE", "STATIC_TLS"):
        if flag not in flags:
            problems.append(f"lacks {flag}")
    code = run(objdump, "-d", "--no-show-raw-insn", "--disassemble=dlsym", library)
    indirect_jump = r"\bjmp\s+\*" if "x86-64" in headers else r"\bbr\s+x"
    indirect_call = r"\bcall\s+\*" if "x86-64" in headers else r"\bblr\s+x"
    if not re.search(indirect_jump, code) or re.search(indirect_call, code):
        problems.append("dlsym does not end in a tail call")
    print("\n".join(problems) if problems else f"{len(exported)} exports, as they should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
