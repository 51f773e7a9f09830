#include "estimator/checkpoint/consistent_read.h"

namespace tandem {

DirectoryVersion::DirectoryVersion(Env* env, std::string path, absl::string_view list_name)
    : env_(env), path_(std::move(path)), list_path_(JoinPath(path_, list_name)), list_(List()) {}

absl::StatusOr<std::string> DirectoryVersion::List() const {
  // The limit of 16 MiB is far above the size of any list of checksums.
  return env_->ReadFile(list_path_, int64_t{1} << 24);
}

bool DirectoryVersion::Holds(const absl::Status& read) const {
  const absl::StatusOr<std::string> now = List();
  if (list_.ok() && now.ok()) return *list_ == *now;
  // If the read succeeded, its result is complete, even if the directory has been deleted since.
  return read.ok() && list_.ok() ? absl::IsNotFound(now.status()) : list_.ok() == now.ok();
}

absl::Status ReplacedTooOften(absl::string_view path) {
  return absl::UnavailableError(absl::StrCat(path, ": was replaced by another one during each of ", kReadAttempts,
                                             " tries to read it; try again when nobody writes there"));
}

}  // namespace tandem
