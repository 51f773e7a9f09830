// What an Estimator writes for TensorBoard.
#include <functional>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "estimator/estimator_impl.h"
#include "estimator/summary/graph_def.h"
#include "estimator/summary/hyperparameters.h"
#include "estimator/summary/model_summaries.h"
#include "estimator/summary/summary_saver_hook.h"
#include "estimator/training_metrics_hook.h"

namespace tandem {
namespace {

// Once before the first step of a training, with the step that this will be.
class BeforeFirstStep : public SessionRunHook {
 public:
  explicit BeforeFirstStep(std::function<void(int64_t step)> call) : call_(std::move(call)) {}
  std::string name() const override { return "DescribeModel"; }
  absl::Status AfterCreateSession(RunContext& context) override {
    call_(context.global_step() + 1);
    return absl::OkStatus();
  }

 private:
  std::function<void(int64_t)> call_;
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
  HookList hooks = {std::make_shared<SummarySaverHook>(summaries, config_.save_summary_steps)};
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
  // Once in a process, whatever calls of Train there are. Behind the first hook, which says where this run begins: what
  // is written of that step before no longer counts.
  hooks.push_back(std::make_shared<BeforeFirstStep>([this, summaries, program = prepared.program](int64_t step) {
    if (std::exchange(model_shown_, true)) return;
    summaries->AddGraph(step, GraphDef(NodesOfModel(program->nodes())));
    const std::vector<std::string> values = HyperparameterValues(params_, config_.file_env()->NowSeconds());
    if (!values.empty()) summaries->AddValues(step, 0, [values] { return values; });
    // A run of its own: TensorBoard shows one graph of each.
    SummariesIn(JoinPath(config_.model_dir, "compiled"))
        ->AddGraph(step, GraphDef(NodesOfProgram(program->executable())));
  }));
  return hooks;
}

}  // namespace tandem
