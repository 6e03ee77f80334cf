// Where recordings (c4ctl record) leave the owner's stream of facts: everything that the engine is
// given, in that order, as lines of the trace format, to any number of clients up to
// kRecordingsMax.
//
// The owner writes, gRPC's threads come and go; thread-safe. Nobody waits for a client: a listener
// takes a chunk and returns, and one that has no room is dropped. While nobody records, a record
// costs the owner one relaxed load.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "analyzer/api/mutex.h"
#include "analyzer/api/trace_chunk.h"
#include "analyzer/model/trace.h"

namespace c4::api {

// Called by the owner with the tap locked: takes the value and returns.
class TraceListener {
 public:
  virtual ~TraceListener() = default;
  // False: no room. The listener has ended and hears nothing more.
  virtual bool OnChunk(TraceChunk chunk) = 0;
  // Nothing comes any more. OnChunk() has been called with everything that came before.
  virtual void OnEnd(const absl::Status& why) = 0;
};

class TraceTap {
 public:
  // Each costs the owner the formatting and copying of every record: people, not programs, record.
  static constexpr std::size_t kRecordingsMax = 8;

  using Give = std::function<void(const model::Record&)>;

  // Any thread. The listener hears of something from the owner's next Admit() on. `job` empty: all.
  // kResourceExhausted: enough are recording; kUnavailable: closed.
  absl::Status Add(const std::string& job, TraceListener* listener);
  // Afterwards the listener is not called any more. Unknown ones are ignored.
  void Remove(TraceListener* listener);

  // Owner, from here on. Whether anybody listens or wants to.
  bool active() const { return active_.load(std::memory_order_relaxed); }

  // Lets those in who have come since the last call: they get what `visit` gives, then
  // `watermark`, up to which all has been judged.
  void Admit(const std::function<void(const Give&)>& visit, model::TimeNs watermark);

  void Write(const model::Record& record);
  void WriteWatermark(model::TimeNs watermark);

  // Ends all recordings, now and in future.
  void Close(const absl::Status& why);

 private:
  struct Client {
    std::string job;
    TraceListener* listener = nullptr;
    bool admitted = false;
    TraceChunk chunk;  // not handed over yet
  };

  // Each of these: false when the client has no room.
  static bool Append(Client& client, const model::Record& record, std::string& line);
  static bool AppendWatermark(Client& client, model::TimeNs watermark);
  static bool HandOver(Client& client);
  static bool Introduce(Client& client, const std::function<void(const Give&)>& visit,
                        model::TimeNs watermark);
  // Keeps the admitted clients for which `write` says true.
  template <typename WriteTo>
  void ForEach(const WriteTo& write) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteActive() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    active_.store(!clients_.empty(), std::memory_order_relaxed);
  }

  std::atomic<bool> active_ = false;
  Mutex mutex_;
  std::vector<Client> clients_ ABSL_GUARDED_BY(mutex_);
  absl::Status closed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace c4::api
