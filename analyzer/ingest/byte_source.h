// Where the bytes of a trace come from: a file, a compressed file, standard input, a string in
// tests. Blocking; one owner thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace c4::ingest {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills some of `buffer`; 0 at the end. Errors name the source.
  virtual absl::StatusOr<std::size_t> Read(std::span<char> buffer) = 0;
};

// `path` "-" is standard input; a name that ends in .zst is decompressed while reading.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenTrace(const std::string& path);

class StringSource final : public ByteSource {
 public:
  explicit StringSource(std::string text) : text_(std::move(text)) {}
  absl::StatusOr<std::size_t> Read(std::span<char> buffer) override {
    const std::size_t count = text_.copy(buffer.data(), buffer.size(), position_);
    position_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t position_ = 0;
};

}  // namespace c4::ingest
