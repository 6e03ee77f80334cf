// c4-analyzer put together: store, engine, owner thread, server. The order of construction is the
// order of what needs what; Stop() goes the other way.
//
// Used by one thread (main, or a test's).
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analyzer/api/board.h"
#include "analyzer/api/engine_port.h"
#include "analyzer/api/intake_queue.h"
#include "analyzer/api/owner.h"
#include "analyzer/api/owner_thread.h"
#include "analyzer/api/server.h"
#include "analyzer/api/trace_tap.h"
#include "analyzer/app/options.h"
#include "analyzer/ingest/trace_recorder.h"
#include "analyzer/store/sqlite_store.h"
#include "common/clock.h"

namespace c4::app {

class Service {
 public:
  // Runs when this returns. `clock` outlives the service.
  static absl::StatusOr<std::unique_ptr<Service>> Start(const Options& options, const Clock* clock,
                                                        std::unique_ptr<api::EnginePort> engine);
  ~Service() { Stop(); }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  const std::string& address() const { return server_->address(); }
  int port() const { return server_->port(); }

  // Streams end, what was acknowledged is in the store and in the recording. Idempotent.
  void Stop();

 private:
  Service() = default;

  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<ingest::TraceRecorder> recorder_;
  std::unique_ptr<api::EnginePort> engine_;
  api::Board board_;
  api::TraceTap tap_;
  api::IntakeQueue queue_;
  std::unique_ptr<api::Owner> owner_;
  std::unique_ptr<api::OwnerThread> owner_thread_;
  std::unique_ptr<api::Server> server_;
};

}  // namespace c4::app
