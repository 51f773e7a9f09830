// Predictor: answers one call after another with the weights of a trained model, for example in a server.
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
#include "tandem/base/api.h"
#include "tandem/base/named_tensors.h"
#include "tandem/data/element.h"

namespace TANDEM_API tandem {

struct PredictorOptions {
  // Rows that the program computes at once, on each replica. Calls may have any number of rows; larger ones take
  // several runs.
  int64_t batch_size = 1;
  // For example ".../model.ckpt-100". If empty: the same weights as for Estimator::Predict, those of the latest
  // checkpoint of model_dir or those trained in memory.
  std::string checkpoint_path = "";
  bool use_moving_average = true;  // use moving averages in place of weights that have one
};

// Has its own weights, threads and program: what happens to the Estimator after MakePredictor, even its end, and newer
// checkpoints change nothing. No call reads a file, writes a log line or starts a thread. Results have the same bits as
// those of Estimator::Predict for an input with the same components and batch size. Hooks are not called.
//
// Thread-compatible: one call at a time. For several threads, make one Predictor each.
class Predictor {
 public:
  ~Predictor();
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  // `features` has a tensor for each of features(), all with the same number of rows, at least one. Returns the model's
  // predictions by name, each [rows, ...]. InvalidArgument, with the name and what it should be, for features that are
  // missing, unknown, or of another type or shape; OutOfRange for an integer that is no row of the table that it
  // indexes.
  absl::StatusOr<NamedTensors> Predict(const NamedTensors& features);

  // What the model asks for, as given to MakePredictor.
  const std::vector<ComponentSpec>& features() const;
  // The step of the weights, and their checkpoint; "" for initial values and for weights that were in memory only.
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
