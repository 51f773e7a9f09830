// A file in memory for parsers that want a path.
#ifndef TANDEM_TESTS_FUZZ_MEMORY_FILE_H_
#define TANDEM_TESTS_FUZZ_MEMORY_FILE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tandem::fuzz {

class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Its content from now on.
  void Set(absl::string_view bytes);
  const std::string& path() const { return path_; }

 private:
  int fd_;
  std::string path_;
};

}  // namespace tandem::fuzz

#endif  // TANDEM_TESTS_FUZZ_MEMORY_FILE_H_
