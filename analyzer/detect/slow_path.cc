#include "analyzer/detect/slow_path.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace c4::detect {
namespace {

// The value below which `share` of the values lie; 0 for none.
double Quantile(std::vector<double> values, double share) {
  if (values.empty()) {
    return 0;
  }
  const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place),
                   values.end());
  return values[place];
}
double Median(std::vector<double> values) { return Quantile(std::move(values), 0.5); }

// Standard error of the median, from the median absolute deviation: 1.4826 makes it a normal
// distribution's sigma, sqrt(pi / 2) is the price of the median against the mean. Not less than 2 %
// of it, so that a quiet past does not make everything significant.
double ErrorOfMedian(const std::vector<double>& values) {
  const double middle = Median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) {
    deviations.push_back(std::abs(value - middle));
  }
  const double sigma = 1.4826 * Median(std::move(deviations));
  return std::max(0.02 * middle, 1.2533 * sigma / std::sqrt(static_cast<double>(values.size())));
}

constexpr int kSilentSteps = 2;
constexpr double kFast = 0.25;  // the quantile that stands for transfers that met no others

// Halves of an octave do not matter to a transfer time, octaves do.
int SizeClass(std::uint64_t count) { return static_cast<int>(std::bit_width(count)); }

}  // namespace

void SlowPathDetector::Add(const model::JobModel& job, const model::Instance& instance) {
  const model::Operation& first = *instance.members.front();
  if (first.kind == model::Dependency::kNone || job.MustStart(first).empty()) {
    return;
  }
  double transfer = 0;
  model::TimeNs end = 0;
  for (const model::Operation* member : instance.members) {
    if (member->start == 0 || member->end < member->start) {
      return;
    }
    const auto duration = static_cast<double>(member->end - member->start);
    transfer = transfer == 0 ? duration : std::min(transfer, duration);
    end = std::max(end, member->end);
  }
  Key key{first.communicator, *first.name, SizeClass(first.count), -1, -1};
  if (model::IsPointToPoint(first.kind)) {
    // Both directions of a pair apart; the Send's end names it.
    const model::Operation* send =
        first.kind == model::Dependency::kSend ? &first : instance.members.back();
    key = {first.communicator, "Send", SizeClass(first.count), send->member, send->peer};
  }
  History& history = paths_[key];
  history.example = first;
  history.transfers.push_back({end, std::max(transfer, 1.0)});
  if (history.transfers.size() > kHistory) {
    history.transfers.pop_front();
  }
  Share(job, instance, &history.transfers.back());
}

void SlowPathDetector::Share(const model::JobModel& job, const model::Instance& instance,
                             Transfer* transfer) {
  const auto node_of = [&](const model::Operation* member) { return job.NodeOf(member->rank); };
  const std::string node = node_of(instance.members.front());
  if (std::all_of(instance.members.begin(), instance.members.end(),
                  [&](const auto* member) { return node_of(member) == node; })) {
    return;  // uses no NIC
  }
  std::map<Direction, Use> mine;
  for (const model::Operation* member : instance.members) {
    const auto rank = job.ranks().find(member->rank);
    if (rank == job.ranks().end()) {
      continue;
    }
    const Use use{member->end - static_cast<model::TimeNs>(transfer->ns), member->end, transfer};
    const model::RankRecord& info = rank->second.info;
    if (member->kind != model::Dependency::kRecv) {
      mine[{info.node, info.nic, true}] = use;
    }
    if (member->kind != model::Dependency::kSend) {
      mine[{info.node, info.nic, false}] = use;
    }
  }
  // Two that meet at both ends share once.
  std::map<Transfer*, double> met;
  for (const auto& [direction, use] : mine) {
    std::deque<Use>& uses = uses_[direction];
    for (const Use& other : uses) {
      const model::TimeNs overlap = std::min(use.end, other.end) - std::max(use.begin, other.begin);
      if (overlap > 0) {
        double& longest = met[other.transfer];
        longest = std::max(longest, static_cast<double>(overlap));
      }
    }
    uses.push_back(use);
    if (uses.size() > kUses) {
      uses.pop_front();
    }
  }
  for (const auto& [other, overlap] : met) {
    other->shared_ns += overlap;
    transfer->shared_ns += overlap;
  }
}

SlowPathDetector::Kind SlowPathDetector::KindOf(const model::JobModel& job, const Key& key,
                                                const History& history) const {
  const auto& [communicator, name, size, from, to] = key;
  std::vector<int> ranks = job.communicator(communicator).ranks;
  const auto members = static_cast<int>(ranks.size());
  if (from >= 0) {
    ranks = from < members && to >= 0 && to < members ? std::vector<int>{ranks[from], ranks[to]}
                                                      : std::vector<int>{history.example.rank};
  }
  return {name, size, job.NodesOf(ranks).size()};
}

// What `recent` says against a past that is frozen while the path is slow. Fills `past` otherwise.
SlowPathDetector::Comparison SlowPathDetector::Compare(const std::vector<double>& recent,
                                                       const std::vector<double>& before,
                                                       bool frozen, Past* past) const {
  if (!frozen) {
    *past = {Median(before), Quantile(before, kFast), ErrorOfMedian(before)};
  }
  Comparison comparison;
  comparison.now_ns = Median(recent);
  comparison.error_ns = std::hypot(past->error_ns, ErrorOfMedian(recent));
  const double excess = comparison.now_ns - past->ns;
  // A slower path slows its fastest transfers too.
  comparison.slower = comparison.now_ns > options_.ratio_min * past->ns &&
                      excess > options_.z_min * comparison.error_ns &&
                      Quantile(recent, kFast) > options_.fast_ratio_min * past->fast_ns;
  // Known to be good, and not merely not known to be slow: even two errors more would not be slow.
  comparison.good = excess + 2 * comparison.error_ns < (options_.ratio_min - 1) * past->ns;
  return comparison;
}

void SlowPathDetector::Judge(History* history, model::DurationNs step, model::DurationNs window,
                             double sibling_ns, model::TimeNs now) const {
  std::vector<double> recent;
  std::vector<double> past;
  std::vector<double> recent_alone;
  std::vector<double> past_alone;
  model::TimeNs first = 0;
  for (const Transfer& transfer : history->transfers) {
    const bool is_recent = transfer.end > now - window;
    if (is_recent && first == 0) {
      first = transfer.end - static_cast<model::TimeNs>(transfer.ns);
    }
    (is_recent ? recent : past).push_back(transfer.ns);
    (is_recent ? recent_alone : past_alone).push_back(transfer.alone_ns());
  }
  // A path that has fallen silent leaves a window that is no longer of whole steps, whose phases
  // differ: a stall is not a slow transfer.
  history->usable = recent.size() >= options_.recent_transfers_min &&
                    past.size() >= options_.past_min &&
                    now - history->transfers.back().end <= kSilentSteps * step;
  if (!history->usable) {
    return;  // what was slow stays so: a pause is no recovery
  }
  const Comparison raw = Compare(recent, past, history->slow, &history->past);
  // With the share of others taken out as well: the path and not the traffic on it.
  const Comparison alone = Compare(recent_alone, past_alone, history->slow, &history->past_alone);
  history->recent_ns = raw.now_ns;
  const bool against_past = raw.slower && alone.slower;
  const bool against_siblings = sibling_ns > 0 &&
                                raw.now_ns > options_.sibling_ratio_min * sibling_ns &&
                                raw.now_ns - sibling_ns > options_.z_min * raw.error_ns;
  history->good = raw.good && sibling_ns >= 0 && !against_siblings;
  if ((against_past || against_siblings) && !history->slow) {
    if (!against_past) {
      history->past.ns = sibling_ns;
    }
    history->slow = true;
    history->onset = first;
    history->certain = now;
  } else if (history->slow && raw.now_ns < options_.recovered_ratio * history->past.ns) {
    history->slow = false;
  }
}

std::vector<model::PathState> SlowPathDetector::Detect(const model::JobModel& job,
                                                       model::DurationNs step, model::TimeNs now) {
  if (step == 0) {
    return {};
  }
  const model::DurationNs window = std::max(options_.recent_min, options_.recent_steps * step);
  // Paths of the same operation, size and number of nodes are siblings.
  std::map<Kind, std::vector<double>> siblings;
  for (const auto& [key, history] : paths_) {
    if (history.usable) {
      siblings[KindOf(job, key, history)].push_back(history.recent_ns);
    }
  }
  std::vector<model::PathState> states;
  double worst = 0;
  for (auto& [key, history] : paths_) {
    const std::vector<double>& others = siblings[KindOf(job, key, history)];
    // Four: with fewer, half of them can be the slow ones.
    Judge(&history, step, window, others.size() >= 4 ? Median(others) : 0, now);
    if (!history.usable) {
      continue;
    }
    model::PathState state;
    state.example = &history.example;
    state.communicator = std::get<0>(key);
    state.past_ns = history.past.ns;
    state.now_ns = history.recent_ns;
    const model::DurationNs covered = history.transfers.back().end - history.transfers.front().end;
    state.per_step = covered > 0 ? static_cast<double>(history.transfers.size() - 1) *
                                       static_cast<double>(step) / static_cast<double>(covered)
                                 : 0;
    state.slow = history.slow;
    state.informative = history.good;
    state.onset = history.onset;
    state.certain = history.certain;
    if (state.slow) {
      worst = std::max(worst, (state.now_ns - state.past_ns) * state.per_step);
    }
    states.push_back(state);
  }
  // What costs nothing is not slow, whatever the ratio: a barrier of one element on a busy host.
  const bool matters = worst >= options_.effect_min * static_cast<double>(step);
  double smallest = 0;
  for (model::PathState& state : states) {
    state.slow &= matters;
    if (state.slow) {
      smallest = smallest == 0 ? state.past_ns : std::min(smallest, state.past_ns);
    }
  }
  for (model::PathState& state : states) {
    // A good path acquits only if its transfers are as large as the smallest that suffered.
    state.informative = state.slow || (state.informative && state.past_ns >= 0.5 * smallest);
  }
  return states;
}

}  // namespace c4::detect
