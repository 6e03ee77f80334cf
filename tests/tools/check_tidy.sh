#!/usr/bin/env bash
# clang-tidy 14 over the sources of C4 (not the tests), with the set in .clang-tidy.
# Usage: check_tidy.sh BUILD_DIR [FILE…]   BUILD_DIR holds compile_commands.json
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:?usage: check_tidy.sh BUILD_DIR [FILE…]}
shift
if [[ $# -eq 0 ]]; then
  mapfile -t files < <(find common nccl_hook agent analyzer -name '*.cc' | sort)
  set -- "${files[@]}"
fi
# GCC-only flags in the compile commands are not errors of ours.
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 \
  clang-tidy-14 -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option
