#include "base/cpu_info.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace tandem {
namespace {

// Reads a file to its end, because files of /proc and /sys report a size of 0.
std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string ReadLine(const std::string& path) { return std::string(absl::StripAsciiWhitespace(ReadAll(path))); }

int ToInt(absl::string_view text) {
  int value = 0;
  return absl::SimpleAtoi(text, &value) ? value : 0;
}

// Parses sizes such as "1024K" and "32M".
int64_t ToBytes(absl::string_view text) {
  int64_t unit = 1;
  for (const auto& [suffix, size] : {std::pair('K', 10), std::pair('M', 20), std::pair('G', 30)}) {
    if (text.empty() || text.back() != suffix) continue;
    unit = int64_t{1} << size;
    text.remove_suffix(1);
    break;
  }
  int64_t value = 0;
  return absl::SimpleAtoi(text, &value) && value >= 0 && value < (int64_t{1} << 30) ? value * unit : 0;
}

// Returns how many numbers a list such as "0-3,8" contains.
int CountOf(absl::string_view list) {
  int count = 0;
  for (absl::string_view range : absl::StrSplit(list, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(range, absl::MaxSplits('-', 1));
    count += ends.second.empty() ? 1 : std::max(0, ToInt(ends.second) - ToInt(ends.first) + 1);
  }
  return count;
}

void ReadProcessors(const std::string& text, CpuInfo* info) {
  std::set<std::pair<int, int>> cores;
  std::set<int> sockets;
  int socket = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 1));
    const absl::string_view key = absl::StripAsciiWhitespace(parts.first);
    const absl::string_view value = absl::StripAsciiWhitespace(parts.second);
    if (key == "processor") {
      ++info->logical;
      socket = 0;
    } else if (key == "model name") {
      info->model = std::string(value);
    } else if (key == "physical id") {
      sockets.insert(socket = ToInt(value));
    } else if (key == "core id") {
      cores.emplace(socket, ToInt(value));
    } else if (key == "flags" && info->features.empty()) {
      info->features = absl::StrSplit(value, ' ', absl::SkipEmpty());
    }
  }
  std::sort(info->features.begin(), info->features.end());
  // Some virtual machines do not tell which processors belong to the same core.
  info->cores = cores.empty() ? info->logical : static_cast<int>(cores.size());
  info->sockets = sockets.empty() ? (info->logical > 0 ? 1 : 0) : static_cast<int>(sockets.size());
}

std::vector<CpuCache> ReadCaches(const std::string& folder) {
  std::vector<CpuCache> caches;
  for (int index = 0;; ++index) {
    const std::string cache = absl::StrCat(folder, "/index", index, "/");
    const int level = ToInt(ReadLine(cache + "level"));
    if (level == 0) return caches;
    caches.push_back({.level = level,
                      .type = absl::AsciiStrToLower(ReadLine(cache + "type")),
                      .bytes = ToBytes(ReadLine(cache + "size")),
                      .shared_by = std::max(1, CountOf(ReadLine(cache + "shared_cpu_list")))});
  }
}

int UsableProcessors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

}  // namespace

CpuInfo ReadCpuInfo(const std::string& root) {
  CpuInfo info;
  ReadProcessors(ReadAll(absl::StrCat(root, "/proc/cpuinfo")), &info);
  info.caches = ReadCaches(absl::StrCat(root, "/sys/devices/system/cpu/cpu0/cache"));
  const int usable = UsableProcessors();
  // On the largest machines cpu_set_t is too small and sched_getaffinity fails, so all logical processors count.
  info.usable = usable > 0 ? usable : info.logical;
  return info;
}

}  // namespace tandem
