#include "analyzer/app/service.h"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <utility>

#include "common/random_id.h"
#include "common/status_macros.h"
#include "common/string_view.h"
#include "fmt/format.h"
#include "spdlog/spdlog.h"

namespace c4::app {
namespace {

// After a restart every agent comes back within its longest backoff; who has not by then is judged.
constexpr model::DurationNs kSettleAfterRestart = 10 * model::kSecond;

// Appears whole or not at all: a script waits for the file and reads it at once.
absl::Status WritePortFile(const std::string& path, int port) {
  const std::string temporary = path + ".new";
  std::ofstream file(temporary, std::ios::trunc);
  file << port << '\n';
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, fmt::format("cannot write {}", path));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Service>> Service::Start(const Options& options, const Clock* clock,
                                                        std::unique_ptr<api::EnginePort> engine) {
  auto service = std::unique_ptr<Service>(new Service());
  C4_ASSIGN_OR_RETURN(service->store_, store::SqliteStore::Open(options.store));
  if (!options.record.empty()) {
    C4_ASSIGN_OR_RETURN(service->recorder_, ingest::TraceRecorder::Open(options.record));
  }
  service->engine_ = std::move(engine);

  api::Owner::Options owner_options;
  owner_options.analyzer_instance = RandomId();
  if (!service->store_->created()) owner_options.watermark.settle = kSettleAfterRestart;
  service->owner_ = std::make_unique<api::Owner>(
      owner_options, api::Owner::Dependencies{.clock = clock,
                                              .engine = service->engine_.get(),
                                              .store = service->store_.get(),
                                              .board = &service->board_,
                                              .recorder = service->recorder_.get(),
                                              .tap = &service->tap_});
  C4_RETURN_IF_ERROR(service->owner_->Restore());

  C4_ASSIGN_OR_RETURN(
      service->server_,
      api::Server::Start({.listen = options.listen, .insecure = options.insecure, .query = {}},
                         clock, &service->queue_, &service->board_, &service->tap_));
  service->owner_thread_ = std::make_unique<api::OwnerThread>(
      api::OwnerThread::Options{}, &service->queue_, service->owner_.get());
  if (!options.port_file.empty()) {
    C4_RETURN_IF_ERROR(WritePortFile(options.port_file, service->port()));
  }
  return service;
}

void Service::Stop() {
  if (owner_thread_ != nullptr) owner_thread_->Stop();
  if (server_ != nullptr) server_->Stop();
  if (recorder_ != nullptr && !recorder_->status().ok()) {
    spdlog::error("the recording is incomplete, {} lines are missing: {}", recorder_->lost_lines(),
                  ToStd(recorder_->status().message()));
  }
  recorder_.reset();
}

}  // namespace c4::app
