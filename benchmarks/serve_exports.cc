// serve_exports DIRECTORY: exports a model for benchmarks of tandem-serve, once or every few seconds.
//
// The model has inputs "image" and "id", and outputs "logits" and "id", by which a client knows whether an answer is
// that to its request (serve_load).
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/env.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/estimator.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "samples/networks.h"

ABSL_FLAG(int, count, 1, "exports");
ABSL_FLAG(double, every_secs, 5, "from one export to the next");
ABSL_FLAG(int, rows_per_step, 32, "that the program computes at once");

namespace tandem {
namespace {

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor logits = networks::ZalandoConvnet(features["image"], {.logits = true});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"logits", logits}, {"id", features["id"] + 0.0f}});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.01}).Minimize(loss));
}

absl::StatusOr<Dataset> Input(const InputContext&) {
  return Dataset::FromTensorSlices({{"image", HostTensor::Zeros(DType::kFloat32, {8, 28, 28, 1})},
                                    {"id", HostTensor::Zeros(DType::kFloat32, {8})},
                                    {"label", HostTensor::Zeros(DType::kInt32, {8})}})
      .Batch(8);
}

absl::Status Export(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) return absl::InvalidArgumentError("usage: serve_exports DIRECTORY; --help explains flags");
  Estimator estimator(ModelFn, {.model_dir = arguments[0] + "/model"});
  TD_RETURN_IF_ERROR(estimator.Train(Input, {.steps = 1}));
  const ServingInput input{
      .features = {{"image", DType::kFloat32, {kBatch, 28, 28, 1}}, {"id", DType::kFloat32, {kBatch}}},
      .rows_per_step = absl::GetFlag(FLAGS_rows_per_step)};
  for (int i = 0; i < absl::GetFlag(FLAGS_count); ++i) {
    if (i > 0) absl::SleepFor(absl::Seconds(absl::GetFlag(FLAGS_every_secs)));
    TD_ASSIGN_OR_RETURN(const std::string path, estimator.ExportModel(arguments[0] + "/exports", input));
    absl::PrintF("%s\n", path);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "serve_exports: models for serve_load", tandem::Export);
}
