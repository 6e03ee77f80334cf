// A hook file of any bytes must cost itself and nothing else: no crash, no endless loop, memory in
// proportion to its size, and only values that can be true come out.
//
// The input is a file. Its first byte says how much help it gets: mostly a valid header is put over
// its beginning, so that the tables behind are reached. Later passes see the file changed by the
// end of the input, as by a hostile writer.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "agent/rings/ring_reader.h"
#include "common/abi/layout.h"
#include "common/check.h"

namespace c4::agent {
namespace {

constexpr std::int64_t kNow = 1'000'000'000'000;
constexpr std::uint32_t kCommunicators = 2;
constexpr std::uint32_t kOperations = 16;
constexpr std::uint64_t kOperationOffset =
    abi::kHeaderBytes + kCommunicators * sizeof(abi::CommunicatorRecord);
constexpr std::uint64_t kFileBytes = kOperationOffset + kOperations * sizeof(abi::OperationRecord);

template <typename T>
void Put(std::vector<std::uint8_t>* file, std::size_t offset, T value) {
  std::memcpy(file->data() + offset, &value, sizeof(value));
}

void PutHeader(std::vector<std::uint8_t>* file) {
  file->resize(kFileBytes);
  Put(file, offsetof(abi::Header, magic), abi::kMagic);
  Put(file, offsetof(abi::Header, version), abi::kVersion);
  Put(file, offsetof(abi::Header, file_bytes), kFileBytes);
  Put(file, offsetof(abi::Header, communicator_capacity), kCommunicators);
  Put(file, offsetof(abi::Header, communicator_bytes),
      static_cast<std::uint32_t>(sizeof(abi::CommunicatorRecord)));
  Put(file, offsetof(abi::Header, communicator_offset), std::uint64_t{abi::kHeaderBytes});
  Put(file, offsetof(abi::Header, operation_capacity), kOperations);
  Put(file, offsetof(abi::Header, operation_bytes),
      static_cast<std::uint32_t>(sizeof(abi::OperationRecord)));
  Put(file, offsetof(abi::Header, operation_offset), kOperationOffset);
  Put(file, offsetof(abi::Header, state), std::uint32_t{1});
}

void CheckPass(const RingPass& pass) {
  // A pass cannot give more than the ring holds, each perhaps once more as an update.
  C4_CHECK(pass.operations.size() <= 4 * std::size_t{abi::kOperationCapacity});
  for (const auto& operation : pass.operations) {
    C4_CHECK(operation.enqueue_ns > 0);
    C4_CHECK(static_cast<std::uint8_t>(operation.kind) < abi::kOperationKindCount);
    C4_CHECK(operation.root >= -1 && operation.peer >= -1);
  }
}

}  // namespace
}  // namespace c4::agent

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace c4::agent;
  if (size < 2) return 0;
  const std::uint8_t mode = data[0];
  std::vector<std::uint8_t> file(data + 1, data + size);
  if (mode < 224) {
    PutHeader(&file);
    // A head within a few laps, or anything.
    if (mode < 192) Put(&file, offsetof(c4::abi::Header, operation_head), std::uint64_t{mode} % 48);
  }
  const int fd = memfd_create("fuzz", MFD_CLOEXEC);
  C4_CHECK(fd >= 0);
  C4_CHECK(write(fd, file.data(), file.size()) == static_cast<ssize_t>(file.size()));
  const int writer = dup(fd);
  auto opened = HookFile::FromDescriptor(fd, "fuzz");
  C4_CHECK(opened.ok());
  auto reader = RingReader::Open(*std::move(opened));
  if (reader.ok()) {
    RingPass pass;
    for (std::int64_t i = 0; i < 4; ++i) {
      pass.Clear();
      if (!(*reader)->Poll(kNow + i * 1'000'000'000, &pass).ok()) break;
      CheckPass(pass);
      if (i == 1) (*reader)->Rewind();
      // The writer strikes: the end of the input goes somewhere into the file.
      const std::size_t count = size > 16 ? 16 : size - 1;
      const std::uint64_t place = (std::uint64_t{data[size - 1]} * 53 + mode * 31U) % kFileBytes;
      C4_CHECK(pwrite(writer, data + size - count, count, static_cast<off_t>(place)) > 0);
      if (mode % 16 == 7) C4_CHECK(ftruncate(writer, static_cast<off_t>(place)) == 0);
    }
  }
  close(writer);
  return 0;
}
