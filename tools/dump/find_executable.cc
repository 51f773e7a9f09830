#include "tools/dump/find_executable.h"

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tandem {

namespace fs = std::filesystem;

absl::StatusOr<std::string> FindExecutable(const std::string& path, const std::string& mode) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return absl::NotFoundError(absl::StrCat(path, " does not exist; give a model directory or a .tdx file"));
  }
  if (!fs::is_directory(path, error)) return path;
  fs::path dir = fs::path(path) / "compiled";
  if (!fs::is_directory(dir, error)) dir = path;
  std::map<std::string, std::pair<fs::file_time_type, std::string>> newest;  // by mode
  for (const fs::directory_entry& entry : fs::directory_iterator(dir, error)) {
    std::string name = entry.path().filename().string();
    size_t dash = name.find('-');
    if (entry.path().extension() != ".tdx" || dash == std::string::npos) continue;
    auto time = fs::last_write_time(entry.path(), error);
    auto& slot = newest[name.substr(0, dash)];
    if (slot.second.empty() || time > slot.first) slot = {time, entry.path().string()};
  }
  std::string wanted = mode.empty() && newest.count("train") ? "train" : mode;
  if (wanted.empty() && !newest.empty()) return newest.begin()->second.second;
  auto it = newest.find(wanted);
  if (it != newest.end()) return it->second.second;
  std::vector<std::string> modes;
  for (const auto& [m, file] : newest) modes.push_back(m);
  return absl::NotFoundError(
      absl::StrCat("no executable", mode.empty() ? "" : absl::StrCat(" of mode ", mode), " in ", dir.string(),
                   modes.empty() ? "; train first" : absl::StrCat("; modes there: ", absl::StrJoin(modes, ", "))));
}

}  // namespace tandem
