// What is known against each NIC that the ranks use: lost links, counters by what they mean, and
// the far ends that it failed to reach. Part of nic_clues, which decides. Pure function.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/localise/context.h"
#include "analyzer/localise/tomography.h"

namespace c4::localise {

struct NicFacts {
  double sender = 0;  // odds, as nic_errors.h weighs counters
  double receiver = 0;
  double port = 0;
  double count = 0;      // of the sender's or receiver's counter that grew most
  bool flushed = false;  // queues died here as an after-effect
  bool down = false;     // the port's last known state
  int downs = 0;
  std::set<Endpoint> peers;  // that it failed to reach; the NIC may be empty
  std::vector<model::Evidence> evidence;
  double errors() const { return sender > receiver ? sender : receiver; }
};

// Odds of a port that has no link: it explains by itself what goes through it.
inline constexpr double kPortDown = 50;

// Within [from, now].
std::map<Endpoint, NicFacts> CollectNicFacts(const Context& context, const std::vector<int>& ranks,
                                             model::TimeNs from);

}  // namespace c4::localise
