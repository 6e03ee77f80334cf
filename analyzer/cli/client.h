// Talks to the analyzer. Blocking; one owner thread. Errors are sentences for a person: what was
// tried, where, and what to do.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "analyzer/cli/interrupt.h"
#include "c4/v1/service.grpc.pb.h"

namespace c4::cli {

struct VerdictQuery {
  std::string job;  // empty: all
  bool include_info = false;
};

class Client {
 public:
  // Connects with the first call.
  Client(std::string server, absl::Duration timeout);

  absl::StatusOr<std::vector<v1::Verdict>> Verdicts(const VerdictQuery& query);
  absl::StatusOr<std::vector<v1::Job>> Jobs();
  absl::StatusOr<v1::GetStatusResponse> Status();

  // The verdicts of now, then each change, until `on_verdict` returns false (OK) or the stream
  // breaks (why). `on_connected` is called once the analyzer has answered.
  absl::Status Watch(const VerdictQuery& query, const std::function<void()>& on_connected,
                     const std::function<bool(const v1::Verdict&)>& on_verdict);

  // A recording, message by message, until `on_message` returns false or it is interrupted (OK: by
  // `stop_fd` or after `duration`), or until the analyzer ends it or is gone (why).
  absl::Status Record(const std::string& job, int stop_fd, absl::Duration duration,
                      const std::function<bool(const v1::RecordTraceResponse&)>& on_message);

  const std::string& server() const { return server_; }

 private:
  void SetDeadline(grpc::ClientContext& context) const;
  absl::Status Explain(const grpc::Status& status) const;

  const std::string server_;
  const absl::Duration timeout_;
  std::unique_ptr<v1::QueryService::Stub> stub_;
};

}  // namespace c4::cli
