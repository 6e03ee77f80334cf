#!/usr/bin/env bash
# Installs what C4 needs on Debian 12, from Debian's own packages. Safe to run again: what is there
# stays. Runs as root or, with sudo installed, as anybody.
#
#   deploy/install-deps.sh          to build C4, run its tests and the quickstart
#   deploy/install-deps.sh --run    only what the installed programs need
#   deploy/install-deps.sh --list   print the packages and exit
set -euo pipefail

run_packages=(
  libabsl20220623 libgrpc++1.51 libprotobuf32 libspdlog1.10 libsqlite3-0 libzstd1
)
build_packages=(
  build-essential ca-certificates ccache cmake git ninja-build pkg-config
  libabsl-dev libcli11-dev libgrpc++-dev libprotobuf-dev libspdlog-dev libsqlite3-dev libzstd-dev
  nlohmann-json3-dev protobuf-compiler protobuf-compiler-grpc
  libbenchmark-dev libgmock-dev libgtest-dev
  # the simulated cluster: network namespaces, traffic shaping, the driver's language
  iproute2 python3-minimal python3
  # checks: formatting and linting are pinned to Debian 12's version 14; fuzzing needs clang's runtime
  clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev valgrind binutils
)

usage() { sed -n '2,8s/^# \{0,1\}//p' "$0"; }

packages=("${run_packages[@]}" "${build_packages[@]}")
case "${1:-}" in
  "") ;;
  --run) packages=("${run_packages[@]}") ;;
  --list) printf '%s\n' "${packages[@]}"; exit 0 ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null; then
  echo "install-deps.sh: no apt-get here. C4 is built on Debian 12; elsewhere install the packages that --list prints." >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  # "install ok installed" and nothing else: a removed package still has a status.
  if [[ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" != "install ok installed" ]]; then
    missing+=("$package")
  fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
  echo "install-deps.sh: everything is installed (${#packages[@]} packages)"
  exit 0
fi

as_root=()
if [[ $EUID -ne 0 ]]; then
  command -v sudo >/dev/null || { echo "install-deps.sh: run as root, or install sudo" >&2; exit 1; }
  as_root=(sudo)
fi
echo "install-deps.sh: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
# A second attempt after a pause: mirrors fail now and then, and a lock of another apt goes away.
for attempt in 1 2 3; do
  if "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=120 update -q &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -q -y --no-install-recommends "${missing[@]}"; then
    echo "install-deps.sh: done"
    exit 0
  fi
  echo "install-deps.sh: attempt $attempt failed" >&2
  sleep $((attempt * 5))
done
exit 1
