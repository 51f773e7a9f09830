// What a model_fn asked to see (frontends/summary.h) and the learning rates of its optimizers, for event files.
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
#include "estimator/session_run_hook.h"
#include "estimator/summary/event_writer.h"
#include "frontends/summary_marks.h"

namespace tandem {

// InvalidArgument, with the user's line, for a tag that is one of `taken` or that training writes by itself.
absl::Status CheckSummaryTags(const std::vector<ModelSummary>& summaries, const std::set<std::string>& taken);

// In training: a point of each after the first step of this run and then every `every_n_steps` steps; of texts after
// the first alone. What is a picture or a histogram is made by the writer's thread. Steps that were not finite do not
// count.
//
// A variable's value is that after the step, and not fetched but read: the program would have to copy it in every step,
// because the update comes before the fetch.
class ModelSummaryHook : public SessionRunHook {
 public:
  // The value that a variable has between steps.
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
  bool asked_ = false;  // for this step's values; with parameter servers the global step may jump meanwhile
  bool texts_written_ = false;
};

// In evaluation: of scalars the mean over the batches weighted by their examples, of everything else the first batch.
class EvalSummaryHook : public SessionRunHook {
 public:
  // Learning rates among them are left out: nothing is updated.
  explicit EvalSummaryHook(std::vector<ModelSummary> summaries);

  std::string name() const override { return "EvalSummaryHook"; }
  absl::Status Begin(HookContext& context) override;
  std::vector<std::string> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

  // After the evaluation: a point of each at `step`.
  void Write(int64_t step, EventWriter& writer) const;

 private:
  std::vector<ModelSummary> summaries_;
  std::map<std::string, HostTensor> first_;    // by tag
  std::map<std::string, double> scalar_sums_;  // by tag, weighted
  double examples_ = 0;
  bool began_ = false;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_MODEL_SUMMARIES_H_
