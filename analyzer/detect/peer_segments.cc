// The gaps between a rank's blocking operations, place by place: the part of PeerGroup that says
// where in the step an excess is.
#include <algorithm>

#include "analyzer/detect/peer_group.h"
#include "analyzer/detect/statistics.h"

namespace c4::detect {
namespace {

using model::TimeNs;

constexpr double kBlocking = 0.5;  // counts as blocking in the list of segments

}  // namespace

// Where in the step, and whether before the host called: gaps between blocking operations.
void PeerGroup::AddSegments(const Row& row) {
  const std::size_t places = offsets_.back();
  struct Gap {
    double own = 0;
    double host = 0;
    bool known = false;
  };
  std::vector<std::vector<Gap>> gaps;
  for (const auto& [rank, step] : row) {
    Member& member = members_.at(rank);
    std::vector<std::size_t> order(places);
    for (std::size_t i = 0; i < places; ++i) {
      order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return step.samples[a].start < step.samples[b].start;
    });
    TimeNs until = member.last_end == step.begin ? member.blocked_until : 0;
    std::vector<Gap>& mine = gaps.emplace_back(places);
    for (const std::size_t place : order) {
      const Sample& sample = step.samples[place];
      if (!sample.known() || blocking_[place].coefficient < kBlocking) {
        continue;
      }
      if (until != 0) {
        const TimeNs gap = std::max<TimeNs>(0, sample.start - until);
        mine[place] = {static_cast<double>(gap),
                       static_cast<double>(std::clamp<TimeNs>(sample.enqueue - until, 0, gap)),
                       true};
      }
      until = std::max(until, sample.end);
    }
    member.blocked_until = until;
  }
  std::vector<double> own;
  std::vector<double> host;
  for (std::size_t place = 0; place < places; ++place) {
    own.clear();
    host.clear();
    for (const std::vector<Gap>& mine : gaps) {
      if (mine[place].known) {
        own.push_back(mine[place].own);
        host.push_back(mine[place].host);
      }
    }
    if (own.size() < 2) {
      continue;
    }
    std::sort(own.begin(), own.end());
    std::sort(host.begin(), host.end());
    std::size_t index = 0;
    for (const auto& [rank, step] : row) {
      const Gap& gap = gaps[index++][place];
      if (!gap.known) {
        continue;
      }
      const auto without = [](const std::vector<double>& sorted, double value) {
        return MedianWithout(
            sorted, static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), value) -
                                             sorted.begin()));
      };
      Segments& segments = members_.at(rank).segments;
      segments.excess_ns.resize(places, 0);
      segments.usual_ns.resize(places, 0);
      const double usual = without(own, gap.own);
      const double excess = gap.own - usual;
      segments.excess_ns[place] += excess;
      segments.usual_ns[place] += usual;
      if (excess > 0) {
        segments.total_ns += excess;
        segments.host_ns += std::clamp(gap.host - without(host, gap.host), 0.0, excess);
      }
    }
  }
}

}  // namespace c4::detect
