// Fit, Evaluate and Predict of a Model, which call its Estimator; and ModelToEstimator.
#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/keras/callback_list.h"
#include "estimator/keras/compiled_model.h"
#include "estimator/keras/fit_hook.h"
#include "estimator/keras/fit_requests.h"
#include "estimator/keras/model.h"
#include "estimator/keras/pipeline.h"
#include "estimator/keras/progress_bar.h"

// Keras has no counterpart to the Estimator's INFO lines, so the calls in this file log warnings only.

namespace tandem::keras {
namespace {

// Adds the logs of each epoch to the History.
class HistoryCallback : public Callback {
 public:
  explicit HistoryCallback(History* history) : history_(history) {}
  std::string name() const override { return "History"; }
  absl::Status OnEpochEnd(int64_t epoch, Logs& logs) override {
    history_->epoch.push_back(epoch);
    for (const auto& [name, value] : logs.values()) history_->history[name].push_back(value);
    return absl::OkStatus();
  }

 private:
  History* const history_;
};

// Returns the number of batches of a pass over the data; nothing if only the end of the pass tells.
std::optional<int64_t> BatchesOf(const Data& data, int64_t batch_size) {
  if (data.dataset().has_value()) {
    const int64_t cardinality = data.dataset()->cardinality();
    return cardinality >= 0 ? std::optional<int64_t>(cardinality) : std::nullopt;
  }
  if (data.xs().empty() || data.xs()[0].rank() == 0 || batch_size < 1) return std::nullopt;
  return (data.xs()[0].shape()[0] + batch_size - 1) / batch_size;
}

absl::Status CheckFitOptions(const FitOptions& o) {
  const auto at_least = [](absl::string_view option, int64_t value, int64_t least) -> absl::Status {
    if (value >= least) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(option, " must be at least ", least, ", got ", value));
  };
  TD_RETURN_IF_ERROR(at_least("epochs", o.epochs, 0));
  TD_RETURN_IF_ERROR(at_least("initial_epoch", o.initial_epoch, 0));
  TD_RETURN_IF_ERROR(at_least("validation_freq", o.validation_freq, 1));
  TD_RETURN_IF_ERROR(at_least("steps_per_epoch", o.steps_per_epoch.value_or(1), 1));
  TD_RETURN_IF_ERROR(at_least("validation_steps", o.validation_steps.value_or(1), 1));
  if (o.verbose < 0 || o.verbose > 2) {
    return absl::InvalidArgumentError(absl::StrCat("verbose must be 0, 1 or 2, got ", o.verbose));
  }
  if (o.validation_split != 0 && !o.validation_data.empty()) {
    return absl::InvalidArgumentError("validation_split and validation_data are both set; choose one");
  }
  return CallbackList::Check(o.callbacks);
}

// Returns the compiled model, or an error that says why it can neither train nor evaluate.
absl::StatusOr<CompiledModel*> Compiled(const Model& model, absl::string_view method) {
  const absl::Status status = model.status();
  // FailedPrecondition is accepted: a Sequential without an input shape is built later, for the shape of the data.
  if (!status.ok() && !absl::IsFailedPrecondition(status)) return status;
  CompiledModel* const compiled = model.compiled();
  if (compiled == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(method, ": the model \"", model.name(),
                                                      "\" is not compiled; call Compile with an optimizer and a loss"));
  }
  TD_RETURN_IF_ERROR(compiled->status());
  return compiled;
}

absl::Status CheckHasLoss(const CompiledModel& compiled) {
  if (!compiled.options().loss.empty()) return absl::OkStatus();
  const SourceLocation loc = compiled.model_fn().location();
  return absl::InvalidArgumentError(absl::StrCat("Compile at ", loc.file, ":", loc.line,
                                                 ": there is no loss; give it as .loss = \"mse\" or another"));
}

// Returns the number of rows of `batch`, whose arrays are one batch. InvalidArgument if it is a Dataset or has no
// arrays.
absl::StatusOr<int64_t> RowsOfBatch(const Data& batch, absl::string_view method) {
  if (batch.dataset().has_value() || batch.xs().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(method, ": a batch is arrays"));
  }
  return batch.xs()[0].rank() > 0 ? std::max<int64_t>(batch.xs()[0].shape()[0], 1) : 1;
}

InputFn InputOf(Dataset dataset) {
  return [dataset = std::move(dataset)](const InputContext&) -> absl::StatusOr<Dataset> { return dataset; };
}

// Evaluates `data` with the weights in memory.
absl::StatusOr<Logs> Test(CompiledModel& compiled, CallbackList& callbacks, const Data& data, int64_t batch_size,
                          std::optional<int64_t> steps) {
  TD_ASSIGN_OR_RETURN(const Dataset dataset, compiled.Pipeline(data, {.batch_size = batch_size}));
  TD_RETURN_IF_ERROR(callbacks.OnTestBegin());
  std::optional<int64_t> batches = BatchesOf(data, batch_size);
  if (batches.has_value() && steps.has_value()) batches = std::min(*batches, *steps);
  TD_ASSIGN_OR_RETURN(
      const EvalResult result,
      compiled.estimator().Evaluate(
          InputOf(dataset), {.steps = steps, .hooks = {std::make_shared<TestHook>(&compiled, &callbacks, batches)}}));
  Logs logs = compiled.LogsOf(result);
  TD_RETURN_IF_ERROR(callbacks.OnTestEnd(logs));
  return logs;
}

// Concatenates batches of one output along the rows.
class RowCollector {
 public:
  void Add(const HostTensor& row) {
    if (count_++ == 0) {
      dtype_ = row.dtype();
      shape_ = row.shape();
    }
    const auto* bytes = static_cast<const char*>(row.raw());
    bytes_.insert(bytes_.end(), bytes, bytes + row.byte_size());
  }
  HostTensor Take() const {
    Shape shape = {count_};
    shape.insert(shape.end(), shape_.begin(), shape_.end());
    HostTensor tensor(dtype_, shape);
    std::memcpy(tensor.raw(), bytes_.data(), bytes_.size());
    return tensor;
  }

 private:
  DType dtype_ = DType::kFloat32;
  Shape shape_;
  int64_t count_ = 0;
  std::vector<char> bytes_;
};

}  // namespace

absl::StatusOr<History> Model::Fit(const Data& data, const FitOptions& options) {
  const ScopedMinLogSeverity quiet(LogSeverity::kWarning);
  TD_RETURN_IF_ERROR(Annotate(CheckFitOptions(options), "Fit: "));
  TD_ASSIGN_OR_RETURN(CompiledModel * compiled, Compiled(*this, "Fit"));
  TD_RETURN_IF_ERROR(CheckHasLoss(*compiled));
  TD_RETURN_IF_ERROR(compiled->BuildFor(data, compiled->model_fn().location()));
  TD_RETURN_IF_ERROR(compiled->status());
  Data train = data, validation = options.validation_data;
  if (options.validation_split != 0) {
    TD_ASSIGN_OR_RETURN(std::tie(train, validation), SplitForValidation(data, options.validation_split));
  }
  if (options.initial_epoch >= options.epochs) return History();
  if (const std::vector<std::string> changed = compiled->model_fn().ChangedLayers(); !changed.empty()) {
    TD_LOG(WARNING) << "set_trainable of " << absl::StrJoin(changed, ", ") << " came after Compile ("
                    << compiled->model_fn().location().file << ":" << compiled->model_fn().location().line
                    << ") and counts from the next Compile on.";
  }
  TD_ASSIGN_OR_RETURN(const Dataset dataset, compiled->Pipeline(train, {.batch_size = options.batch_size,
                                                                        .shuffle = options.shuffle,
                                                                        .seed = static_cast<uint64_t>(compiled->fits),
                                                                        .repeat = true,
                                                                        .class_weight = options.class_weight}));
  TD_ASSIGN_OR_RETURN(const FitRequests requests, RequestsOf(options.callbacks, options.directory));
  TD_RETURN_IF_ERROR(compiled->UseDirectory(requests.directory));
  Estimator& estimator = compiled->estimator();
  bool goes_on = false;
  if (!requests.directory.empty()) {
    TD_ASSIGN_OR_RETURN(const std::optional<std::string> latest, estimator.LatestCheckpoint());
    goes_on = latest.has_value();
  }
  if (goes_on) {
    compiled->SetOptimizerState(std::nullopt);  // the checkpoint has the optimizer's state
  } else {
    TD_RETURN_IF_ERROR(compiled->TakeValues());
    TD_RETURN_IF_ERROR(compiled->TakeOptimizerState());
  }

  History history;
  std::vector<CallbackPtr> list = options.callbacks;
  list.push_back(std::make_shared<HistoryCallback>(&history));
  const std::optional<int64_t> steps =
      options.steps_per_epoch.has_value() ? options.steps_per_epoch : BatchesOf(train, options.batch_size);
  const FitParams params{.verbose = options.verbose,
                         .epochs = options.epochs,
                         .steps = steps,
                         .resumes = goes_on,
                         .is_chief = estimator.is_chief()};
  if (options.verbose != 0 && params.is_chief) list.push_back(MakeProgressBar(params));
  CallbackList callbacks(std::move(list), this, params);
  FitHook::Options hook_options{.epochs = options.epochs,
                                .initial_epoch = options.initial_epoch,
                                .steps_per_epoch = options.steps_per_epoch,
                                .validation_freq = options.validation_freq,
                                .in_directory = !requests.directory.empty(),
                                .ends_at_nan = requests.ends_at_nan || !compiled->options().config.fail_on_nan};
  if (!validation.empty()) {
    hook_options.validate = [&]() -> absl::StatusOr<Logs> {
      absl::StatusOr<Logs> logs =
          Test(*compiled, callbacks, validation, options.validation_batch_size.value_or(options.batch_size),
               options.validation_steps);
      if (!logs.ok()) return Annotate(logs.status(), "validation_data: ");
      return logs;
    };
  }
  auto hook = std::make_shared<FitHook>(compiled, &callbacks, &history, std::move(hook_options));
  compiled->stop_training = false;
  ++compiled->fits;
  const absl::Status trained = estimator.Train(InputOf(dataset), {.hooks = {hook}, .input_from_start = !goes_on});
  compiled->set_context(nullptr);
  if (hook->had_finished()) {
    compiled->HoldValues();
    return history;
  }
  TD_RETURN_IF_ERROR(trained);
  compiled->HoldValues();
  TD_RETURN_IF_ERROR(callbacks.OnTrainEnd(hook->logs()));
  return history;
}

absl::StatusOr<Logs> Model::TrainOnBatch(const Data& batch) {
  TD_ASSIGN_OR_RETURN(const int64_t rows, RowsOfBatch(batch, "TrainOnBatch"));
  TD_ASSIGN_OR_RETURN(const History history, Fit(batch, {.batch_size = rows, .verbose = 0, .shuffle = false}));
  Logs logs;
  for (const std::string& name : compiled()->model_fn().log_names()) {
    if (const auto it = history.history.find(name); it != history.history.end()) logs.Set(name, it->second.back());
  }
  return logs;
}

absl::StatusOr<Logs> Model::TestOnBatch(const Data& batch) {
  TD_ASSIGN_OR_RETURN(const int64_t rows, RowsOfBatch(batch, "TestOnBatch"));
  return Evaluate(batch, {.batch_size = rows, .verbose = 0});
}

absl::StatusOr<Logs> Model::Evaluate(const Data& data, const ModelEvaluateOptions& options) {
  const ScopedMinLogSeverity quiet(LogSeverity::kWarning);
  TD_ASSIGN_OR_RETURN(CompiledModel * compiled, Compiled(*this, "Evaluate"));
  TD_RETURN_IF_ERROR(CheckHasLoss(*compiled));
  TD_RETURN_IF_ERROR(Annotate(CallbackList::Check(options.callbacks), "Evaluate: "));
  TD_RETURN_IF_ERROR(compiled->BuildFor(data, compiled->model_fn().location()));
  TD_RETURN_IF_ERROR(compiled->UseCurrent());
  TD_RETURN_IF_ERROR(compiled->TakeValues());
  std::vector<CallbackPtr> list = options.callbacks;
  const FitParams params{.verbose = options.verbose,
                         .epochs = 1,
                         .steps = options.steps.has_value() ? options.steps : BatchesOf(data, options.batch_size),
                         .is_chief = compiled->estimator().is_chief()};
  if (options.verbose != 0 && params.is_chief) list.push_back(MakeProgressBar(params));
  CallbackList callbacks(std::move(list), this, params);
  return Test(*compiled, callbacks, data, options.batch_size, options.steps);
}

absl::StatusOr<NamedTensors> Model::PredictOutputs(const Data& data, const ModelPredictOptions& options) {
  const ScopedMinLogSeverity quiet(LogSeverity::kWarning);
  // As in Keras, Predict works without Compile.
  if (status().ok() && compiled() == nullptr) const_cast<Model*>(this)->Compile({});
  TD_ASSIGN_OR_RETURN(CompiledModel * compiled, Compiled(*this, "Predict"));
  TD_RETURN_IF_ERROR(compiled->BuildFor(data, compiled->model_fn().location()));
  TD_RETURN_IF_ERROR(compiled->UseCurrent());
  TD_RETURN_IF_ERROR(compiled->TakeValues());
  TD_ASSIGN_OR_RETURN(const Dataset dataset, compiled->Pipeline(data, {.batch_size = options.batch_size}));
  std::map<std::string, RowCollector> rows;
  TD_RETURN_IF_ERROR(compiled->estimator().Predict(InputOf(dataset), [&](const NamedTensors& row) {
    for (const auto& [name, value] : row) rows[name].Add(value);
    return true;
  }));
  NamedTensors predictions;
  for (const auto& [name, collector] : rows) predictions[name] = collector.Take();
  return predictions;
}

absl::StatusOr<HostTensor> Model::Predict(const Data& data, const ModelPredictOptions& options) {
  TD_ASSIGN_OR_RETURN(const NamedTensors predictions, PredictOutputs(data, options));
  if (predictions.size() == 1) return predictions.begin()->second;
  return absl::InvalidArgumentError(absl::StrCat("Predict: the model \"", name(), "\" has ", predictions.size(),
                                                 " outputs; take them by name, with PredictOutputs"));
}

Estimator ModelToEstimator(const Model& model, RunConfig config) {
  auto network = std::dynamic_pointer_cast<NetworkImpl>(model.impl());
  absl::Status status = model.status();
  const CompiledModel* compiled = model.compiled();
  if (status.ok() && compiled == nullptr) {
    status = absl::FailedPreconditionError(
        absl::StrCat("ModelToEstimator: the model \"", model.name(), "\" is not compiled; call Compile first"));
  }
  if (status.ok()) status = compiled->status();
  if (status.ok()) status = CheckHasLoss(*compiled);
  std::shared_ptr<NetworkModelFn> model_fn;
  if (status.ok()) {
    if (!config.train_distribute.has_value()) config.train_distribute = compiled->options().config.train_distribute;
    model_fn = std::make_shared<NetworkModelFn>(network.get(), compiled->options(), compiled->model_fn().location());
  }
  return Estimator(
      [network, status, model_fn](const Features& features, const Labels& labels, Mode mode, const Params&) {
        if (model_fn != nullptr) return model_fn->Build(features, labels, mode);
        features.graph()->Fail(status);
        return EstimatorSpec::Eval(features.graph()->Poisoned());
      },
      std::move(config));
}

Model MultiGpuModel(const Model& model, const std::vector<std::string>& devices, SourceLocation loc) {
  auto base = std::dynamic_pointer_cast<NetworkImpl>(model.impl());
  if (base == nullptr || !base->connected()) return model;
  auto parallel = std::make_shared<NetworkImpl>(LayerNaming{.class_name = "Functional"}, loc);
  parallel->Connect(base->network().inputs(), base->network().outputs());
  const DistributionStrategy strategy = !devices.empty() && absl::StartsWith(devices[0], "cpu")
                                            ? CentralStorageStrategy(devices)
                                            : MirroredStrategy(devices);
  parallel->set_extension(
      std::make_shared<CompiledModel>(parallel.get(), CompileOptions{.config = {.train_distribute = strategy}}, loc));
  return Model(std::move(parallel));
}

}  // namespace tandem::keras
