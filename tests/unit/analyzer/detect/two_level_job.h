// A tensor x data parallel job as records of a JobModel, with the data-parallel reductions running
// beside the computation, as in the backward pass of a real one: per layer each rank computes,
// meets its tensor group (and waits for it), and hands a reduction to a second stream; at the end
// of the step it waits for those and meets everybody. Times follow from who waits for whom.
#pragma once

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/detect/slow_rank.h"
#include "analyzer/model/job_model.h"

namespace c4::detect::testing {

inline constexpr model::TimeNs kBegin = 1'750'000'000 * model::kSecond;
inline constexpr int kTensor = 2;
inline constexpr int kData = 4;
inline constexpr int kRanks = kTensor * kData;
inline constexpr int kLayers = 6;
inline constexpr model::DurationNs kLayer = 60 * model::kMillisecond;

struct Work {
  double compute = kLayer;  // of this layer
  double host_late = 0;     // the host calls this long after the rank is free
};

class TwoLevelJob {
 public:
  // What a rank does in a layer; the default has 1 % of jitter.
  std::function<void(int step, int layer, int rank, Work*)> change = [](int, int, int, Work*) {};
  // Share of records that get lost.
  double lost = 0;

  TwoLevelJob() : model_("j", 0) {
    std::vector<int> all;
    for (int rank = 0; rank < kRanks; ++rank) {
      model::RankRecord record;
      record.job = "j";
      record.rank = rank;
      record.node = "n" + std::to_string(rank / 2);
      record.gpu = rank % 2;
      model_.Apply(record);
      all.push_back(rank);
    }
    model_.Apply(model::CommunicatorRecord{"j", 0, "world", "", all});
    for (int data = 0; data < kData; ++data) {
      model_.Apply(model::CommunicatorRecord{
          "j", 0, "tp" + std::to_string(data), "", {data * kTensor, data * kTensor + 1}});
    }
    for (int tensor = 0; tensor < kTensor; ++tensor) {
      std::vector<int> members;
      for (int data = 0; data < kData; ++data) {
        members.push_back(data * kTensor + tensor);
      }
      model_.Apply(model::CommunicatorRecord{"j", 0, "dp" + std::to_string(tensor), "", members});
    }
  }

  // Runs steps and gives them to the detector; what it last said. All findings ever, by component
  // and severity, in `seen` when given.
  std::vector<model::Finding> Run(int steps, SlowRankDetector* detector,
                                  std::vector<model::Finding>* seen = nullptr) {
    std::vector<model::Finding> last;
    for (int i = 0; i < steps; ++i) {
      Step();
      const model::TimeNs now = *std::max_element(free_.begin(), free_.end());
      model_.AdvanceTo(now);
      for (const model::Operation* operation : model_.TakeEnqueued()) {
        detector->Add(model_, *operation);
      }
      for (const model::Operation* operation : model_.TakeSettled()) {
        detector->Settle(*operation);
      }
      model_.TakeCompleted();
      last = detector->Detect(model_, now);
      if (seen != nullptr) {
        seen->insert(seen->end(), last.begin(), last.end());
      }
    }
    return last;
  }

  model::JobModel& model() { return model_; }

 private:
  void Record(int rank, const std::string& communicator, std::uint64_t sequence,
              const std::string& name, double enqueue, double start, double end);
  void Step();

  model::JobModel model_;
  std::mt19937 random_{7};
  std::vector<model::TimeNs> free_ = std::vector<model::TimeNs>(kRanks, kBegin);
  int step_ = 0;
};

}  // namespace c4::detect::testing
