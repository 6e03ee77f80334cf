#include "analyzer/localise/nic_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/localise/nic_errors.h"

namespace c4::localise {
namespace {

using model::EventRecord;

class Collector {
 public:
  Collector(const Context& context, const std::vector<int>& ranks) : context_(context) {
    for (const int rank : ranks) {
      const auto found = context.job.ranks().find(rank);
      if (found != context.job.ranks().end() && !found->second.info.node.empty()) {
        used_[found->second.info.node].insert(found->second.info.nic);
      }
    }
  }

  std::map<Endpoint, NicFacts> Collect(const std::vector<int>& ranks, model::TimeNs from) {
    for (const auto& [node, nics] : used_) {
      for (const EventRecord& event : context_.nodes.Events(node, from, context_.now)) {
        if (Uses(node, event.device)) {
          Take(event);
        }
      }
      TakeTotals(node, from);
      for (const auto& [nic, active] : context_.nodes.Gauge(node, "port_active", context_.now)) {
        if (active == 0 && nics.contains(nic)) {
          facts_[{node, nic}].down = true;
          facts_[{node, nic}].evidence.push_back(
              {"hardware", context_.now, fmt::format("port of {} on {} is not active", nic, node),
               kPortDown, "weight"});
        }
      }
    }
    for (const int rank : ranks) {
      TakeErrors(rank, from);
    }
    return std::move(facts_);
  }

 private:
  bool Uses(const std::string& node, const std::string& nic) const {
    const auto found = used_.find(node);
    return found != used_.end() && (found->second.contains(nic) || found->second.contains(""));
  }

  void Take(const EventRecord& event) {
    NicFacts& nic = facts_[{event.node, event.device}];
    const std::string what = event.counter.empty() ? event.kind : event.counter;
    const auto note = [&](double weight) {
      nic.evidence.push_back({"hardware", event.time,
                              fmt::format("{} of {} on {}{}{}", what, event.device, event.node,
                                          event.text.empty() ? "" : ": ", event.text),
                              weight, "weight"});
    };
    if (event.kind == "nic_link_down") {
      nic.down = true;
      ++nic.downs;
      note(kPortDown);
    } else if (event.kind == "nic_link_up") {
      nic.down = false;
    } else if (event.kind == "pcie_degraded" || event.kind == "pcie_errors") {
      nic.port = std::max(nic.port, event.kind == "pcie_degraded" ? 5.0 : 3.0);
      note(nic.port);
    } else if (event.kind == "nic_errors") {
      const CounterMeaning meaning = MeaningOfCounter(event.counter);
      double& sum = sums_[{{event.node, event.device}, event.counter}];
      sum += static_cast<double>(std::max<std::int64_t>(event.delta, 1));
      const double weight = meaning.weight * (1 + std::log10(sum));
      double& role = meaning.role == CounterRole::kSender     ? nic.sender
                     : meaning.role == CounterRole::kReceiver ? nic.receiver
                                                              : nic.port;
      role = std::max(role, weight);
      if (meaning.role == CounterRole::kSender || meaning.role == CounterRole::kReceiver) {
        nic.count = std::max(nic.count, sum);
      }
      nic.flushed |= meaning.role == CounterRole::kFlush;
      if (meaning.role == CounterRole::kSender) {
        AddPeers(event.text, event.node, &nic);
      }
      note(weight);
    }
  }

  // Counters that grew and of which no event told.
  void TakeTotals(const std::string& node, model::TimeNs from) {
    for (const std::string& counter : KnownCounters()) {
      for (const auto& [nic, growth] :
           context_.nodes.GaugeGrowth(node, counter + "_total", from, context_.now)) {
        if (growth >= 1 && Uses(node, nic) && !sums_.contains({{node, nic}, counter})) {
          EventRecord event;
          event.node = node;
          event.time = context_.now;
          event.kind = "nic_errors";
          event.device = nic;
          event.counter = counter;
          event.delta = static_cast<std::int64_t>(std::min(growth, 1e15));
          Take(event);
        }
      }
    }
  }

  void TakeErrors(int number, model::TimeNs from) {
    const auto rank = context_.job.ranks().find(number);
    if (rank == context_.job.ranks().end()) {
      return;
    }
    for (const model::ErrorRecord& error : rank->second.errors) {
      if (error.time < from || error.time > context_.now || !IsTransportFailure(error.text)) {
        continue;
      }
      const model::RankRecord& info = rank->second.info;
      std::string device = info.nic;
      if (const std::size_t end = FindWord(error.text, "localDev"); end != std::string::npos) {
        const std::size_t begin = error.text.find_first_not_of(' ', end);
        const std::size_t stop = error.text.find_first_of(" ,;)", std::min(begin, end + 2));
        if (begin != std::string::npos) {
          device = error.text.substr(begin, stop == std::string::npos ? stop : stop - begin);
        }
      }
      NicFacts& nic = facts_[{info.node, device}];
      AddPeers(error.text, info.node, &nic);
      nic.evidence.push_back(
          {"process", error.time, fmt::format("rank {}: {}", number, error.text), 0, ""});
    }
  }

  // Far ends that a text names: a node of the job, perhaps with one of its NICs behind it.
  void AddPeers(const std::string& text, const std::string& own, NicFacts* nic) const {
    for (const auto& [node, nics] : used_) {
      const std::size_t end = node == own ? std::string::npos : FindWord(text, node);
      if (end == std::string::npos) {
        continue;
      }
      const std::string rest = text.substr(end, 64);
      Endpoint peer{node, ""};
      for (const std::string& name : nics) {
        if (const std::size_t at = FindWord(rest, name);
            at != std::string::npos && at <= name.size() + 2) {
          peer.nic = name;
        }
      }
      nic->peers.insert(peer);
    }
  }

  const Context& context_;
  std::map<std::string, std::set<std::string>> used_;  // by node; "": not known which
  std::map<Endpoint, NicFacts> facts_;
  std::map<std::pair<Endpoint, std::string>, double> sums_;  // by counter
};

}  // namespace

std::map<Endpoint, NicFacts> CollectNicFacts(const Context& context, const std::vector<int>& ranks,
                                             model::TimeNs from) {
  return Collector(context, ranks).Collect(ranks, from);
}

}  // namespace c4::localise
