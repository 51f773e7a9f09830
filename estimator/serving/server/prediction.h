// What one request asks of a model, and what it gets.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_PREDICTION_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_PREDICTION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "base/named_tensors.h"

namespace tandem::serving {

// The predictions of one request: rows [begin, begin + rows) of the outputs of a batch.
struct Prediction {
  std::shared_ptr<const NamedTensors> outputs;
  int64_t begin = 0;
  int64_t rows = 0;
};

// Set when nobody waits for the answer any more.
using CancelFlag = std::shared_ptr<std::atomic<bool>>;

struct PredictRequest {
  NamedTensors inputs;  // as the signature of the version wants them, each with `rows` rows
  int64_t rows = 0;
  CancelFlag cancelled;
  // Called once, by another thread.
  std::function<void(absl::StatusOr<Prediction>)> done;
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_PREDICTION_H_
