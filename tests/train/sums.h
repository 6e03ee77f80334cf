// The numbers that the ranks send each other, and the check that the right sums came back.
//
// Every value is a small integer that follows from where it comes from (step, message, sender,
// block), so sums are exact in float, every rank can work out what it must receive, and data of the
// wrong step, sender or place shows.
// Thread: main only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/train/gpu.h"

namespace c4::train {

enum class Message { kTensor, kActivation, kGradientHop, kBucket, kParameters, kLoss };

struct Origin {
  Message message;
  int64_t step;
  int index;   // which of the step's messages of that kind
  int sender;  // rank in the communicator, or global where there is none
  int block = 0;
};
float ValueFrom(const Origin& origin);

// Copies results to the host behind the work that makes them, and compares once the step is over.
class SumChecker {
 public:
  // floats_per_step: everything that Expect() is given between two calls of Verify().
  SumChecker(const Gpu& gpu, size_t floats_per_step);

  // All `count` floats must be `value` when `stream` gets here.
  void Expect(CUstream stream, const float* values, size_t count, float value, Message message,
              int index);
  // After the step's synchronisation. Prints the first wrong value of each message.
  bool Verify(int64_t step);

 private:
  struct Pending {
    const float* copy;
    size_t count;
    float value;
    Message message;
    int index;
  };

  const Gpu& gpu_;
  const size_t capacity_;
  float* const arena_;  // pinned; used from the start again after each Verify()
  size_t used_ = 0;
  std::vector<Pending> pending_;
};

}  // namespace c4::train
