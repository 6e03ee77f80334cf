#include "tests/unit/agent/scratch.h"

#include <cstdlib>
#include <fstream>

#include "common/check.h"

namespace c4::agent::testing {

Scratch::Scratch() {
  path_ = std::filesystem::temp_directory_path().string() + "/c4-agent-test-XXXXXX";
  C4_CHECK(mkdtemp(path_.data()) != nullptr);
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void Scratch::Write(const std::string& name, const std::string& content) const {
  const std::filesystem::path path = Path(name);
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

void Scratch::Remove(const std::string& name) const { std::filesystem::remove_all(Path(name)); }

}  // namespace c4::agent::testing
