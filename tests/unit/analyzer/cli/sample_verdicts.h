// Verdicts as an engine might give them, for what is printed.
#pragma once

#include <cstdint>

#include "c4/v1/verdict.pb.h"

namespace c4::cli {

inline constexpr std::int64_t kSecond = 1'000'000'000;
inline constexpr std::int64_t kOnset = 1'750'000'000 * kSecond;  // 2025-06-15 15:06:40 UTC

inline v1::Verdict SlowNic() {
  v1::Verdict verdict;
  verdict.set_id("7c1e09aa42f3");
  verdict.set_job("llama-70b-pretrain");
  verdict.set_incarnation(1);
  verdict.set_class_("communication_slow");
  verdict.set_severity("fault");
  verdict.set_status("confirmed");
  v1::Component& component = *verdict.mutable_component();
  component.set_kind("nic");
  component.set_node("node-03");
  component.set_nic("mlx5_2");
  v1::Suspect& first = *verdict.add_suspects();
  *first.mutable_component() = component;
  first.set_score(0.92);
  v1::Suspect& second = *verdict.add_suspects();
  second.mutable_component()->set_kind("link");
  second.mutable_component()->set_node("node-03");
  second.mutable_component()->set_peer_node("node-01");
  second.set_score(0.08);
  verdict.set_confidence(0.92);
  verdict.set_onset(kOnset);
  verdict.set_detected(kOnset + 3 * kSecond + kSecond / 4);
  verdict.set_confirmed(kOnset + 5 * kSecond);
  verdict.set_action("isolate+restart");
  verdict.set_summary("NIC mlx5_2 of node-03 moves data at a third of its own past.");
  v1::Evidence& evidence = *verdict.add_evidence();
  evidence.set_source("flow");
  evidence.set_time(kOnset + 2 * kSecond);
  evidence.set_text("sending takes longer to every peer");
  evidence.set_value(3.1);
  evidence.set_unit("times as long");
  v1::Evidence& unitless = *verdict.add_evidence();
  unitless.set_source("hardware");
  unitless.set_time(kOnset + kSecond / 2);
  unitless.set_text("symbol_error\033[31m rises");
  verdict.add_weakened_by("17 records of rank 5 were lost");
  for (const int rank : {0, 1, 2, 3, 6}) verdict.add_victims(rank);
  return verdict;
}

inline v1::Verdict HungHost() {
  v1::Verdict verdict;
  verdict.set_id("0b44d2c19e07");
  verdict.set_job("j1");
  verdict.set_class_("non_communication_hang");
  verdict.set_severity("fault");
  verdict.set_status("suspected");
  verdict.mutable_component()->set_kind("rank");
  verdict.mutable_component()->set_rank(19);
  verdict.mutable_component()->set_node("node-02");
  verdict.set_confidence(0.7);
  verdict.set_onset(kOnset + 100 * kSecond);
  verdict.set_detected(kOnset + 105 * kSecond);
  verdict.set_action("wait");
  verdict.set_summary("Rank 19 has not called AllReduce 512 that seven others wait for.");
  return verdict;
}

}  // namespace c4::cli
