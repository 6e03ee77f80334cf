// What the transport counters of a NIC mean, and what error texts say about who failed to reach
// whom. Part of nic_clues. Pure functions over text.
#pragma once

#include <string>
#include <vector>

namespace c4::localise {

enum class CounterRole : unsigned char {
  kSender,    // my packets or requests were not answered
  kReceiver,  // packets came out of order, or not at all
  kPort,      // the port itself
  kFlush,     // after-effect of a queue that died for another reason
  kTraffic,   // congestion: not a fault of anybody's part
};

struct CounterMeaning {
  CounterRole role = CounterRole::kSender;
  double weight = 2;  // odds of one error; more of them add their logarithm
};

// By sysfs name. Unknown ones speak for their own end, weakly.
CounterMeaning MeaningOfCounter(const std::string& counter);

// Names of all counters that have a meaning.
std::vector<std::string> KnownCounters();

// Whether an error text is of a transport that failed, rather than of its after-effects, or of
// something else.
bool IsTransportFailure(const std::string& text);

// Whether `word` stands in `text` by itself, and where it ends; npos: it does not.
std::size_t FindWord(const std::string& text, const std::string& word);

}  // namespace c4::localise
