// Keeps one stream to the analyzer and hands it the batches: greets, sends in order, resends what
// was not acknowledged, waits with jitter between attempts, and tells when the analyzer is a new
// one that must be told everything.
//
//   waiting ──> connecting ──Hello──> greeting ──Welcome──> streaming
//      ^            │                    │                      │
//      └────────────┴── error, time-out, nonsense, no progress ─┘
//
// One thread of its own, which owns the connection. Push() and the other public functions are for
// the event loop's thread and never wait for the network; memory is bounded by the spool. An
// analyzer that is away, slow or sends nonsense costs records (counted), nothing else.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agent/uplink/connection.h"
#include "agent/uplink/payload.h"
#include "agent/uplink/spool.h"
#include "c4/v1/telemetry.pb.h"
#include "common/backoff.h"
#include "common/clock.h"

namespace c4::agent {

class Uplink {
 public:
  struct Options {
    std::string address;  // HOST:PORT
    v1::Hello hello;
    Spool::Options spool;
    Backoff::Options backoff;
    // From the start of an attempt to the Welcome: a name lookup, a TCP and an HTTP/2 handshake.
    std::int64_t welcome_timeout_ns = 10 * kSecondNs;
    // Batches are under way and none is acknowledged: the stream or the analyzer is stuck. Long,
    // because an analyzer that is merely slow gets slower by resending.
    std::int64_t progress_timeout_ns = 30 * kSecondNs;
  };
  struct Stats {
    bool is_connected = false;  // welcomed
    std::uint64_t connects = 0;
    std::uint64_t acknowledged = 0;  // sequence
    std::size_t spool_bytes = 0;
    Spool::Losses dropped;
    Spool::Losses rejected;
  };

  // `uniform` gives random numbers in [0, 1). The clock outlives the uplink.
  Uplink(Options options, const Clock* clock, std::function<double()> uniform);
  ~Uplink();
  Uplink(const Uplink&) = delete;
  Uplink& operator=(const Uplink&) = delete;

  void Start();

  void Push(Payload payload);

  // True once for every new analyzer. The caller then gives it everything: PushRestart() with the
  // first part, Push() with the others. Nothing is sent before.
  bool TakeRestartRequest();
  void PushRestart(Payload first);

  Stats GetStats() const;

  // Sends what there is for at most `flush_ns`, then ends. Idempotent.
  void Stop(std::int64_t flush_ns);

 private:
  void Run();
  void HandleConnection(void* tag, bool ok);
  void HandleMessage();
  bool HandleWelcome(const v1::Welcome& welcome);
  void Pump();
  void Connect();
  void Fail(const std::string& why);
  void Ended();
  void CheckTimeouts(std::int64_t now_ns);
  std::int64_t NextDeadlineNs(std::int64_t now_ns) const;
  bool ShouldEnd(std::int64_t now_ns);
  void Wake();

  const Options options_;
  const Clock* const clock_;

  // The uplink's thread alone, and Start().
  grpc::CompletionQueue queue_;
  std::unique_ptr<Connection> connection_;
  Backoff backoff_;
  bool is_welcomed_ = false;
  bool has_progressed_ = false;  // an acknowledgement came on this stream
  std::string why_;              // we ended the stream
  std::string analyzer_instance_;
  std::int64_t connect_at_ns_ = 0;
  std::int64_t connected_at_ns_ = 0;
  std::int64_t progress_at_ns_ = 0;
  std::thread thread_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Spool spool_;
  Stats stats_;
  bool is_restart_wanted_ = false;   // not yet taken
  bool is_restart_awaited_ = false;  // not yet pushed
  bool is_woken_ = false;
  bool is_stopping_ = false;
  std::int64_t stop_at_ns_ = 0;
  std::unique_ptr<grpc::Alarm> alarm_;
};

}  // namespace c4::agent
