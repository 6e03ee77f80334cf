// What the ranks of a communicator tell each other when it is made. Sent as raw bytes between
// processes of one build on one kind of machine: not a wire format.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace c4::nccl_cpu {

struct RankInfo {
  int32_t rank;
  int32_t nranks;
  int32_t process_rank;  // rank in the process's first communicator: what C4_CPU_FAULT calls a peer
  uint16_t port;         // of the rank's listener for this communicator, host order
  uint16_t reserved;
  uint64_t host_hash;
  uint64_t pci_bus;  // of its device, so that two ranks on one device are refused
  in_addr address;   // of the interface it listens on
  int32_t color;     // ncclCommSplit only
  int32_t key;
  int32_t reserved2;
};
static_assert(std::is_trivially_copyable_v<RankInfo>);
static_assert(sizeof(RankInfo) == 48);

using RankTable = std::vector<RankInfo>;  // position = rank

}  // namespace c4::nccl_cpu
