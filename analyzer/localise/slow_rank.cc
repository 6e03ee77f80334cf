#include "analyzer/localise/slow_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/localise/configuration.h"
#include "analyzer/localise/recurrence.h"
#include "analyzer/localise/xid_table.h"
#include "analyzer/model/describe.h"

namespace c4::localise {
namespace {

using model::Finding;
using model::Operation;
using model::RankRecord;

constexpr model::DurationNs kEvidenceBefore = 300 * model::kSecond;  // heat builds up
// Of the time that a slow rank takes longer, what others must at least be seen to wait for it.
constexpr double kWaitShare = 0.25;
// NVML's reasons for a lower clock that are a fault: hardware slowdown, thermal (software,
// hardware), power brake. A power cap (0x4) is normal at full load.
constexpr std::uint64_t kThrottleReasons = 0x8 | 0x20 | 0x40 | 0x80;
// Clocks of like GPUs under the same load differ by a few per cent.
constexpr double kClockRatio = 0.92;
// Corrected errors are common; hundreds, and ten times the peers', are a link that repeats.
constexpr double kRepeatsMin = 100;
constexpr double kRepeatsRatio = 10;
// More work than the peers by this much explains a longer step of its own.
constexpr double kWorkRatio = 1.1;

double Median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::optional<double> OfGpu(const Context& context, const RankRecord& rank, const char* gauge) {
  const auto values = context.nodes.Gauge(rank.node, gauge, context.now);
  const auto found = values.find(rank.pci);
  return rank.pci.empty() || found == values.end() ? std::nullopt
                                                   : std::optional<double>(found->second);
}

// Of all other ranks of the job.
double PeersMedian(const Context& context, int rank, const char* gauge) {
  std::vector<double> values;
  for (const auto& [number, other] : context.job.ranks()) {
    if (const auto value = OfGpu(context, other.info, gauge); number != rank && value.has_value()) {
      values.push_back(*value);
    }
  }
  return Median(std::move(values));
}

void Note(const Context& context, std::string text, double value, const char* unit,
          Finding* finding) {
  finding->evidence.push_back({"hardware", context.now, std::move(text), value, unit});
}

// The GPU itself says that it is slowed down, or has errors that make it so.
bool GpuSays(const Context& context, const RankRecord& rank, Finding* finding) {
  bool says = false;
  for (const model::EventRecord& event :
       context.nodes.Events(rank.node, finding->onset - kEvidenceBefore, context.now)) {
    const std::string device = event.device.substr(0, event.device.find('/'));
    const bool slows = event.kind == "thermal_throttle" || event.kind == "power_brake" ||
                       event.kind == "pcie_degraded" || event.kind == "pcie_errors" ||
                       event.kind == "nvlink_error" || event.kind == "ecc_uncorrected" ||
                       (event.kind == "xid" && MeaningOf(event).kind == XidClass::kHardware);
    if (device == rank.pci && !device.empty() && slows) {
      Note(context,
           fmt::format("{} on {} of {}: {}", event.kind, event.device, rank.node, event.text),
           static_cast<double>(event.code), "", finding);
      says = true;
    }
  }
  if (const auto reasons = OfGpu(context, rank, "clocks_event_reasons");
      reasons.has_value() && *reasons >= 0 &&
      (static_cast<std::uint64_t>(*reasons) & kThrottleReasons) != 0) {
    Note(context, "the driver lowers the clock (event reasons)", *reasons, "", finding);
    says = true;
  }
  const double usual = PeersMedian(context, finding->component.rank.value_or(-1), "sm_clock_mhz");
  if (const auto clock = OfGpu(context, rank, "sm_clock_mhz");
      clock.has_value() && usual > 0 && *clock < kClockRatio * usual) {
    Note(context, fmt::format("clock below its peers' {:.0f} MHz", usual), *clock, "MHz", finding);
    says = true;
  }
  return says;
}

// Its PCIe link repeats transfers as no other's does.
bool LinkRepeats(const Context& context, const RankRecord& rank, Finding* finding) {
  std::vector<double> others;
  double own = 0;
  for (const auto& [number, other] : context.job.ranks()) {
    const auto growth = context.nodes.GaugeGrowth(other.info.node, "aer_correctable_total",
                                                  finding->onset - kEvidenceBefore, context.now);
    if (const auto found = growth.find(other.info.pci); found != growth.end()) {
      if (other.info.node == rank.node && other.info.pci == rank.pci) {
        own = found->second;
      } else {
        others.push_back(found->second);
      }
    }
  }
  if (own < kRepeatsMin || own < kRepeatsRatio * Median(std::move(others))) {
    return false;
  }
  Note(context, "corrected PCIe errors since shortly before", own, "errors", finding);
  return true;
}

// The process runs where it should not: fewer CPUs than its peers, or another NUMA node than the
// processes on the same GPU of like nodes.
bool BoundBadly(const Context& context, int number, const RankRecord& rank, Finding* finding) {
  bool bad = false;
  const double usual = PeersMedian(context, number, "rank_cpus_allowed");
  if (const auto cpus = OfGpu(context, rank, "rank_cpus_allowed");
      cpus.has_value() && usual > 0 && *cpus <= usual / 2) {
    Note(context, fmt::format("the process may use fewer CPUs than its peers' {:.0f}", usual),
         *cpus, "CPUs", finding);
    bad = true;
  }
  std::map<double, int> twins;
  for (const auto& [other, twin] : context.job.ranks()) {
    if (twin.info.node != rank.node && twin.info.pci == rank.pci) {
      if (const auto place = OfGpu(context, twin.info, "rank_numa_node"); place.has_value()) {
        ++twins[*place];
      }
    }
  }
  if (const auto place = OfGpu(context, rank, "rank_numa_node");
      place.has_value() && twins.size() == 1 && !twins.contains(*place)) {
    Note(context,
         fmt::format("the process runs on another NUMA node than its twins' {:.0f}",
                     twins.begin()->first),
         *place, "", finding);
    bad = true;
  }
  return bad;
}

void BlameSetting(const std::string& node, int rank, Finding* finding) {
  finding->component = model::Component{};
  finding->component.kind = model::component_kind::kConfig;
  finding->component.node = node;
  finding->component.rank = rank;
  finding->action = model::action::kAlert;
  finding->confidence = 0.85;
  finding->summary += " Its process is bound to the wrong or too few CPUs: a setting.";
}

// The rank to look at: of a node, the first of its suspects.
int RankOf(const Finding& finding) {
  if (finding.component.rank.has_value()) {
    return *finding.component.rank;
  }
  for (const model::Suspect& suspect : finding.suspects) {
    if (suspect.component.rank.has_value()) {
      return *suspect.component.rank;
    }
  }
  return -1;
}

bool KeepsOthersWaiting(const Context& context, const Finding& finding) {
  for (const model::Evidence& evidence : finding.evidence) {
    if (evidence.text == "share of the step") {
      return WaitCaused(context.job, RankOf(finding), finding.onset, context.now) >=
             kWaitShare * evidence.value / 100;
    }
  }
  return true;
}

// A setting of the machine when one is odd, else the machine as it was found.
void ExplainNode(const Context& context, int number, const RankRecord& rank, Finding* finding) {
  std::set<std::string> nodes;
  for (const auto& [other, info] : context.job.ranks()) {
    nodes.insert(info.info.node);
  }
  const Configuration configuration = CompareNodes(context, nodes, Symptom::kSlow);
  if (BoundBadly(context, number, rank, finding)) {
    BlameSetting(rank.node, number, finding);
  } else if (configuration.odd_node == rank.node) {
    BlameConfiguration(configuration, finding);
  }
}

void Explain(const Context& context, Finding* finding) {
  const int number = RankOf(*finding);
  const auto entry = context.job.ranks().find(number);
  if (entry == context.job.ranks().end() || finding->severity == model::Severity::kInfo) {
    return;
  }
  const RankRecord& rank = entry->second.info;
  const double usual_work = PeersMedian(context, number, "tokens_per_step");
  const auto work = OfGpu(context, rank, "tokens_per_step");
  if (work.has_value() && usual_work > 0 && *work >= kWorkRatio * usual_work) {
    finding->severity = model::Severity::kInfo;
    finding->component = model::Component{};
    finding->component.kind = model::component_kind::kSoftware;
    finding->component.rank = number;
    finding->action = model::action::kAlert;
    Note(context, fmt::format("work per step above its peers' {:.0f}", usual_work), *work, "tokens",
         finding);
    finding->summary += " It is given more work than they are: imbalance, nothing is broken.";
    return;
  }
  if (finding->component.kind == model::component_kind::kNode) {
    ExplainNode(context, number, rank, finding);
    return;
  }
  const bool gpu_says = GpuSays(context, rank, finding);
  if (LinkRepeats(context, rank, finding) || gpu_says) {
    finding->component = model::GpuComponent(context.job, number);
    finding->action = model::action::kIsolateRestart;
    finding->confidence = 0.95;
    finding->summary += " The hardware says why.";
  } else if (BoundBadly(context, number, rank, finding)) {
    BlameSetting(rank.node, number, finding);
  }
  WeighRecurrence(context, {finding->verdict_class, "", "", ""}, finding);
}

}  // namespace

double WaitCaused(const model::JobModel& job, int rank, model::TimeNs from, model::TimeNs now) {
  const auto found = job.ranks().find(rank);
  if (found == job.ranks().end()) {
    return 0;
  }
  double waited = 0;
  model::TimeNs last = from;
  for (const Operation& operation : found->second.operations) {
    const model::Instance* instance = job.InstanceOf(operation);
    if (!operation.EndedBy(now) || operation.start < from || instance == nullptr) {
      continue;
    }
    double longest = 0;
    for (const Operation* member : instance->members) {
      if (member->EndedBy(now) && member->start != 0) {
        longest = std::max(longest, static_cast<double>(member->end - member->start));
      }
    }
    waited += std::max(0.0, longest - static_cast<double>(operation.end - operation.start));
    last = std::max(last, operation.end);
  }
  return last > from ? waited / static_cast<double>(last - from) : 0;
}

std::vector<Finding> ExplainSlowRanks(const Context& context, std::vector<Finding> found) {
  std::erase_if(found,
                [&](const Finding& finding) { return !KeepsOthersWaiting(context, finding); });
  for (Finding& finding : found) {
    Explain(context, &finding);
  }
  return found;
}

}  // namespace c4::localise
