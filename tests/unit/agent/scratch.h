// A directory that lives as long as the test, and files in it.
#pragma once

#include <filesystem>
#include <string>

namespace c4::agent::testing {

class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  // Creates the folders on the way; replaces what is there.
  void Write(const std::string& name, const std::string& content) const;
  void Remove(const std::string& name) const;
  std::string Path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace c4::agent::testing
