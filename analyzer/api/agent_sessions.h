// What the owner knows of each node's agent: which stream is the current one, which batch comes
// next, and counters for people. Decides what a Hello and a sequence number mean; applies nothing.
//
// A node has one agent: the newest stream wins, because the one before may be the dead half of a
// connection that nobody has noticed. Owner thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "analyzer/api/agent_link.h"
#include "analyzer/api/intake_queue.h"
#include "analyzer/model/time.h"
#include "c4/v1/service.pb.h"

namespace c4::api {

class AgentSessions {
 public:
  enum class Decision {
    kApply,
    kDuplicate,  // taken in already: acknowledge again
    kForeign,    // of a stream that is not the node's current one any more
  };

  // Welcomes the stream, or closes it when there are too many nodes.
  void Hello(const Intake& intake, const AgentHello& hello, const std::string& analyzer_instance);
  Decision Batch(const Intake& intake, std::uint64_t sequence);
  // A batch is applied: counts it and acknowledges all up to it.
  void Applied(const Intake& intake, const ingest::DecodedBatch& batch, std::uint64_t rejected);
  void Gone(const Intake& intake);

  // Ends all streams.
  void CloseAll(const absl::Status& why);

  void Fill(v1::GetStatusResponse& status) const;

 private:
  struct Session {
    std::shared_ptr<AgentLink> link;  // null: not connected
    std::string agent_instance;
    std::string agent_version;
    std::uint64_t next_sequence = 0;  // 0: this instance has not sent a batch yet
    model::TimeNs complete_until = 0;
    std::uint64_t batches = 0;
    std::uint64_t records = 0;
    std::uint64_t rejected = 0;
  };
  Session* Current(const Intake& intake);

  std::map<std::string, Session> sessions_;
};

}  // namespace c4::api
