// FitRequests: settings of a Fit that its callbacks ask for before it begins. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_FIT_REQUESTS_H_
#define TANDEM_ESTIMATOR_KERAS_FIT_REQUESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/keras/callback.h"

namespace tandem::keras {

struct FitRequests {
  std::string directory;  // the directory for checkpoints of the run; empty: none
  // True if Fit ends without an error when the loss is NaN or infinite.
  bool ends_at_nan = false;
};

// Base class of callbacks that ask for such settings.
class RequestingCallback : public Callback {
 public:
  virtual absl::Status AddTo(FitRequests* requests) const = 0;
};

// Returns the settings that all callbacks together ask for. `directory` is FitOptions.directory. InvalidArgument if two
// different directories are given.
absl::StatusOr<FitRequests> RequestsOf(const std::vector<CallbackPtr>& callbacks, const std::string& directory);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_FIT_REQUESTS_H_
