#include "analyzer/cli/client.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "analyzer/api/grpc_status.h"
#include "common/status_macros.h"
#include "fmt/format.h"

namespace c4::cli {
namespace {

// Follows the analyzer's own bound on what it sends.
constexpr int kReceiveBytesMax = 64 << 20;
// A watch may be silent for days; a dead connection is noticed within half a minute.
constexpr int kKeepaliveMs = 20'000;
constexpr int kKeepaliveTimeoutMs = 10'000;

std::shared_ptr<grpc::Channel> Connect(const std::string& server) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kReceiveBytesMax);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  // After a restart of the analyzer a watch returns within a second or two.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2'000);
  // The analyzer is inside the cluster: a proxy for the way out would only be in the way.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(), arguments);
}

// gRPC wraps what a person wants to know: "failed to connect to all addresses; last error: UNKNOWN:
// ipv4:127.0.0.1:7400: Failed to connect to remote host: Connection refused".
std::string Reason(const std::string& message) {
  const std::size_t last = message.rfind(": ");
  if (!message.starts_with("failed to connect") || last == std::string::npos) return message;
  return message.substr(last + 2);
}

}  // namespace

Client::Client(std::string server, absl::Duration timeout)
    : server_(std::move(server)),
      timeout_(timeout),
      stub_(v1::QueryService::NewStub(Connect(server_))) {}

void Client::SetDeadline(grpc::ClientContext& context) const {
  context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(timeout_));
}

absl::Status Client::Explain(const grpc::Status& status) const {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return absl::OkStatus();
    case grpc::StatusCode::UNAVAILABLE:
      return absl::UnavailableError(
          fmt::format("cannot reach the analyzer at {}: {}\n"
                      "Is c4-analyzer running there? Choose another with --server or C4_SERVER.",
                      server_, Reason(status.error_message())));
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return absl::DeadlineExceededError(
          fmt::format("no answer from the analyzer at {} within {} (--timeout)", server_,
                      absl::FormatDuration(timeout_)));
    case grpc::StatusCode::UNIMPLEMENTED:
      return absl::UnimplementedError(fmt::format("{} is not a c4-analyzer, or an older one: {}",
                                                  server_, status.error_message()));
    default:
      return {static_cast<absl::StatusCode>(status.error_code()),
              fmt::format("the analyzer at {} answers: {}", server_, status.error_message())};
  }
}

absl::StatusOr<std::vector<v1::Verdict>> Client::Verdicts(const VerdictQuery& query) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::ListVerdictsRequest request;
  request.set_job(query.job);
  request.set_include_info(query.include_info);
  v1::ListVerdictsResponse response;
  if (const grpc::Status status = stub_->ListVerdicts(&context, request, &response); !status.ok()) {
    return Explain(status);
  }
  return std::vector<v1::Verdict>(response.verdicts().begin(), response.verdicts().end());
}

absl::StatusOr<std::vector<v1::Job>> Client::Jobs() {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::ListJobsResponse response;
  if (const grpc::Status status = stub_->ListJobs(&context, {}, &response); !status.ok()) {
    return Explain(status);
  }
  return std::vector<v1::Job>(response.jobs().begin(), response.jobs().end());
}

absl::StatusOr<v1::GetStatusResponse> Client::Status() {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::GetStatusResponse response;
  if (const grpc::Status status = stub_->GetStatus(&context, {}, &response); !status.ok()) {
    return Explain(status);
  }
  return response;
}

absl::Status Client::Watch(const VerdictQuery& query, const std::function<void()>& on_connected,
                           const std::function<bool(const v1::Verdict&)>& on_verdict) {
  grpc::ClientContext context;  // no deadline: it may take for ever
  v1::WatchVerdictsRequest request;
  request.set_job(query.job);
  request.set_include_info(query.include_info);
  const auto reader = stub_->WatchVerdicts(&context, request);
  reader->WaitForInitialMetadata();
  bool connected = false;
  v1::WatchVerdictsResponse response;
  while (true) {
    const bool more = reader->Read(&response);
    // A call that failed to connect has "initial metadata" as well; only its end tells.
    if (more && !std::exchange(connected, true)) on_connected();
    if (!more) break;
    if (!on_verdict(response.verdict())) {
      context.TryCancel();
      while (reader->Read(&response)) {
      }
      reader->Finish().error_code();
      return absl::OkStatus();
    }
  }
  const grpc::Status status = reader->Finish();
  if (status.ok()) return absl::UnavailableError("the analyzer ended the watch");
  return Explain(status);
}

absl::Status Client::Record(const std::string& job, int stop_fd, absl::Duration duration,
                            const std::function<bool(const v1::RecordTraceResponse&)>& on_message) {
  grpc::ClientContext context;
  C4_ASSIGN_OR_RETURN(
      const auto interrupt,
      Interrupt::Start({.stop_fd = stop_fd, .answer_within = timeout_, .duration = duration},
                       [&] { context.TryCancel(); }));
  v1::RecordTraceRequest request;
  request.set_job(job);
  const auto reader = stub_->RecordTrace(&context, request);
  bool answered = false;
  bool enough = false;
  v1::RecordTraceResponse response;
  while (reader->Read(&response)) {
    if (!std::exchange(answered, true)) interrupt->Answered();
    // After the end it is read on, so that the call can finish.
    if (enough || on_message(response)) continue;
    enough = true;
    context.TryCancel();
  }
  const grpc::Status status = reader->Finish();
  switch (interrupt->End()) {
    case Interrupt::Cause::kStopped:
    case Interrupt::Cause::kTimeIsUp:
      return absl::OkStatus();
    case Interrupt::Cause::kNoAnswer:
      return Explain(grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, ""));
    case Interrupt::Cause::kNone:
      break;
  }
  if (enough) return absl::OkStatus();
  if (status.ok()) return absl::UnavailableError("the analyzer ended the recording");
  // Once it has begun, "cannot reach" would be the wrong words.
  if (answered && status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    return absl::UnavailableError(
        fmt::format("lost the analyzer at {}: {}", server_, Reason(status.error_message())));
  }
  return Explain(status);
}

}  // namespace c4::cli
