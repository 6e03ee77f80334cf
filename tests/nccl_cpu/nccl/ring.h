// Ring algorithms, as segments of a channel: rank r sends to r+1 and receives from r-1.
//
// AllReduce is a reduce-scatter pass and an all-gather pass over n blocks; ReduceScatter and
// AllGather are one pass each; Broadcast and Reduce go along the chain that starts, or ends, at the
// root. In the first three every rank's result contains every rank's data, so that nobody ends
// before the last one has started; in the chains a rank depends on those before it only. Thread:
// the running plan's. A builder: it moves nothing itself but a rank's own data.
#pragma once

#include <deque>
#include <vector>

#include "tests/nccl_cpu/nccl/channel.h"
#include "tests/nccl_cpu/nccl/operation.h"

namespace c4::nccl_cpu {

class RingBuilder {
 public:
  // nranks > 1. The builder owns scratch memory that the channel's segments point to: keep it until
  // the channel is done.
  RingBuilder(int rank, int nranks, Channel* channel)
      : rank_(rank), nranks_(nranks), channel_(channel) {}

  void AllReduce(const Operation& operation);
  void ReduceScatter(const Operation& operation);
  void AllGather(const Operation& operation);
  void Broadcast(const Operation& operation);
  void Reduce(const Operation& operation);

 private:
  // What passes through a rank on its way (ReduceScatter, Reduce) is cut into chunks of this size,
  // so that scratch memory does not grow with the message.
  static constexpr size_t kChunkBytes = size_t{256} << 10;

  int Rank(int offset) const;  // rank_ + offset, round the ring
  int Divisor(const Operation& operation) const;
  char* Scratch(size_t bytes);
  int64_t NextSend() const { return static_cast<int64_t>(channel_->sends().size()); }
  int64_t NextReceive() const { return static_cast<int64_t>(channel_->receives().size()); }

  const int rank_;
  const int nranks_;
  Channel* const channel_;
  std::deque<std::vector<char>> scratch_;
};

}  // namespace c4::nccl_cpu
