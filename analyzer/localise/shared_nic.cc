#include "analyzer/localise/shared_nic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "analyzer/localise/configuration.h"
#include "analyzer/localise/path.h"
#include "analyzer/model/describe.h"

namespace c4::localise {
namespace {

using model::PathState;

// Two that share should take twice as long; less than this is no proof of it.
constexpr double kRatio = 1.4;
constexpr double kEffect = 0.03;  // of the step, as for every slow path

std::size_t NodesOf(const Path& path) {
  std::set<std::string> nodes;
  for (const Endpoint& end : path.endpoints) {
    nodes.insert(end.node);
  }
  return nodes.size();
}

}  // namespace

std::optional<model::Finding> FindSharedNicSlow(const Context& context,
                                                const std::vector<PathState>& paths,
                                                model::DurationNs step) {
  for (const SharedNic& shared : FindSharedNics(context.job)) {
    double fastest_through = 0;
    double slowest_beside = 0;
    double cost = 0;
    for (const PathState& through : paths) {
      const Path path = PathOf(context.job, *through.example);
      const std::size_t nodes = NodesOf(path);
      if (nodes < 2 || !path.endpoints.contains({shared.node, shared.nic})) {
        continue;
      }
      // Paths of the same kind beside it.
      double beside = 0;
      for (const PathState& other : paths) {
        const Path otherwise = PathOf(context.job, *other.example);
        if (*other.example->name == *through.example->name &&
            std::bit_width(other.example->count) == std::bit_width(through.example->count) &&
            NodesOf(otherwise) == nodes &&
            !otherwise.endpoints.contains({shared.node, shared.nic})) {
          beside = std::max(beside, other.now_ns);
        }
      }
      if (beside == 0) {
        continue;
      }
      fastest_through =
          fastest_through == 0 ? through.now_ns : std::min(fastest_through, through.now_ns);
      slowest_beside = std::max(slowest_beside, beside);
      cost = std::max(cost, (through.now_ns - beside) * through.per_step);
    }
    if (slowest_beside == 0 || fastest_through < kRatio * slowest_beside ||
        cost < kEffect * static_cast<double>(step)) {
      continue;
    }
    model::Finding finding;
    finding.verdict_class = model::verdict_class::kCommunicationSlow;
    finding.onset = context.now;
    finding.confirmed = context.now;
    finding.anchor = "shared-nic";
    finding.summary =
        fmt::format("Transfers through {} of {} take {:.1f} times as long as those beside it.",
                    shared.nic, shared.node, fastest_through / slowest_beside);
    finding.evidence.push_back({"collectives", context.now,
                                "fastest transfer through the shared NIC", fastest_through / 1e6,
                                "ms"});
    finding.evidence.push_back({"collectives", context.now,
                                "slowest transfer of its kind beside it", slowest_beside / 1e6,
                                "ms"});
    Configuration configuration = CompareNodes(context, {shared.node, shared.like}, Symptom::kSlow);
    BlameConfiguration(configuration, &finding);
    finding.component.node = shared.node;
    return finding;
  }
  return std::nullopt;
}

}  // namespace c4::localise
