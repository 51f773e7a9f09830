// RestPath: what a URL of the REST interface names.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_REST_PATH_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_REST_PATH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem::serving {

struct RestPath {
  enum class Kind { kLive, kReady, kMetrics, kModelStatus, kModelMetadata, kPredict };
  Kind kind = Kind::kLive;
  std::string model;               // of the last three
  std::optional<int64_t> version;  // the newest if there is none
};

// Takes the target of a request, whose part behind "?" means nothing. NotFound, with the paths that there are, for
// another one; InvalidArgument for a version that is no number.
absl::StatusOr<RestPath> ParseRestPath(absl::string_view target);

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_REST_PATH_H_
