// The part of stage.h that talks to other stages and replicas.
#include "tests/train/check.h"
#include "tests/train/stage.h"

namespace c4::train {

Stage::Hop Stage::NewHop() const {
  Hop hop;
  for (int i = 0; i < options_.microbatches; ++i) {
    hop.buffers.push_back(gpu_.NewFloats(sizes_.pipeline));
    hop.received.push_back(gpu_.NewEvent());
  }
  return hop;
}

void Stage::FillHop(const Hop& hop, Message message, int microbatch) {
  gpu_.Fill(compute_, hop.buffers[static_cast<size_t>(microbatch)],
            Value(message, microbatch, at_.pipeline), sizes_.pipeline);
}

void Stage::Exchange(const Action& action) {
  const int previous = at_.pipeline - 1;
  const int next = at_.pipeline + 1;
  const bool sends =
      action.send_activation != kNoMicrobatch || action.send_gradient != kNoMicrobatch;
  const bool receives =
      action.receive_activation != kNoMicrobatch || action.receive_gradient != kNoMicrobatch;
  // What is sent was computed last; what is received lands in a buffer of its own.
  if (sends) Order(compute_to_pipeline_, compute_, pipeline_);
  if (sends && receives) C4_TRAIN_NCCL(ncclGroupStart());
  Send(activations_out_, action.send_activation, next);
  Send(gradients_out_, action.send_gradient, previous);
  Receive(activations_in_, action.receive_activation, previous);
  Receive(gradients_in_, action.receive_gradient, next);
  if (sends && receives) C4_TRAIN_NCCL(ncclGroupEnd());
  AfterReceive(activations_in_, Message::kActivation, action.receive_activation, previous);
  AfterReceive(gradients_in_, Message::kGradientHop, action.receive_gradient, next);
}

void Stage::Send(const Hop& hop, int microbatch, int neighbour) {
  if (microbatch == kNoMicrobatch) return;
  C4_TRAIN_NCCL(ncclSend(hop.buffers[static_cast<size_t>(microbatch)], sizes_.pipeline, ncclFloat,
                         neighbour, communicators_.pipeline, pipeline_));
}

void Stage::Receive(const Hop& hop, int microbatch, int neighbour) {
  if (microbatch == kNoMicrobatch) return;
  C4_TRAIN_NCCL(ncclRecv(hop.buffers[static_cast<size_t>(microbatch)], sizes_.pipeline, ncclFloat,
                         neighbour, communicators_.pipeline, pipeline_));
}

void Stage::AfterReceive(const Hop& hop, Message message, int microbatch, int neighbour) {
  if (microbatch == kNoMicrobatch) return;
  const auto index = static_cast<size_t>(microbatch);
  C4_TRAIN_CUDA(cuEventRecord(hop.received[index], pipeline_));
  sums_.Expect(pipeline_, hop.buffers[index], sizes_.pipeline,
               Value(message, microbatch, neighbour), message, microbatch);
}

void Stage::ReduceGradients(int layer) {
  float* bucket = buckets_[static_cast<size_t>(layer)];
  float* shard = shards_[static_cast<size_t>(layer)];
  for (int block = 0; block < options_.data; ++block) {
    gpu_.Fill(compute_, bucket + static_cast<size_t>(block) * sizes_.shard,
              Value(Message::kBucket, layer, at_.data, block), sizes_.shard);
  }
  Order(compute_to_data_, compute_, data_);
  C4_TRAIN_NCCL(ncclReduceScatter(bucket, shard, sizes_.shard, ncclFloat, ncclSum,
                                  communicators_.data, data_));
  const float average = 1.0F / static_cast<float>(options_.data);
  gpu_.Scale(data_, shard, average, sizes_.shard);
  float sum = 0;
  for (int i = 0; i < options_.data; ++i) sum += Value(Message::kBucket, layer, i, at_.data);
  sums_.Expect(data_, shard, sizes_.shard, sum * average, Message::kBucket, layer);
}

}  // namespace c4::train
