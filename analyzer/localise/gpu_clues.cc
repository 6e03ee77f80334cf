#include "analyzer/localise/gpu_clues.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "analyzer/localise/xid_table.h"
#include "analyzer/model/describe.h"

namespace c4::localise {
namespace {

using model::EventRecord;

// Odds of one event of the kind; what counts repeats (kRepeats) gains with their logarithm.
struct KindWeight {
  const char* kind;
  double weight;
  bool repeats;
};
constexpr KindWeight kKinds[] = {
    {"ecc_uncorrected", 50, false},
    {"driver_timeout", 30, false},
    {"nvlink_error", 5, true},
    {"pcie_degraded", 5, false},
    {"pcie_errors", 3, true},
    {"ecc_corrected", 2, true},
    // Make a GPU slow; a slow GPU does not hang.
    {"thermal_throttle", 1.5, false},
    {"power_brake", 1.5, false},
};
constexpr std::pair<const char*, const char*> kTotals[] = {
    {"ecc_uncorrected_total", "ecc_uncorrected"},
    {"ecc_corrected_total", "ecc_corrected"},
    {"link_recovery_total", "nvlink_error"},
    {"aer_correctable_total", "pcie_errors"},
};
constexpr double kServiceFailed = 20;
constexpr double kNvmlSilent = 20;
constexpr double kNodeTimeout = 20;

// "0000:1b:00.0/nvlink14" and "0000:1b:00.0" are the same GPU.
std::string GpuOf(const std::string& device) { return device.substr(0, device.find('/')); }

class Collector {
 public:
  Collector(const Context& context, const std::vector<int>& ranks) : context_(context) {
    for (const int rank : ranks) {
      const auto found = context.job.ranks().find(rank);
      if (found != context.job.ranks().end() && !found->second.info.node.empty()) {
        by_node_[found->second.info.node].push_back(rank);
      }
    }
  }

  std::vector<Clue> Collect(model::TimeNs from) {
    for (const auto& [node, ranks] : by_node_) {
      for (const EventRecord& event : context_.nodes.Events(node, from, context_.now)) {
        Take(event);
      }
      TakeTotals(node, from);
      for (const auto& [device, ok] : context_.nodes.Gauge(node, "nvml_ok", context_.now)) {
        if (const auto rank = RankOf(node, device); rank.has_value() && ok == 0) {
          Add(*rank, kNvmlSilent,
              {"hardware", context_.now, "NVML does not answer for this GPU", kNvmlSilent,
               "weight"});
        }
      }
    }
    return Joined(std::move(clues_));
  }

 private:
  std::optional<int> RankOf(const std::string& node, const std::string& device) const {
    for (const int rank : by_node_.at(node)) {
      const std::string& pci = context_.job.ranks().at(rank).info.pci;
      if (!pci.empty() && pci == GpuOf(device)) {
        return rank;
      }
    }
    return std::nullopt;
  }

  void Take(const EventRecord& event) {
    if (event.kind == "service_failed") {
      Clue clue;
      clue.part.kind = model::component_kind::kConfig;
      clue.part.node = event.node;
      clue.weight = kServiceFailed;
      clue.evidence.push_back({"hardware", event.time,
                               fmt::format("a service failed on {}: {}", event.node, event.text),
                               kServiceFailed, "weight"});
      clues_.push_back(std::move(clue));
      return;
    }
    const std::optional<int> rank = RankOf(event.node, event.device);
    if (!rank.has_value()) {
      if (event.device.empty() && event.kind == "driver_timeout") {
        TakeWholeNode(event);
      }
      return;
    }
    if (event.kind == "xid") {
      const XidMeaning meaning = MeaningOf(event);
      if (meaning.weight > 1) {
        Add(*rank, meaning.weight,
            {"hardware", event.time,
             fmt::format("Xid {} ({}) on {} of {}: {}", event.code, meaning.text, event.device,
                         event.node, event.text),
             meaning.weight, "weight"},
            meaning.kind == XidClass::kApplication);
      }
      return;
    }
    for (const KindWeight& kind : kKinds) {
      if (event.kind == kind.kind) {
        double& count = counts_[{*rank, event.kind}];
        count += static_cast<double>(std::max<std::int64_t>(event.delta, 1));
        const double weight = kind.weight * (kind.repeats ? 1 + std::log10(count) : 1);
        Add(*rank, weight,
            {"hardware", event.time,
             fmt::format("{} on {} of {}{}{}", event.kind, event.device, event.node,
                         event.text.empty() ? "" : ": ", event.text),
             weight, "weight"});
      }
    }
  }

  // Counters that grew: the same as the events they are named for, of which none may have come.
  void TakeTotals(const std::string& node, model::TimeNs from) {
    for (const auto& [gauge, name] : kTotals) {
      for (const auto& [device, growth] :
           context_.nodes.GaugeGrowth(node, gauge, from, context_.now)) {
        const auto rank = RankOf(node, device);
        const auto* kind = std::find_if(
            std::begin(kKinds), std::end(kKinds),
            [&, &wanted = name](const KindWeight& one) { return std::string(wanted) == one.kind; });
        if (growth < 1 || !rank.has_value() || kind == std::end(kKinds)) {
          continue;
        }
        const double weight = kind->weight * (kind->repeats ? 1 + std::log10(growth) : 1);
        Add(*rank, weight,
            {"hardware", context_.now,
             fmt::format("{} of {} on {} grew by {:.0f}", gauge, device, node, growth), weight,
             "weight"});
      }
    }
  }

  void TakeWholeNode(const EventRecord& event) {
    Clue clue;
    clue.part.kind = model::component_kind::kNode;
    clue.part.node = event.node;
    clue.weight = kNodeTimeout;
    clue.evidence.push_back(
        {"hardware", event.time, "driver_timeout on " + event.node, kNodeTimeout, "weight"});
    clues_.push_back(std::move(clue));
  }

  void Add(int rank, double weight, model::Evidence evidence, bool application = false) {
    Clue clue;
    clue.part = application ? model::RankComponent(context_.job, rank)
                            : model::GpuComponent(context_.job, rank);
    clue.weight = weight;
    clue.application = application;
    clue.evidence.push_back(std::move(evidence));
    clues_.push_back(std::move(clue));
  }

  const Context& context_;
  std::map<std::string, std::vector<int>> by_node_;
  std::map<std::pair<int, std::string>, double> counts_;
  std::vector<Clue> clues_;
};

}  // namespace

std::vector<Clue> GpuClues(const Context& context, const std::vector<int>& ranks,
                           model::TimeNs from) {
  return Collector(context, ranks).Collect(from);
}

}  // namespace c4::localise
