// Whether the job has had this incident before. The same signature on other, healthy machines is
// the library or the program; the same machine again and again is a lemon. Pure function.
#pragma once

#include <string>

#include "analyzer/localise/context.h"
#include "analyzer/model/finding.h"

namespace c4::localise {

// What an incident looks like, apart from where it was.
struct Signature {
  std::string verdict_class;
  std::string operation;  // name, without its number
  std::string frame;      // innermost telling frame of the host; empty: not known
  std::string state;      // "called, not started"; empty: not known
};

struct Recurrence {
  int elsewhere = 0;  // on other nodes
  int here = 0;       // on this node
  std::string text;   // for people
};

Recurrence FindRecurrence(const model::JobRecord& job, const Signature& signature,
                          const std::string& node);

// Turns the accusation of a rank, GPU, NIC or node round when it has been elsewhere before, or
// into one of the machine when it has been there before.
void WeighRecurrence(const Context& context, const Signature& signature, model::Finding* finding);

}  // namespace c4::localise
