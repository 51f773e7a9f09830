#include "estimator/serving/server/served_version.h"

#include <algorithm>

#include "base/status_macros.h"

namespace tandem::serving {

absl::StatusOr<std::shared_ptr<ServedVersion>> ServedVersion::Start(int64_t number, std::unique_ptr<Servable> servable,
                                                                    BatchOptions options, ModelMetrics* metrics) {
  if (options.max_rows == 0) options.max_rows = std::max<int64_t>(1, servable->rows_per_step());
  std::shared_ptr<ServedVersion> version(new ServedVersion(number, std::move(servable)));
  TD_ASSIGN_OR_RETURN(
      version->batcher_,
      Batcher::Start(
          options, [s = version->servable_.get()](const NamedTensors& x) { return s->Predict(x); }, metrics));
  return version;
}

}  // namespace tandem::serving
