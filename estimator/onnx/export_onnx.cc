#include "estimator/onnx/export_onnx.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/output_file.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/consistent_read.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/onnx/encode_model.h"
#include "estimator/serving/export_dir.h"
#include "estimator/serving/signature.h"
#include "passes/onnx/translate.h"
#include "runtime/executable/executable.h"

namespace tandem {
namespace {

constexpr char kWhat[] = "the ONNX file";

absl::StatusOr<onnx::Model> Translate(Env* env, const std::string& dir, const ExportOnnxOptions& options) {
  TD_ASSIGN_OR_RETURN(const ModelSignature signature, VerifyExport(env, dir));
  TD_ASSIGN_OR_RETURN(const auto executable, Executable::LoadToLook(JoinPath(dir, kProgramName), env));
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<SafetensorsReader> weights,
                      SafetensorsReader::Open(env, JoinPath(dir, kWeightsName)));
  onnx::ProgramValues values;
  values.variable = [&](const std::string& name) -> absl::StatusOr<HostTensor> {
    absl::StatusOr<HostTensor> value = weights->Read(name);
    return absl::IsNotFound(value.status()) ? absl::DataLossError(value.status().message()) : value;
  };
  values.scalars = signature.scalars;
  values.scalars["global_step"] = static_cast<double>(signature.global_step);
  for (const TensorSignature& output : signature.outputs) values.outputs.push_back(output.name);
  return onnx::TranslateProgram(*executable, values, {.fold_batch_norm = options.fold_batch_norm});
}

absl::Status AppendPieces(WritableFile& file, const onnx::FileImage& image) {
  for (absl::string_view piece : image.pieces) TD_RETURN_IF_ERROR(file.Append(piece));
  return absl::OkStatus();
}

// Does what WriteOutputFile (base/output_file.h) does, without joining the pieces in memory.
absl::Status WritePieces(Env* env, const std::string& path, const onnx::FileImage& image) {
  if (const absl::StatusOr<FileInfo> there = env->Stat(path); there.ok() && !there->is_regular) {
    TD_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, env->CreateFile(path));
    TD_RETURN_IF_ERROR(AppendPieces(*file, image));  // devices and pipes cannot be synced
    return file->Close();
  }
  TD_ASSIGN_OR_RETURN(const TemporaryFile temporary, env->CreateTemporary(path));
  absl::Status status = AppendPieces(*temporary.file, image);
  if (status.ok()) status = temporary.file->Sync();
  if (status.ok()) status = env->Rename(temporary.path, path);
  if (!status.ok()) {
    env->DeleteFile(temporary.path).IgnoreError();
    return status;
  }
  return env->SyncDir(DirName(path));
}

absl::Status Write(Env* env, const std::string& file, const onnx::Model& model, bool external_data) {
  const std::string data_name = BaseName(file) + ".data";
  const auto place = external_data ? onnx::WeightsPlace::kData : onnx::WeightsPlace::kModel;
  const onnx::ModelImage image = onnx::EncodeModel(model, place, data_name);
  // Writes the weights first, so that the model's file never exists without them.
  if (!image.data.pieces.empty()) {
    TD_RETURN_IF_ERROR(WritePieces(env, JoinPath(DirName(file), data_name), image.data));
  }
  return WritePieces(env, file, image.model);
}

absl::Status Export(const std::string& export_dir, const std::string& file, const ExportOnnxOptions& options) {
  if (export_dir.empty()) {
    return absl::InvalidArgumentError("ExportOnnx: the path is empty; give what ExportModel returned");
  }
  Env* env = Env::Default();
  TD_RETURN_IF_ERROR(CheckOutputFile(env, kWhat, file));
  TD_ASSIGN_OR_RETURN(const onnx::Model model,
                      ReadConsistently(
                          env, kSignatureName, [&] { return FindExport(env, export_dir); },
                          [&](const std::string& dir) { return Translate(env, dir, options); }));
  return OutputError(kWhat, Write(env, file, model, options.external_data));
}

}  // namespace

absl::Status ExportOnnx(const std::string& export_dir, const std::string& file, const ExportOnnxOptions& options) {
  return CatchResourceErrors("exporting to ONNX", [&] { return Export(export_dir, file, options); });
}

}  // namespace tandem
