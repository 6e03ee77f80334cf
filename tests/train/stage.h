// What one rank does in a step: launches compute and communication on three streams, in the order
// of schedule.h, and waits once, at the end. Until then the host runs ahead of the GPU.
//
//   compute   layers (compute kernel, then tensor-parallel AllReduce), optimizer, loss AllReduce
//   pipeline  activations and gradients to and from the neighbouring stages
//   data      gradient ReduceScatter, bucket by bucket, under the backward of the last microbatch;
//             AllGather of the parameters after the optimizer
//
// Events tie the streams together where data passes from one to the other.
// Thread: main only.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/train/communicators.h"
#include "tests/train/gpu.h"
#include "tests/train/injector.h"
#include "tests/train/options.h"
#include "tests/train/schedule.h"
#include "tests/train/sums.h"

namespace c4::train {

class Stage {
 public:
  // All four outlive the stage.
  Stage(const Options& options, const Gpu& gpu, const Communicators& communicators,
        Injector* injector);

  // Each launches a whole step and returns when the GPU has finished it. False: a sum was wrong.
  bool Train(int64_t step);
  bool Evaluate(int64_t step);

 private:
  struct Sizes {  // in floats
    explicit Sizes(const Options& options);
    size_t tensor, pipeline, shard, bucket, loss, checked_per_step;
  };
  // A message to or from a neighbour, one buffer per microbatch.
  struct Hop {
    std::vector<float*> buffers;
    std::vector<CUevent> received;  // recorded behind the Recv
  };

  void Launch(const std::vector<Action>& schedule);
  void Forward(int microbatch);
  void Backward(int microbatch);
  void Layer(double ms, int index);
  void Exchange(const Action& action);
  void Send(const Hop& hop, int microbatch, int neighbour);
  void Receive(const Hop& hop, int microbatch, int neighbour);
  void AfterReceive(const Hop& hop, Message message, int microbatch, int neighbour);
  void FillHop(const Hop& hop, Message message, int microbatch);
  void ReduceGradients(int layer);
  void UpdateParameters();
  void ReduceLoss();
  bool Finish();
  Hop NewHop() const;
  float Value(Message message, int index, int sender, int block = 0) const;

  const Options& options_;
  const Gpu& gpu_;
  const Communicators& communicators_;
  Injector* const injector_;
  const Position at_;
  const Sizes sizes_;
  SumChecker sums_;

  const CUstream compute_, pipeline_, data_;
  const CUevent compute_to_pipeline_, compute_to_data_, data_to_compute_, pipeline_to_compute_;
  const CUevent finished_;
  float* const tensor_;
  float* const loss_;
  Hop activations_out_, activations_in_, gradients_out_, gradients_in_;
  std::vector<float*> buckets_, shards_, parameters_;  // per layer

  int64_t step_ = 0;
  int item_ = 0;  // of work, within the step
};

}  // namespace c4::train
