// 1F1B: the order of one stage, and that all stages together never wait for each other in a circle.
#include "tests/train/schedule.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace c4::train {
namespace {

using Kind = Action::Kind;

void Append(std::string_view what, int microbatch, std::string* text) {
  if (microbatch == kNoMicrobatch) return;
  text->append(what).append(std::to_string(microbatch));
}

// "F0 >a0<g0 B0": forward, exchange that sends activation 0 and receives gradient 0, backward.
std::string Spell(const std::vector<Action>& actions) {
  std::string text;
  for (const Action& action : actions) {
    if (!text.empty()) text += ' ';
    if (action.kind != Kind::kExchange) {
      Append(action.kind == Kind::kForward ? "F" : "B", action.microbatch, &text);
    }
    Append(">a", action.send_activation, &text);
    Append("<g", action.receive_gradient, &text);
    Append(">g", action.send_gradient, &text);
    Append("<a", action.receive_activation, &text);
  }
  return text;
}

TEST(Schedule, FirstOfTwoStages) {
  EXPECT_EQ(Spell(TrainingSchedule(0, 2, 3)), "F0 >a0 F1 >a1<g0 B0 F2 >a2<g1 B1 <g2 B2");
}

TEST(Schedule, LastOfTwoStages) {
  EXPECT_EQ(Spell(TrainingSchedule(1, 2, 3)), "<a0 F0 B0 >g0<a1 F1 B1 >g1<a2 F2 B2 >g2");
}

TEST(Schedule, OneStageHasNobodyToTalkTo) {
  EXPECT_EQ(Spell(TrainingSchedule(0, 1, 2)), "F0 B0 F1 B1");
}

TEST(Schedule, EvaluationHasNoBackward) {
  EXPECT_EQ(Spell(EvaluationSchedule(1, 3, 2)), "<a0 F0 >a0 <a1 F1 >a1");
}

// Runs all stages with blocking, unbuffered messages (the strictest NCCL may be): a send completes
// only together with its receive. Returns how many stages ran to their end.
int StagesThatFinish(int stages, int microbatches) {
  using Message = std::tuple<int, int, char, int>;  // from, to, a|g, microbatch
  std::vector<std::deque<Action>> todo;
  for (int stage = 0; stage < stages; ++stage) {
    const auto actions = TrainingSchedule(stage, stages, microbatches);
    todo.emplace_back(actions.begin(), actions.end());
  }
  bool moved = true;
  while (moved) {
    moved = false;
    std::map<Message, int> posted;  // by how many of its two sides
    const auto messages_of = [&](int stage) {
      const Action& a = todo[static_cast<size_t>(stage)].front();
      std::vector<Message> messages;
      if (a.send_activation >= 0) messages.push_back({stage, stage + 1, 'a', a.send_activation});
      if (a.receive_activation >= 0)
        messages.push_back({stage - 1, stage, 'a', a.receive_activation});
      if (a.send_gradient >= 0) messages.push_back({stage, stage - 1, 'g', a.send_gradient});
      if (a.receive_gradient >= 0) messages.push_back({stage + 1, stage, 'g', a.receive_gradient});
      return messages;
    };
    for (int stage = 0; stage < stages; ++stage) {
      auto& queue = todo[static_cast<size_t>(stage)];
      while (!queue.empty() && queue.front().kind != Kind::kExchange) {
        queue.pop_front();
        moved = true;
      }
      if (queue.empty()) continue;
      for (const Message& message : messages_of(stage)) ++posted[message];
    }
    // Messages of one exchange complete independently, so strike out what both sides have posted.
    for (int stage = 0; stage < stages; ++stage) {
      auto& queue = todo[static_cast<size_t>(stage)];
      if (queue.empty()) continue;
      Action& a = queue.front();
      for (const Message& message : messages_of(stage)) {
        if (posted[message] < 2) continue;
        moved = true;
        const auto [from, to, what, microbatch] = message;
        if (what == 'a') (from == stage ? a.send_activation : a.receive_activation) = kNoMicrobatch;
        if (what == 'g') (from == stage ? a.send_gradient : a.receive_gradient) = kNoMicrobatch;
      }
      if (messages_of(stage).empty()) queue.pop_front();
    }
  }
  int finished = 0;
  for (const auto& queue : todo) finished += queue.empty() ? 1 : 0;
  return finished;
}

TEST(Schedule, NeverDeadlocks) {
  for (int stages = 1; stages <= 6; ++stages) {
    for (int microbatches = 1; microbatches <= 9; ++microbatches) {
      EXPECT_EQ(StagesThatFinish(stages, microbatches), stages)
          << stages << " stages, " << microbatches << " microbatches";
    }
  }
}

TEST(Schedule, EveryMicrobatchGoesForwardThenBackwardOnce) {
  for (int stage = 0; stage < 4; ++stage) {
    std::map<int, std::string> life;
    for (const Action& action : TrainingSchedule(stage, 4, 8)) {
      if (action.kind == Kind::kForward) life[action.microbatch] += 'F';
      if (action.kind == Kind::kBackward) life[action.microbatch] += 'B';
    }
    EXPECT_EQ(life.size(), 8U);
    for (const auto& [microbatch, order] : life) EXPECT_EQ(order, "FB") << microbatch;
  }
}

}  // namespace
}  // namespace c4::train
