#include "tools/dump/find_executable.h"

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "runtime/executable/executable.h"
#include "runtime/format/index.h"

namespace tandem {

namespace fs = std::filesystem;

namespace {

// True if the executable in `file` was compiled for `target`. Executables record their target as "cuda sm_90", or as
// the required CPU features: "x86-64 avx ...".
bool IsFor(const std::string& file, const std::string& target) {
  if (target.empty()) return true;
  absl::StatusOr<std::shared_ptr<const Executable>> executable = Executable::LoadToLook(file);
  if (!executable.ok()) return false;
  const std::string& have = (*executable)->index().target;
  return target == "cpu" ? !absl::StartsWith(have, "cuda ") : have == absl::StrReplaceAll(target, {{":", " "}});
}

}  // namespace

absl::StatusOr<std::string> FindExecutable(const std::string& path, const std::string& mode,
                                           const std::string& target) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return absl::NotFoundError(absl::StrCat(path, " does not exist; give a model directory or a .tdx file"));
  }
  if (!fs::is_directory(path, error)) return path;
  fs::path dir = fs::path(path) / "compiled";
  if (!fs::is_directory(dir, error)) dir = path;
  // For each mode of the model (train, eval, predict), the time and path of its newest .tdx file.
  std::map<std::string, std::pair<fs::file_time_type, std::string>> newest;
  for (const fs::directory_entry& entry : fs::directory_iterator(dir, error)) {
    // A file is called "train-0123456789abcdef.tdx" in a cache of executables, and "predict.tdx" in an exported model.
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".tdx") continue;
    if (!IsFor(entry.path().string(), target)) continue;
    auto time = fs::last_write_time(entry.path(), error);
    auto& slot = newest[name.substr(0, name.find('-'))];
    if (slot.second.empty() || time > slot.first) slot = {time, entry.path().string()};
  }
  std::string wanted = mode.empty() && newest.count("train") ? "train" : mode;
  if (wanted.empty() && !newest.empty()) return newest.begin()->second.second;
  auto it = newest.find(wanted);
  if (it != newest.end()) return it->second.second;
  std::vector<std::string> modes;
  for (const auto& [m, file] : newest) modes.push_back(m);
  return absl::NotFoundError(
      absl::StrCat("no executable", mode.empty() ? "" : absl::StrCat(" of mode ", mode),
                   target.empty() ? "" : absl::StrCat(" for ", target), " in ", dir.string(),
                   modes.empty() ? "; a model directory has some once it is trained, and each export has one"
                                 : absl::StrCat("; modes there: ", absl::StrJoin(modes, ", "))));
}

}  // namespace tandem
