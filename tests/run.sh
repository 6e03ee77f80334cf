#!/usr/bin/env bash
# All tests of C4, set-up included, on a bare Debian 12 machine:
#
#   tests/run.sh            what continuous integration runs: sanitizers and fuzzing in short form,
#                           then all unit and end-to-end tests
#   tests/run.sh --quick    unit tests and checks of the release build only
#   tests/run.sh --full     every unit test under the sanitizers and every fuzz target, then the rest
#
# The last lines are ctest's own summary of the release build. Exit status 0: all passed. Each stage
# builds in build/<preset>; a second run builds only what changed.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=false
sanitizers=true
# The short form: where untrusted bytes are parsed and where verdicts are made; it builds in minutes.
asan_targets=(common_test detect_test engine_test localise_test ingest_test)
tsan_targets=(common_test)
fuzz_targets=(trace_json_fuzz batch_fuzz)
case "${1:-}" in
  "") ;;
  --quick) quick=true sanitizers=false ;;
  --full) asan_targets=(unit_tests) tsan_targets=(threads_tests) fuzz_targets=(fuzz_targets) ;;
  -h | --help) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
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

run_built() { # run_built PRESET LABEL TARGET…: the tests that were built
  local preset=$1 label=$2
  shift 2
  if [[ $1 == *_tests || $1 == fuzz_targets ]]; then
    ctest --preset "$preset" -L "$label" -LE golden --no-tests=error
  else
    ctest --preset "$preset" -R "^($(IFS='|'; echo "$*"))\$" --no-tests=error
  fi
}

stage "packages"
deploy/install-deps.sh
mkdir -p build

stage "release build"
build release

if $sanitizers; then
  # The same code paths as end to end, without its clock.
  stage "AddressSanitizer and UndefinedBehaviorSanitizer"
  build asan "${asan_targets[@]}"
  run_built asan unit "${asan_targets[@]}"
  # What has more than one thread.
  stage "ThreadSanitizer"
  build tsan "${tsan_targets[@]}"
  run_built tsan threads "${tsan_targets[@]}"
  stage "fuzzing, 10 s a target"
  build fuzz "${fuzz_targets[@]}"
  run_built fuzz fuzz "${fuzz_targets[@]}"
fi

stage "unit tests, checks$($quick || echo ", end-to-end tests")"
if $quick; then
  ctest --preset release -LE e2e --no-tests=error
else
  ctest --preset release --no-tests=error
fi
