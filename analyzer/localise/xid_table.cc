#include "analyzer/localise/xid_table.h"

#include <algorithm>
#include <array>

namespace c4::localise {
namespace {

// Weights: 100 the GPU is gone; 50 broken beyond a restart, by NVIDIA's own advice (reset or
// replace); 20-30 reset advised, the cause may lie next to it (driver, link partner); 10 the
// program's; 3 wear that is corrected; 1 nothing.
constexpr std::array kTable = {
    XidMeaning{13, XidClass::kApplication, 10, "graphics engine exception"},
    XidMeaning{31, XidClass::kApplication, 10, "MMU fault"},
    XidMeaning{32, XidClass::kApplication, 10, "bad push buffer"},
    XidMeaning{43, XidClass::kApplication, 10, "GPU stopped processing for one process"},
    XidMeaning{45, XidClass::kCascade, 1, "channel removed after its process ended"},
    XidMeaning{46, XidClass::kHardware, 20, "GPU timeout"},
    XidMeaning{48, XidClass::kHardware, 50, "double-bit ECC error"},
    XidMeaning{61, XidClass::kHardware, 30, "internal microcontroller breakpoint"},
    XidMeaning{62, XidClass::kHardware, 30, "internal microcontroller halt"},
    XidMeaning{63, XidClass::kNote, 3, "row remapping recorded"},
    XidMeaning{64, XidClass::kHardware, 50, "row remapping failed"},
    XidMeaning{69, XidClass::kApplication, 10, "graphics engine class error"},
    XidMeaning{74, XidClass::kHardware, 30, "NVLink error"},
    XidMeaning{79, XidClass::kHardware, 100, "GPU has fallen off the bus"},
    XidMeaning{80, XidClass::kApplication, 10, "corrupted data sent to the GPU"},
    XidMeaning{92, XidClass::kNote, 3, "high rate of single-bit ECC errors"},
    XidMeaning{94, XidClass::kHardware, 20, "contained memory error"},
    XidMeaning{95, XidClass::kHardware, 50, "uncontained memory error"},
    XidMeaning{109, XidClass::kHardware, 20, "context switch timeout"},
    XidMeaning{119, XidClass::kHardware, 30, "GSP firmware does not answer"},
    XidMeaning{120, XidClass::kHardware, 30, "GSP firmware error"},
    XidMeaning{121, XidClass::kNote, 3, "chip-to-chip link error"},
    XidMeaning{136, XidClass::kHardware, 20, "NVLink training failed"},
    XidMeaning{137, XidClass::kCascade, 2, "NVLink access refused, often a remote cause"},
    XidMeaning{140, XidClass::kHardware, 50, "unrecovered ECC error"},
    XidMeaning{143, XidClass::kHardware, 50, "GPU initialisation failed"},
    XidMeaning{144, XidClass::kHardware, 30, "NVLink SAW"},
    XidMeaning{145, XidClass::kCascade, 2, "NVLink RLW, the echo of a link elsewhere"},
    XidMeaning{146, XidClass::kHardware, 30, "NVLink TLW"},
    XidMeaning{147, XidClass::kHardware, 30, "NVLink TREX"},
    XidMeaning{148, XidClass::kHardware, 30, "NVLink NVLPW_CTRL"},
    XidMeaning{149, XidClass::kHardware, 50, "NVLink NETIR"},
    XidMeaning{150, XidClass::kHardware, 50, "NVLink MSE"},
    XidMeaning{154, XidClass::kNote, 2, "recovery action changed"},
    XidMeaning{171, XidClass::kNote, 3, "DRAM error detail"},
    XidMeaning{172, XidClass::kNote, 3, "SRAM error detail"},
};
static_assert(std::is_sorted(kTable.begin(), kTable.end(),
                             [](const auto& a, const auto& b) { return a.code < b.code; }));

}  // namespace

XidMeaning MeaningOfXid(std::int64_t code) {
  const auto found = std::lower_bound(kTable.begin(), kTable.end(), code,
                                      [](const XidMeaning& meaning, std::int64_t wanted) {
                                        return static_cast<std::int64_t>(meaning.code) < wanted;
                                      });
  if (found != kTable.end() && found->code == code) {
    return *found;
  }
  XidMeaning unknown;
  unknown.weight = 2;
  return unknown;
}

XidMeaning MeaningOf(const model::EventRecord& xid) {
  XidMeaning meaning = MeaningOfXid(xid.code);
  if (xid.text.find("caused by previous Xid") != std::string::npos) {
    meaning.kind = XidClass::kCascade;
    meaning.weight = 1;
  } else if (xid.code >= 144 && xid.code <= 150 && xid.text.find("Nonfatal") != std::string::npos) {
    meaning.weight = std::min(meaning.weight, 3.0);
  }
  return meaning;
}

}  // namespace c4::localise
