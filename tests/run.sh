#!/usr/bin/env bash
# All tests of C4, set-up included, on a bare Debian 12 machine:
#
#   tests/run.sh            everything: sanitizers, fuzzing in short form, then unit and end-to-end tests
#   tests/run.sh --quick    unit tests and checks of the release build only
#
# The last lines are ctest's own summary of the release build. Exit status 0: all passed. Each stage
# builds in build/<preset>; a second run builds only what changed.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=false
case "${1:-}" in
  "") ;;
  --quick) quick=true ;;
  -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

stage() { printf '\n== %s (%(%H:%M:%S)T)\n' "$1" -1; }

build() { # build PRESET [TARGET…]
  local preset=$1
  shift
  cmake --preset "$preset" >"build/$preset.configure.log" 2>&1 || { cat "build/$preset.configure.log"; return 1; }
  # With targets named, only those; ninja prints a line per step, which is kept for failures.
  cmake --build "build/$preset" ${1:+--target "$@"} >"build/$preset.build.log" 2>&1 ||
    { tail -n 100 "build/$preset.build.log"; return 1; }
}

stage "packages"
deploy/install-deps.sh
mkdir -p build

stage "release build"
build release

if ! $quick; then
  # Sanitizers run the unit tests: the same code paths as end to end, without its clock. Timeouts of
  # tests are scaled because instrumented code is several times slower.
  stage "AddressSanitizer and UndefinedBehaviorSanitizer"
  build asan unit_tests
  ctest --preset asan -L unit -LE golden --no-tests=error
  # ThreadSanitizer: what has more than one thread (label `threads`).
  stage "ThreadSanitizer"
  build tsan threads_tests
  ctest --preset tsan -L threads --no-tests=error
  stage "fuzzing, 10 s a target"
  build fuzz fuzz_targets
  ctest --preset fuzz -L fuzz --no-tests=error
fi

stage "unit tests, checks$($quick || echo ", end-to-end tests")"
if $quick; then
  ctest --preset release -LE e2e --no-tests=error
else
  ctest --preset release --no-tests=error
fi
