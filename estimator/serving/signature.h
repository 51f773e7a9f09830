// signature.json: the inputs and outputs of an exported model, and the size and CRC-32C of each of its files and of
// itself.
//
//   {
//     "format": "tandem-export-1",
//     "global_step": 200,
//     "target": "x86-64 avx avx2 ...",
//     "rows_per_step": 32,
//     "inputs": [{"name": "image", "dtype": "float32", "shape": [-1, 28, 28, 1]}],      <- -1: the batch
//     "outputs": [{"name": "logits", "dtype": "float32", "shape": [-1, 10]}],
//     "seed": 0,
//     "scalars": {},
//     "metrics": {"accuracy": 0.9, "loss": 0.25},              <- of the evaluation it was exported after, if there was
//     "files": {"predict.tdx": {"size": 61000, "crc32c": "0f9a3c77"}, ...},
//     "signature_crc32c": "5d1c0a2e"                           <- of all bytes before this line
//   }
#ifndef TANDEM_ESTIMATOR_SERVING_SIGNATURE_H_
#define TANDEM_ESTIMATOR_SERVING_SIGNATURE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/dtype.h"
#include "base/env.h"
#include "estimator/checkpoint/manifest.h"
#include "estimator/serving/tensor_signature.h"

namespace tandem {

inline constexpr char kSignatureName[] = "signature.json";
inline constexpr char kProgramName[] = "predict.tdx";
inline constexpr char kWeightsName[] = "variables.safetensors";

struct ModelSignature {
  int64_t global_step = 0;
  std::string target;         // the processor that the program was compiled for, as the executable names it
  int64_t rows_per_step = 1;  // the most rows that the program computes at once
  std::vector<TensorSignature> inputs, outputs;
  int64_t seed = 0;                             // seed of random numbers in the program
  std::map<std::string, double> scalars;        // other step scalars of the program to which model_fn gave a value
  std::map<std::string, double> metrics;        // metrics of the evaluation before the export; may be empty, or NaN
  std::map<std::string, Manifest::File> files;  // sizes and checksums of kProgramName and kWeightsName, by name

  // InvalidArgument if a name is not UTF-8. Equal signatures give equal texts.
  absl::StatusOr<std::string> Text() const;
};

// Parses what Text() writes. `path` is for messages. DataLoss if a byte has changed, or if it is no signature.
absl::StatusOr<ModelSignature> ParseSignature(const std::string& text, const std::string& path);

// Reads the signature of the exported model in `dir`; does not look at its other files. NotFound if there is none.
absl::StatusOr<ModelSignature> ReadSignature(Env* env, const std::string& dir);

// Reads the signature and compares every file with it, byte by byte. DataLoss, naming the file, if one has changed.
absl::StatusOr<ModelSignature> VerifyExport(Env* env, const std::string& dir);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SERVING_SIGNATURE_H_
