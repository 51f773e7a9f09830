// Predictor, and Estimator::MakePredictor.
#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/loop/label_check.h"
#include "estimator/loop/round_seed.h"
#include "estimator/loop/session_runner.h"
#include "estimator/predictor.h"

namespace tandem {
namespace {

// Returns rows [begin, end) of a tensor.
HostTensor Rows(const HostTensor& tensor, int64_t begin, int64_t end) {
  Shape shape = tensor.shape();
  const int64_t rows = std::exchange(shape[0], end - begin);
  if (begin == 0 && end == rows) return tensor;
  HostTensor result(tensor.dtype(), shape);
  const int64_t row_bytes = rows == 0 ? 0 : tensor.byte_size() / rows;
  if (result.byte_size() > 0) {
    std::memcpy(result.raw(), static_cast<const char*>(tensor.raw()) + begin * row_bytes, result.byte_size());
  }
  return result;
}

// Returns the rows of all `parts`, one part after another.
HostTensor Joined(const std::vector<HostTensor>& parts) {
  if (parts.size() == 1) return parts[0];
  Shape shape = parts[0].shape();
  shape[0] = 0;
  for (const HostTensor& part : parts) shape[0] += part.shape()[0];
  HostTensor result(parts[0].dtype(), shape);
  char* out = static_cast<char*>(result.raw());
  for (const HostTensor& part : parts) {
    if (part.byte_size() > 0) std::memcpy(out, part.raw(), part.byte_size());
    out += part.byte_size();
  }
  return result;
}

absl::Status CheckSpec(const std::vector<ComponentSpec>& features, const PredictorOptions& options) {
  constexpr int64_t kMaxRows = int64_t{1} << 28;  // the largest batch size of a dataset
  if (options.batch_size < 1 || options.batch_size > kMaxRows) {
    return absl::InvalidArgumentError(
        absl::StrCat("MakePredictor: batch_size must be from 1 to ", kMaxRows, ", got ", options.batch_size));
  }
  if (features.empty()) {
    return absl::InvalidArgumentError("MakePredictor: there are no features; name those that the model asks for");
  }
  std::set<std::string> names;
  for (const ComponentSpec& feature : features) {
    const std::string where = absl::StrCat("MakePredictor: feature \"", feature.name, "\" ");
    if (!names.insert(feature.name).second) return absl::InvalidArgumentError(where + "comes twice");
    if (feature.dtype == DType::kInvalid || feature.dtype == DType::kString || feature.dtype == DType::kBFloat16) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, "is of type ", Name(feature.dtype), "; a program computes with numbers and bools"));
    }
    const bool fixed = std::all_of(feature.shape.begin() + (feature.shape.empty() ? 0 : 1), feature.shape.end(),
                                   [](int64_t size) { return size >= 0; });
    if (feature.shape.empty() || feature.shape[0] != kBatch || !fixed) {
      return absl::InvalidArgumentError(absl::StrCat(where, "has shape ", ShapeString(feature.shape),
                                                     "; the first dimension must be kBatch, all others are sizes"));
    }
  }
  return absl::OkStatus();
}

// Returns an input with these components; its examples are never read.
InputFn InputOf(const std::vector<ComponentSpec>& features, int64_t batch_size) {
  return [&features, batch_size](const InputContext&) -> absl::StatusOr<Dataset> {
    std::vector<std::pair<std::string, HostTensor>> slices;
    for (const ComponentSpec& feature : features) {
      Shape shape = feature.shape;
      shape[0] = 1;
      slices.emplace_back(feature.name, HostTensor::Zeros(feature.dtype, shape));
    }
    return Dataset::FromTensorSlices(std::move(slices)).Batch(batch_size);
  };
}

}  // namespace

class Predictor::Impl {
 public:
  Impl(std::unique_ptr<SessionRunner> runner, std::vector<ComponentSpec> features, std::vector<LabelRange> ranges,
       std::vector<std::string> outputs, int replicas, int64_t batch_size)
      : runner_(std::move(runner)),
        features_(std::move(features)),
        ranges_(std::move(ranges)),
        outputs_(std::move(outputs)),
        replicas_(replicas),
        batch_size_(batch_size) {
    for (const ComponentSpec& feature : features_) {
      Shape shape = feature.shape;
      shape[0] = 0;
      no_rows_.push_back(HostTensor::Zeros(feature.dtype, shape));
    }
  }

  void SetWeights(uint64_t seed, int64_t global_step, std::string checkpoint) {
    seed_ = seed;
    global_step_ = global_step;
    checkpoint_ = std::move(checkpoint);
  }

  const std::vector<ComponentSpec>& features() const { return features_; }
  int64_t global_step() const { return global_step_; }
  const std::string& checkpoint() const { return checkpoint_; }

  absl::StatusOr<NamedTensors> Predict(const NamedTensors& features) {
    TD_ASSIGN_OR_RETURN(const std::vector<HostTensor> batch, InOrder(features));
    const int64_t rows = batch[0].shape()[0];
    std::vector<NamedTensors> parts;
    for (int64_t begin = 0; begin < rows; begin += replicas_ * batch_size_) {
      TD_ASSIGN_OR_RETURN(NamedTensors part, RunOnce(batch, begin, rows, static_cast<int64_t>(parts.size())));
      parts.push_back(std::move(part));
    }
    if (parts.size() == 1) return std::move(parts[0]);
    NamedTensors result;
    for (const std::string& name : outputs_) {
      std::vector<HostTensor> pieces;
      for (NamedTensors& part : parts) pieces.push_back(std::move(part[name]));
      result[name] = Joined(pieces);
    }
    return result;
  }

 private:
  // Returns the features in the order of features_, checked.
  absl::StatusOr<std::vector<HostTensor>> InOrder(const NamedTensors& given) const {
    std::vector<HostTensor> batch;
    batch.reserve(features_.size());
    for (const ComponentSpec& feature : features_) {
      auto it = given.find(feature.name);
      if (it == given.end()) {
        return absl::InvalidArgumentError(absl::StrCat("Predict: there is no feature \"", feature.name,
                                                       "\"; the model takes ", SpecString(features_)));
      }
      const HostTensor& value = it->second;
      TD_RETURN_IF_ERROR(value.status());
      if (value.dtype() != feature.dtype || value.rank() != static_cast<int>(feature.shape.size()) ||
          !std::equal(feature.shape.begin() + 1, feature.shape.end(), value.shape().begin() + 1)) {
        return absl::InvalidArgumentError(absl::StrCat("Predict: feature \"", feature.name, "\" is ",
                                                       Name(value.dtype()), ShapeString(value.shape()),
                                                       "; the model takes ", SpecString({feature})));
      }
      const int64_t rows = value.shape()[0];
      if (rows == 0 || (!batch.empty() && rows != batch[0].shape()[0])) {
        return absl::InvalidArgumentError(absl::StrCat(
            "Predict: feature \"", feature.name, "\" has ", rows, " rows",
            batch.empty() ? "" : absl::StrCat(", and \"", features_[0].name, "\" has ", batch[0].shape()[0]),
            "; all must have as many, and at least one"));
      }
      for (const LabelRange& range : ranges_) {
        if (range.component == feature.name) TD_RETURN_IF_ERROR(CheckLabels(value, range));
      }
      batch.push_back(value);
    }
    if (given.size() == features_.size()) return batch;
    for (const auto& [name, value] : given) {
      if (std::none_of(features_.begin(), features_.end(), [&](const auto& f) { return f.name == name; })) {
        return absl::InvalidArgumentError(
            absl::StrCat("Predict: feature \"", name, "\" is unknown; the model takes ", SpecString(features_)));
      }
    }
    return batch;
  }

  // Runs the program on the rows from `begin` up to `end`, or on as many of them as fit into one step.
  absl::StatusOr<NamedTensors> RunOnce(const std::vector<HostTensor>& batch, int64_t begin, int64_t end,
                                       int64_t number) {
    BatchRound round;
    for (int replica = 0; replica < replicas_; ++replica) {
      const int64_t rows = std::clamp<int64_t>(end - begin, 0, batch_size_);
      std::vector<HostTensor>& of_replica = round.replicas.emplace_back();
      for (size_t i = 0; i < batch.size(); ++i) {
        of_replica.push_back(rows > 0 ? Rows(batch[i], begin, begin + rows) : no_rows_[i]);
      }
      round.rows.push_back(rows);
      round.examples += rows;
      begin += rows;
    }
    StepRequest request;
    request.round = &round;
    request.fetches = outputs_;
    request.scalars["global_step"] = global_step_;
    request.scalars["seed"] = SeedOfRound(static_cast<int64_t>(seed_), number);
    TD_ASSIGN_OR_RETURN(StepOutcome outcome, runner_->Run(request));
    return std::move(outcome.values);
  }

  const std::unique_ptr<SessionRunner> runner_;
  const std::vector<ComponentSpec> features_;
  const std::vector<LabelRange> ranges_;
  const std::vector<std::string> outputs_;
  const int replicas_;
  const int64_t batch_size_;
  std::vector<HostTensor> no_rows_;  // features of no rows, for replicas without examples
  uint64_t seed_ = 0;
  int64_t global_step_ = 0;
  std::string checkpoint_;
};

Predictor::Predictor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Predictor::~Predictor() = default;

absl::StatusOr<NamedTensors> Predictor::Predict(const NamedTensors& features) {
  return CatchResourceErrors("prediction", [&] { return impl_->Predict(features); });
}

const std::vector<ComponentSpec>& Predictor::features() const { return impl_->features(); }
int64_t Predictor::global_step() const { return impl_->global_step(); }
const std::string& Predictor::checkpoint() const { return impl_->checkpoint(); }

absl::StatusOr<std::unique_ptr<Predictor>> Estimator::Impl::MakePredictor(const std::vector<ComponentSpec>& features,
                                                                          const PredictorOptions& options) {
  TD_RETURN_IF_ERROR(status_);
  if (replays()) {
    return absl::FailedPreconditionError("MakePredictor: with --replay_step a step is made again, and nothing else");
  }
  TD_RETURN_IF_ERROR(CheckSpec(features, options));
  if (config_.compile_only) {
    return absl::FailedPreconditionError("MakePredictor: with compile_only nothing is run; call Predict to compile");
  }
  TD_ASSIGN_OR_RETURN(const Prepared prepared, Prepare(Mode::kPredict, InputOf(features, options.batch_size)));
  TD_RETURN_IF_ERROR(CheckModelDirExists(options.checkpoint_path));
  TD_RETURN_IF_ERROR(Finalize(prepared, {}));
  TD_RETURN_IF_ERROR(LoadForInference(prepared, options.checkpoint_path, "predict").status());
  const ModeProgram& program = *prepared.program;

  // The predictor has copies of the weights, and threads of its own, so it does not depend on the Estimator.
  std::vector<std::string> names;
  for (const VariableSpec& v : program.variables()) names.push_back(v.name);
  TD_ASSIGN_OR_RETURN(const std::vector<HostTensor> values, ReadWeights(program, names, options.use_moving_average));
  auto store = std::make_shared<VariableStore>(prepared.replicas);
  for (size_t i = 0; i < values.size(); ++i) {
    const VariableSpec& v = program.variables()[i];
    TD_RETURN_IF_ERROR(store->Create({v.name, v.dtype, v.shape, v.trainable, v.slot_of}));
    TD_RETURN_IF_ERROR(store->Assign(v.name, values[i]));
  }
  Session::Options session;
  TD_ASSIGN_OR_RETURN(session.pool, ThreadPool::Create(programs_.pool()->num_threads()));
  session.deadline_seconds = config_.deadline_secs;
  session.gpu_plans = config_.gpu_plans;
  std::vector<std::string> outputs;
  for (const auto& entry : program.spec().predictions) outputs.push_back(entry.first);
  const std::map<std::string, double> scalars = program.scalar_defaults();
  TD_ASSIGN_OR_RETURN(std::unique_ptr<SessionRunner> runner,
                      SessionRunner::Create(program.shared_executable(), std::move(store), std::move(session),
                                            program.components(), {scalars.begin(), scalars.end()}));
  auto impl = std::make_unique<Predictor::Impl>(std::move(runner), program.components(), program.label_ranges(),
                                                std::move(outputs), prepared.replicas, options.batch_size);
  impl->SetWeights(state_.seed, resident_.global_step(), resident_.checkpoint());
  return std::unique_ptr<Predictor>(new Predictor(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<Predictor>> Estimator::MakePredictor(const std::vector<ComponentSpec>& features,
                                                                    const PredictorOptions& options) {
  return CatchResourceErrors("making a predictor", [&] { return impl_->MakePredictor(features, options); });
}

}  // namespace tandem
