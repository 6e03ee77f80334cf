#include "analyzer/api/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>

#include <chrono>
#include <string_view>

#include "common/status_macros.h"
#include "fmt/format.h"

namespace c4::api {
namespace {

// A batch of kRecordsPerBatchMax records is about 8 MB.
constexpr int kReceiveBytesMax = 16 << 20;
// A page of verdicts with all their evidence.
constexpr int kSendBytesMax = 64 << 20;
// 2,000 agents and some hundred clients need one stream each; a connection carries a few.
constexpr int kStreamsPerConnectionMax = 256;
// Agents ping when idle; gRPC's default would punish them (too_many_pings).
constexpr int kPingIntervalMinMs = 5'000;
// A client that vanished without a word is noticed within half a minute.
constexpr int kKeepaliveMs = 20'000;
constexpr int kKeepaliveTimeoutMs = 10'000;

std::string_view HostOf(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return address;
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host;
}

// The one place that decides how connections are protected. TLS will be chosen here.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> Credentials(
    const Server::Options& options) {
  if (!options.insecure && !IsLoopback(options.listen)) {
    return absl::InvalidArgumentError(fmt::format(
        "refusing to listen on {}: others could reach it, and connections are neither encrypted "
        "nor "
        "authenticated. Listen on 127.0.0.1, or pass --insecure if the network is trusted.",
        options.listen));
  }
  return grpc::InsecureServerCredentials();
}

}  // namespace

bool IsLoopback(const std::string& address) {
  const std::string_view host = HostOf(address);
  if (host == "localhost" || host == "::1") return true;
  // Digits only: 127.example.com is a name.
  return host.starts_with("127.") &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(Options options, const Clock* clock,
                                                      IntakeQueue* queue, Board* board,
                                                      TraceTap* tap) {
  C4_ASSIGN_OR_RETURN(const auto credentials, Credentials(options));
  auto server = std::unique_ptr<Server>(new Server(options, clock, queue, board, tap));
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  builder.AddListeningPort(options.listen, credentials, &server->port_);
  builder.RegisterService(&server->telemetry_);
  builder.RegisterService(&server->query_);
  builder.SetMaxReceiveMessageSize(kReceiveBytesMax);
  builder.SetMaxSendMessageSize(kSendBytesMax);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsPerConnectionMax);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kPingIntervalMinMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  // Two analyzers on one port would share the agents between them, and neither would know.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr || server->port_ == 0) {
    return absl::UnavailableError(fmt::format(
        "cannot listen on {}: is the address right and the port free?", options.listen));
  }
  server->address_ =
      fmt::format("{}:{}", options.listen.substr(0, options.listen.rfind(':')), server->port_);
  return server;
}

void Server::Stop() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  server_->Wait();
  server_ = nullptr;
}

}  // namespace c4::api
