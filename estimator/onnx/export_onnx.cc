#include "estimator/onnx/export_onnx.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/output_file.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "estimator/onnx/encode_model.h"
#include "estimator/translation/exported_program.h"
#include "passes/onnx/translate.h"

namespace tandem {
namespace {

constexpr char kWhat[] = "the ONNX file";

absl::Status Write(Env* env, const std::string& file, const onnx::Model& model, bool external_data) {
  const std::string data_name = BaseName(file) + ".data";
  const auto place = external_data ? onnx::WeightsPlace::kData : onnx::WeightsPlace::kModel;
  const onnx::ModelImage image = onnx::EncodeModel(model, place, data_name);
  // Writes the weights first, so that the model's file never exists without them.
  if (!image.data.pieces.empty()) {
    TD_RETURN_IF_ERROR(WritePieces(env, JoinPath(DirName(file), data_name), image.data.pieces));
  }
  return WritePieces(env, file, image.model.pieces);
}

absl::Status Export(const std::string& export_dir, const std::string& file, const ExportOnnxOptions& options) {
  Env* env = Env::Default();
  TD_RETURN_IF_ERROR(CheckExportPaths(env, "ExportOnnx", kWhat, export_dir, file));
  TD_ASSIGN_OR_RETURN(const onnx::Model model, TranslateExport(env, export_dir, [&](const ExportedProgram& program) {
                        return onnx::TranslateProgram(*program.executable, program.values,
                                                      {.fold_batch_norm = options.fold_batch_norm});
                      }));
  return OutputError(kWhat, Write(env, file, model, options.external_data));
}

}  // namespace

absl::Status ExportOnnx(const std::string& export_dir, const std::string& file, const ExportOnnxOptions& options) {
  return CatchResourceErrors("exporting to ONNX", [&] { return Export(export_dir, file, options); });
}

}  // namespace tandem
