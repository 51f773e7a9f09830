#include "estimator/serving/checkpoint_parts.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/moving_average_name.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/step_scalars.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "estimator/checkpoint/manifest.h"
#include "estimator/checkpoint/pointer_file.h"
#include "runtime/format/index.h"
#include "runtime/session/session.h"

namespace tandem {
namespace {

constexpr char kWhatToDo[] =
    "; export the model (Estimator::ExportModel), or predict once with RunConfig.compile_cache and no "
    "compile_cache_dir";

// Returns the programs of mode predict in `dir`, the newest first.
absl::StatusOr<std::vector<std::string>> PredictPrograms(Env* env, const std::string& dir) {
  const absl::StatusOr<std::vector<std::string>> names = env->ListDir(dir);
  if (!names.ok() && !absl::IsNotFound(names.status())) return names.status();
  std::vector<std::pair<std::filesystem::file_time_type, std::string>> found;
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    if (!absl::StartsWith(name, "predict-") || !absl::EndsWith(name, ".tdx")) continue;
    const std::string path = JoinPath(dir, name);
    std::error_code error;
    const auto time = std::filesystem::last_write_time(path, error);
    if (!error) found.emplace_back(time, path);
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> paths;
  for (auto& [time, path] : found) paths.push_back(std::move(path));
  return paths;
}

// Returns an error that names the first variable of the program that the checkpoint lacks or has with other sizes.
absl::Status CheckVariables(const Executable& executable, const CheckpointReader& checkpoint) {
  for (const auto& v : executable.index().variables) {
    const auto saved = std::find_if(checkpoint.variables().begin(), checkpoint.variables().end(),
                                    [&](const SavedTensor& t) { return t.name == v.name; });
    if (saved == checkpoint.variables().end()) {
      return absl::FailedPreconditionError(absl::StrCat("the checkpoint has no ", v.name));
    }
    const SavedTensor wanted{v.name, v.dtype, v.shape};
    if (saved->dtype == v.dtype && saved->shape == v.shape) continue;
    return absl::FailedPreconditionError(absl::StrCat(v.name, " is ", saved->TypeString(), " in the checkpoint and ",
                                                      wanted.TypeString(), " in the program"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Executable>> FindProgram(Env* env, const CheckpointReader& checkpoint) {
  const std::string dir = JoinPath(DirName(checkpoint.path()), "compiled");
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> programs, PredictPrograms(env, dir));
  std::string why;
  for (const std::string& path : programs) {
    TD_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> executable, Executable::Load(path, env));
    const absl::Status fits = CheckVariables(*executable, checkpoint);
    if (fits.ok()) return executable;
    if (why.empty()) why = absl::StrCat("; of ", path, ": ", fits.message());
  }
  return absl::FailedPreconditionError(absl::StrCat(PrintableLine(checkpoint.path()),
                                                    ": no program of mode predict in ", PrintableLine(dir),
                                                    " has its variables", why, kWhatToDo));
}

absl::StatusOr<std::shared_ptr<VariableStore>> ReadVariables(const Executable& executable,
                                                             const CheckpointReader& checkpoint, bool averages) {
  auto variables = std::make_shared<VariableStore>(executable.num_replicas());
  TD_RETURN_IF_ERROR(CreateSessionVariables(executable, *variables));
  for (const auto& v : executable.index().variables) {
    const std::string average = MovingAverageName(v.name);
    TD_ASSIGN_OR_RETURN(const HostTensor value,
                        checkpoint.Read(averages && checkpoint.Contains(average) ? average : v.name));
    TD_RETURN_IF_ERROR(variables->Assign(v.name, value));
  }
  return variables;
}

// Sets the program's inputs, and those of its outputs that have a row for each example.
void DescribeTensors(const Executable& executable, ServedProgram::Parts* parts) {
  const format::Index& index = executable.index();
  for (const auto& input : index.inputs) parts->inputs.push_back({input.name, input.dtype, input.shape});
  for (const auto& output : index.outputs) {
    const format::Buffer& buffer = index.programs[index.replicas[0].program].buffers[output.buffer];
    if (buffer.row_bytes > 0) parts->outputs.push_back({output.name, buffer.dtype, buffer.shape});
  }
}

}  // namespace

bool HasCheckpoint(Env* env, const std::string& path) {
  return env->Exists(JoinPath(path, kManifestName)) || env->Exists(JoinPath(path, kPointerName));
}

absl::StatusOr<ModelMaker::Parts> PartsOfCheckpoint(Env* env, const std::string& path, bool averages) {
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointReader> checkpoint, CheckpointReader::Open(env, path));
  ModelMaker::Parts parts;
  TD_ASSIGN_OR_RETURN(parts.program.executable, FindProgram(env, *checkpoint));
  const Executable& executable = *parts.program.executable;
  for (const auto& scalar : executable.index().scalars) {
    if (IsSetBySession(scalar.name) || scalar.name == "seed" || scalar.name == "global_step") continue;
    return absl::FailedPreconditionError(absl::StrCat(executable.name(), " computes with the number ", scalar.name,
                                                      ", which model_fn gives and no checkpoint has", kWhatToDo));
  }
  TD_ASSIGN_OR_RETURN(parts.program.variables, ReadVariables(executable, *checkpoint, averages));
  DescribeTensors(executable, &parts.program);
  CheckpointData state;
  TD_RETURN_IF_ERROR(ReadCheckpointState(env, checkpoint->path(), &state));
  parts.program.rows_per_replica = executable.rows_per_replica();
  parts.program.scalars["global_step"] = state.global_step;
  parts.program.seed = static_cast<int64_t>(state.seed);
  parts.global_step = state.global_step;
  parts.path = checkpoint->path();
  return parts;
}

}  // namespace tandem
