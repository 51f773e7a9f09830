// The benchmarks' models with the networks of keras::applications, to compare step times with the benchmarks' own
// networks. A library of its own: those that need no Keras models link no Estimator.
#ifndef TANDEM_BENCHMARKS_MODELS_KERAS_MODELS_H_
#define TANDEM_BENCHMARKS_MODELS_KERAS_MODELS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "benchmarks/models/model.h"

namespace tandem::benchmarks {

// Returns the model called "keras_vgg16" or "keras_resnet50": that of the name without "keras_", with the same inputs,
// batch, loss, optimizer and trained layers, but Keras' network. The number of operations is that of the benchmark's
// network. InvalidArgument for another name, and as of MakeModel.
absl::StatusOr<BenchModel> MakeKerasModel(absl::string_view name, const ModelOptions& options);

}  // namespace tandem::benchmarks

#endif  // TANDEM_BENCHMARKS_MODELS_KERAS_MODELS_H_
