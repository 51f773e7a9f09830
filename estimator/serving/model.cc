#include "estimator/serving/model.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/processors.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "estimator/checkpoint/consistent_read.h"
#include "estimator/serving/checkpoint_parts.h"
#include "estimator/serving/export_dir.h"
#include "estimator/serving/export_parts.h"
#include "estimator/serving/model_maker.h"
#include "estimator/serving/signature.h"

namespace tandem {

class Model::Impl {
 public:
  Impl(ModelMaker::Parts parts, std::unique_ptr<ServedProgram> program)
      : parts_(std::move(parts)), program_(std::move(program)) {}

  ServedProgram& program() { return *program_; }
  const ModelMaker::Parts& parts() const { return parts_; }

 private:
  const ModelMaker::Parts parts_;  // without the program's
  const std::unique_ptr<ServedProgram> program_;
};

absl::StatusOr<std::unique_ptr<Model>> ModelMaker::Make(Parts parts, ConcurrentSessions::Options options) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<ServedProgram> program,
                      ServedProgram::Create(std::exchange(parts.program, {}), std::move(options)));
  return std::unique_ptr<Model>(new Model(std::make_unique<Model::Impl>(std::move(parts), std::move(program))));
}

absl::StatusOr<ConcurrentSessions::Options> ServingOptions(absl::string_view where, int threads, int calls) {
  TD_RETURN_IF_ERROR(CheckThreadCount(absl::StrCat(where, ".threads"), threads));
  TD_RETURN_IF_ERROR(CheckThreadCount(absl::StrCat(where, ".calls"), calls));
  return ConcurrentSessions::Options{.threads = threads > 0 ? threads : UsableProcessors(), .steps = calls};
}

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::~Model() = default;

absl::StatusOr<NamedTensors> Model::Predict(const NamedTensors& inputs) {
  return CatchResourceErrors("prediction", [&] { return impl_->program().Predict(inputs); });
}

const std::vector<TensorSignature>& Model::inputs() const { return impl_->program().inputs(); }
const std::vector<TensorSignature>& Model::outputs() const { return impl_->program().outputs(); }
int64_t Model::global_step() const { return impl_->parts().global_step; }
const std::map<std::string, double>& Model::metrics() const { return impl_->parts().metrics; }
const std::string& Model::path() const { return impl_->parts().path; }

bool HasExport(const std::string& path) {
  const absl::StatusOr<std::string> found = FindExport(Env::Default(), path);
  return found.ok() && Env::Default()->Exists(JoinPath(*found, kSignatureName));
}

namespace {

absl::StatusOr<ModelMaker::Parts> ReadParts(const std::string& path, const LoadModelOptions& options) {
  Env* env = Env::Default();
  if (!HasExport(path) && HasCheckpoint(env, path)) return PartsOfCheckpoint(env, path, options.use_moving_average);
  return ReadConsistently(
      env, kSignatureName, [&] { return FindExport(env, path); },
      [&](const std::string& found) { return PartsOfExport(env, found); });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> LoadModel(const std::string& path, const LoadModelOptions& options) {
  return CatchResourceErrors("loading a model", [&]() -> absl::StatusOr<std::unique_ptr<Model>> {
    if (path.empty()) {
      return absl::InvalidArgumentError("LoadModel: the path is empty; give what ExportModel returned");
    }
    TD_ASSIGN_OR_RETURN(ConcurrentSessions::Options threads,
                        ServingOptions("LoadModelOptions", options.threads, options.calls));
    TD_ASSIGN_OR_RETURN(ModelMaker::Parts parts, ReadParts(path, options));
    return ModelMaker::Make(std::move(parts), std::move(threads));
  });
}

}  // namespace tandem
