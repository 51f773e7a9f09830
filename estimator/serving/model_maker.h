// ModelMaker: makes a Model of its parts.
#ifndef TANDEM_ESTIMATOR_SERVING_MODEL_MAKER_H_
#define TANDEM_ESTIMATOR_SERVING_MODEL_MAKER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/serving/model.h"
#include "estimator/serving/served_program.h"

namespace tandem {

class ModelMaker {
 public:
  struct Parts {
    ServedProgram::Parts program;
    // What Model's methods of these names return.
    int64_t global_step = 0;
    std::map<std::string, double> metrics;
    std::string path;
  };
  // Errors: those of ServedProgram::Create.
  static absl::StatusOr<std::unique_ptr<Model>> Make(Parts parts, ConcurrentSessions::Options options);
};

// Returns the options for a number of threads and calls, 0 standing for the usual one. InvalidArgument, which begins
// with `where`, for impossible numbers.
absl::StatusOr<ConcurrentSessions::Options> ServingOptions(absl::string_view where, int threads, int calls);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SERVING_MODEL_MAKER_H_
