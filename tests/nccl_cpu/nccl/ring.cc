// Implementation of ring.h. In each pass, step k sends what step k-1 received (step 0: own data).
#include "tests/nccl_cpu/nccl/ring.h"

#include <algorithm>
#include <cstring>

namespace c4::nccl_cpu {
namespace {

void CopyOwn(char* destination, const char* source, size_t bytes) {
  if (bytes > 0 && destination != source) std::memmove(destination, source, bytes);
}

}  // namespace

int RingBuilder::Rank(int offset) const { return ((rank_ + offset) % nranks_ + nranks_) % nranks_; }

int RingBuilder::Divisor(const Operation& operation) const {
  return operation.op == ncclAvg ? nranks_ : 1;
}

char* RingBuilder::Scratch(size_t bytes) { return scratch_.emplace_back(bytes).data(); }

void RingBuilder::AllReduce(const Operation& operation) {
  channel_->AwaitReadiness();
  const size_t element = TypeBytes(operation.type);
  const auto n = static_cast<size_t>(nranks_);
  const size_t per_block = (operation.count + n - 1) / n;
  const auto begin = [&](int block) {
    return std::min(static_cast<size_t>(block) * per_block, operation.count) * element;
  };
  const auto bytes = [&](int block) { return begin(block + 1) - begin(block); };
  const int64_t first = NextReceive();
  const int reduce_steps = nranks_ - 1;
  for (int k = 0; k < 2 * reduce_steps; ++k) {
    // The first pass leaves block r+1 complete on rank r, which sends it first in the second.
    const int outgoing = k < reduce_steps ? Rank(-k) : Rank(1 - (k - reduce_steps));
    const int incoming = Rank(-1 + (k < reduce_steps ? -k : 1 - (k - reduce_steps)));
    const char* source = k == 0 ? operation.send : operation.receive;
    channel_->sends().push_back(
        {source + begin(outgoing), bytes(outgoing), k == 0 ? kNoSegment : first + k - 1});
    ReceiveSegment segment{operation.receive + begin(incoming), bytes(incoming)};
    if (k < reduce_steps) {
      segment.operand = operation.send + begin(incoming);
      segment.type = operation.type;
      segment.op = operation.op;
      if (k == reduce_steps - 1) segment.divisor = Divisor(operation);
    }
    channel_->receives().push_back(segment);
  }
}

void RingBuilder::ReduceScatter(const Operation& operation) {
  channel_->AwaitReadiness();
  const size_t element = TypeBytes(operation.type);
  const size_t block = operation.count * element;
  const size_t chunk = std::min(block, kChunkBytes / element * element);
  const int steps = nranks_ - 1;
  // One slot per step but the last, which goes to the user's buffer.
  char* slots = Scratch(static_cast<size_t>(steps - 1) * chunk);
  const auto slot = [&](int k) { return slots + static_cast<size_t>(k) * chunk; };
  for (size_t offset = 0; offset < block; offset += chunk) {
    const size_t bytes = std::min(chunk, block - offset);
    const int64_t first_send = NextSend();
    const int64_t first_receive = NextReceive();
    const auto own = [&](int rank) {
      return operation.send + static_cast<size_t>(rank) * block + offset;
    };
    for (int k = 0; k < steps; ++k) {
      const char* source = k == 0 ? own(Rank(-1)) : slot(k - 1);
      channel_->sends().push_back({source, bytes, k == 0 ? kNoSegment : first_receive + k - 1});
      const bool last = k == steps - 1;
      ReceiveSegment segment{last ? operation.receive + offset : slot(k), bytes, own(Rank(-2 - k)),
                             operation.type, operation.op};
      if (last) segment.divisor = Divisor(operation);
      // The slot is free once the previous chunk has left it: its send of step k+1.
      if (!last && offset > 0) segment.after_sent = first_send - steps + k + 1;
      channel_->receives().push_back(segment);
    }
  }
}

void RingBuilder::AllGather(const Operation& operation) {
  channel_->AwaitReadiness();
  const size_t block = operation.count * TypeBytes(operation.type);
  const auto place = [&](int rank) {
    return operation.receive + static_cast<size_t>(rank) * block;
  };
  CopyOwn(place(rank_), operation.send, block);
  const int64_t first = NextReceive();
  for (int k = 0; k < nranks_ - 1; ++k) {
    const char* source = k == 0 ? operation.send : place(Rank(-k));
    channel_->sends().push_back({source, block, k == 0 ? kNoSegment : first + k - 1});
    channel_->receives().push_back({place(Rank(-k - 1)), block});
  }
}

void RingBuilder::Broadcast(const Operation& operation) {
  const size_t bytes = operation.count * TypeBytes(operation.type);
  if (rank_ == operation.peer) {
    CopyOwn(operation.receive, operation.send, bytes);
    channel_->sends().push_back({operation.send, bytes});
    return;
  }
  const int64_t received = NextReceive();
  channel_->receives().push_back({operation.receive, bytes});
  const bool last_of_chain = Rank(1) == operation.peer;
  if (!last_of_chain) channel_->sends().push_back({operation.receive, bytes, received});
}

void RingBuilder::Reduce(const Operation& operation) {
  const size_t element = TypeBytes(operation.type);
  const size_t total = operation.count * element;
  const bool first_of_chain = Rank(-1) == operation.peer;
  if (first_of_chain) {
    channel_->sends().push_back({operation.send, total});
    return;
  }
  if (rank_ == operation.peer) {
    channel_->receives().push_back({operation.receive, total, operation.send, operation.type,
                                    operation.op, Divisor(operation)});
    return;
  }
  const size_t chunk = std::min(total, kChunkBytes / element * element);
  char* slots[2] = {Scratch(chunk), Scratch(chunk)};
  size_t index = 0;
  for (size_t offset = 0; offset < total; offset += chunk, ++index) {
    const size_t bytes = std::min(chunk, total - offset);
    char* slot = slots[index % 2];
    ReceiveSegment segment{slot, bytes, operation.send + offset, operation.type, operation.op};
    if (index >= 2) segment.after_sent = NextSend() - 2;
    channel_->sends().push_back({slot, bytes, NextReceive()});
    channel_->receives().push_back(segment);
  }
}

}  // namespace c4::nccl_cpu
