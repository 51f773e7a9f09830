#include "estimator/keras/compiled_model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/env.h"
#include "base/logging.h"
#include "base/nearest_name.h"
#include "base/status_macros.h"
#include "estimator/config/warnings.h"
#include "estimator/keras/pipeline.h"

namespace tandem::keras {

// Reads the newest values of weights from the Estimator.
class CompiledModel::Holder : public WeightHolder {
 public:
  Holder(std::shared_ptr<Estimator> estimator, std::shared_ptr<const NetworkModelFn> model_fn)
      : estimator_(std::move(estimator)), model_fn_(std::move(model_fn)) {}

  absl::StatusOr<HostTensor> Read(const WeightCell& cell) override {
    const auto name = model_fn_->variables().find(&cell);
    if (name == model_fn_->variables().end()) return absl::InternalError("it has no variable");
    TD_ASSIGN_OR_RETURN(NamedTensors values, estimator_->ReadVariables({name->second}));
    return std::move(values.at(name->second));
  }

 private:
  const std::shared_ptr<Estimator> estimator_;
  const std::shared_ptr<const NetworkModelFn> model_fn_;
};

CompiledModel* CompiledModel::Of(const LayerImpl* network) {
  const auto* model = dynamic_cast<const NetworkImpl*>(network);
  return model != nullptr ? static_cast<CompiledModel*>(model->extension().get()) : nullptr;
}

CompiledModel::CompiledModel(NetworkImpl* network, CompileOptions options, SourceLocation loc)
    : network_(network), model_fn_(std::make_shared<NetworkModelFn>(network, std::move(options), loc)) {}

CompiledModel::~CompiledModel() { DeleteTemporaryFolder(); }

void CompiledModel::DeleteTemporaryFolder() {
  if (estimator_ == nullptr || !directory_.empty() || estimator_->model_dir().empty()) return;
  // Somebody else may have deleted the directory.
  Env::Default()->DeleteRecursively(estimator_->model_dir()).IgnoreError();
}

absl::Status CompiledModel::status() const {
  const SourceLocation loc = model_fn_->location();
  const std::string where = absl::StrCat("Compile at ", loc.file, ":", loc.line, ": ");
  const CompileOptions& o = options();
  TD_RETURN_IF_ERROR(Annotate(o.optimizer.status(), where));
  TD_RETURN_IF_ERROR(Annotate(o.loss.all().status(), where));
  if (!network_->connected()) return absl::OkStatus();
  const std::vector<std::string> names = model_fn_->output_names();
  const auto check_output = [&](const std::string& name, absl::string_view option) -> absl::Status {
    if (std::count(names.begin(), names.end(), name) > 0) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(where, "`", option, "` names the output \"", name,
                                                   "\", and the model has ", absl::StrJoin(names, ", "),
                                                   DidYouMean(name, names)));
  };
  for (const auto& [name, loss] : o.loss.by_output()) {
    TD_RETURN_IF_ERROR(check_output(name, "loss"));
    TD_RETURN_IF_ERROR(Annotate(loss.status(), where));
  }
  for (const auto& [name, factor] : o.loss_weights) TD_RETURN_IF_ERROR(check_output(name, "loss_weights"));
  for (const MetricArg& metric : o.metrics.all()) TD_RETURN_IF_ERROR(Annotate(metric.status(), where));
  for (const auto& [name, metrics] : o.metrics.by_output()) {
    TD_RETURN_IF_ERROR(check_output(name, "metrics"));
    for (const MetricArg& metric : metrics) TD_RETURN_IF_ERROR(Annotate(metric.status(), where));
  }
  return absl::OkStatus();
}

int CompiledModel::replicas() const {
  const std::optional<DistributionStrategy>& strategy = options().config.train_distribute;
  return strategy.has_value() ? strategy->num_replicas() : 1;
}

absl::Status CompiledModel::UseDirectory(const std::string& directory) {
  if (estimator_ != nullptr && directory == directory_) return absl::OkStatus();
  RunConfig config = options().config;
  config.model_dir = directory;
  config.log_step_count_steps = 0;
  config.save_summary_steps = 0;
  config.keep_best = std::nullopt;
  // FitHook handles steps that are not finite.
  config.fail_on_nan = false;
  // The number of epochs limits the training, and Fit and Evaluate may use weights that are not trained, so neither
  // needs a warning.
  for (absl::string_view name : {kEndlessTraining, kUntrainedWeights}) config.silence.emplace_back(name);
  config.save_checkpoints_secs = std::nullopt;
  config.save_checkpoints_steps = std::nullopt;
  if (directory.empty()) {
    config.save_checkpoints_steps = 0;
  } else {
    config.save_checkpoints_secs = 600;
  }
  if (estimator_ != nullptr) {
    TD_ASSIGN_OR_RETURN(next_state_, ReadOptimizerState());
  }
  // Do not log the temporary model_dir of an Estimator in memory: it is deleted with the model.
  const ScopedMinLogSeverity quiet(directory.empty() ? LogSeverity::kError : LogSeverity::kInfo);
  // The variables of the new Estimator get the current weights as first values.
  auto estimator = std::make_shared<Estimator>(
      [model_fn = model_fn_](const Features& features, const Labels& labels, Mode mode, const Params&) {
        return model_fn->Build(features, labels, mode);
      },
      std::move(config));
  // The newest values may be in the old Estimator only, so they are copied to the model's weights.
  if (holder_ != nullptr) {
    for (const auto& cell : network_->cells()) {
      if (cell->holder != holder_) continue;
      TD_ASSIGN_OR_RETURN(HostTensor value, cell->Value());
      TD_RETURN_IF_ERROR(cell->Assign(value));
    }
  }
  DeleteTemporaryFolder();
  estimator_ = std::move(estimator);
  directory_ = directory;
  holder_ = std::make_shared<Holder>(estimator_, model_fn_);
  return absl::OkStatus();
}

absl::StatusOr<NamedTensors> CompiledModel::ValuesElsewhere() const {
  NamedTensors values;
  for (const auto& cell : network_->cells()) {
    if (cell->holder == holder_) continue;
    const auto name = model_fn_->variables().find(cell.get());
    // No graph has been built yet; when one is built, the weight's value becomes the first value of its variable.
    if (name == model_fn_->variables().end()) continue;
    TD_ASSIGN_OR_RETURN(values[name->second], cell->Value());
  }
  return values;
}

absl::Status CompiledModel::TakeValues() {
  TD_ASSIGN_OR_RETURN(const NamedTensors values, ValuesElsewhere());
  return values.empty() ? absl::OkStatus() : estimator_->AssignVariables(values);
}

absl::Status CompiledModel::TakeValues(RunContext& context) {
  TD_ASSIGN_OR_RETURN(const NamedTensors values, ValuesElsewhere());
  if (values.empty()) return absl::OkStatus();
  TD_RETURN_IF_ERROR(context.AssignVariables(values));
  HoldValues();
  return absl::OkStatus();
}

absl::StatusOr<std::optional<OptimizerState>> CompiledModel::ReadOptimizerState() const {
  if (next_state_.has_value()) return next_state_;
  if (estimator_ == nullptr || estimator_->global_step() == 0) return std::nullopt;
  OptimizerState state;
  state.iteration = estimator_->global_step();
  TD_ASSIGN_OR_RETURN(const VariableNames names, VariableNamesOf(*network_));
  std::vector<std::string> wanted;
  for (const StateSlot& slot : StateSlots(*network_, names, options().optimizer)) {
    if (!slot.slot.empty()) wanted.push_back(slot.slot);
  }
  if (!wanted.empty()) {
    TD_ASSIGN_OR_RETURN(state.slots, estimator_->ReadVariables(wanted));
  }
  return state;
}

absl::Status CompiledModel::TakeOptimizerState() {
  if (!next_state_.has_value()) return absl::OkStatus();
  TD_RETURN_IF_ERROR(estimator_->AssignVariables(next_state_->slots, {.global_step = next_state_->iteration}));
  next_state_.reset();
  return absl::OkStatus();
}

absl::StatusOr<double> CompiledModel::LearningRate() const {
  if (context_ != nullptr) return context_->StepScalar("learning_rate");
  if (next_rate_.has_value()) return *next_rate_;
  if (last_rate_.has_value()) return *last_rate_;
  for (const auto& [name, value] : options().optimizer.config().values) {
    if (name != "learning_rate") continue;
    if (const auto* number = std::get_if<double>(&value)) return *number;
  }
  return absl::FailedPreconditionError("the optimizer's learning rate is a schedule, or not known before Fit");
}

absl::Status CompiledModel::SetLearningRate(double rate) {
  if (context_ != nullptr) {
    TD_RETURN_IF_ERROR(context_->SetStepScalar("learning_rate", rate));
  } else {
    next_rate_ = rate;
  }
  last_rate_ = rate;
  return absl::OkStatus();
}

void CompiledModel::HoldValues() {
  for (const auto& cell : network_->cells()) {
    if (!model_fn_->variables().contains(cell.get())) continue;
    cell->value.reset();
    cell->holder = holder_;
  }
}

Logs CompiledModel::LogsOf(const EvalResult& result) const {
  Logs logs;
  for (const std::string& name : model_fn_->log_names()) {
    if (result.Has(name)) logs.Set(name, result[name]);
  }
  return logs;
}

absl::StatusOr<Dataset> CompiledModel::Pipeline(const Data& data, const PipelineOptions& options) const {
  return MakePipeline(data, options, network_->network(), model_fn_->output_names(), replicas());
}

absl::Status CompiledModel::BuildFor(const Data& data, SourceLocation loc) {
  if (network_->connected()) return network_->status();
  TensorSpec input;
  if (data.dataset().has_value()) {
    TD_RETURN_IF_ERROR(data.dataset()->status());
    for (const ComponentSpec& component : data.dataset()->spec()) {
      if (component.name == "label" || component.name == "labels" || component.name == "sample_weight") continue;
      if (!input.shape.empty()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the data have several components, ", component.name,
            " among them, and the model has no shape of its input yet; give its first layer .input_shape"));
      }
      input = {component.dtype, component.shape};
    }
  } else if (data.xs().size() == 1) {
    input = {data.xs()[0].dtype(), data.xs()[0].shape()};
  }
  if (input.shape.empty()) return network_->status();
  input.shape[0] = kBatch;
  if (input.dtype != DType::kInt32 && input.dtype != DType::kInt64) input.dtype = DType::kFloat32;
  return network_->BuildFor(input, loc);
}

}  // namespace tandem::keras
