#include "analyzer/detect/peer_group.h"

#include <algorithm>
#include <utility>

#include "analyzer/detect/busy_time.h"
#include "analyzer/detect/statistics.h"

namespace c4::detect {
namespace {

using model::TimeNs;

constexpr double kForgetting = 0.8;  // per step: about five steps count
// Differences in waiting below this share of the step tell nothing of what they hold up.
constexpr double kNoise = 0.003;
constexpr double kTenths = 2.563;  // standard deviations of a normal distribution between them
// The spread of so few values is off by its own size.
constexpr double kFewSteps = 4;
std::size_t Known(const std::vector<Sample>& samples) {
  return static_cast<std::size_t>(
      std::count_if(samples.begin(), samples.end(), [](const Sample& s) { return s.known(); }));
}

constexpr std::size_t kPendingMax = 64;
constexpr std::uint64_t kBehindMax = 2;  // steps that a member may lag

}  // namespace

void PeerGroup::Add(int rank, RankStep step) {
  if (!members_.contains(rank) || step.samples.size() != offsets_.back()) {
    return;
  }
  pending_[step.key].emplace(rank, std::move(step));
  if (pending_.size() > kPendingMax) {
    pending_.erase(pending_.begin());
  }
}

// Regression of the gap on the waiting: both against the peers in the same step, and then against
// what is usual for that rank.
void PeerGroup::Observe(std::size_t place, const std::vector<Observation>& observations) {
  if (observations.size() < 2) {
    return;
  }
  std::vector<double> waits;
  std::vector<double> gaps;
  for (const Observation& observation : observations) {
    waits.push_back(observation.wait);
    gaps.push_back(observation.gap);
  }
  const double wait = Median(std::move(waits));
  const double gap = Median(std::move(gaps));
  for (const Observation& observation : observations) {
    Member& member = *observation.member;
    member.usual.resize(offsets_.back());
    Usual& usual = member.usual[place];
    const double more_wait = observation.wait - wait - usual.wait;
    const double more_gap = observation.gap - gap - usual.gap;
    if (usual.known && !member.suspect) {
      blocking_[place].waiting += more_wait * more_wait;
      blocking_[place].covariance += more_wait * more_gap;
    }
    const double weight = usual.known ? 1 - kForgetting : 1;
    usual.wait += weight * more_wait;
    usual.gap += weight * more_gap;
    usual.known = true;
  }
}

void PeerGroup::LearnBlocking(const Row& row) {
  blocking_.resize(offsets_.back());
  for (Blocking& blocking : blocking_) {
    blocking.waiting *= kForgetting;
    blocking.covariance *= kForgetting;
  }
  // A missing operation would count as computing.
  std::map<int, bool> complete;
  std::size_t most = 0;
  for (const auto& [rank, step] : row) {
    most = std::max(most, Known(step.samples));
  }
  std::vector<BusyTime> busy;
  for (const auto& [rank, step] : row) {
    BusyTime& mine = busy.emplace_back();
    const Member& member = members_.at(rank);
    complete[rank] =
        Known(step.samples) == most && (member.last.empty() || Known(member.last) == most);
    mine.Add(member.last_end == step.begin ? member.last : std::vector<Sample>{});
    mine.Add(step.samples);
    mine.Close();
  }
  std::vector<Observation> observations;
  const auto observe = [&](Member* member, const BusyTime& mine, const Sample& now,
                           const Sample& next) {
    if (now.known() && next.known()) {
      observations.push_back(
          {member, static_cast<double>(now.end - now.start), mine.Idle(now.end, next.start)});
    }
  };
  for (std::size_t slot = 0; slot + 1 < offsets_.size(); ++slot) {
    const std::size_t first = offsets_[slot];
    const std::size_t last = offsets_[slot + 1] - 1;
    for (std::size_t place = first; place <= last; ++place) {
      observations.clear();
      std::size_t index = 0;
      for (const auto& [rank, step] : row) {
        const BusyTime& mine = busy[index++];
        Member& member = members_.at(rank);
        if (!complete[rank]) {
          continue;
        }
        if (place < last) {
          observe(&member, mine, step.samples[place], step.samples[place + 1]);
        } else if (member.last_end == step.begin && !member.last.empty()) {
          // The last of the step before and the first of this one.
          observe(&member, mine, member.last[last], step.samples[first]);
        }
      }
      Observe(place, observations);
    }
  }
  const double span = static_cast<double>(row.begin()->second.span());
  const double noise = kNoise * span * kNoise * span * static_cast<double>(row.size());
  for (Blocking& blocking : blocking_) {
    blocking.coefficient =
        std::clamp(1 + blocking.covariance / (blocking.waiting + noise), 0.0, 1.0);
  }
}

std::vector<double> PeerGroup::Excesses(const Row& row) const {
  // Own time: the step without what it was held up.
  std::vector<double> own;
  for (const auto& [rank, step] : row) {
    own.push_back(static_cast<double>(step.span()));
  }
  std::vector<double> durations;
  for (std::size_t place = 0; place < offsets_.back(); ++place) {
    durations.clear();
    for (const auto& [rank, step] : row) {
      if (const Sample& sample = step.samples[place]; sample.known()) {
        durations.push_back(static_cast<double>(sample.end - sample.start));
      }
    }
    // Whose record is missing was held up as long as its peers, as far as anybody knows.
    const double usual = durations.size() < row.size() ? Median(durations) : 0;
    std::size_t index = 0;
    for (const auto& [rank, step] : row) {
      const Sample& sample = step.samples[place];
      own[index++] -= blocking_[place].coefficient *
                      (sample.known() ? static_cast<double>(sample.end - sample.start) : usual);
    }
  }
  std::vector<double> sorted = own;
  std::sort(sorted.begin(), sorted.end());
  for (double& value : own) {
    const auto index = std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
    value -= MedianWithout(sorted, static_cast<std::size_t>(index));
  }
  return own;
}

std::vector<PeerGroup::Excess> PeerGroup::Evaluate() {
  std::vector<Excess> found;
  while (!pending_.empty()) {
    const auto oldest = pending_.begin();
    if (oldest->second.size() < members_.size() && pending_.size() <= kBehindMax) {
      break;
    }
    Row row = std::move(oldest->second);
    pending_.erase(oldest);
    std::erase_if(row, [&](const auto& entry) { return !members_.contains(entry.first); });
    if (row.size() < 2) {
      continue;
    }
    LearnBlocking(row);
    const std::vector<double> excesses = Excesses(row);
    AddSegments(row);
    std::size_t index = 0;
    for (auto& [rank, step] : row) {
      Member& member = members_.at(rank);
      const double share = excesses[index++] / static_cast<double>(step.span());
      if (!member.convicted) {
        member.shares.push_back(share);
      }
      if (member.shares.size() > kHistory) {
        member.shares.pop_front();
      }
      found.push_back({rank, step.begin, step.end, share});
      member.last_end = step.end;
      member.last = std::move(step.samples);
    }
  }
  return found;
}

double PeerGroup::Sigma() const {
  std::vector<double> spreads;
  std::size_t steps = 0;
  for (const auto& [rank, member] : members_) {
    if (member.shares.size() >= 3) {
      // From tenth to tenth: what is rare counts, what happened once does not.
      const std::vector<double> shares{member.shares.begin(), member.shares.end()};
      spreads.push_back((Quantile(shares, 0.9) - Quantile(shares, 0.1)) / kTenths);
      steps = std::max(steps, member.shares.size());
    }
  }
  if (spreads.empty()) {
    return 1;
  }
  return Median(std::move(spreads)) * (1 + kFewSteps / static_cast<double>(steps));
}

double PeerGroup::SigmaBetween() const {
  if (members_.size() < 4) {
    return 0;
  }
  std::vector<double> usual;
  for (const auto& [rank, member] : members_) {
    usual.push_back(Median({member.shares.begin(), member.shares.end()}));
  }
  return Spread(usual);
}

}  // namespace c4::detect
