#include "base/user_cache.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/logging.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

// Returns the value of an environment variable if it is an absolute path; otherwise "".
std::string AbsolutePathIn(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && value[0] == '/' ? value : "";
}

// Creates `dir` and its missing parents, each for this user alone. Returns why this, or writing there, is impossible,
// or that others may write there; "" if all is well.
std::string ProblemWith(const fs::path& dir) {
  fs::path path;
  for (const fs::path& part : dir) {
    path /= part;
    if (mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST && !fs::is_directory(path)) return std::strerror(errno);
  }
  struct stat info;
  if (stat(dir.c_str(), &info) != 0) return std::strerror(errno);
  if (!S_ISDIR(info.st_mode)) return "it is no directory";
  if (info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write it";
  return access(dir.c_str(), R_OK | W_OK | X_OK) == 0 ? "" : std::strerror(errno);
}

struct CachedFile {
  int64_t used = 0;  // time of the last use, in seconds since 1970
  int64_t bytes = 0;
  std::string path;
};

void AddFiles(const std::string& dir, const char* extension, std::vector<CachedFile>* files) {
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    struct stat info;
    const std::string path = it->path().string();
    if (it->path().extension() != extension || lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    // Most file systems update the time of the last read only once a day, and some never, so the time of writing counts
    // too.
    files->push_back({std::max<int64_t>(info.st_atime, info.st_mtime), static_cast<int64_t>(info.st_size), path});
  }
}

}  // namespace

std::string UserProgramCache() {
  std::string base = AbsolutePathIn("XDG_CACHE_HOME");
  if (base.empty()) {
    base = AbsolutePathIn("HOME");
    if (base.empty()) return "";
    base += "/.cache";
  }
  const std::string dir = absl::StrCat(base, "/tandem/compiled");
  if (const std::string problem = ProblemWith(dir); !problem.empty()) {
    TD_LOG(WARNING) << "Compiled programs are not kept for the next start, as " << dir << " cannot be used: " << problem
                    << "; give a model_dir, or RunConfig.compile_cache_dir.";
    return "";
  }
  TrimProgramCache(dir, kUserCacheBytes);
  return dir;
}

void TrimProgramCache(const std::string& dir, int64_t max_bytes) {
  std::vector<CachedFile> files;
  AddFiles(dir, ".tdx", &files);
  AddFiles(dir + "/kernels", ".tdk", &files);
  int64_t bytes = 0;
  for (const CachedFile& file : files) bytes += file.bytes;
  std::sort(files.begin(), files.end(), [](const CachedFile& a, const CachedFile& b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  for (const CachedFile& file : files) {
    if (bytes <= max_bytes) return;
    // If the file is gone, another process has deleted it.
    if (unlink(file.path.c_str()) == 0 || errno == ENOENT) bytes -= file.bytes;
  }
}

}  // namespace tandem
