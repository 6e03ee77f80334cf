#include "analyzer/ingest/communicator_assembler.h"

#include <algorithm>

#include "common/status_macros.h"
#include "fmt/format.h"

namespace c4::ingest {

absl::Status CommunicatorAssembler::MakeRoom(std::size_t members) {
  if (members > options_.members_max || options_.communicators_max == 0) {
    return absl::ResourceExhaustedError(
        fmt::format("a communicator of {} members, at most {}", members, options_.members_max));
  }
  while (communicators_.size() >= options_.communicators_max ||
         members > options_.members_max - members_) {
    // An eighth at a time, so that the search does not come with every new communicator.
    std::vector<std::uint64_t> turns;
    for (const auto& [key, state] : communicators_) turns.push_back(state.heard);
    const auto oldest = turns.begin() + std::ssize(turns) / 8;
    std::nth_element(turns.begin(), oldest, turns.end());
    for (auto it = communicators_.begin(); it != communicators_.end();) {
      it = it->second.heard <= *oldest ? Forget(it) : std::next(it);
    }
  }
  return absl::OkStatus();
}

CommunicatorAssembler::Map::iterator CommunicatorAssembler::Forget(Map::iterator communicator) {
  members_ -= communicator->second.record.ranks.size();
  return communicators_.erase(communicator);
}

absl::Status CommunicatorAssembler::Add(const Membership& membership) {
  const Key key{membership.job, membership.incarnation, membership.id};
  auto found = communicators_.find(key);
  if (found == communicators_.end()) {
    // A late farewell to one that has been forgotten already.
    if (membership.gone) return absl::OkStatus();
    const auto size = static_cast<std::size_t>(membership.size);
    C4_RETURN_IF_ERROR(MakeRoom(size));
    State state;
    state.record = {membership.job, membership.incarnation, membership.id, membership.name,
                    std::vector<int>(size, -1)};
    state.gone.resize(size);
    members_ += size;
    found = communicators_.emplace(key, std::move(state)).first;
  }

  State& state = found->second;
  state.heard = ++turns_;
  std::vector<int>& ranks = state.record.ranks;
  if (std::ssize(ranks) != membership.size) {
    return absl::AlreadyExistsError(
        fmt::format("communicator {}: rank {} says {} members, others {}", membership.id,
                    membership.rank, membership.size, ranks.size()));
  }
  const auto place = static_cast<std::size_t>(membership.member);
  if (ranks[place] != membership.rank) {
    if (ranks[place] >= 0) {
      return absl::AlreadyExistsError(fmt::format("communicator {}: member {} is rank {}, not {}",
                                                  membership.id, place, ranks[place],
                                                  membership.rank));
    }
    // Once per member, so quadratic in the size: 0.1 s of scanning for the 16,384 members of the
    // largest communicators, spread over all their batches.
    if (std::find(ranks.begin(), ranks.end(), membership.rank) != ranks.end()) {
      return absl::AlreadyExistsError(
          fmt::format("communicator {}: rank {} is in two places", membership.id, membership.rank));
    }
    ranks[place] = membership.rank;
    if (state.record.name.empty()) state.record.name = membership.name;
    if (!state.changed) {
      state.changed = true;
      changed_.push_back(key);
    }
  }

  if (membership.gone && !state.gone[place]) {
    state.gone[place] = true;
    ++state.gone_count;
    if (state.gone_count == std::ssize(ranks) && !state.changed) Forget(found);
  }
  return absl::OkStatus();
}

std::vector<model::CommunicatorRecord> CommunicatorAssembler::TakeChanged() {
  std::sort(changed_.begin(), changed_.end());
  std::vector<model::CommunicatorRecord> records;
  records.reserve(changed_.size());
  for (const Key& key : changed_) {
    const auto found = communicators_.find(key);
    if (found == communicators_.end()) continue;  // made room
    State& state = found->second;
    state.changed = false;
    records.push_back(state.record);
    if (state.gone_count == std::ssize(state.record.ranks)) Forget(found);
  }
  changed_.clear();
  return records;
}

}  // namespace c4::ingest
