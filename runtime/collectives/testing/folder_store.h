// FolderStore: a KeyValueStore for the processes of a test, as files in a folder.
#ifndef TANDEM_RUNTIME_COLLECTIVES_TESTING_FOLDER_STORE_H_
#define TANDEM_RUNTIME_COLLECTIVES_TESTING_FOLDER_STORE_H_

#include <string>

#include "base/key_value_store.h"

namespace tandem {

// Keys that differ only in '/' and '_' are the same. Get looks every millisecond.
class FolderStore : public KeyValueStore {
 public:
  // `folder` must exist.
  explicit FolderStore(std::string folder) : folder_(std::move(folder)) {}

  absl::Status Set(absl::string_view key, absl::string_view value) override;
  absl::StatusOr<std::string> Get(absl::string_view key, absl::Duration timeout) override;

 private:
  std::string Path(absl::string_view key) const;

  const std::string folder_;
};

// A new empty folder below the system's folder for temporary files, deleted with its files at the end.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_TESTING_FOLDER_STORE_H_
