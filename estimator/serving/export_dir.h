// The directory of a model's exports: `<seconds since 1970>/`, each an exported model.
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

// Paths of the exported models in `base`, oldest first: directories whose names are numbers of ten digits or more, with
// a signature. Their content is not verified. Empty when there is no such directory.
absl::StatusOr<std::vector<std::string>> ListExports(Env* env, const std::string& base);

// Writes the files (name, pieces of the content) as a new exported model and returns its path. A reader, or a start
// after a crash, sees all of it or nothing: a temporary directory, fsync, rename, fsync. Its name is the time, or where
// that is taken or over, such as after the clock was set back, the number behind the newest. On an error nothing is
// left, but for one of the last fsync. Any number of threads and processes may write to `base` at once.
absl::StatusOr<std::string> WriteExport(
    Env* env, const std::string& base,
    const std::vector<std::pair<std::string, std::vector<absl::string_view>>>& files);

// Deletes the oldest of the exports but `keep` of them; 0 keeps all. `newest`, an export of `base`, stays in any case.
absl::Status DeleteOldExports(Env* env, const std::string& base, int keep, const std::string& newest);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SERVING_EXPORT_DIR_H_
