#!/usr/bin/env bash
# C4 at work, from a bare Debian 12 machine in one command: installs what is needed, builds, starts an
# analyzer, four simulated nodes with an agent and two training ranks each, breaks something, and shows
# what C4 says about it.
#
#   deploy/quickstart.sh                      one GPU becomes 20 % slower
#   deploy/quickstart.sh --fault dead-link    something else; --help lists all
#   deploy/quickstart.sh --real               on this machine's GPUs, with NVIDIA's NCCL
#
# As root each node is a network namespace; otherwise all share loopback, without network faults.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
quickstart=$root/tests/e2e/quickstart.py

for argument in "$@"; do
  # Help needs no build.
  if [[ "$argument" == -h || "$argument" == --help ]] && command -v python3 >/dev/null; then
    exec python3 "$quickstart" --help
  fi
done

"$root/deploy/install-deps.sh"
cd "$root"
echo "quickstart.sh: building (build/release)"
mkdir -p build
log=$root/build/quickstart.log
{ cmake --preset release && cmake --build --preset release --target \
    c4-analyzer c4-agent c4ctl c4hook c4-train nccl_cpu_nccl nccl_cpu_cuda; } >"$log" 2>&1 ||
  { tail -n 50 "$log" >&2; echo "quickstart.sh: the build failed, see $log" >&2; exit 2; }
exec python3 "$quickstart" "$@"
