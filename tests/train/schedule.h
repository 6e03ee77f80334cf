// One-forward-one-backward (1F1B), as a list: what one pipeline stage does in a step, in order.
//
// A stage first runs as many forwards as there are stages behind it, then alternates one forward
// and one backward, then drains the backwards. Where it sends one way and receives the other way at
// the same moment, both are one exchange: posted one after the other they would deadlock with a
// neighbour that does the same.
// Thread: any; pure functions. What it is not: aware of GPUs, streams or communicators.
#pragma once

#include <vector>

namespace c4::train {

// A microbatch number, or none.
inline constexpr int kNoMicrobatch = -1;

struct Action {
  enum class Kind { kForward, kBackward, kExchange };
  Kind kind = Kind::kForward;
  int microbatch = kNoMicrobatch;  // kForward, kBackward

  // kExchange: what goes to and comes from the neighbours. Activations come from the previous stage
  // and go to the next; gradients the other way.
  int send_activation = kNoMicrobatch;
  int receive_activation = kNoMicrobatch;
  int send_gradient = kNoMicrobatch;
  int receive_gradient = kNoMicrobatch;

  bool operator==(const Action&) const = default;
};

// 0 <= stage < stages, microbatches >= 1. Exchanges with nothing in them are left out.
std::vector<Action> TrainingSchedule(int stage, int stages, int microbatches);
// Forwards only, for evaluation.
std::vector<Action> EvaluationSchedule(int stage, int stages, int microbatches);

}  // namespace c4::train
