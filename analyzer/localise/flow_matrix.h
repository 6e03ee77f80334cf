// What the connections themselves say, where the transport reports it: time per byte by source and
// destination, decomposed by median polish into the sender's NIC (row), the receiver's (column) and
// the path between the two (cell); and the connection that stopped with work pending. Pure
// functions.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/localise/clue.h"
#include "analyzer/localise/context.h"
#include "analyzer/localise/tomography.h"
#include "analyzer/model/finding.h"

namespace c4::localise {

struct FlowCell {
  double log_cost = 0;    // of busy time per byte
  double residual = 0;    // what neither end explains
  double busy_share = 0;  // of the window
  int rank = -1;          // one pair that uses it
  int peer = -1;
};

struct FlowMatrix {
  std::map<std::pair<Endpoint, Endpoint>, FlowCell> cells;  // by source and destination
  std::map<Endpoint, double> rows;     // effect of the sender's NIC, as a logarithm
  std::map<Endpoint, double> columns;  // of the receiver's
  double centre = 0;
};

// Between nodes only, of windows that ended within (from, to]. A row or column of fewer than three
// cells has no effect of its own: one slow cell would be taken for it.
FlowMatrix PolishFlows(const Context& context, model::TimeNs from, model::TimeNs to);

// The NIC or path that has been slow for the last ten seconds, when it costs 3 % of the time.
std::optional<model::Finding> FindSlowFlow(const Context& context);

// The connection between `ranks` that has work pending and has not moved since `since`; the NIC at
// one end of all of them, or the one that stopped first.
std::optional<Clue> StuckConnection(const Context& context, const std::vector<int>& ranks,
                                    model::TimeNs since);

}  // namespace c4::localise
