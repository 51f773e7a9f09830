// ExportStableHlo: an exported model as StableHLO text, which JAX, XLA and the plugins of PJRT compile.
//
//   TD_ASSIGN_OR_RETURN(const std::string exported, estimator.ExportModel(folder, serving_input));
//   TD_RETURN_IF_ERROR(ExportStableHlo(exported, "model.mlir", {.rows = 8}));
#ifndef TANDEM_ESTIMATOR_STABLEHLO_EXPORT_STABLEHLO_H_
#define TANDEM_ESTIMATOR_STABLEHLO_EXPORT_STABLEHLO_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

struct ExportStableHloOptions {
  // The number of rows that the module computes: sizes are fixed in StableHLO. From 1 to 2^31 - 1.
  int64_t rows = 1;
  // Write the weights into the text, for small models; at most 64 MiB of them. If false they are arguments, and their
  // values are in a second file, `file` with ".safetensors" behind it.
  bool constants = false;
};

// Writes the model that ExportModel (estimator/estimator.h) put into `export_dir`, or the newest of several in it, to
// `file`: a module whose function @main takes the inputs, in the order of the signature, and then the weights. Each
// argument has the attribute tandem.input or tandem.variable with its name, each result tandem.output. In the second
// file the weights have their names, and the metadata "arguments" is a JSON list of these in the order of the
// arguments. Numbers have the types that model_fn gave them, also where the model was compiled with RunConfig.precision
// = mixed_bfloat16, and products are computed with all digits of theirs.
//
// The file appears at once, or not at all. Errors: those of LoadModel for what is read, except that the program may
// belong to anybody, since it is not run; Unimplemented, with the op's name and the user's file and line, for an op
// that is not exported, such as random numbers and sums over the batch; InvalidArgument for `rows` and `constants` that
// are not allowed and for a folder that does not exist; exit code 74 if a file cannot be written.
absl::Status ExportStableHlo(const std::string& export_dir, const std::string& file,
                             const ExportStableHloOptions& options = {});

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_STABLEHLO_EXPORT_STABLEHLO_H_
