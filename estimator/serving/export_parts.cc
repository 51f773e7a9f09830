#include "estimator/serving/export_parts.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/serving/signature.h"
#include "runtime/format/index.h"
#include "runtime/session/session.h"

namespace tandem {
namespace {

absl::Status AssignWeights(Env* env, const std::string& path, const Executable& executable, VariableStore& variables) {
  TD_RETURN_IF_ERROR(CreateSessionVariables(executable, variables));
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<SafetensorsReader> file, SafetensorsReader::Open(env, path));
  for (const auto& v : executable.index().variables) {
    absl::StatusOr<HostTensor> value = file->Read(v.name);
    if (absl::IsNotFound(value.status())) return absl::DataLossError(value.status().message());
    TD_RETURN_IF_ERROR(value.status());
    const absl::Status assigned = variables.Assign(v.name, *value);
    if (!assigned.ok()) return absl::DataLossError(absl::StrCat(path, ": ", assigned.message()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ModelMaker::Parts> PartsOfExport(Env* env, const std::string& dir) {
  TD_ASSIGN_OR_RETURN(ModelSignature signature, VerifyExport(env, dir));
  const std::string program = JoinPath(dir, kProgramName);
  ModelMaker::Parts parts;
  TD_ASSIGN_OR_RETURN(parts.program.executable, Executable::Load(program));
  const format::Index& index = parts.program.executable->index();
  // The checksums do not show whether the files belong together.
  if (index.inputs.size() != signature.inputs.size() || index.replicas.size() != 1) {
    return absl::DataLossError(
        absl::StrCat(JoinPath(dir, kSignatureName), " does not describe ", program, ": they are of different exports"));
  }
  parts.program.variables = std::make_shared<VariableStore>(1);
  TD_RETURN_IF_ERROR(
      AssignWeights(env, JoinPath(dir, kWeightsName), *parts.program.executable, *parts.program.variables));
  parts.program.inputs = std::move(signature.inputs);
  parts.program.outputs = std::move(signature.outputs);
  parts.program.rows_per_replica = parts.program.executable->rows_per_replica();
  for (const auto& [name, value] : signature.scalars) parts.program.scalars[name] = value;
  parts.program.scalars["global_step"] = signature.global_step;
  parts.program.seed = signature.seed;
  parts.global_step = signature.global_step;
  parts.metrics = std::move(signature.metrics);
  parts.path = dir;
  return parts;
}

}  // namespace tandem
