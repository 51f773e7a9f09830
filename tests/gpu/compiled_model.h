// Benchmark models compiled for a GPU that nothing runs on.
#ifndef TANDEM_TESTS_GPU_COMPILED_MODEL_H_
#define TANDEM_TESTS_GPU_COMPILED_MODEL_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/precision.h"
#include "runtime/executable/executable.h"

namespace tandem {

struct ModelVariant {
  bool tf32 = false;        // float32 operands of products and convolutions may be rounded to TensorFloat-32
  bool all_layers = false;  // vgg16: train every layer
};

// The training step of a model of benchmarks/models on one GPU, for sm_90. Errors: those of MakeModel and CompileGraph.
absl::StatusOr<std::shared_ptr<const Executable>> CompileModelForGpu(absl::string_view model, int64_t batch,
                                                                     Precision precision, ModelVariant variant = {});

}  // namespace tandem

#endif  // TANDEM_TESTS_GPU_COMPILED_MODEL_H_
