// Reads an exported model for those who translate its graph to the format of others, and writes what they make.
#ifndef TANDEM_ESTIMATOR_TRANSLATION_EXPORTED_PROGRAM_H_
#define TANDEM_ESTIMATOR_TRANSLATION_EXPORTED_PROGRAM_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/consistent_read.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/serving/export_dir.h"
#include "estimator/serving/signature.h"
#include "passes/translation/program_values.h"
#include "runtime/executable/executable.h"

namespace tandem {

struct ExportedProgram {
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<const SafetensorsReader> weights;
  translation::ProgramValues values;  // reads the weights; the outputs are those of the signature
};

// Reads the exported model in `dir`, after every byte was compared with its checksum. The program may belong to
// anybody, since it is not run.
absl::StatusOr<ExportedProgram> ReadExportedProgram(Env* env, const std::string& dir);

// Checks, before the work is done, what `function` ("ExportOnnx") was called with. `what` names the file in errors.
absl::Status CheckExportPaths(Env* env, absl::string_view function, absl::string_view what,
                              const std::string& export_dir, const std::string& file);

// Returns `translate(program)`, an absl::StatusOr, for the exported model in `export_dir` or the newest of several in
// it. Begins again where another one took its place meanwhile.
template <typename Translate>
auto TranslateExport(Env* env, const std::string& export_dir, const Translate& translate)
    -> decltype(translate(std::declval<const ExportedProgram&>())) {
  using Result = decltype(translate(std::declval<const ExportedProgram&>()));
  return ReadConsistently(
      env, kSignatureName, [&] { return FindExport(env, export_dir); },
      [&](const std::string& dir) -> Result {
        TD_ASSIGN_OR_RETURN(const ExportedProgram program, ReadExportedProgram(env, dir));
        return translate(program);
      });
}

// Does what WriteOutputFile (base/output_file.h) does, without joining the pieces in memory.
absl::Status WritePieces(Env* env, const std::string& path, absl::Span<const absl::string_view> pieces);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_TRANSLATION_EXPORTED_PROGRAM_H_
