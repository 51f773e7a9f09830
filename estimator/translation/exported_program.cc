#include "estimator/translation/exported_program.h"

#include "absl/strings/str_cat.h"
#include "base/output_file.h"

namespace tandem {
namespace {

absl::Status AppendPieces(WritableFile& file, absl::Span<const absl::string_view> pieces) {
  for (absl::string_view piece : pieces) TD_RETURN_IF_ERROR(file.Append(piece));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ExportedProgram> ReadExportedProgram(Env* env, const std::string& dir) {
  TD_ASSIGN_OR_RETURN(const ModelSignature signature, VerifyExport(env, dir));
  ExportedProgram program;
  TD_ASSIGN_OR_RETURN(program.executable, Executable::LoadToLook(JoinPath(dir, kProgramName), env));
  TD_ASSIGN_OR_RETURN(program.weights, SafetensorsReader::Open(env, JoinPath(dir, kWeightsName)));
  program.values.variable = [weights = program.weights](const std::string& name) -> absl::StatusOr<HostTensor> {
    absl::StatusOr<HostTensor> value = weights->Read(name);
    return absl::IsNotFound(value.status()) ? absl::DataLossError(value.status().message()) : value;
  };
  program.values.scalars = signature.scalars;
  program.values.scalars["global_step"] = static_cast<double>(signature.global_step);
  for (const TensorSignature& output : signature.outputs) program.values.outputs.push_back(output.name);
  return program;
}

absl::Status CheckExportPaths(Env* env, absl::string_view function, absl::string_view what,
                              const std::string& export_dir, const std::string& file) {
  if (export_dir.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(function, ": the path is empty; give what ExportModel returned"));
  }
  return CheckOutputFile(env, what, file);
}

absl::Status WritePieces(Env* env, const std::string& path, absl::Span<const absl::string_view> pieces) {
  if (const absl::StatusOr<FileInfo> there = env->Stat(path); there.ok() && !there->is_regular) {
    TD_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, env->CreateFile(path));
    TD_RETURN_IF_ERROR(AppendPieces(*file, pieces));  // devices and pipes cannot be synced
    return file->Close();
  }
  TD_ASSIGN_OR_RETURN(const TemporaryFile temporary, env->CreateTemporary(path));
  absl::Status status = AppendPieces(*temporary.file, pieces);
  if (status.ok()) status = temporary.file->Sync();
  if (status.ok()) status = env->Rename(temporary.path, path);
  if (!status.ok()) {
    env->DeleteFile(temporary.path).IgnoreError();
    return status;
  }
  return env->SyncDir(DirName(path));
}

}  // namespace tandem
