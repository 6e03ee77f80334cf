// An agent's batch, untrusted, to records. A record that cannot be true is refused and counted and
// costs only itself; a batch is never refused as a whole, because an agent would resend it for
// ever.
//
// Pure, so any thread may call it: the thread that reads the stream does. What needs to know other
// nodes (whose rank is it, who else is in a communicator) is decided later, by the owner.
#pragma once

#include <string>
#include <vector>

#include "analyzer/ingest/reject_counts.h"
#include "analyzer/model/trace.h"
#include "c4/v1/telemetry.pb.h"

namespace c4::ingest {

// One process's membership in a communicator.
struct Membership {
  std::string job;
  std::uint32_t incarnation = 0;
  int rank = -1;
  std::string id;
  std::string name;
  int member = -1;
  int size = 0;
  model::TimeNs time = 0;
  bool gone = false;  // destroyed, aborted, failed: nothing more comes from this member
  int async_error = 0;
};

// What a Rank says beside its RankRecord.
struct RankNotice {
  model::RankRecord rank;
  model::TimeNs started_at = 0;
  std::string nccl_version;  // "2.28.9"; empty: unknown
};

struct DecodedBatch {
  std::uint64_t sequence = 0;
  model::TimeNs complete_until = 0;  // 0: not usable
  std::vector<RankNotice> ranks;
  std::vector<Membership> memberships;
  std::vector<model::Record> records;  // everything else
  RejectCounts rejected;
  std::size_t size_bytes = 0;  // of the message, for the bound of the queue
};

// `node` is the one that the stream was opened for: a batch cannot speak for another. Facts later
// than `time_max` are refused.
DecodedBatch DecodeBatch(v1::Batch&& batch, const std::string& node, model::TimeNs time_max);

// "00000000deadbeef": the id of a communicator as it is shown everywhere.
std::string CommunicatorId(std::uint64_t id);

// 22809 is "2.28.9"; 0 is "".
std::string NcclVersion(std::uint32_t version);

}  // namespace c4::ingest
