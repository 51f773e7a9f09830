// ReadConsistently: reads a directory that other processes may replace or delete meanwhile.
//
// Such a directory has a file with the checksums of its files: a checkpoint its manifest, an exported model its
// signature. A writer replaces a directory by renaming a new one, so a different list shows that it was replaced.
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_CONSISTENT_READ_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_CONSISTENT_READ_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/env.h"
#include "base/status_macros.h"

namespace tandem {

// How often a reader tries at most, and how long it waits for a writer that is between two renames.
inline constexpr int kReadAttempts = 10;
inline constexpr double kReadPauseSeconds = 0.02;

// Identifies the directory that is at `path` when this object is made, by the content of its list of checksums.
class DirectoryVersion {
 public:
  // `list_name` is the name of the file with the checksums of the others.
  DirectoryVersion(Env* env, std::string path, absl::string_view list_name);

  const std::string& path() const { return path_; }
  // `read` is the result of reading files of the directory after this object was made. Returns true if it comes from
  // this directory alone, even if the directory is gone by now.
  bool Holds(const absl::Status& read) const;

 private:
  absl::StatusOr<std::string> List() const;

  Env* const env_;
  const std::string path_, list_path_;
  const absl::StatusOr<std::string> list_;
};

// Returns Unavailable: `path` was replaced during each of kReadAttempts tries.
absl::Status ReplacedTooOften(absl::string_view path);

// Returns `read(path)`, an absl::StatusOr, for the path that `find()` returns. Tries again, at most kReadAttempts
// times, if the directory was replaced during the read, or if the read failed and `find` now returns another path. So
// no result is a mixture of two directories.
template <typename Find, typename Read>
auto ReadConsistently(Env* env, absl::string_view list_name, const Find& find, const Read& read)
    -> decltype(read(std::string())) {
  for (int attempt = 1;; ++attempt) {
    TD_ASSIGN_OR_RETURN(std::string path, find());
    const DirectoryVersion version(env, std::move(path), list_name);
    auto result = read(version.path());
    if (absl::IsNotFound(result.status())) env->SleepSeconds(kReadPauseSeconds);
    bool holds = version.Holds(result.status());
    if (holds && !result.ok()) {
      const absl::StatusOr<std::string> now = find();
      holds = !now.ok() || *now == version.path();
    }
    if (holds) return result;
    if (attempt == kReadAttempts) return result.ok() ? ReplacedTooOften(version.path()) : result.status();
  }
}

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_CONSISTENT_READ_H_
