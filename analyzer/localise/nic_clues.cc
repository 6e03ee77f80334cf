#include "analyzer/localise/nic_clues.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/localise/nic_facts.h"

namespace c4::localise {
namespace {

// Odds. A port that came back leaves less certainty than one that is down, several times more.
constexpr double kPortFlap = 20;
constexpr double kPortFlapAgain = 10;
constexpr double kOnePartManyPeers = 50;
constexpr double kOneHop = 40;
constexpr double kPairedHop = 30;
// Errors below this share of the busiest device's are the background, unless a queue died of them.
constexpr double kBackground = 0.1;
constexpr double kDied = 20;

class Finder {
 public:
  Finder(const Context& context, std::map<Endpoint, NicFacts> nics)
      : context_(context), nics_(std::move(nics)) {}

  NicClues Find() {
    NicClues result;
    if (!Ports(&result)) {
      Transport(&result);
    }
    for (Clue& clue : result.clues) {
      NameRanks(context_.job, &clue.part);
    }
    result.clues = Joined(std::move(result.clues));
    return result;
  }

 private:
  void AddNic(const Endpoint& end, double weight, NicClues* result) {
    Clue clue;
    clue.part.kind = model::component_kind::kNic;
    clue.part.node = end.node;
    clue.part.nic = end.nic;
    clue.weight = weight;
    if (const auto found = nics_.find(end); found != nics_.end()) {
      clue.evidence = found->second.evidence;
    }
    result->clues.push_back(std::move(clue));
  }

  void AddLink(const Endpoint& from, const Endpoint& to, double weight, NicClues* result) {
    Clue clue;
    clue.part.kind = model::component_kind::kLink;
    clue.part.node = from.node;
    clue.part.nic = from.nic;
    clue.part.peer_node = to.node;
    clue.part.peer_nic = to.nic;
    clue.weight = weight;
    for (const Endpoint& end : {from, to}) {
      if (const auto found = nics_.find(end); found != nics_.end()) {
        clue.evidence.insert(clue.evidence.end(), found->second.evidence.begin(),
                             found->second.evidence.end());
      }
    }
    result->clues.push_back(std::move(clue));
  }

  // Ports that lost their link. What others report then follows from it.
  bool Ports(NicClues* result) {
    for (const auto& [end, nic] : nics_) {
      double weight = nic.port;
      if (nic.down) {
        weight = kPortDown;
      } else if (nic.downs > 0) {
        weight = std::max(weight,
                          std::min(kPortDown - 10, kPortFlap + kPortFlapAgain * (nic.downs - 1)));
      }
      if (weight > 1) {
        AddNic(end, weight, result);
      }
    }
    return std::any_of(result->clues.begin(), result->clues.end(),
                       [](const Clue& clue) { return clue.weight >= kPortFlap; });
  }

  void Transport(NicClues* result) {
    double most = 0;
    for (const auto& [end, nic] : nics_) {
      most = std::max(most, nic.count);
    }
    std::vector<Endpoint> senders;
    std::vector<Endpoint> receivers;
    std::vector<Endpoint> flushed;
    std::vector<std::pair<Endpoint, Endpoint>> hops;
    for (const auto& [end, nic] : nics_) {
      for (const Endpoint& peer : nic.peers) {
        hops.emplace_back(end, peer);
      }
      const bool counts = nic.count >= kBackground * most || nic.errors() >= kDied;
      if (nic.sender > 0 && counts) {
        senders.push_back(end);
      }
      if (nic.receiver > 0 && counts && nic.sender < nic.receiver) {
        receivers.push_back(end);
      }
      if (nic.flushed && nic.errors() == 0) {
        flushed.push_back(end);
      }
    }
    const bool decided =
        hops.empty() ? ByRole(senders, receivers, flushed, result) : ByPeer(hops, result);
    if (!decided) {
      for (const auto& [end, nic] : nics_) {
        result->symmetric.insert(result->symmetric.end(), nic.evidence.begin(), nic.evidence.end());
      }
    }
  }

  static bool Touches(const std::pair<Endpoint, Endpoint>& hop, const Endpoint& part) {
    return hop.first == part ||
           (hop.second.node == part.node && (hop.second.nic.empty() || hop.second.nic == part.nic));
  }

  // The part that is at one end of every failure.
  bool ByPeer(const std::vector<std::pair<Endpoint, Endpoint>>& hops, NicClues* result) {
    std::set<Endpoint> candidates;
    std::set<Endpoint> nodes;
    std::set<Endpoint> sources;
    for (const auto& [source, peer] : hops) {
      sources.insert(source);
      candidates.insert(source);
      (peer.nic.empty() ? nodes : candidates).insert(peer);
    }
    const auto explains_all = [&](const Endpoint& part) {
      return std::all_of(hops.begin(), hops.end(),
                         [&](const auto& hop) { return Touches(hop, part); });
    };
    std::erase_if(candidates, [&](const Endpoint& part) { return !explains_all(part); });
    if (candidates.size() == 2) {
      const Endpoint& a = *candidates.begin();
      const Endpoint& b = *candidates.rbegin();
      if (a.node == b.node) {
        return false;
      }
      if (sources.size() == 2) {
        return false;  // each accuses the other
      }
      AddLink(*sources.begin(), *sources.begin() == a ? b : a, kOneHop, result);
      return true;
    }
    if (candidates.size() == 1) {
      const Endpoint& part = *candidates.begin();
      std::set<std::string> others;
      for (const auto& [source, peer] : hops) {
        others.insert(source == part ? peer.node : source.node);
      }
      if (others.size() == 1 && hops.size() == 1) {
        AddLink(hops.front().first, hops.front().second, kOneHop, result);
      } else {
        AddNic(part, others.size() > 1 ? kOnePartManyPeers : kPairedHop, result);
      }
      return true;
    }
    // Many devices, of several nodes, fail towards one node.
    for (const Endpoint& node : nodes) {
      std::set<std::string> accusers;
      for (const auto& [source, peer] : hops) {
        accusers.insert(source.node);
      }
      const bool all = std::all_of(hops.begin(), hops.end(),
                                   [&](const auto& hop) { return hop.second.node == node.node; });
      if (candidates.empty() && all && accusers.size() >= 2) {
        AddNic(node, kOneHop, result);
        return true;
      }
    }
    return false;
  }

  // Without far ends: whose counters pair up.
  bool ByRole(const std::vector<Endpoint>& senders, const std::vector<Endpoint>& receivers,
              const std::vector<Endpoint>& flushed, NicClues* result) {
    const std::vector<Endpoint>& far = receivers.empty() ? flushed : receivers;
    if (senders.size() == 1 && far.size() == 1 && far.front().node != senders.front().node) {
      AddLink(senders.front(), far.front(), kPairedHop, result);
    } else if (senders.size() == 1) {
      const double weight = nics_.at(senders.front()).sender;
      AddNic(senders.front(), receivers.size() > 1 ? kOneHop : std::min(weight, kOneHop), result);
    } else if (receivers.size() == 1) {
      const double weight = nics_.at(receivers.front()).receiver;
      AddNic(receivers.front(), senders.size() > 1 ? kOneHop : std::min(weight, kOneHop), result);
    } else {
      return senders.empty() && receivers.empty();
    }
    return true;
  }

  const Context& context_;
  const std::map<Endpoint, NicFacts> nics_;
};

}  // namespace

void NameRanks(const model::JobModel& job, model::Component* component) {
  const auto only = [&](const std::string& node, const std::string& nic) -> std::optional<int> {
    std::optional<int> found;
    for (const auto& [number, rank] : job.ranks()) {
      if (rank.info.node == node && !nic.empty() && rank.info.nic == nic) {
        if (found.has_value()) {
          return std::nullopt;  // several share it
        }
        found = number;
      }
    }
    return found;
  };
  if (component->kind == model::component_kind::kLink) {
    component->rank = only(component->node, component->nic);
    component->peer_rank = only(component->peer_node, component->peer_nic);
  }
}

NicClues FindNicClues(const Context& context, const std::vector<int>& ranks, model::TimeNs from) {
  return Finder(context, CollectNicFacts(context, ranks, from)).Find();
}

}  // namespace c4::localise
