// What a detector hands on: a deviation that it saw, as of `now`, with all it takes to say so.
//
// Plain value. The incident book (verdict/) turns findings of successive ticks into verdicts.
#pragma once

#include <string>
#include <vector>

#include "analyzer/model/verdict.h"

namespace c4::model {

struct Finding {
  std::string verdict_class;
  Severity severity = Severity::kFault;
  Component component;
  std::vector<Suspect> suspects;  // best first; empty: the component alone
  double confidence = 0;
  TimeNs onset = 0;
  // Nothing benign explains it any more: from this moment, 0: not yet.
  TimeNs confirmed = 0;
  std::string anchor;  // the operation it hangs on: makes the id stable over restarts
  std::string action = action::kNone;
  std::string summary;
  std::vector<Evidence> evidence;
  std::vector<std::string> weakened_by;
  std::vector<int> victims;
};

}  // namespace c4::model
