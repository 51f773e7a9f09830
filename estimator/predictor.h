// Predictor: answers one call after another, and several at the same time, with the weights of a trained model, for
// example in a server.
//
//   TD_ASSIGN_OR_RETURN(auto predictor, estimator.MakePredictor({{"image", DType::kFloat32, {kBatch, 28, 28, 1}}}));
//   TD_ASSIGN_OR_RETURN(auto predictions, predictor->Predict({{"image", image}}));  // image: float32[rows,28,28,1]
#ifndef TANDEM_ESTIMATOR_PREDICTOR_H_
#define TANDEM_ESTIMATOR_PREDICTOR_H_

#include <cstdint>
#include <string>

#include "tandem/base/api.h"
#include "tandem/estimator/serving/model.h"

namespace TANDEM_API tandem {

struct PredictorOptions {
  // Rows that the program computes at once, on each replica. Calls may have any number of rows; larger ones take
  // several runs.
  int64_t batch_size = 1;
  // For example ".../model.ckpt-100". If empty: the same weights as for Estimator::Predict, those of the latest
  // checkpoint of model_dir or those trained in memory.
  std::string checkpoint_path = "";
  bool use_moving_average = true;  // use moving averages in place of weights that have one
  // How many calls may run at the same time, as LoadModelOptions.calls.
  int calls = 0;
};

// What Estimator::MakePredictor returns is what LoadModel returns: the model of a model_fn, of a model_dir, of a
// checkpoint and of an exported folder are used in the same way. Results have the same bits as those of
// Estimator::Predict for an input with the same components and batch size. Hooks are not called.
using Predictor = Model;

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PREDICTOR_H_
