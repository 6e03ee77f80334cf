// Implementation of log.h.
#include "tests/nccl_cpu/nccl/log.h"

#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "tests/nccl_cpu/host_identity.h"

namespace c4::nccl_cpu {
namespace {

constexpr size_t kLineMax = 1024;

enum class Level { kNone, kWarn, kInfo };

// Leaked on purpose: stream workers may still log while the process exits.
struct Log {
  Level level = Level::kNone;
  FILE* file = stdout;
  std::string host = cpu::HostName();
  std::mutex mutex;  // guards last_warning
  std::string last_warning;
};

std::string ExpandFileName(const char* pattern, const std::string& host) {
  std::string name;
  for (const char* at = pattern; *at != '\0'; ++at) {
    if (at[0] == '%' && at[1] == 'h') {
      name += host;
      ++at;
    } else if (at[0] == '%' && at[1] == 'p') {
      name += std::to_string(getpid());
      ++at;
    } else {
      name += *at;
    }
  }
  return name;
}

Log& TheLog() {
  static Log& log = *[] {
    auto* made = new Log;
    const char* level = std::getenv("NCCL_DEBUG");
    if (level == nullptr) return made;
    if (strcasecmp(level, "WARN") == 0) made->level = Level::kWarn;
    if (strcasecmp(level, "INFO") == 0 || strcasecmp(level, "TRACE") == 0) {
      made->level = Level::kInfo;
    }
    if (const char* pattern = std::getenv("NCCL_DEBUG_FILE")) {
      FILE* file = std::fopen(ExpandFileName(pattern, made->host).c_str(), "we");
      if (file != nullptr) made->file = file;
    }
    return made;
  }();
  return log;
}

// One write per line, so that the lines of several ranks on one terminal stay whole.
void Write(const Log& log, const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), log.file);
  std::fflush(log.file);
}

std::string Prefix(const Log& log) {
  return log.host + ":" + std::to_string(getpid()) + ":" + std::to_string(syscall(SYS_gettid));
}

}  // namespace

void LogInfo(int device, const char* format, ...) {
  Log& log = TheLog();
  if (log.level < Level::kInfo) return;
  char text[kLineMax];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  Write(log, Prefix(log) + " [" + std::to_string(device) + "] NCCL INFO " + text + "\n");
}

void LogWarn(const char* format, ...) {
  Log& log = TheLog();
  char text[kLineMax];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  {
    std::lock_guard lock(log.mutex);
    log.last_warning = text;
  }
  if (log.level < Level::kWarn) return;
  // append, not "\n" + …: GCC 12 sees an overlap there that is not one (-Wrestrict, PR 105651).
  std::string line("\n");
  line.append(Prefix(log)).append(" NCCL WARN ").append(text).append("\n");
  Write(log, line);
}

const char* LastWarning() {
  static thread_local char copy[kLineMax];
  Log& log = TheLog();
  std::lock_guard lock(log.mutex);
  std::snprintf(copy, sizeof(copy), "%s", log.last_warning.c_str());
  return copy;
}

}  // namespace c4::nccl_cpu
