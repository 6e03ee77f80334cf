// Implementation of stage.h: a step from its first kernel to its last. Messages between ranks are
// in stage_messages.cc.
#include "tests/train/stage.h"

#include "tests/train/check.h"

namespace c4::train {
namespace {

constexpr size_t kFloatsPerKib = 1024 / sizeof(float);
// Loss, gradient norm and their like: one small message.
constexpr size_t kLossFloats = 256;
// A rank that calls the loss AllReduce with the wrong count uses this many times the right one.
constexpr size_t kWrongCountFactor = 2;

}  // namespace

Stage::Sizes::Sizes(const Options& options)
    : tensor(static_cast<size_t>(options.tensor_kib) * kFloatsPerKib),
      pipeline(static_cast<size_t>(options.pipeline_kib) * kFloatsPerKib),
      shard(static_cast<size_t>(options.bucket_kib) * kFloatsPerKib /
            static_cast<size_t>(options.data)),
      bucket(shard * static_cast<size_t>(options.data)),
      loss(kLossFloats) {
  const auto layers = static_cast<size_t>(options.layers);
  const auto microbatches = static_cast<size_t>(options.microbatches);
  checked_per_step =
      2 * microbatches * (layers * tensor + pipeline) + layers * (shard + bucket) + loss;
}

Stage::Stage(const Options& options, const Gpu& gpu, const Communicators& communicators,
             Injector* injector)
    : options_(options),
      gpu_(gpu),
      communicators_(communicators),
      injector_(injector),
      at_(PositionOf(options.rank, options)),
      sizes_(options),
      sums_(gpu, sizes_.checked_per_step),
      compute_(gpu.NewStream()),
      pipeline_(gpu.NewStream()),
      data_(gpu.NewStream()),
      compute_to_pipeline_(gpu.NewEvent()),
      compute_to_data_(gpu.NewEvent()),
      data_to_compute_(gpu.NewEvent()),
      pipeline_to_compute_(gpu.NewEvent()),
      finished_(gpu.NewBlockingEvent()),
      tensor_(gpu.NewFloats(sizes_.tensor)),
      loss_(gpu.NewFloats(sizes_.loss * kWrongCountFactor)),
      activations_out_(NewHop()),
      activations_in_(NewHop()),
      gradients_out_(NewHop()),
      gradients_in_(NewHop()) {
  for (int layer = 0; layer < options.layers; ++layer) {
    buckets_.push_back(gpu.NewFloats(sizes_.bucket));
    shards_.push_back(gpu.NewFloats(sizes_.shard));
    parameters_.push_back(gpu.NewFloats(sizes_.bucket));
  }
}

bool Stage::Train(int64_t step) {
  step_ = step;
  Launch(TrainingSchedule(at_.pipeline, options_.pipeline, options_.microbatches));
  UpdateParameters();
  ReduceLoss();
  return Finish();
}

bool Stage::Evaluate(int64_t step) {
  step_ = step;
  Launch(EvaluationSchedule(at_.pipeline, options_.pipeline, options_.microbatches));
  ReduceLoss();
  return Finish();
}

void Stage::Launch(const std::vector<Action>& schedule) {
  item_ = 0;
  for (const Action& action : schedule) {
    switch (action.kind) {
      case Action::Kind::kForward:
        Forward(action.microbatch);
        break;
      case Action::Kind::kBackward:
        Backward(action.microbatch);
        break;
      case Action::Kind::kExchange:
        Exchange(action);
        break;
    }
  }
}

void Stage::Forward(int microbatch) {
  injector_->BeforeWork(item_++, gpu_, compute_);
  if (at_.pipeline > 0) {
    const CUevent received = activations_in_.received[static_cast<size_t>(microbatch)];
    C4_TRAIN_CUDA(cuStreamWaitEvent(compute_, received, 0));
  }
  for (int layer = 0; layer < options_.layers; ++layer) {
    Layer(options_.forward_ms, microbatch * options_.layers + layer);
  }
  if (at_.pipeline + 1 < options_.pipeline) {
    FillHop(activations_out_, Message::kActivation, microbatch);
  }
}

void Stage::Backward(int microbatch) {
  injector_->BeforeWork(item_++, gpu_, compute_);
  if (at_.pipeline + 1 < options_.pipeline) {
    const CUevent received = gradients_in_.received[static_cast<size_t>(microbatch)];
    C4_TRAIN_CUDA(cuStreamWaitEvent(compute_, received, 0));
  }
  const bool last = microbatch == options_.microbatches - 1;
  for (int layer = options_.layers - 1; layer >= 0; --layer) {
    Layer(2 * options_.forward_ms, (options_.microbatches + microbatch) * options_.layers + layer);
    if (last) ReduceGradients(layer);
  }
  if (at_.pipeline > 0) FillHop(gradients_out_, Message::kGradientHop, microbatch);
}

void Stage::Layer(double ms, int index) {
  gpu_.Compute(compute_, injector_->ComputeNs(ms));
  gpu_.Fill(compute_, tensor_, Value(Message::kTensor, index, at_.tensor), sizes_.tensor);
  C4_TRAIN_NCCL(ncclAllReduce(tensor_, tensor_, sizes_.tensor, ncclFloat, ncclSum,
                              communicators_.tensor, compute_));
  float sum = 0;
  for (int i = 0; i < options_.tensor; ++i) sum += Value(Message::kTensor, index, i);
  sums_.Expect(compute_, tensor_, sizes_.tensor, sum, Message::kTensor, index);
}

void Stage::UpdateParameters() {
  // The optimizer needs all gradients.
  Order(data_to_compute_, data_, compute_);
  gpu_.Compute(compute_, injector_->ComputeNs(options_.optimizer_ms));
  for (int layer = 0; layer < options_.layers; ++layer) {
    gpu_.Fill(compute_, shards_[static_cast<size_t>(layer)],
              Value(Message::kParameters, layer, at_.data), sizes_.shard);
  }
  Order(compute_to_data_, compute_, data_);
  for (int layer = 0; layer < options_.layers; ++layer) {
    float* gathered = parameters_[static_cast<size_t>(layer)];
    C4_TRAIN_NCCL(ncclAllGather(shards_[static_cast<size_t>(layer)], gathered, sizes_.shard,
                                ncclFloat, communicators_.data, data_));
    for (int i = 0; i < options_.data; ++i) {
      sums_.Expect(data_, gathered + static_cast<size_t>(i) * sizes_.shard, sizes_.shard,
                   Value(Message::kParameters, layer, i), Message::kParameters, layer);
    }
  }
}

void Stage::ReduceLoss() {
  Order(data_to_compute_, data_, compute_);
  Order(pipeline_to_compute_, pipeline_, compute_);
  gpu_.Fill(compute_, loss_, Value(Message::kLoss, 0, options_.rank), sizes_.loss);
  if (injector_->CallsWrongOperation()) {
    C4_TRAIN_NCCL(
        ncclBroadcast(loss_, loss_, sizes_.loss, ncclFloat, 0, communicators_.world, compute_));
  } else {
    const size_t factor = injector_->CallsWrongCount() ? kWrongCountFactor : 1;
    C4_TRAIN_NCCL(ncclAllReduce(loss_, loss_, sizes_.loss * factor, ncclFloat, ncclSum,
                                communicators_.world, compute_));
  }
  float sum = 0;
  for (int i = 0; i < options_.world_size; ++i) sum += Value(Message::kLoss, 0, i);
  sums_.Expect(compute_, loss_, sizes_.loss, sum, Message::kLoss, 0);
}

bool Stage::Finish() {
  C4_TRAIN_CUDA(cuEventRecord(finished_, compute_));
  C4_TRAIN_CUDA(cuEventSynchronize(finished_));
  return sums_.Verify(step_);
}

float Stage::Value(Message message, int index, int sender, int block) const {
  return ValueFrom({message, step_, index, sender, block});
}

}  // namespace c4::train
