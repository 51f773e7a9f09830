#include "estimator/stablehlo/export_stablehlo.h"

#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "base/output_file.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/json_text.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/translation/exported_program.h"
#include "passes/stablehlo/translate.h"

namespace tandem {
namespace {

constexpr char kWhat[] = "the StableHLO file";
constexpr int64_t kMaxConstantBytes = int64_t{64} << 20;  // the text has two characters for each byte

absl::Status CheckConstants(const SafetensorsReader& weights) {
  int64_t bytes = 0;
  for (const SafetensorsEntry& entry : weights.entries()) bytes += entry.end - entry.begin;
  if (bytes <= kMaxConstantBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("ExportStableHlo: `constants` is set, and the weights have ", bytes, " bytes, which is more than ",
                   kMaxConstantBytes, "; leave it out, so that they are arguments with a file of their own"));
}

absl::StatusOr<stablehlo::Model> Translate(const ExportedProgram& program, const ExportStableHloOptions& options) {
  if (options.constants) {
    TD_RETURN_IF_ERROR(CheckConstants(*program.weights));
  }
  return stablehlo::TranslateProgram(*program.executable, program.values,
                                     {.rows = options.rows, .weights_as_constants = options.constants});
}

absl::StatusOr<SafetensorsImage> ImageOf(const std::vector<stablehlo::Weight>& weights) {
  TensorMap tensors;
  std::vector<std::string> names;
  for (const auto& [name, value] : weights) {
    tensors[name] = value;
    TD_ASSIGN_OR_RETURN(const std::string text, JsonText(name));
    names.push_back(text);
  }
  return SerializeSafetensors(tensors, {{"arguments", absl::StrCat("[", absl::StrJoin(names, ", "), "]")}});
}

absl::Status Write(Env* env, const std::string& file, const stablehlo::Model& model, bool constants) {
  // Writes the weights first, so that the module's file never exists without them.
  if (!constants) {
    TD_ASSIGN_OR_RETURN(const SafetensorsImage weights, ImageOf(model.weights));
    TD_RETURN_IF_ERROR(WritePieces(env, file + ".safetensors", weights.Pieces()));
  }
  const absl::string_view text = model.text;
  return WritePieces(env, file, absl::MakeConstSpan(&text, 1));
}

absl::Status Export(const std::string& export_dir, const std::string& file, const ExportStableHloOptions& options) {
  if (options.rows < 1 || options.rows > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("ExportStableHlo: `rows` is ", options.rows, "; it may be from 1 to 2^31 - 1"));
  }
  Env* env = Env::Default();
  TD_RETURN_IF_ERROR(CheckExportPaths(env, "ExportStableHlo", kWhat, export_dir, file));
  TD_ASSIGN_OR_RETURN(
      const stablehlo::Model model,
      TranslateExport(env, export_dir, [&](const ExportedProgram& program) { return Translate(program, options); }));
  return OutputError(kWhat, Write(env, file, model, options.constants));
}

}  // namespace

absl::Status ExportStableHlo(const std::string& export_dir, const std::string& file,
                             const ExportStableHloOptions& options) {
  return CatchResourceErrors("exporting to StableHLO", [&] { return Export(export_dir, file, options); });
}

}  // namespace tandem
