// What callgrind counts (golden_instructions.py): the same calls with and without the hook, in two
// functions that it can tell apart.
#include "tests/bench/nccl_hook/noop_api.h"

namespace c4::hook {
namespace {

constexpr int kCalls = 1000;
constexpr DataType kFloat = 7;

}  // namespace

extern "C" __attribute__((noinline)) void HookedCalls(CommHandle communicator) {
  for (int i = 0; i < kCalls; ++i) {
    ncclAllReduce(nullptr, nullptr, 1024, kFloat, 0, communicator, nullptr);
  }
}

extern "C" __attribute__((noinline)) void BareCalls(CommHandle communicator) {
  for (int i = 0; i < kCalls; ++i) {
    pncclAllReduce(nullptr, nullptr, 1024, kFloat, 0, communicator, nullptr);
  }
}

}  // namespace c4::hook

int main() {
  const c4::hook::CommHandle communicator = c4::hook::MakeNoopCommunicator();
  c4::hook::HookedCalls(communicator);
  c4::hook::BareCalls(communicator);
  return 0;
}
