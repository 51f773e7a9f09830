// ExportOnnx: an exported model as an ONNX file, which other programs predict with.
//
//   TD_ASSIGN_OR_RETURN(const std::string exported, estimator.ExportModel(folder, serving_input));
//   TD_RETURN_IF_ERROR(ExportOnnx(exported, "model.onnx"));
#ifndef TANDEM_ESTIMATOR_ONNX_EXPORT_ONNX_H_
#define TANDEM_ESTIMATOR_ONNX_EXPORT_ONNX_H_

#include <string>

#include "absl/status/status.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

struct ExportOnnxOptions {
  // Scale the weights of a convolution that stands before a batch normalization, so that one op computes both. If
  // false: BatchNormalization is an op of its own.
  bool fold_batch_norm = false;
  // Write large weights to a second file, `file` with ".data" behind it, each from a multiple of 4096 bytes on, so that
  // readers can map them. Files of ONNX are smaller than 2 GiB, so that larger models get a second file in any case.
  bool external_data = false;
};

// Writes the model that ExportModel (estimator/estimator.h) put into `export_dir`, or the newest of several in it, to
// `file`: opset 17, IR version 8. Inputs and outputs have the names, types and shapes of the exported signature; the
// batch is the dimension "batch", of any size. Numbers are computed in the types that model_fn gave them, also where
// the model was compiled with RunConfig.precision = mixed_bfloat16.
//
// The file appears at once, or not at all. Errors: those of LoadModel for what is read, except that the program may
// belong to anybody, since it is not run; Unimplemented, with the op's name and the user's file and line, for an op
// that ONNX lacks, such as random numbers and sums over the batch; InvalidArgument for a prediction that is called like
// a feature and for a folder that does not exist; exit code 74 if the file cannot be written.
absl::Status ExportOnnx(const std::string& export_dir, const std::string& file, const ExportOnnxOptions& options = {});

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_ONNX_EXPORT_ONNX_H_
