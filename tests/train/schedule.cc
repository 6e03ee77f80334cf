// Implementation of schedule.h.
#include "tests/train/schedule.h"

#include <algorithm>

namespace c4::train {
namespace {

// Builds the list for one stage; drops what the first and last stage have no neighbour for.
class Builder {
 public:
  Builder(int stage, int stages) : first_(stage == 0), last_(stage == stages - 1) {}

  void Forward(int microbatch) { Compute(Action::Kind::kForward, microbatch); }
  void Backward(int microbatch) { Compute(Action::Kind::kBackward, microbatch); }

  void WithPrevious(int send_gradient, int receive_activation) {
    if (first_) return;
    Action action{.kind = Action::Kind::kExchange};
    action.send_gradient = send_gradient;
    action.receive_activation = receive_activation;
    actions_.push_back(action);
  }
  void WithNext(int send_activation, int receive_gradient) {
    if (last_) return;
    Action action{.kind = Action::Kind::kExchange};
    action.send_activation = send_activation;
    action.receive_gradient = receive_gradient;
    actions_.push_back(action);
  }

  std::vector<Action> Take() { return std::move(actions_); }

 private:
  void Compute(Action::Kind kind, int microbatch) {
    Action action{.kind = kind};
    action.microbatch = microbatch;
    actions_.push_back(action);
  }

  const bool first_;
  const bool last_;
  std::vector<Action> actions_;
};

}  // namespace

std::vector<Action> TrainingSchedule(int stage, int stages, int microbatches) {
  Builder build(stage, stages);
  const int warm_up = std::min(stages - stage - 1, microbatches);
  const int steady = microbatches - warm_up;

  for (int i = 0; i < warm_up; ++i) {
    build.WithPrevious(kNoMicrobatch, i);
    build.Forward(i);
    // The last send of the warm-up has no gradient to wait for yet.
    build.WithNext(i, kNoMicrobatch);
  }
  if (steady > 0) build.WithPrevious(kNoMicrobatch, warm_up);
  for (int i = 0; i < steady; ++i) {
    build.Forward(warm_up + i);
    build.WithNext(warm_up + i, i);
    build.Backward(i);
    const bool more = i + 1 < steady;
    build.WithPrevious(i, more ? warm_up + i + 1 : kNoMicrobatch);
  }
  for (int i = steady; i < microbatches; ++i) {
    build.WithNext(kNoMicrobatch, i);
    build.Backward(i);
    build.WithPrevious(i, kNoMicrobatch);
  }
  return build.Take();
}

std::vector<Action> EvaluationSchedule(int stage, int stages, int microbatches) {
  Builder build(stage, stages);
  for (int i = 0; i < microbatches; ++i) {
    build.WithPrevious(kNoMicrobatch, i);
    build.Forward(i);
    build.WithNext(i, kNoMicrobatch);
  }
  return build.Take();
}

}  // namespace c4::train
