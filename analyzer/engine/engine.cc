#include "analyzer/engine/engine.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/engine/job_engine.h"
#include "analyzer/verdict/incident_book.h"

namespace c4::engine {
namespace {

using model::TimeNs;

// Data time between two looks. A hang is suspected after 5 s: 250 ms more do not matter, and four
// looks a second at 16,384 ranks do.
constexpr model::DurationNs kTick = 250 * model::kMillisecond;
// Incarnations of a job that are kept: the last one and the one before it, whose records may be
// late.
constexpr std::size_t kIncarnationsMax = 2;
// A watermark that leaps (first one, clock garbage) is not walked tick by tick further than this.
constexpr model::DurationNs kLeapMax = 3600 * model::kSecond;

}  // namespace

struct Engine::Options {};

class Engine::Implementation {
 public:
  void Apply(const model::Record& record) {
    std::visit([this](const auto& value) { Take(value); }, record);
  }

  std::vector<model::Verdict> Advance(TimeNs watermark) {
    std::vector<model::Verdict> changed;
    if (watermark <= now_) {
      return changed;
    }
    TimeNs tick = now_ == 0 ? First() : now_ - now_ % kTick + kTick;
    if (tick == 0) {
      return changed;
    }
    tick = std::max(tick, watermark - watermark % kTick - kLeapMax);
    for (; tick <= watermark; tick += kTick) {
      Tick(tick, &changed);
      now_ = tick;
    }
    return changed;
  }

  void Restore(const std::vector<model::Verdict>& open) {
    for (const model::Verdict& verdict : open) {
      book_.Restore(verdict);
    }
  }

  std::vector<model::JobSummary> Jobs() const {
    std::vector<model::JobSummary> summaries;
    for (const auto& [name, job] : jobs_) {
      summaries.push_back(Summarise(name, job));
    }
    return summaries;
  }

 private:
  struct Job {
    std::map<std::uint32_t, std::unique_ptr<JobEngine>> incarnations;
    // By rank and incarnation. A rank that was restarted alone is known to several.
    std::map<int, std::map<std::uint32_t, model::RankRecord>> ranks;
    model::JobFacts facts;
    std::uint64_t lost = 0;
  };

  JobEngine& Of(const std::string& name, std::uint32_t incarnation) {
    Job& job = jobs_[name];
    std::unique_ptr<JobEngine>& engine = job.incarnations[incarnation];
    if (engine == nullptr) {
      engine = std::make_unique<JobEngine>(name, incarnation);
      JobEngine& created = *engine;
      for (const auto& [rank, records] : job.ranks) {
        Introduce(job, rank, incarnation, &created);
      }
      if (job.incarnations.size() > kIncarnationsMax) {
        // Never the one that was just asked for, even if it is older than all we know.
        const auto oldest = job.incarnations.begin();
        job.incarnations.erase(oldest->first == incarnation ? std::next(oldest) : oldest);
      }
      return created;
    }
    return *engine;
  }

  // Gives an engine what is known of a rank. Operations that carry no incarnation (0) belong to
  // whichever process of the rank there is.
  static void Introduce(const Job& job, int rank, std::uint32_t incarnation, JobEngine* engine) {
    const std::map<std::uint32_t, model::RankRecord>& records = job.ranks.at(rank);
    const auto exact = records.find(incarnation);
    if (exact != records.end()) {
      engine->model().Apply(exact->second);
    } else if (incarnation == 0) {
      engine->model().Apply(records.rbegin()->second);
    }
  }

  // Records of the trace format that carry no incarnation belong to the newest.
  std::uint32_t Newest(const std::string& name) const {
    const auto found = jobs_.find(name);
    return found == jobs_.end() || found->second.incarnations.empty()
               ? 0
               : found->second.incarnations.rbegin()->first;
  }

  // Creates no engine: until it calls something, a process that is new says nothing of the gang.
  void Take(const model::RankRecord& r) {
    Job& job = jobs_[r.job];
    auto& records = job.ranks[r.rank];
    records[r.incarnation] = r;
    if (records.size() > kIncarnationsMax + 1) {
      records.erase(records.begin());
    }
    for (auto& [incarnation, engine] : job.incarnations) {
      Introduce(job, r.rank, incarnation, engine.get());
    }
  }
  void Take(const model::CommunicatorRecord& r) { Of(r.job, r.incarnation).model().Apply(r); }
  void Take(const model::OperationRecord& r) {
    NoteFirst(r.enqueue);
    Of(r.job, r.incarnation).model().Apply(r);
  }
  void Take(const model::ProcessRecord& r) { Of(r.job, r.incarnation).model().Apply(r); }
  void Take(const model::HostStateRecord& r) { Of(r.job, r.incarnation).model().Apply(r); }
  void Take(const model::ErrorRecord& r) { Of(r.job, Newest(r.job)).model().Apply(r); }
  void Take(const model::EventRecord& r) { nodes_.Apply(r); }
  void Take(const model::GaugeRecord& r) { nodes_.Apply(r); }
  void Take(const model::AgentRecord& r) { nodes_.Apply(r); }
  void Take(const model::LossRecord& r) {
    std::uint64_t& known = losses_[{r.node, r.job, r.rank, r.cause}];
    if (r.count > known) {
      if (!r.job.empty()) {
        jobs_[r.job].lost += r.count - known;
      }
      known = r.count;
    }
  }
  void Take(const model::JobRecord& r) { jobs_[r.job].facts.Apply(r); }
  void Take(const model::FlowRecord& r) { jobs_[r.job].facts.Apply(r); }
  void Take(const model::PhaseRecord& r) { jobs_[r.job].facts.Apply(r); }

  void NoteFirst(TimeNs time) {
    if (time > 0 && (first_ == 0 || time < first_)) {
      first_ = time;
    }
  }
  TimeNs First() const { return first_ == 0 ? 0 : first_ - first_ % kTick; }

  // Whether the gang has moved on from `older`: all that lived of it has ended or come back in
  // `newer`, or `newer` trains. One rank that comes back alone has not: the others still wait for
  // its old process, and will for ever.
  bool HasMovedOn(const JobEngine& older, const JobEngine& newer, TimeNs tick) const {
    if (newer.model().steady_since() != 0) {
      return true;
    }
    const auto& ranks = older.model().ranks();
    return std::all_of(ranks.begin(), ranks.end(), [&](const auto& entry) {
      return older.model().ExitOf(entry.first, tick).has_value() ||
             newer.model().ranks().contains(entry.first);
    });
  }

  void Tick(TimeNs tick, std::vector<model::Verdict>* changed) {
    for (auto& [name, job] : jobs_) {
      // The oldest that the gang has not moved on from is the one to judge.
      bool judged = false;
      for (auto current = job.incarnations.begin(); current != job.incarnations.end(); ++current) {
        auto& [incarnation, engine] = *current;
        const auto next = std::next(current);
        std::vector<model::Finding> found = engine->Tick(job.facts, nodes_, tick);
        if (judged ||
            (next != job.incarnations.end() && HasMovedOn(*engine, *next->second, tick))) {
          found.clear();
        } else {
          judged = true;
        }
        for (model::Verdict& verdict : book_.Update(name, incarnation, found, tick)) {
          changed->push_back(std::move(verdict));
        }
      }
    }
  }

  model::JobSummary Summarise(const std::string& name, const Job& job) const {
    model::JobSummary summary;
    summary.name = name;
    summary.lost = job.lost;
    summary.verdicts_open = book_.OpenFaults(name);
    if (job.incarnations.empty()) {
      summary.state = "starting";
      summary.ranks = static_cast<int>(job.ranks.size());
      return summary;
    }
    const JobEngine& engine = *job.incarnations.rbegin()->second;
    const model::JobModel& model = engine.model();
    summary.incarnation = model.incarnation();
    std::set<std::string> nodes;
    std::size_t exited = 0;
    for (const auto& [number, rank] : model.ranks()) {
      nodes.insert(rank.info.node);
      summary.world_size = std::max(summary.world_size, rank.info.world_size);
      exited += model.ExitOf(number, now_).has_value() ? 1 : 0;
    }
    summary.ranks = static_cast<int>(model.ranks().size());
    summary.nodes = static_cast<int>(nodes.size());
    summary.communicators = static_cast<int>(model.communicators().size());
    summary.collectives = model.operation_count();
    summary.step = engine.Step();
    summary.steps = engine.Steps();
    summary.first_seen = model.first_seen();
    summary.last_progress = model.last_movement();
    summary.state = !model.ranks().empty() && exited == model.ranks().size() ? "ended"
                    : engine.stalled()                                       ? "stalled"
                    : model.steady_since() == 0                              ? "starting"
                                                                             : "running";
    return summary;
  }

  std::map<std::string, Job> jobs_;
  model::NodeFacts nodes_;
  verdict::IncidentBook book_;
  std::map<std::tuple<std::string, std::string, int, std::string>, std::uint64_t> losses_;
  TimeNs first_ = 0;
  TimeNs now_ = 0;
};

Engine::Engine() : implementation_(std::make_unique<Implementation>()) {}
Engine::Engine(const Options& /*options*/) : Engine() {}
Engine::~Engine() = default;
void Engine::Apply(const model::Record& record) { implementation_->Apply(record); }
std::vector<model::Verdict> Engine::Advance(TimeNs watermark) {
  return implementation_->Advance(watermark);
}
void Engine::Restore(const std::vector<model::Verdict>& open) { implementation_->Restore(open); }
std::vector<model::JobSummary> Engine::Jobs() const { return implementation_->Jobs(); }

}  // namespace c4::engine
