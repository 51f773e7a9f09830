// Estimator::ExportModel.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "estimator/checkpoint/file_checksum.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/model/variable_check.h"
#include "estimator/serving/export_dir.h"
#include "estimator/serving/signature.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

constexpr int64_t kRowsPerStep = 32;

// Returns the bytes of the executable's file.
std::string BytesOf(const Executable& executable) {
  const format::Index& index = executable.index();
  std::vector<SegmentData> segments;
  for (size_t i = 0; i < index.segments.size(); ++i) {
    segments.push_back({.kind = index.segments[i].kind,
                        .name = index.segments[i].name,
                        .bytes = std::string(executable.segment(static_cast<int>(i)))});
  }
  return BuildExecutable(index, segments);
}

// Returns the signature of the exported model, without its files.
ModelSignature SignatureOf(const ModeProgram& program) {
  const format::Index& index = program.executable().index();
  ModelSignature signature;
  signature.target = index.target;
  signature.rows_per_step = program.executable().rows_per_replica();
  for (const auto& input : index.inputs) {
    signature.inputs.push_back({input.name, input.dtype, input.shape});
  }
  for (const auto& [name, tensor] : program.spec().predictions) {
    signature.outputs.push_back({name, tensor.dtype(), tensor.shape()});
  }
  signature.scalars = program.scalar_defaults();
  return signature;
}

void WarnOfUnusedFeatures(const ModeProgram& program, const std::vector<std::string>& labels) {
  std::vector<std::string> unused;
  for (const ComponentSpec& component : program.components()) unused.push_back(component.name);
  const auto found = FindLabels(program.components(), labels, Mode::kPredict);
  for (const std::string& label : found.value_or(labels)) std::erase(unused, label);
  for (const auto& input : program.executable().index().inputs) std::erase(unused, input.name);
  if (unused.empty()) return;
  TD_LOG(WARNING) << "ServingInput: model_fn does not use in mode predict: " << absl::StrJoin(unused, ", ")
                  << ". The exported model does not take it.";
}

// Returns the newest export in `base` if its signature is `text`, which has the checksums of all files; otherwise "".
std::string EqualExport(Env* env, const std::string& base, const std::string& text) {
  const absl::StatusOr<std::vector<std::string>> exports = ListExports(env, base);
  if (!exports.ok() || exports->empty()) return "";
  const absl::StatusOr<std::string> there = env->ReadFile(JoinPath(exports->back(), kSignatureName));
  return there.ok() && *there == text && VerifyExport(env, exports->back()).ok() ? exports->back() : "";
}

}  // namespace

absl::StatusOr<Estimator::Impl::ServingShape> Estimator::Impl::ShapeOf(const ServingInput& serving_input) const {
  TD_RETURN_IF_ERROR(status_);
  TD_RETURN_IF_ERROR(serving_input.Validate());
  ServingShape shape{serving_input.features, serving_input.rows_per_step};
  if (serving_input.input_fn) {
    InputContext context;
    context.num_replicas_in_sync = Strategy(Mode::kPredict).num_replicas();
    const absl::StatusOr<Dataset> made = CallUserCode([&] { return serving_input.input_fn(context); });
    TD_RETURN_IF_ERROR(Annotate(made.status(), "ServingInput.input_fn: "));
    TD_RETURN_IF_ERROR(Annotate(made->status(), "ServingInput.input_fn: "));
    TD_RETURN_IF_ERROR(Annotate(params_.status(), "ServingInput.input_fn: "));
    if (made->batch_size() <= 0) {
      return absl::InvalidArgumentError("ServingInput.input_fn: the dataset has no batches; end it with Batch(n)");
    }
    shape.components = made->spec();
    if (shape.rows_per_step == 0) shape.rows_per_step = made->batch_size() * context.num_replicas_in_sync;
  }
  if (shape.rows_per_step == 0) shape.rows_per_step = kRowsPerStep;
  return shape;
}

absl::StatusOr<ModeProgram*> Estimator::Impl::ProgramForExport(const ServingShape& shape) {
  bool is_new = false;
  absl::StatusOr<ModeProgram*> built =
      programs_.FindOrBuild(absl::StrCat("export ", shape.rows_per_step, " ", SpecString(shape.components)),
                            {.mode = Mode::kPredict, .components = shape.components}, &is_new);
  if (!built.ok()) {
    return Annotate(built.status(),
                    absl::StrCat("ServingInput, with the features ", SpecString(shape.components), ": "));
  }
  ModeProgram* const program = *built;
  TD_RETURN_IF_ERROR(CheckVariables(*program, *resident_.model().store(), programs_.All()));
  const char* device = Strategy(Mode::kPredict).gpu() ? "gpu:0" : "cpu:0";
  TD_ASSIGN_OR_RETURN(const CompileOptions options, OptionsFor(Mode::kPredict, {device}, shape.rows_per_step));
  TD_RETURN_IF_ERROR(program->Compile({}, options));
  if (program->executable().index().inputs.empty()) {
    return absl::InvalidArgumentError(
        "ServingInput: model_fn uses none of the features in mode predict, so there is nothing to serve");
  }
  if (is_new) WarnOfUnusedFeatures(*program, programs_.labels());
  return program;
}

absl::StatusOr<std::string> Estimator::Impl::ExportModel(const std::string& export_dir_base, const ServingShape& shape,
                                                         const ExportOptions& options) {
  if (export_dir_base.empty()) return absl::InvalidArgumentError("ExportModel: export_dir_base is empty");
  TD_RETURN_IF_ERROR(CheckModelDirExists(options.checkpoint_path));
  TD_ASSIGN_OR_RETURN(ModeProgram * program, ProgramForExport(shape));
  TD_ASSIGN_OR_RETURN(const bool own, LoadAlone(*program, options.checkpoint_path, "export"));
  if (!own && options.checkpoint_path.empty() && !config_.warm_start_from.has_value() && assigned_.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("ExportModel: there is no trained model in model_dir ", config_.model_dir, "; train first"));
  }

  ModelSignature signature = SignatureOf(*program);
  signature.global_step = resident_.global_step();
  signature.seed = static_cast<int64_t>(state_.seed);
  signature.metrics = options.metrics;
  std::vector<std::string> names;
  for (const auto& v : program->executable().index().variables) names.push_back(v.name);
  TD_ASSIGN_OR_RETURN(std::vector<HostTensor> values, ReadWeights(*program, names, options.use_moving_average));
  TensorMap weights;
  for (size_t i = 0; i < names.size(); ++i) weights[names[i]] = std::move(values[i]);
  TD_ASSIGN_OR_RETURN(const SafetensorsImage image, SerializeSafetensors(weights));
  const std::string code = BytesOf(program->executable());
  signature.files[kProgramName] = ChecksumOf({code});
  signature.files[kWeightsName] = ChecksumOf(image.Pieces());
  TD_ASSIGN_OR_RETURN(const std::string text, signature.Text());

  Env* env = config_.file_env();
  const StallWatch::Scope writing(*stall_watch_, absl::StrCat("Exporting the model to ", export_dir_base));
  if (options.reuse_equal) {
    if (std::string equal = EqualExport(env, export_dir_base, text); !equal.empty()) return equal;
  }
  TD_ASSIGN_OR_RETURN(std::string path,
                      WriteExport(env, export_dir_base,
                                  {{kProgramName, {code}}, {kWeightsName, image.Pieces()}, {kSignatureName, {text}}}));
  TD_LOG(INFO) << "Exported the model of global step " << signature.global_step << " to " << path << ".";
  return path;
}

absl::StatusOr<std::string> Estimator::ExportModel(const std::string& export_dir_base,
                                                   const ServingInput& serving_input, const ExportOptions& options) {
  return CatchResourceErrors("export", [&]() -> absl::StatusOr<std::string> {
    if (!impl_->exports() || impl_->replays()) return std::string();
    TD_ASSIGN_OR_RETURN(const Impl::ServingShape shape, impl_->ShapeOf(serving_input));
    return impl_->ExportModel(export_dir_base, shape, options);
  });
}

}  // namespace tandem
