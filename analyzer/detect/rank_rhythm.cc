#include "analyzer/detect/rank_rhythm.h"

#include <algorithm>

#include "analyzer/detect/hash.h"

namespace c4::detect {
namespace {

using model::Operation;
using model::TimeNs;

// Send and Recv with so many peers of one communicator are an exchange, not a pipeline.
constexpr std::size_t kExchangePartners = 3;
constexpr int kCollective = -1;
constexpr int kExchange = -2;
// Chains whose repeats differ by less take equally long.
constexpr double kAsLong = 0.7;
constexpr int kIrregularMax = 3;  // steps in a row before the structure is learned anew
constexpr int kLearnMax = 8;      // steps without two alike in a row

}  // namespace

RankRhythm::Key RankRhythm::KeyOf(const Operation& operation) const {
  if (!model::IsPointToPoint(operation.kind)) {
    return {operation.communicator, kCollective, -1};
  }
  const auto partners = partners_.find(operation.communicator);
  if (partners != partners_.end() && partners->second.size() >= kExchangePartners) {
    return {operation.communicator, kExchange, -1};
  }
  return {operation.communicator, static_cast<int>(operation.kind), operation.peer};
}

void RankRhythm::Add(const model::JobModel& job, const Operation& operation) {
  const model::Communicator& communicator = job.communicator(operation.communicator);
  if (model::IsPointToPoint(operation.kind)) {
    std::set<int>& partners = partners_[operation.communicator];
    if (partners.size() < kExchangePartners && partners.insert(operation.peer).second &&
        partners.size() == kExchangePartners) {
      std::erase_if(lines_, [&](const auto& line) {
        return std::get<0>(line.first) == operation.communicator &&
               std::get<1>(line.first) != kCollective;
      });
      Reset();
    }
    if (operation.kind == model::Dependency::kRecv && partners.size() < kExchangePartners &&
        operation.peer < operation.member && operation.peer >= 0 &&
        operation.peer < static_cast<int>(communicator.ranks.size())) {
      below_.insert(communicator.ranks[operation.peer]);
    }
  }
  const Key key = KeyOf(operation);
  if (!lines_.contains(key) && lines_.size() >= kChainsMax) {
    const auto oldest = std::min_element(
        lines_.begin(), lines_.end(),
        [](const auto& a, const auto& b) { return a.second.last < b.second.last; });
    lines_.erase(oldest);
    Reset();
  }
  Line& line = lines_[key];
  line.size = communicator.ranks.size();
  line.last = operation.enqueue;
  std::uint64_t ordinal = operation.sequence;
  if (std::get<1>(key) == kExchange) {
    if (line.exchanges != 0 && operation.group != 0 && operation.group == line.group) {
      return;
    }
    line.group = operation.group;
    ordinal = ++line.exchanges;
  } else if (std::get<1>(key) != kCollective) {
    line.direction = operation.peer > operation.member ? 2 : 1;
  }
  line.chain.Add(ordinal, operation);
}

void RankRhythm::Settle(const Operation& operation) {
  const auto found = lines_.find(KeyOf(operation));
  if (found == lines_.end()) {
    return;
  }
  Line& line = found->second;
  if (std::get<1>(found->first) != kExchange) {
    line.chain.Settle(operation.sequence, operation);
    return;
  }
  // By its group, newest first; the group ends as one.
  const auto& entries = line.chain.entries();
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (entry->group == operation.group && entry->enqueue <= operation.enqueue) {
      line.chain.Settle(entry->sequence, operation);
      return;
    }
  }
}

void RankRhythm::Reset() {
  anchored_ = false;
  has_begin_ = false;
  slots_.clear();
  offsets_.clear();
  learned_.clear();
  irregular_ = 0;
  role_ = 0;
}

// The longest repeat; of those that take as long, the shortest in operations and the largest
// communicator: the same choice on all peers.
bool RankRhythm::ChooseAnchor() {
  model::DurationNs longest = 0;
  for (auto& [key, line] : lines_) {
    if (line.chain.Search()) {
      longest = std::max(longest, line.chain.duration());
    }
  }
  const Line* best = nullptr;
  Key chosen = anchor_;
  const auto rank = [](const Line& line) {
    return std::make_tuple(line.chain.length(), ~line.size, line.direction);
  };
  for (const auto& [key, line] : lines_) {
    if (line.chain.length() == 0 ||
        static_cast<double>(line.chain.duration()) < kAsLong * static_cast<double>(longest)) {
      continue;
    }
    if (best == nullptr || rank(line) < rank(*best)) {
      best = &line;
      chosen = key;
    }
  }
  const bool same =
      anchored_ && best != nullptr && chosen == anchor_ && best->chain.losses() == anchor_losses_;
  if (!same) {
    Reset();
  }
  anchored_ = best != nullptr;
  if (anchored_) {
    anchor_ = chosen;
    anchor_losses_ = best->chain.losses();
  }
  return anchored_;
}

const Chain::Entry* RankRhythm::NextBoundary(std::uint64_t after) const {
  const Chain& chain = lines_.at(anchor_).chain;
  const auto& entries = chain.entries();
  if (entries.empty()) {
    return nullptr;
  }
  const std::uint64_t base = entries.front().sequence;
  for (std::uint64_t i = std::max(after, base) - base; i < entries.size(); ++i) {
    if (chain.IsBoundary(entries[i])) {
      return &entries[i];
    }
  }
  return nullptr;
}

void RankRhythm::Advance(TimeNs now) {
  if (!ChooseAnchor()) {
    return;
  }
  if (!has_begin_) {
    const auto& entries = lines_.at(anchor_).chain.entries();
    const std::size_t length = lines_.at(anchor_).chain.length();
    // The last repeats that were searched, not the warm-up before them.
    const std::size_t behind = std::min(entries.size() - 1, 3 * length);
    const Chain::Entry* first =
        NextBoundary(entries.back().sequence - static_cast<std::uint64_t>(behind));
    if (first == nullptr) {
      return;
    }
    step_begin_ = first->sequence;
    has_begin_ = true;
  }
  while (true) {
    Chain& anchor = lines_.at(anchor_).chain;
    const std::uint64_t base = anchor.entries().front().sequence;
    if (step_begin_ < base) {
      has_begin_ = false;
      return;
    }
    const Chain::Entry from = anchor.entries()[step_begin_ - base];
    const Chain::Entry* next = NextBoundary(step_begin_ + 1);
    if (next == nullptr) {
      return;
    }
    const Chain::Entry to = *next;
    if (slots_.empty()) {
      if (Learn(from, to)) {
        MoveCursors(to, false);
        irregular_ = 0;
      } else if (++irregular_ > kLearnMax) {
        anchor.Lose();
        Reset();
        return;
      }
      step_begin_ = to.sequence;
      ++total_;
      continue;
    }
    const Slice slice = Check(from, to, now);
    if (slice == Slice::kIncomplete) {
      return;
    }
    if (slice == Slice::kComplete) {
      Emit(from, to);
      irregular_ = 0;
    } else if (++irregular_ > kIrregularMax) {
      // Perhaps it was no step at all.
      anchor.Lose();
      Reset();
      return;
    }
    MoveCursors(to, slice == Slice::kComplete);
    step_begin_ = to.sequence;
    // What neither a step nor a search needs any more.
    for (auto& [key, line] : lines_) {
      auto& entries = line.chain.entries();
      const std::uint64_t keep = key == anchor_ ? step_begin_ : line.cursor;
      const std::size_t history = std::max(Chain::kHistory, 4 * line.chain.length());
      while (line.chain.length() != 0 && entries.size() > history &&
             entries.front().sequence < keep) {
        entries.pop_front();
      }
    }
  }
}

std::vector<RankStep> RankRhythm::Take() {
  std::vector<RankStep> taken(std::make_move_iterator(steps_.begin()),
                              std::make_move_iterator(steps_.end()));
  steps_.clear();
  return taken;
}

}  // namespace c4::detect
