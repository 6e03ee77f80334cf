// What the streams hand to the owner. The only place where their threads and the owner's meet.
//
// Back-pressure: when the queue is full, Push() still takes the message that is there (it is in
// memory anyway) and says that the stream must not be read on; the owner resumes it when it has
// taken the queue. So a stream adds at most one message over the bound, nothing is dropped, and
// agents keep what we do not read in their spool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "analyzer/api/agent_link.h"
#include "analyzer/api/mutex.h"
#include "analyzer/ingest/batch_decoder.h"

namespace c4::api {

// Checked: `node` is a proper name.
struct AgentHello {
  std::string agent_version;
  std::string agent_instance;
};

// The stream has ended.
struct AgentGone {};

struct Intake {
  std::shared_ptr<AgentLink> link;
  std::string node;
  std::int64_t received = 0;  // monotonic
  std::variant<AgentHello, ingest::DecodedBatch, AgentGone> message;
};

class IntakeQueue {
 public:
  struct Options {
    // Two batches of each of 2,000 agents.
    std::size_t messages_max = 4096;
    // What the owner applies in about a second.
    std::size_t bytes_max = std::size_t{128} << 20;
  };

  IntakeQueue() : IntakeQueue(Options{}) {}
  explicit IntakeQueue(Options options) : options_(options) {}

  // False: the stream pauses until its link's Resume() is called.
  bool Push(Intake intake);

  // Everything that is there; waits up to `timeout` for something. Afterwards paused streams have
  // been resumed. Owner thread.
  std::vector<Intake> TakeAll(absl::Duration timeout);

  // Ends a TakeAll() that waits, now and in future.
  void Stop();

  std::size_t paused() const;

 private:
  const Options options_;
  mutable Mutex mutex_;
  std::vector<Intake> messages_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::weak_ptr<AgentLink>> paused_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace c4::api
