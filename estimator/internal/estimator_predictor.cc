// Estimator::MakePredictor.
#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/predictor.h"
#include "estimator/serving/model_maker.h"

namespace tandem {
namespace {

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
  TD_ASSIGN_OR_RETURN(ConcurrentSessions::Options threads,
                      ServingOptions("PredictorOptions", programs_.pool()->num_threads(), options.calls));

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
  ModelMaker::Parts parts;
  parts.program = {.executable = program.shared_executable(),
                   .variables = std::move(store),
                   .rows_per_replica = options.batch_size,
                   .seed = static_cast<int64_t>(state_.seed)};
  for (const ComponentSpec& c : program.components()) parts.program.inputs.push_back({c.name, c.dtype, c.shape});
  for (const auto& [name, tensor] : program.spec().predictions) {
    parts.program.outputs.push_back({name, tensor.dtype(), tensor.shape()});
  }
  for (const auto& [name, value] : program.scalar_defaults()) parts.program.scalars[name] = value;
  parts.program.scalars["global_step"] = resident_.global_step();
  parts.global_step = resident_.global_step();
  parts.path = resident_.checkpoint();
  threads.session.deadline_seconds = config_.deadline_secs;
  threads.session.gpu_plans = config_.gpu_plans;
  return ModelMaker::Make(std::move(parts), std::move(threads));
}

absl::StatusOr<std::unique_ptr<Predictor>> Estimator::MakePredictor(const std::vector<ComponentSpec>& features,
                                                                    const PredictorOptions& options) {
  return CatchResourceErrors("making a predictor", [&] { return impl_->MakePredictor(features, options); });
}

}  // namespace tandem
