// Turns what the agent has seen into batches: proto records, encoded, cut into pieces of bounded
// size. Reused from pass to pass, so that a record costs no allocation. One owner thread.
//
// Callers add a rank before its communicators and these before their operations; the order is kept
// over the pieces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/app/node_time.h"
#include "agent/app/rank_key.h"
#include "agent/limits.h"
#include "agent/rings/records.h"
#include "agent/telemetry/process_watch.h"
#include "agent/uplink/payload.h"
#include "c4/v1/telemetry.pb.h"

namespace c4::agent {

class BatchBuilder {
 public:
  explicit BatchBuilder(const NodeTime& time) : time_(time) {}

  void AddRank(const RankKey& key, const FileIdentity& identity, std::int32_t pid,
               const std::string& nic);
  void AddCommunicator(const RankKey& key, const CommunicatorInfo& communicator);
  void AddOperation(const RankKey& key, const OperationInfo& operation);
  void AddRunning(const RankKey& key, std::int64_t time_ns);
  void AddExited(const RankKey& key, std::int64_t time_ns, const ExitStatus& status);
  void AddError(const RankKey& key, std::int64_t time_ns, const std::string& text);
  void AddLoss(const std::string& job, std::int32_t rank, const std::string& cause,
               std::uint64_t count);

  // For records that need no translation here.
  v1::Batch* control() {
    if (++control_records_ > kControlRecordsPerBatch) Seal();
    return &control_;
  }
  const NodeTime& time() const { return time_; }

  // What was added since the last call; at least one piece. The last says `complete_until_ns`, the
  // others `partial_until_ns` (both since the epoch).
  std::vector<Payload> Take(std::int64_t complete_until_ns, std::int64_t partial_until_ns);

  // The earliest enqueue of the operations added since the last Take(); 0 when there are none.
  std::int64_t oldest_enqueue_ns() const { return oldest_enqueue_ns_; }

 private:
  void Seal();
  void Count(const RankKey& key);

  const NodeTime time_;
  v1::Batch control_;
  v1::Batch operations_;
  std::size_t control_records_ = 0;
  std::vector<OperationCount> counts_;
  std::vector<Payload> sealed_;
  std::int64_t oldest_enqueue_ns_ = 0;
};

}  // namespace c4::agent
