// ModelManager: the models of a server by their names.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_MODEL_MANAGER_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_MODEL_MANAGER_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/serving/server/metrics.h"
#include "estimator/serving/server/options.h"
#include "estimator/serving/server/servable.h"
#include "estimator/serving/server/served_model.h"

namespace tandem::serving {

class ModelManager {
 public:
  // Begins to load all models at once; returns before they are loaded.
  static absl::StatusOr<std::unique_ptr<ModelManager>> Start(const ServerOptions& options, const LoadServable& load,
                                                             Metrics* metrics);

  // NotFound, with the names that there are, for another name.
  absl::StatusOr<const ServedModel*> Find(const std::string& name) const;
  const std::map<std::string, std::unique_ptr<ServedModel>>& models() const { return models_; }
  // OK if every model has a version that serves; else the reason of the first one that has none.
  absl::Status Ready() const;
  // Unloads all models when their requests are answered.
  void Stop();

 private:
  ModelManager() = default;

  std::map<std::string, std::unique_ptr<ServedModel>> models_;
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_MODEL_MANAGER_H_
