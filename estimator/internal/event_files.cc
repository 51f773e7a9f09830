#include "estimator/internal/event_files.h"

#include <functional>
#include <utility>

#include "estimator/evaluation/training_metrics_hook.h"
#include "estimator/summary/graph_def.h"
#include "estimator/summary/hyperparameters.h"
#include "estimator/summary/model_summaries.h"
#include "estimator/summary/summary_saver_hook.h"

namespace tandem {
namespace {

// Calls a function once in a training, with the number of the first step. The call is made after that step, so as not
// to delay it.
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

std::vector<ScalarSummary> MetricScalars(const EvalResult& result) {
  std::vector<ScalarSummary> scalars;
  for (const auto& [name, value] : result.metrics) {
    if (name != "loss" && name != "global_step") scalars.push_back({name, value});
  }
  return scalars;
}

std::shared_ptr<EventWriter> EventFiles::In(const std::string& directory) {
  if (config_.save_summary_steps == 0) return nullptr;
  std::shared_ptr<EventWriter>& writer = writers_[directory];
  if (writer == nullptr) writer = std::make_shared<EventWriter>(config_.file_env(), directory, warnings_);
  return writer;
}

void EventFiles::ShowModel(const ModeProgram& program, int64_t step) {
  if (std::exchange(model_shown_, true)) return;
  EventWriter& writer = *In(config_.model_dir);
  std::vector<GraphNode> nodes = program.nodes();
  const size_t bytes = nodes.size() * sizeof(GraphNode);
  writer.AddGraph(step, bytes, [nodes = std::move(nodes)] { return GraphDef(NodesOfModel(nodes)); });
  const std::vector<std::string> values = HyperparameterValues(params_, config_.file_env()->NowSeconds());
  if (!values.empty()) writer.AddValues(step, 0, [values] { return values; });
  // The compiled graph is written as a TensorBoard run of its own, since TensorBoard shows one graph of each run.
  In(JoinPath(config_.model_dir, "compiled"))->AddGraph(step, 0, [executable = program.shared_executable()] {
    return GraphDef(NodesOfProgram(*executable));
  });
}

HookList EventFiles::TrainingHooks(const ModeProgram& program, std::shared_ptr<VariableStore> store) {
  const std::shared_ptr<EventWriter> writer = In(config_.model_dir);
  if (writer == nullptr) return {};
  // This hook comes before SummarySaverHook, which flushes the file at the end of training.
  HookList hooks = {std::make_shared<AfterFirstStep>([this, &program](int64_t step) { ShowModel(program, step); })};
  hooks.push_back(std::make_shared<SummarySaverHook>(writer, config_.save_summary_steps));
  if (std::vector<ModelSummary> of_model = program.summaries(); !of_model.empty()) {
    auto read = [store = std::move(store)](const std::string& name) { return store->Read(name); };
    hooks.push_back(std::make_shared<ModelSummaryHook>(writer, std::move(of_model), config_.save_summary_steps, read));
  }
  if (const EstimatorSpec& spec = program.spec(); !spec.metrics.empty()) {
    auto report = [writer](const EvalResult& result, int64_t, int64_t last) {
      writer->AddScalars(last + 1, MetricScalars(result));
    };
    hooks.push_back(std::make_shared<TrainingMetricsHook>(spec.metrics, config_.save_summary_steps, report));
  }
  return hooks;
}

}  // namespace tandem
