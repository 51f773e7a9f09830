// The directory of a model's exports; each is a directory `<seconds since 1970>/`.
#ifndef TANDEM_ESTIMATOR_SERVING_EXPORT_DIR_H_
#define TANDEM_ESTIMATOR_SERVING_EXPORT_DIR_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/env.h"

namespace tandem {

// Returns the paths of the exported models in `base`, oldest first: directories with a signature whose names are
// numbers of ten digits or more. Their content is not verified. Empty if `base` does not exist.
absl::StatusOr<std::vector<std::string>> ListExports(Env* env, const std::string& base);

// Returns `path` if it is an exported model, the newest one in it if there is one, else `path`.
absl::StatusOr<std::string> FindExport(Env* env, const std::string& path);

// Writes the files (name, pieces of the content) as a new exported model and returns its path. A reader, or a start
// after a crash, sees all of it or nothing: temporary directory, fsync, rename, fsync. The name is the time or, if that
// is not larger than all existing names (for example after the clock was set back), one more than the largest. After an
// error nothing is left, unless the last fsync failed. Any number of threads and processes may write to `base` at once.
absl::StatusOr<std::string> WriteExport(
    Env* env, const std::string& base,
    const std::vector<std::pair<std::string, std::vector<absl::string_view>>>& files);

// Deletes the oldest exports and keeps `keep` of them; 0 keeps all. `newest`, an export of `base`, is always kept.
absl::Status DeleteOldExports(Env* env, const std::string& base, int keep, const std::string& newest);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SERVING_EXPORT_DIR_H_
