#include "data/list_files.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/env.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr size_t kShownNames = 5;

bool HasWildcard(const std::string& name) { return name.find_first_of("*?[\\") != std::string::npos; }

bool IsLink(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

bool IsDirectory(const std::string& path) {
  const absl::StatusOr<FileInfo> info = Env::Default()->Stat(path);
  return info.ok() && info->is_directory;
}

// Appends the paths in `dir` that match patterns[at...], one pattern for each path component, to *out. Sets *reached to
// the last folder that was listed.
absl::Status Match(const std::string& dir, const std::vector<std::string>& patterns, size_t at, std::string* reached,
                   std::vector<std::string>* out) {
  const bool last = at + 1 == patterns.size();
  const std::string& pattern = patterns[at];
  const auto below = [&](const std::string& name) { return dir.empty() ? name : JoinPath(dir, name); };
  const auto take = [&](const std::string& path) -> absl::Status {
    if (!last) return IsDirectory(path) ? Match(path, patterns, at + 1, reached, out) : absl::OkStatus();
    const absl::StatusOr<FileInfo> info = Env::Default()->Stat(path);
    if (info.ok() && info->is_regular) out->push_back(path);
    return absl::OkStatus();
  };
  if (!HasWildcard(pattern)) return take(below(pattern));
  *reached = dir.empty() ? "." : dir;
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> names, Env::Default()->ListDir(*reached));
  if (pattern == "**") {
    if (!last) TD_RETURN_IF_ERROR(Match(dir, patterns, at + 1, reached, out));
    for (const std::string& name : names) {
      if (name[0] == '.') continue;
      const std::string path = below(name);
      if (IsDirectory(path)) {
        if (!IsLink(path)) TD_RETURN_IF_ERROR(Match(path, patterns, at, reached, out));
      } else if (last) {
        TD_RETURN_IF_ERROR(take(path));
      }
    }
    return absl::OkStatus();
  }
  for (const std::string& name : names) {
    if (fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0) TD_RETURN_IF_ERROR(take(below(name)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> MatchFiles(const std::string& pattern) {
  if (pattern.empty()) return absl::InvalidArgumentError("the pattern is empty");
  const std::vector<std::string> patterns = absl::StrSplit(pattern, '/', absl::SkipEmpty());
  std::string reached = DirName(pattern);
  std::vector<std::string> files;
  if (!patterns.empty()) {
    TD_RETURN_IF_ERROR(Match(pattern[0] == '/' ? "/" : "", patterns, 0, &reached, &files));
  }
  // Several expansions of a ** may lead to the same file, so duplicates are removed.
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  if (!files.empty()) return files;
  const absl::StatusOr<std::vector<std::string>> names = Env::Default()->ListDir(reached);
  std::string there = "which cannot be listed";
  if (names.ok()) {
    std::vector<std::string> first(names->begin(), names->begin() + std::min(names->size(), kShownNames));
    there = names->empty() ? "which is empty"
                           : absl::StrCat("which has ", names->size(), " entries, the first of them ",
                                          PrintableLine(absl::StrJoin(first, ", ")));
  }
  return absl::NotFoundError(absl::StrCat("no file matches '", PrintableLine(pattern), "'; it leads to the folder '",
                                          PrintableLine(reached), "', ", there));
}

}  // namespace tandem
