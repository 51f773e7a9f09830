// What callbacks ask of their Fit before it begins. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_FIT_REQUESTS_H_
#define TANDEM_ESTIMATOR_KERAS_FIT_REQUESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/keras/callback.h"

namespace tandem::keras {

struct FitRequests {
  std::string directory;     // where the run is kept; empty: nowhere
  bool ends_at_nan = false;  // a loss that is NaN or infinite ends Fit without an error
};

// A callback that has such a request.
class RequestingCallback : public Callback {
 public:
  virtual absl::Status AddTo(FitRequests* requests) const = 0;
};

// Returns the requests of all callbacks. `directory` is that of FitOptions. InvalidArgument for two directories.
absl::StatusOr<FitRequests> RequestsOf(const std::vector<CallbackPtr>& callbacks, const std::string& directory);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_FIT_REQUESTS_H_
