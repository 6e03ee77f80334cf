// Writes a hook file as the hook does (common/abi/layout.h), and, on request, as it never should.
#pragma once

#include <cstdint>
#include <string>

#include "common/abi/layout.h"

namespace c4::agent::testing {

class FakeHook {
 public:
  struct Options {
    std::uint32_t operation_capacity = 8;
    std::uint32_t communicator_capacity = 4;
    std::int32_t pid = 4242;
    std::uint64_t start_ticks = 777;
    std::string job = "job1";
    std::int32_t rank = 3;
    std::uint32_t restart_count = 0;
    bool is_published = true;
  };

  FakeHook(const std::string& path, const Options& options);
  ~FakeHook();
  FakeHook(const FakeHook&) = delete;
  FakeHook& operator=(const FakeHook&) = delete;

  abi::Header& header() { return *reinterpret_cast<abi::Header*>(base_); }
  abi::CommunicatorRecord& communicator(std::uint32_t index);
  abi::OperationRecord& slot(std::uint64_t position);

  void AddCommunicator(std::uint32_t index, std::uint64_t id, std::int32_t rank = 0,
                       std::int32_t size = 2);

  // Claims the next position; what it returns is where it is.
  std::uint64_t Claim() { return header().operation_head.fetch_add(1); }
  // Fills and publishes a claimed position, in flight.
  void Publish(std::uint64_t position, std::int64_t enqueue_ns, std::uint32_t communicator = 0);
  std::uint64_t Begin(std::int64_t enqueue_ns, std::uint32_t communicator = 0);
  void End(std::uint64_t position, std::int64_t start_ns, std::int64_t end_ns);
  // A whole operation.
  std::uint64_t Run(std::int64_t enqueue_ns);

  std::uint64_t file_bytes() const { return bytes_; }

 private:
  char* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t communicator_offset_ = 0;
  std::uint64_t operation_offset_ = 0;
};

}  // namespace c4::agent::testing
