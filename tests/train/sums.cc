// Implementation of sums.h.
#include "tests/train/sums.h"

#include <unistd.h>

#include <cstdio>

#include "tests/train/check.h"

namespace c4::train {
namespace {

const char* NameOf(Message message) {
  switch (message) {
    case Message::kTensor:
      return "tensor AllReduce";
    case Message::kActivation:
      return "activation Recv";
    case Message::kGradientHop:
      return "gradient Recv";
    case Message::kBucket:
      return "gradient ReduceScatter";
    case Message::kParameters:
      return "parameter AllGather";
    case Message::kLoss:
      return "loss AllReduce";
  }
  return "message";
}

}  // namespace

float ValueFrom(const Origin& origin) {
  // Primes, so that neighbours in any coordinate differ. Below 1024: 16,384 of them still add up
  // exactly in a float.
  const int64_t mixed = origin.step * 7 + static_cast<int64_t>(origin.message) * 131 +
                        int64_t{origin.index} * 17 + int64_t{origin.sender} * 29 +
                        int64_t{origin.block} * 61;
  return static_cast<float>(1 + mixed % 1021);
}

SumChecker::SumChecker(const Gpu& gpu, size_t floats_per_step)
    : gpu_(gpu), capacity_(floats_per_step), arena_(gpu.NewPinnedFloats(floats_per_step)) {}

void SumChecker::Expect(CUstream stream, const float* values, size_t count, float value,
                        Message message, int index) {
  if (used_ + count > capacity_) {
    std::fprintf(stderr, "rank %d: no room to check %s %d\n", RankForMessages(), NameOf(message),
                 index);
    _exit(kExitApiFailed);
  }
  float* copy = arena_ + used_;
  used_ += count;
  gpu_.CopyToHost(stream, copy, values, count);
  pending_.push_back({copy, count, value, message, index});
}

bool SumChecker::Verify(int64_t step) {
  bool right = true;
  for (const Pending& pending : pending_) {
    for (size_t i = 0; i < pending.count; ++i) {
      if (pending.copy[i] == pending.value) continue;
      std::fprintf(stderr, "rank %d: step %lld: %s %d: element %zu is %g, not %g\n",
                   RankForMessages(), static_cast<long long>(step), NameOf(pending.message),
                   pending.index, i, static_cast<double>(pending.copy[i]),
                   static_cast<double>(pending.value));
      right = false;
      break;
    }
  }
  pending_.clear();
  used_ = 0;
  return right;
}

}  // namespace c4::train
