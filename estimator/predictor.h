// Predictor: answers one call after another with the weights of a trained model, as a server does.
//
//   TD_ASSIGN_OR_RETURN(auto predictor, estimator.MakePredictor({{"image", DType::kFloat32, {kBatch, 28, 28, 1}}}));
//   TD_ASSIGN_OR_RETURN(auto predictions, predictor->Predict({{"image", image}}));  // image: float32[rows,28,28,1]
#ifndef TANDEM_ESTIMATOR_PREDICTOR_H_
#define TANDEM_ESTIMATOR_PREDICTOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/named_tensors.h"
#include "data/element.h"

namespace tandem {

struct PredictorOptions {
  // Rows that the program computes at once, on each replica. Calls may have any number of rows: more take several runs.
  int64_t batch_size = 1;
  // ".../model.ckpt-100". Empty: the latest of model_dir, or what was trained in memory where that counts, as for
  // Estimator::Predict.
  std::string checkpoint_path = "";
  bool use_moving_average = true;  // as of EvaluateOptions
};

// Holds weights, threads and a program of its own: what the Estimator does after MakePredictor, its end included, and
// newer checkpoints change nothing. No call reads a file, writes a log line or starts a thread. Results have the bits
// that Estimator::Predict gives for an input with the same components and batch size; hooks are not called.
//
// Thread-compatible: one call at a time. For several threads make one each.
class Predictor {
 public:
  ~Predictor();
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  // `features`: a tensor for each of features(), all with the same number of rows, at least one. Gives the model's
  // predictions by name, [rows, ...] each. InvalidArgument, with the name and what it should be, for features that are
  // missing, unknown, or of another type or shape; OutOfRange for an integer that is no row of the table it chooses
  // from.
  absl::StatusOr<NamedTensors> Predict(const NamedTensors& features);

  const std::vector<ComponentSpec>& features() const;
  // The step that the weights are of, and their checkpoint; empty for initial values and for what was in memory alone.
  int64_t global_step() const;
  const std::string& checkpoint() const;

 private:
  friend class Estimator;
  class Impl;
  explicit Predictor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PREDICTOR_H_
