#!/usr/bin/env bash
# Fails when a C or C++ file is not as clang-format 14 would write it. `check_format.sh --fix` mends.
# The version is pinned: other versions format the same style differently.
set -euo pipefail
cd "$(dirname "$0")/../.."
formatter=$(command -v clang-format-14) || { echo "clang-format-14 not found: deploy/install-deps.sh --dev" >&2; exit 1; }
mode=(--dry-run -Werror)
[[ "${1:-}" == --fix ]] && mode=(-i)
find common nccl_hook agent analyzer tests -name '*.h' -o -name '*.cc' -o -name '*.c' | sort |
  xargs -r "$formatter" "${mode[@]}"
