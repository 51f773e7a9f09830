// Files that may be lost in a power failure: caches, which can be made again, and directories that are synced later.
#ifndef TANDEM_BASE_UNSYNCED_FILES_H_
#define TANDEM_BASE_UNSYNCED_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/env.h"

namespace tandem {

// Creates `dir` and its missing parents, as Env::CreateDirs does, without waiting for the disk.
absl::Status CreateDirsUnsynced(Env* env, const std::string& dir);

// Replaces `path` atomically for other processes, without waiting for the disk. After a crash of the machine the file
// may be cut short, so its content must have a checksum. After an error no temporary file remains.
absl::Status WriteFileUnsynced(Env* env, const std::string& path, absl::string_view bytes);

}  // namespace tandem

#endif  // TANDEM_BASE_UNSYNCED_FILES_H_
