// An Env in which every file has one content, for readers that look for a file of their own name in a folder.
#ifndef TANDEM_TESTS_FUZZ_ONE_FILE_ENV_H_
#define TANDEM_TESTS_FUZZ_ONE_FILE_ENV_H_

#include <memory>
#include <string>

#include "base/fault_injecting_env.h"
#include "tests/fuzz/memory_file.h"

namespace tandem::fuzz {

class OneFileEnv : public FaultInjectingEnv {
 public:
  OneFileEnv() : FaultInjectingEnv(Env::Default()) {}

  // Of all files from now on.
  void Set(absl::string_view bytes) { file_.Set(bytes); }

  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(const std::string&) override {
    return FaultInjectingEnv::OpenForRead(file_.path());
  }
  absl::StatusOr<FileInfo> Stat(const std::string&) override { return FaultInjectingEnv::Stat(file_.path()); }

 private:
  MemoryFile file_;
};

}  // namespace tandem::fuzz

#endif  // TANDEM_TESTS_FUZZ_ONE_FILE_ENV_H_
