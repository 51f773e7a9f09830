// The benchmarks' models with the networks of keras::applications, to compare their step times with those of the
// benchmarks' own networks. They are in a library of their own, because they need the Estimator, which other benchmarks
// do not link.
#ifndef TANDEM_BENCHMARKS_MODELS_KERAS_MODELS_H_
#define TANDEM_BENCHMARKS_MODELS_KERAS_MODELS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "benchmarks/models/model.h"

namespace tandem::benchmarks {

// Returns the model called "keras_vgg16" or "keras_resnet50". It differs from the benchmarks' model without "keras_" in
// its name only by Keras' network: inputs, batch, loss, optimizer, trained layers and number of operations are the
// same. InvalidArgument for another name; also the errors of MakeModel.
absl::StatusOr<BenchModel> MakeKerasModel(absl::string_view name, const ModelOptions& options);

}  // namespace tandem::benchmarks

#endif  // TANDEM_BENCHMARKS_MODELS_KERAS_MODELS_H_
