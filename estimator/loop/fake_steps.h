// Fakes of what a StepLoop calls: a source of batches without content, and a runner whose steps have given losses. For
// tests of hooks and loops alone; the Estimator's tests run compiled graphs.
#ifndef TANDEM_ESTIMATOR_LOOP_FAKE_STEPS_H_
#define TANDEM_ESTIMATOR_LOOP_FAKE_STEPS_H_

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/loop/step_runner.h"

namespace tandem {

// A source of batches for `rounds` steps with `examples` examples each; -1: it never ends.
class CountedSource : public BatchSource {
 public:
  explicit CountedSource(int64_t rounds, int64_t examples = 4) : left_(rounds), examples_(examples) {}
  absl::StatusOr<bool> Next(BatchRound* round) override {
    if (left_ == 0) return false;
    if (left_ > 0) --left_;
    ++drawn;
    if (on_next) on_next();
    round->examples = examples_;
    return true;
  }
  bool Peek(BatchRound* round) override {
    round->examples = 100 + drawn;
    return left_ != 0;
  }
  std::string TraceArgs() const override { return absl::StrCat("\"drawn\":", drawn); }
  int64_t drawn = 0;
  std::function<void()> on_next;

 private:
  int64_t left_;
  int64_t examples_;
};

// A runner whose step i has the loss losses[i]; steps behind the last loss have that loss. A step whose loss is not
// finite is reported as not finite.
class ScriptedRunner : public StepRunner {
 public:
  explicit ScriptedRunner(std::vector<float> losses = {1.0f}) : losses_(std::move(losses)) {}

  absl::StatusOr<StepOutcome> Run(const StepRequest& request) override {
    requests.push_back({request.scalars, request.fetches});
    StepOutcome outcome;
    const float loss = losses_[std::min(requests.size(), losses_.size()) - 1];
    for (const std::string& name : request.fetches) {
      outcome.values[name] = HostTensor::Scalar<float>(name == "loss" ? loss : 7.0f);
    }
    outcome.examples = request.round->examples;
    outcome.finite = std::isfinite(loss);
    if (on_run) on_run();
    return outcome;
  }
  absl::StatusOr<std::string> FindNonFinite(const StepRequest& request) override { return origin; }
  bool WantsNext() const override { return wants_next; }
  void Prefetch(const BatchRound& round) override { prefetched.push_back(round.examples); }

  struct Seen {
    StepScalars scalars;
    std::vector<std::string> fetches;
  };
  std::vector<Seen> requests;
  std::string origin = "dense/Log at model.cc:12";
  bool wants_next = false;
  std::vector<int64_t> prefetched;  // number of examples in the batches of each prefetched step
  std::function<void()> on_run;

 private:
  std::vector<float> losses_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_FAKE_STEPS_H_
