// What a path of a job does at present: handed from the detector of slow transfers to the
// localiser.
#pragma once

#include "analyzer/model/operation.h"

namespace c4::model {

struct PathState {
  const Operation* example = nullptr;  // any operation of it, the newest
  int communicator = -1;
  double past_ns = 0;   // median transfer when it was well
  double now_ns = 0;    // median of the last ones
  double per_step = 0;  // transfers in a step
  bool slow = false;
  bool informative = false;  // large enough for a slow path to show
  TimeNs onset = 0;
  TimeNs certain = 0;  // when enough slow ones in a row were seen
  double ratio() const { return past_ns > 0 ? now_ns / past_ns : 0; }
};

}  // namespace c4::model
