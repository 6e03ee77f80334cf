// What a rank of a test needs of its device: a context, a stream, a world communicator, and
// buffers. Every call is checked: a failure ends the rank. Thread: the rank's main thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/nccl_cpu/include/c4_nccl_abi.h"
#include "tests/unit/nccl_cpu/rank_processes.h"

namespace c4::testing {

using Bytes = std::vector<char>;

class Gpu {
 public:
  struct Buffer {
    std::shared_ptr<char> memory;
    size_t bytes = 0;
    char* get() const { return memory.get(); }
    CUdeviceptr device() const { return reinterpret_cast<uintptr_t>(memory.get()); }
  };

  // Device `rank`, and the communicator of all ranks.
  explicit Gpu(Rank& rank);
  // A device without a communicator.
  explicit Gpu(int device);
  ~Gpu();

  ncclComm_t comm() const { return comm_; }
  CUstream stream() const { return stream_; }
  // The communicator was destroyed or aborted by the test.
  void ForgetComm() { comm_ = nullptr; }

  // Destroyed with this object.
  CUstream NewStream(unsigned flags = CU_STREAM_NON_BLOCKING);
  CUevent NewEvent(unsigned flags = CU_EVENT_DEFAULT);
  CUevent Record(CUstream stream);  // a new event, recorded there
  Buffer Allocate(size_t bytes);
  Buffer Upload(const Bytes& bytes);
  Bytes Download(const Buffer& buffer);  // after what is on stream()
  void Fill(const Buffer& buffer, char value);
  void CopyOnStream(char* destination, const char* source, size_t bytes);

  // Kernels. A stuck stream runs on once Release() is called (from any thread).
  void LaunchCompute(CUstream stream, uint64_t duration_ns);
  struct Stuck {
    uint32_t* flag;
    void Release() const;
  };
  Stuck LaunchStuck(CUstream stream);
  CUfunction Kernel(const char* name);

 private:
  CUmodule module_ = nullptr;
  std::vector<CUstream> streams_;
  std::vector<CUevent> events_;
  CUstream stream_ = nullptr;
  ncclComm_t comm_ = nullptr;
};

// A device with nothing on it, for tests that need no communicator.
void UseDevice(int ordinal);

}  // namespace c4::testing
