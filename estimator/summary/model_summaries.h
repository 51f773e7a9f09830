// Writes the summaries of a model_fn (frontends/summary.h) and the learning rates of its optimizers to event files.
#ifndef TANDEM_ESTIMATOR_SUMMARY_MODEL_SUMMARIES_H_
#define TANDEM_ESTIMATOR_SUMMARY_MODEL_SUMMARIES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "estimator/loop/session_run_hook.h"
#include "estimator/summary/event_writer.h"
#include "frontends/summary_marks.h"

namespace tandem {

// Returns InvalidArgument, with the user's line, for a tag that is in `taken` or that training writes itself.
absl::Status CheckSummaryTags(const std::vector<ModelSummary>& summaries, const std::set<std::string>& taken);

// In training: writes a point of each summary after the first step of this run and then every `every_n_steps` steps;
// texts only after the first step. Pictures and histograms are made by the writer's thread. Steps that were not finite
// do not count.
//
// A variable is shown with its value after the step. It is read and not fetched: since the update comes before the
// fetch, the program would have to copy the variable in every step.
class ModelSummaryHook : public SessionRunHook {
 public:
  // Returns the value that a variable has between steps.
  using ReadVariable = std::function<absl::StatusOr<HostTensor>(const std::string& name)>;

  ModelSummaryHook(std::shared_ptr<EventWriter> writer, std::vector<ModelSummary> summaries, int64_t every_n_steps,
                   ReadVariable read_variable)
      : writer_(std::move(writer)),
        summaries_(std::move(summaries)),
        every_n_steps_(every_n_steps),
        read_variable_(std::move(read_variable)) {}

  std::string name() const override { return "ModelSummaryHook"; }
  absl::Status Begin(HookContext& context) override;
  absl::Status AfterCreateSession(RunContext& context) override;
  std::vector<std::string> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(RunContext& context) override;

 private:
  std::shared_ptr<EventWriter> writer_;
  std::vector<ModelSummary> summaries_;
  int64_t every_n_steps_;
  ReadVariable read_variable_;
  int64_t next_step_ = 0;
  // Set in BeforeRun if this step fetches values. AfterRun cannot tell by the global step, which other workers increase
  // meanwhile if there are parameter servers.
  bool asked_ = false;
  bool texts_written_ = false;
};

// In evaluation: shows the mean of a scalar over the batches, weighted by their numbers of examples, and the first
// batch of all other values.
class EvalSummaryHook : public SessionRunHook {
 public:
  // `summaries` may have learning rates, which are not shown, since an evaluation updates nothing.
  explicit EvalSummaryHook(std::vector<ModelSummary> summaries);

  std::string name() const override { return "EvalSummaryHook"; }
  absl::Status Begin(HookContext& context) override;
  std::vector<std::string> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

  // Call after the evaluation: writes a point of each summary at `step`.
  void Write(int64_t step, EventWriter& writer) const;

 private:
  std::vector<ModelSummary> summaries_;
  std::map<std::string, HostTensor> first_;    // by tag, the value in the first batch
  std::map<std::string, double> scalar_sums_;  // by tag, sums of value times number of examples
  double examples_ = 0;
  bool began_ = false;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_MODEL_SUMMARIES_H_
