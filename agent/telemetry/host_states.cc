#include "agent/telemetry/host_states.h"

#include <array>
#include <cmath>
#include <utility>

#include "agent/limits.h"
#include "agent/telemetry/sys_files.h"

namespace c4::agent {
namespace {

constexpr std::array<CollectorField, 5> kFields = {{
    {"state", "", "R S D T Z … of /proc/<pid>/stat"},
    {"wchan", "", "kernel function that the main thread waits in"},
    {"cpu", "cores", "CPU time used since the look before"},
    {"read_bytes_per_s", "B/s", "from storage, /proc/<pid>/io"},
    {"write_bytes_per_s", "B/s", "to storage, /proc/<pid>/io"},
}};
constexpr CollectorInfo kInfo = {"host_states", kSecondNs, 2 * kSecondNs, kFields};

constexpr std::int64_t kRepeatNs = 5 * kSecondNs;
// A process that sleeps and wakes shows another kernel function at every look; only one that does
// next to nothing is waiting there.
constexpr double kIdleCores = 0.05;
constexpr double kCoresStep = 0.5;

// Runnable and sleeping alternate all the time in a healthy process.
bool IsOrdinary(char state) { return state == 'R' || state == 'S' || state == 'I'; }

bool HasChanged(const HostStateSample& told, const HostStateSample& now) {
  const bool is_other_state =
      told.state != now.state && !(IsOrdinary(told.state) && IsOrdinary(now.state));
  const bool is_other_wait = told.wchan != now.wchan && now.cpu_cores < kIdleCores;
  return is_other_state || is_other_wait || std::abs(told.cpu_cores - now.cpu_cores) >= kCoresStep;
}

// 0 when a counter went back.
double Rate(std::uint64_t before, std::uint64_t now, double seconds) {
  return now > before && seconds > 0 ? static_cast<double>(now - before) / seconds : 0;
}

}  // namespace

const CollectorInfo& HostStates::info() const { return kInfo; }

Outcome HostStates::Collect(std::int64_t now_ns, Samples* samples, std::string* error) {
  const std::vector<WatchedProcess> processes = processes_->Get();
  const std::size_t before = samples->size();
  std::map<std::int32_t, Known> gone = std::exchange(known_, {});
  int failures = 0;
  for (const WatchedProcess& process : processes) {
    if (auto known = gone.extract(process.pid);
        !known.empty() && known.mapped().start_ticks == process.start_ticks) {
      known_.insert(std::move(known));
    }
    failures += LookAt(process, now_ns, samples) ? 0 : 1;
  }
  // One that has just ended is the process watch's to report.
  if (failures > 0 && failures == static_cast<int>(processes.size())) {
    *error = "no process can be read under " + proc_root_;
    return Outcome::kFailed;
  }
  return samples->size() > before ? Outcome::kData : Outcome::kNoData;
}

bool HostStates::LookAt(const WatchedProcess& process, std::int64_t now_ns, Samples* samples) {
  const std::string path = proc_root_ + "/" + std::to_string(process.pid);
  const std::optional<ProcStat> stat = ParseStat(ReadText(path + "/stat").value_or(""));
  if (!stat || stat->start_ticks != process.start_ticks) {
    known_.erase(process.pid);
    return false;
  }
  // Both need more rights than stat; without them they are empty.
  const Look now = {now_ns, *stat, ParseIo(ReadText(path + "/io").value_or("")).value_or(ProcIo{})};
  HostStateSample sample;
  sample.time_ns = now_ns;
  sample.pid = process.pid;
  sample.state = stat->state;
  sample.wchan = ReadText(path + "/wchan").value_or("");
  if (sample.wchan == "0") {
    sample.wchan.clear();  // does not wait
  }
  const auto [known, is_new] = known_.try_emplace(process.pid);
  if (is_new) {
    // Rates need two looks: the first is told with the second.
    known->second.start_ticks = process.start_ticks;
    known->second.before = now;
    return true;
  }
  const Look& before = known->second.before;
  const double seconds = static_cast<double>(now_ns - before.time_ns) / 1e9;
  sample.cpu_cores =
      Rate(before.stat.user_ticks + before.stat.system_ticks, stat->user_ticks + stat->system_ticks,
           seconds * static_cast<double>(ticks_per_second_));
  sample.read_bytes_per_s = Rate(before.io.read_bytes, now.io.read_bytes, seconds);
  sample.write_bytes_per_s = Rate(before.io.write_bytes, now.io.write_bytes, seconds);
  known->second.before = now;
  HostStateSample& told = known->second.told;
  if (told.time_ns == 0 || now_ns - told.time_ns >= kRepeatNs || HasChanged(told, sample)) {
    told = sample;
    samples->push_back(std::move(sample));
  }
  return true;
}

void HostStates::Rewind() {
  for (auto& [pid, known] : known_) {
    known.told.time_ns = 0;
  }
}

}  // namespace c4::agent
