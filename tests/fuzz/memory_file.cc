#include "tests/fuzz/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace tandem::fuzz {

MemoryFile::MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)), path_(absl::StrCat("/proc/self/fd/", fd_)) {
  if (fd_ < 0) std::perror("memfd_create"), std::exit(1);
}

MemoryFile::~MemoryFile() { close(fd_); }

void MemoryFile::Set(absl::string_view bytes) {
  if (ftruncate(fd_, 0) != 0 || pwrite(fd_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    std::perror("a file in memory"), std::exit(1);
  }
}

}  // namespace tandem::fuzz
