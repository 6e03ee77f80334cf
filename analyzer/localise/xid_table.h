// What an Xid of the NVIDIA driver says about the GPU that reported it: data, versioned, from
// NVIDIA's catalogue. A root is where a fault began; a cascade follows from a fault elsewhere or
// from a process that ended, and convicts nobody.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/model/node_records.h"

namespace c4::localise {

inline constexpr char kXidTableVersion[] = "2025-10";

enum class XidClass : std::uint8_t {
  kHardware,     // the GPU, its memory, its links or its firmware
  kApplication,  // the program that ran on it, first of all
  kCascade,      // follows from something else
  kNote,         // says something, not that anything is broken
};

struct XidMeaning {
  int code = 0;
  XidClass kind = XidClass::kNote;
  double weight = 1;  // odds that this GPU is at fault, against the same GPU without it
  const char* text = "unknown Xid";
};

// Of the code alone. A code that is not in the table is a note.
XidMeaning MeaningOfXid(std::int64_t code);

// Of the whole event: "caused by previous Xid N" makes a cascade of any, and those of the NVLink
// units (144-150) weigh little when they call themselves nonfatal.
XidMeaning MeaningOf(const model::EventRecord& xid);

}  // namespace c4::localise
