#include "tests/errors/mistakes.h"

#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/logging.h"

namespace tandem::mistakes {

namespace {

Dataset ExamplesOfWidth(int64_t n, int64_t width) {
  std::vector<int32_t> ids, labels;
  for (int64_t i = 0; i < n; ++i) {
    ids.push_back(static_cast<int32_t>(i % 5));
    labels.push_back(static_cast<int32_t>(i % 3));
  }
  return Dataset::FromTensorSlices({{"x", HostTensor::Zeros(DType::kFloat32, {n, width})},
                                    {"image", HostTensor::Zeros(DType::kFloat32, {n, 6, 6, 1})},
                                    {"id", HostTensor::FromVector<int32_t>({n}, ids)},
                                    {"label", HostTensor::FromVector<int32_t>({n}, labels)}});
}

}  // namespace

Dataset Examples(int64_t n) { return ExamplesOfWidth(n, 4); }

InputFn Input(int64_t n) {
  return [n](const InputContext&) -> absl::StatusOr<Dataset> { return Examples(n).Batch(8); };
}

InputFn InputOfWidth(int64_t width) {
  return [width](const InputContext&) -> absl::StatusOr<Dataset> { return ExamplesOfWidth(16, width).Batch(8); };
}

RunConfig Config(const std::string& dir) {
  return {.model_dir = dir, .save_checkpoints_steps = 2, .threads = 1, .handle_signals = false};
}

ModelFn ModelOf(LossFn loss_fn) {
  return [loss_fn = std::move(loss_fn)](const Features& features, const Tensor& labels, Mode mode, const Params&) {
    Tensor loss = loss_fn(features, labels);
    if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
    return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
  };
}

EstimatorSpec GoodModel(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor logits = layers::Dense(features["x"], {.units = 3});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"logits", logits}});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {{"accuracy", metrics::Accuracy(labels, logits)}});
  return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
}

absl::Status Train(const std::string& dir, LossFn loss, const InputFn& input) {
  return TrainModel(dir, ModelOf(std::move(loss)), input);
}

absl::Status TrainModel(const std::string& dir, ModelFn model, const InputFn& input) {
  return Estimator(std::move(model), Config(dir)).Train(input, {.steps = 2});
}

absl::Status Prepared(const std::string& dir, ModelFn model) {
  const LogCapture log;
  return TrainModel(dir, std::move(model));
}

absl::Status EvaluateModel(const std::string& dir, ModelFn model, const InputFn& input) {
  std::filesystem::create_directories(dir);  // one that is not there is a mistake of its own
  return Estimator(std::move(model), Config(dir)).Evaluate(input).status();
}

absl::Status Warned(const char* part, const std::function<absl::Status()>& run) {
  std::vector<LogEntry> entries;
  {
    const LogCapture log;
    if (absl::Status status = run(); !status.ok()) return status;
    entries = log.entries();
  }
  std::string found;
  for (const LogEntry& entry : entries) {
    if (entry.severity < LogSeverity::kWarning || !absl::StrContains(entry.message, part)) {
      if (found.empty()) TD_LOG(INFO) << entry.message;
      continue;
    }
    if (!found.empty()) return absl::InternalError(absl::StrCat("warned twice: ", found, "\n", entry.message));
    found = entry.message;
  }
  return found.empty() ? absl::OkStatus() : absl::InvalidArgumentError(found);
}

}  // namespace tandem::mistakes
