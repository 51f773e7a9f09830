#include "estimator/keras/load_model.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "estimator/keras/compiled_model.h"
#include "estimator/keras/files/match_weights.h"
#include "estimator/keras/files/optimizer_state.h"
#include "estimator/keras/files/weight_file.h"
#include "estimator/keras/training_config.h"
#include "frontends/keras/model_config.h"

namespace tandem::keras {
namespace {

absl::Status CompileFromFile(const std::string& path, const WeightFile& file, SourceLocation loc, Model* model) {
  auto* network = static_cast<NetworkImpl*>(model->impl().get());
  const std::vector<std::string> outputs = NetworkModelFn(network, {}, loc).output_names();
  absl::StatusOr<CompileOptions> options = CompileOptionsOf(*file.training_config, outputs, loc);
  if (!options.ok()) {
    return Annotate(options.status(), absl::StrCat(path, ": what the model was compiled with: "),
                    "; load it with .compile = false, and compile it in code");
  }
  model->Compile(*options, loc);
  TD_RETURN_IF_ERROR(Annotate(model->compiled()->status(), absl::StrCat(path, ": ")));
  if (file.optimizer.empty()) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const VariableNames names, VariableNamesOf(*network));
  absl::StatusOr<OptimizerState> state = StateFromFile(*network, names, options->optimizer, file.optimizer);
  if (state.ok()) {
    model->compiled()->SetOptimizerState(*std::move(state));
  } else {
    TD_LOG(WARNING) << "The optimizer begins anew, since its state in the file does not fit: "
                    << state.status().message();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LoadReport> Model::LoadWeights(const std::string& path, const LoadWeightsOptions& options) {
  TD_RETURN_IF_ERROR(status());
  const absl::string_view context = "LoadWeights: ";
  return CatchResourceErrors("loading weights", [&]() -> absl::StatusOr<LoadReport> {
    absl::StatusOr<WeightFile> file = ReadWeightFile(path);
    if (!file.ok()) return Annotate(file.status(), context);
    absl::StatusOr<LoadReport> report = AssignFromFile(static_cast<const NetworkImpl&>(*impl()), path, *file, options);
    if (!report.ok()) return Annotate(report.status(), context);
    return report;
  });
}

absl::StatusOr<Model> LoadModel(const std::string& path, const LoadModelOptions& options, SourceLocation loc) {
  const auto load = [&]() -> absl::StatusOr<Model> {
    TD_ASSIGN_OR_RETURN(const WeightFile file, ReadWeightFile(path));
    if (!file.model_config.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": the file has weights alone, and no description of a model; build it in code and call LoadWeights"));
    }
    absl::StatusOr<std::shared_ptr<NetworkImpl>> network = ModelFromConfig(*file.model_config, loc);
    if (!network.ok()) return Annotate(network.status(), absl::StrCat(path, ": "));
    TD_RETURN_IF_ERROR(Annotate((*network)->status(), absl::StrCat(path, ": ")));
    TD_RETURN_IF_ERROR(AssignFromFile(**network, path, file, {}).status());
    Model model(*std::move(network));
    if (!options.compile) return model;
    if (file.training_config.has_value()) {
      TD_RETURN_IF_ERROR(CompileFromFile(path, file, loc, &model));
    } else {
      TD_LOG(INFO) << path << ": the file does not say how the model was compiled; it is not.";
    }
    return model;
  };
  absl::StatusOr<Model> model = CatchResourceErrors("loading a model", load);
  if (!model.ok()) {
    return Annotate(model.status(), absl::StrCat("LoadModel at ", loc.file, ":", loc.line, ": "));
  }
  return model;
}

}  // namespace tandem::keras
