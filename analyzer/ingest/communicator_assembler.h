// Puts communicators together from their members: each process tells its own place only, the engine
// wants the whole list. Says what changed, so that a communicator of thousands of members is handed
// on once per batch and not once per member.
//
// Owner thread only. Bounded in communicators and in members (limits.h): one that every member has
// left is forgotten, and at the limit the ones that were heard of longest ago make room (a job that
// was killed never says goodbye).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "analyzer/ingest/batch_decoder.h"
#include "analyzer/ingest/limits.h"
#include "analyzer/model/trace.h"

namespace c4::ingest {

class CommunicatorAssembler {
 public:
  struct Options {
    std::size_t communicators_max = limits::kCommunicatorsMax;
    std::size_t members_max = limits::kMembersMax;
  };

  CommunicatorAssembler() : CommunicatorAssembler(Options{}) {}
  explicit CommunicatorAssembler(Options options) : options_(options) {}

  // Errors: kAlreadyExists when it contradicts another member (size, or a place taken by another
  // rank), kResourceExhausted when it alone is over the limit.
  absl::Status Add(const Membership& membership);

  // Those that changed since the last call, ordered by job and id.
  std::vector<model::CommunicatorRecord> TakeChanged();

  // All that are known, in the same order.
  void Visit(const std::function<void(const model::CommunicatorRecord&)>& give) const {
    for (const auto& [key, state] : communicators_) give(state.record);
  }

  std::size_t size() const { return communicators_.size(); }

 private:
  using Key = std::tuple<std::string, std::uint32_t, std::string>;  // job, incarnation, id
  struct State {
    model::CommunicatorRecord record;
    std::vector<bool> gone;
    int gone_count = 0;
    bool changed = false;
    std::uint64_t heard = 0;  // of turns_
  };
  using Map = std::map<Key, State>;

  absl::Status MakeRoom(std::size_t members);
  Map::iterator Forget(Map::iterator communicator);

  const Options options_;
  Map communicators_;
  std::vector<Key> changed_;
  std::size_t members_ = 0;
  std::uint64_t turns_ = 0;
};

}  // namespace c4::ingest
