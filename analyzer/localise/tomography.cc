#include "analyzer/localise/tomography.h"

#include <algorithm>
#include <map>
#include <utility>

namespace c4::localise {
namespace {

using model::Component;
using model::Suspect;

// A NIC is named before a link when both explain as much: it is one part, a link between two NICs
// that work otherwise is a route.
struct Candidate {
  std::set<Endpoint> parts;  // one: a NIC; two: a link
  int explains = 0;
  int acquitted = 0;
};

bool Uses(const Path& path, const std::set<Endpoint>& parts) {
  return std::includes(path.endpoints.begin(), path.endpoints.end(), parts.begin(), parts.end());
}

Component ToComponent(const std::set<Endpoint>& parts) {
  Component component;
  const Endpoint& first = *parts.begin();
  component.node = first.node;
  component.nic = first.nic;
  if (parts.size() == 1) {
    component.kind = model::component_kind::kNic;
  } else {
    component.kind = model::component_kind::kLink;
    component.peer_node = parts.rbegin()->node;
    component.peer_nic = parts.rbegin()->nic;
  }
  return component;
}

std::set<std::string> Nodes(const Path& path) {
  std::set<std::string> nodes;
  for (const Endpoint& endpoint : path.endpoints) {
    nodes.insert(endpoint.node);
  }
  return nodes;
}

}  // namespace

Localisation Intersect(const std::vector<Path>& paths) {
  std::map<std::set<Endpoint>, Candidate> candidates;
  int bad = 0;
  for (const Path& path : paths) {
    if (!path.bad || Nodes(path).size() < 2) {
      continue;
    }
    ++bad;
    for (auto a = path.endpoints.begin(); a != path.endpoints.end(); ++a) {
      candidates[{*a}].parts = {*a};
      // A ring over three and more nodes says nothing of any one link in it.
      if (Nodes(path).size() == 2) {
        for (auto b = std::next(a); b != path.endpoints.end(); ++b) {
          if (a->node != b->node) {
            candidates[{*a, *b}].parts = {*a, *b};
          }
        }
      }
    }
  }
  Localisation result;
  if (bad == 0) {
    return result;
  }
  std::vector<Candidate> ranked;
  for (auto& [key, candidate] : candidates) {
    for (const Path& path : paths) {
      if (Nodes(path).size() >= 2 && Uses(path, candidate.parts)) {
        ++(path.bad ? candidate.explains : candidate.acquitted);
      }
    }
    ranked.push_back(candidate);
  }
  const auto full = [&](const Candidate& candidate) {
    return candidate.acquitted == 0 && candidate.explains == bad;
  };
  std::vector<Candidate> explaining;
  std::copy_if(ranked.begin(), ranked.end(), std::back_inserter(explaining), full);
  if (explaining.empty()) {
    std::copy_if(ranked.begin(), ranked.end(), std::back_inserter(explaining),
                 [](const Candidate& candidate) { return candidate.acquitted == 0; });
    result.reason = "no single part explains every slow path";
  }
  if (explaining.empty()) {
    result.reason = "every part of the bad paths is used by a good one as well";
    Component network;
    network.kind = model::component_kind::kNetwork;
    result.suspects.push_back({network, 1.0});
    return result;
  }
  std::vector<Candidate> nics;
  std::vector<Candidate> links;
  for (const Candidate& candidate : explaining) {
    (candidate.parts.size() == 1 ? nics : links).push_back(candidate);
  }
  const auto more = [](const Candidate& a, const Candidate& b) { return a.explains > b.explains; };
  std::stable_sort(nics.begin(), nics.end(), more);
  std::stable_sort(links.begin(), links.end(), more);
  // Several bad paths that meet in one NIC only: that NIC. A link explains them only if they are
  // all the same pair; then both its ends are possible too unless acquitted elsewhere.
  if (nics.size() == 1 && links.empty()) {
    result.suspects.push_back({ToComponent(nics[0].parts), 1.0});
    result.unique = full(nics[0]);
    result.reason = "the only part that every bad path uses and no good one";
    return result;
  }
  if (nics.empty()) {
    for (const Candidate& link : links) {
      result.suspects.push_back({ToComponent(link.parts), 1.0 / static_cast<double>(links.size())});
    }
    result.unique = links.size() == 1 && full(links[0]);
    result.reason = "both ends are good with other partners";
    return result;
  }
  // Not to be told apart: the link first, it contains either end.
  const double share = 1.0 / static_cast<double>(nics.size() + links.size());
  for (const Candidate& link : links) {
    result.suspects.push_back({ToComponent(link.parts), share});
  }
  for (const Candidate& nic : nics) {
    result.suspects.push_back({ToComponent(nic.parts), share});
  }
  if (result.reason.empty()) {
    result.reason = "one of these: no other path of the job tells them apart";
  }
  return result;
}

}  // namespace c4::localise
