// Messages of the stream to and from gRPC's byte buffers. A batch was encoded when it was made
// (payload.h) and is not decoded and encoded again to be sent: its frame is written by hand round
// it. Pure functions.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <optional>

#include "agent/uplink/spool.h"
#include "c4/v1/telemetry.pb.h"

namespace c4::agent {

// AgentMessage{hello}.
grpc::ByteBuffer HelloFrame(const v1::Hello& hello);

// AgentMessage{batch}: copies the payload, which may be dropped while gRPC still writes.
grpc::ByteBuffer BatchFrame(const Spool::Entry& entry);

// Nothing when the bytes are not an AnalyzerMessage.
std::optional<v1::AnalyzerMessage> ParseFrame(const grpc::ByteBuffer& bytes);

}  // namespace c4::agent
