// ServedVersion: a version of a model with the threads that compute its predictions.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_SERVED_VERSION_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_SERVED_VERSION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/serving/server/batcher.h"
#include "estimator/serving/server/metrics.h"
#include "estimator/serving/server/options.h"
#include "estimator/serving/server/prediction.h"
#include "estimator/serving/server/servable.h"

namespace tandem::serving {

class ServedVersion {
 public:
  // Starts threads for a loaded version.
  static absl::StatusOr<std::shared_ptr<ServedVersion>> Start(int64_t number, std::unique_ptr<Servable> servable,
                                                              BatchOptions options, ModelMetrics* metrics);

  int64_t number() const { return number_; }
  const Servable& servable() const { return *servable_; }
  // As Batcher's.
  absl::Status Add(PredictRequest* request) { return batcher_->Add(request); }
  void Drain() { batcher_->Drain(); }

 private:
  ServedVersion(int64_t number, std::unique_ptr<Servable> servable) : number_(number), servable_(std::move(servable)) {}

  const int64_t number_;
  const std::unique_ptr<Servable> servable_;
  std::unique_ptr<Batcher> batcher_;
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_SERVED_VERSION_H_
