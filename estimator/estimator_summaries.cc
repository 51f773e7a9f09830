// Writes an Estimator's event files for TensorBoard.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "estimator/estimator_impl.h"
#include "estimator/summary/graph_def.h"
#include "estimator/summary/hyperparameters.h"
#include "estimator/summary/model_summaries.h"
#include "estimator/summary/summary_saver_hook.h"
#include "estimator/training_metrics_hook.h"

namespace tandem {
namespace {

// Calls a function once in a training, with the number of the first step; after that step, which then need not wait.
class AfterFirstStep : public SessionRunHook {
 public:
  explicit AfterFirstStep(std::function<void(int64_t step)> call) : call_(std::move(call)) {}
  std::string name() const override { return "DescribeModel"; }
  absl::Status AfterCreateSession(RunContext& context) override {
    first_step_ = context.global_step() + 1;
    return absl::OkStatus();
  }
  std::vector<std::string> BeforeRun(RunContext&) override {
    if (stepped_) Call();
    return {};
  }
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    stepped_ = true;
    return absl::OkStatus();
  }
  absl::Status End(RunContext&) override {
    Call();
    return absl::OkStatus();
  }

 private:
  void Call() {
    if (call_ != nullptr) std::exchange(call_, nullptr)(first_step_);
  }

  std::function<void(int64_t)> call_;
  int64_t first_step_ = 0;
  bool stepped_ = false;
};

}  // namespace

std::shared_ptr<EventWriter> Estimator::Impl::SummariesIn(const std::string& directory) {
  if (config_.save_summary_steps == 0) return nullptr;
  std::shared_ptr<EventWriter>& writer = summaries_[directory];
  if (writer == nullptr) writer = std::make_shared<EventWriter>(config_.file_env(), directory, summary_warnings_);
  return writer;
}

HookList Estimator::Impl::SummaryHooks(const Prepared& prepared) {
  const std::shared_ptr<EventWriter> summaries = SummariesIn(config_.model_dir);
  if (summaries == nullptr) return {};
  // Once in a process, however often Train is called. Placed before the hook that flushes at the end.
  HookList hooks = {std::make_shared<AfterFirstStep>([this, summaries, program = prepared.program](int64_t step) {
    if (std::exchange(model_shown_, true)) return;
    std::vector<GraphNode> nodes = program->nodes();
    const size_t bytes = nodes.size() * sizeof(GraphNode);
    summaries->AddGraph(step, bytes, [nodes = std::move(nodes)] { return GraphDef(NodesOfModel(nodes)); });
    const std::vector<std::string> values = HyperparameterValues(params_, config_.file_env()->NowSeconds());
    if (!values.empty()) summaries->AddValues(step, 0, [values] { return values; });
    // The compiled graph is a TensorBoard run of its own, since TensorBoard shows one graph of each run.
    SummariesIn(JoinPath(config_.model_dir, "compiled"))
        ->AddGraph(step, 0,
                   [executable = program->shared_executable()] { return GraphDef(NodesOfProgram(*executable)); });
  })};
  hooks.push_back(std::make_shared<SummarySaverHook>(summaries, config_.save_summary_steps));
  if (std::vector<ModelSummary> of_model = prepared.program->summaries(); !of_model.empty()) {
    auto read = [store = resident_.model().store()](const std::string& name) { return store->Read(name); };
    hooks.push_back(
        std::make_shared<ModelSummaryHook>(summaries, std::move(of_model), config_.save_summary_steps, read));
  }
  if (const EstimatorSpec& spec = prepared.program->spec(); !spec.metrics.empty()) {
    auto report = [summaries](const EvalResult& result, int64_t, int64_t last) {
      summaries->AddScalars(last + 1, MetricScalars(result));
    };
    hooks.push_back(std::make_shared<TrainingMetricsHook>(spec.metrics, config_.save_summary_steps, report));
  }
  return hooks;
}

}  // namespace tandem
