#include "analyzer/localise/flow_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analyzer/localise/hardware.h"
#include "analyzer/localise/nic_clues.h"

namespace c4::localise {
namespace {

using model::FlowRecord;

constexpr model::DurationNs kWindow = 5 * model::kSecond;
// As for transfers (detect/slow_path): 1.3 times is slow, less than 3 % of the time is nobody's
// concern.
const double kSlow = std::log(1.3);
constexpr double kEffect = 0.03;
constexpr std::size_t kCellsOfAnEffect = 3;
constexpr int kRounds = 8;  // converges in two or three

double Median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Endpoint EndOf(const Context& context, int rank) {
  const auto found = context.job.ranks().find(rank);
  return found == context.job.ranks().end()
             ? Endpoint{}
             : Endpoint{found->second.info.node, found->second.info.nic};
}

// Takes the medians of one side out of the residuals and into its effects.
template <typename Side>
void Sweep(FlowMatrix* matrix, std::map<Endpoint, double>* effects, Side side) {
  std::map<Endpoint, std::vector<double>> residuals;
  for (const auto& [key, cell] : matrix->cells) {
    residuals[side(key)].push_back(cell.residual);
  }
  for (const auto& [end, values] : residuals) {
    if (values.size() < kCellsOfAnEffect) {
      continue;
    }
    const double effect = Median(values);
    (*effects)[end] += effect;
    for (auto& [key, cell] : matrix->cells) {
      if (side(key) == end) {
        cell.residual -= effect;
      }
    }
  }
}

struct Slow {
  model::Component part;
  double log_excess = 0;
  bool certain = true;
};

// The largest deviation of one polished window; none below the threshold.
std::optional<Slow> Worst(const Context& context, const FlowMatrix& matrix) {
  std::optional<Slow> worst;
  const auto consider = [&](const Slow& slow, double busy_share) {
    const double cost = busy_share * (1 - std::exp(-slow.log_excess));
    if (slow.log_excess >= kSlow && cost >= kEffect &&
        (!worst.has_value() || slow.log_excess > worst->log_excess)) {
      worst = slow;
    }
  };
  for (const auto& [key, cell] : matrix.cells) {
    for (const auto& [end, effects] :
         {std::pair{key.first, &matrix.rows}, {key.second, &matrix.columns}}) {
      if (const auto effect = effects->find(end); effect != effects->end()) {
        Slow slow;
        slow.part.kind = model::component_kind::kNic;
        slow.part.node = end.node;
        slow.part.nic = end.nic;
        slow.log_excess = effect->second;
        consider(slow, cell.busy_share);
      }
    }
    Slow slow;
    slow.part.kind = model::component_kind::kLink;
    slow.part.node = key.first.node;
    slow.part.nic = key.first.nic;
    slow.part.peer_node = key.second.node;
    slow.part.peer_nic = key.second.nic;
    slow.log_excess = cell.residual;
    // Each end must be seen to be fast with somebody else.
    for (const Endpoint& end : {key.first, key.second}) {
      slow.certain &=
          std::any_of(matrix.cells.begin(), matrix.cells.end(), [&, &own = key](const auto& other) {
            const auto& [source, destination] = other.first;
            const auto reverse = std::pair{own.second, own.first};
            return other.first != own && other.first != reverse &&
                   (source == end || destination == end) && other.second.residual < kSlow;
          });
    }
    consider(slow, cell.busy_share);
  }
  if (worst.has_value()) {
    NameRanks(context.job, &worst->part);
  }
  return worst;
}

}  // namespace

FlowMatrix PolishFlows(const Context& context, model::TimeNs from, model::TimeNs to) {
  struct Sum {
    double busy = 0;
    double bytes = 0;
  };
  std::map<std::pair<Endpoint, Endpoint>, Sum> sums;
  FlowMatrix matrix;
  for (const FlowRecord& flow : context.facts.Flows(from, to)) {
    const Endpoint source = EndOf(context, flow.rank);
    const Endpoint destination = EndOf(context, flow.peer);
    if (source.node.empty() || destination.node.empty() || source.node == destination.node ||
        flow.bytes == 0 || flow.busy <= 0) {
      continue;
    }
    const auto key = std::pair{source, destination};
    sums[key].busy += static_cast<double>(flow.busy);
    sums[key].bytes += static_cast<double>(flow.bytes);
    matrix.cells[key].rank = flow.rank;
    matrix.cells[key].peer = flow.peer;
  }
  std::vector<double> costs;
  for (auto& [key, cell] : matrix.cells) {
    cell.log_cost = std::log(sums[key].busy / sums[key].bytes);
    cell.busy_share = sums[key].busy / static_cast<double>(to - from);
    costs.push_back(cell.log_cost);
  }
  matrix.centre = Median(costs);
  for (auto& [key, cell] : matrix.cells) {
    cell.residual = cell.log_cost - matrix.centre;
  }
  for (int round = 0; round < kRounds; ++round) {
    Sweep(&matrix, &matrix.rows, [](const auto& key) { return key.first; });
    Sweep(&matrix, &matrix.columns, [](const auto& key) { return key.second; });
  }
  return matrix;
}

std::optional<model::Finding> FindSlowFlow(const Context& context) {
  const model::TimeNs now = context.now;
  const FlowMatrix present = PolishFlows(context, now - kWindow, now);
  if (present.cells.size() < kCellsOfAnEffect) {
    return std::nullopt;
  }
  const auto slow = Worst(context, present);
  const auto before = Worst(context, PolishFlows(context, now - 2 * kWindow, now - kWindow));
  if (!slow.has_value() || !before.has_value() || !(slow->part == before->part)) {
    return std::nullopt;
  }
  const bool link = slow->part.kind == model::component_kind::kLink;
  model::Finding finding;
  finding.verdict_class = model::verdict_class::kCommunicationSlow;
  finding.component = slow->part;
  finding.suspects = {{slow->part, 1.0}};
  finding.onset = now - 2 * kWindow;
  finding.confirmed = now;
  finding.anchor = "slow-path";
  finding.confidence = slow->certain ? 0.9 : 0.6;
  // A path whose ends are both fast elsewhere is not mended by taking one of them away.
  finding.action = link || !slow->certain ? model::action::kAlert : model::action::kIsolateRestart;
  finding.evidence.push_back(
      {"flow", now,
       fmt::format("time per byte against {} other connections", present.cells.size() - 1),
       std::exp(slow->log_excess), "x"});
  finding.summary =
      fmt::format("Transfers over {} take {:.1f} times as long per byte as over the others{}.",
                  DescribePart(slow->part), std::exp(slow->log_excess),
                  link ? ", while both its ends are fast with other partners" : "");
  return finding;
}

std::optional<Clue> StuckConnection(const Context& context, const std::vector<int>& ranks,
                                    model::TimeNs since) {
  const std::set<int> members(ranks.begin(), ranks.end());
  struct Last {
    model::TimeNs moved = 0;  // end of the last window with bytes
    model::TimeNs seen = 0;
    bool pending = false;
  };
  std::map<std::pair<int, int>, Last> connections;
  for (const FlowRecord& flow : context.facts.Flows(since - kWindow, context.now)) {
    if (!members.contains(flow.rank) || !members.contains(flow.peer)) {
      continue;
    }
    Last& last = connections[{flow.rank, flow.peer}];
    if (flow.bytes > 0) {
      last.moved = std::max(last.moved, flow.to);
    }
    if (flow.to >= last.seen) {
      last.seen = flow.to;
      last.pending = flow.pending > 0;
    }
  }
  std::erase_if(connections, [&](const auto& entry) {
    const Last& last = entry.second;
    return !last.pending || last.seen < since || last.moved == last.seen;
  });
  if (connections.empty()) {
    return std::nullopt;
  }
  const auto first = std::min_element(
      connections.begin(), connections.end(),
      [](const auto& a, const auto& b) { return a.second.moved < b.second.moved; });
  const auto rivals = std::count_if(connections.begin(), connections.end(), [&](const auto& entry) {
    return entry.second.moved < first->second.moved + model::kSecond;
  });
  if (rivals > 1) {
    return std::nullopt;  // all stopped together: the rest of the ring stands still behind one
  }
  const Endpoint source = EndOf(context, first->first.first);
  const Endpoint destination = EndOf(context, first->first.second);
  Clue clue;
  clue.part.kind = model::component_kind::kLink;
  clue.part.node = source.node;
  clue.part.nic = source.nic;
  clue.part.peer_node = destination.node;
  clue.part.peer_nic = destination.nic;
  clue.part.rank = first->first.first;
  clue.part.peer_rank = first->first.second;
  clue.weight = connections.size() == 1 ? 40 : 20;
  clue.evidence.push_back({"flow", first->second.seen,
                           fmt::format("rank {} has work pending towards rank {} and moved nothing "
                                       "since; it stopped first",
                                       first->first.first, first->first.second),
                           static_cast<double>(context.now - first->second.moved) / 1e9, "s"});
  return clue;
}

}  // namespace c4::localise
