#include "agent/uplink/spool.h"

#include <algorithm>

namespace c4::agent {

// The entry itself is not free: a day of empty batches is 432,000 of them.
std::size_t Spool::Cost(const Payload& payload) {
  return payload.Bytes() + sizeof(Entry) + payload.operation_counts.size() * sizeof(OperationCount);
}

void Spool::Push(Payload payload) {
  Append(std::move(payload));
  EnforceBounds();
}

void Spool::Append(Payload payload) {
  bytes_ += Cost(payload);
  entries_.push_back({next_sequence_++, 0, std::move(payload)});
}

void Spool::Restart(Payload first) {
  std::erase_if(entries_, [](const Entry& entry) { return entry.payload.control_records == 0; });
  sent_ = sent_bytes_ = bytes_ = 0;
  for (Entry& entry : entries_) {
    entry.attempts = 0;
    entry.payload.operations = {};
    entry.payload.operation_counts = {};
    // It spoke of operations that are yet to come.
    entry.payload.complete_until_ns = 0;
    bytes_ += Cost(entry.payload);
  }
  stripped_ = entries_.size();
  Push(std::move(first));
}

const Spool::Entry* Spool::NextToSend() {
  if (sent_ == entries_.size()) {
    return nullptr;
  }
  Entry& entry = entries_[sent_];
  const std::size_t cost = Cost(entry.payload);
  // One that is larger than the window alone must go through all the same.
  if (sent_ > 0 && sent_bytes_ + cost > options_.unacknowledged_bytes_max) {
    return nullptr;
  }
  ++sent_;
  sent_bytes_ += cost;
  ++entry.attempts;
  return &entry;
}

bool Spool::Acknowledge(std::uint64_t sequence) {
  if (sequence >= next_sequence_) {
    return false;
  }
  // Sent or not: a peer that says it has it, has it (the acknowledgement of an earlier stream).
  while (!entries_.empty() && entries_.front().sequence <= sequence) {
    PopFront();
  }
  return true;
}

void Spool::Unsend() { sent_ = sent_bytes_ = 0; }

bool Spool::DropPoison(int attempts) {
  if (entries_.empty() || entries_.front().attempts < attempts) {
    return false;
  }
  Entry& entry = entries_.front();
  DropOperations(&entry, &rejected_);
  if (entry.payload.control_records > 0) {
    rejected_[{"", -1}] += entry.payload.control_records;
  }
  PopFront();
  return true;
}

void Spool::EnforceBounds() {
  while (bytes_ > options_.bytes_max && stripped_ < entries_.size()) {
    DropOperations(&entries_[stripped_++], &dropped_);
  }
  while (bytes_ > options_.bytes_max && entries_.size() > 1) {
    if (entries_.front().payload.control_records > 0) {
      dropped_[{"", -1}] += entries_.front().payload.control_records;
    }
    PopFront();
  }
}

void Spool::DropOperations(Entry* entry, Losses* losses) {
  const std::size_t before = Cost(entry->payload);
  for (const OperationCount& lost : entry->payload.operation_counts) {
    (*losses)[{lost.job, lost.rank}] += lost.count;
  }
  entry->payload.operation_counts = {};
  entry->payload.operations = {};
  const std::size_t freed = before - Cost(entry->payload);
  bytes_ -= freed;
  if (sent_ > 0 && entry->sequence <= entries_[sent_ - 1].sequence) {
    sent_bytes_ -= freed;
  }
}

void Spool::PopFront() {
  const std::size_t cost = Cost(entries_.front().payload);
  bytes_ -= cost;
  if (sent_ > 0) {
    --sent_;
    sent_bytes_ -= cost;
  }
  if (stripped_ > 0) {
    --stripped_;
  }
  entries_.pop_front();
}

}  // namespace c4::agent
