#include "base/processors.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tandem {
namespace {

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Returns quota / period, both in microseconds; nullopt if there is no limit.
std::optional<double> Share(const std::string& quota, const std::string& period) {
  int64_t of = 0, in = 0;
  if (!absl::SimpleAtoi(quota, &of) || !absl::SimpleAtoi(period, &in) || of <= 0 || in <= 0) return std::nullopt;
  return static_cast<double>(of) / static_cast<double>(in);
}

// Returns the share of processor time that a control group may use, from the files of cgroup version 1 or 2.
std::optional<double> ShareOfGroup(const std::string& folder, bool second_version) {
  if (!second_version) {
    return Share(FirstLine(folder + "/cpu.cfs_quota_us"), FirstLine(folder + "/cpu.cfs_period_us"));
  }
  const std::vector<std::string> words = absl::StrSplit(FirstLine(folder + "/cpu.max"), ' ');
  return words.size() == 2 ? Share(words[0], words[1]) : std::nullopt;
}

// Returns the smallest share of processor time of a control group and its ancestors.
std::optional<double> SmallestShare(const std::string& mount, std::string group, bool second_version) {
  std::optional<double> smallest;
  while (true) {
    const std::optional<double> share = ShareOfGroup(mount + group, second_version);
    if (share.has_value()) smallest = std::min(*share, smallest.value_or(*share));
    if (group.empty() || group == "/") return smallest;
    group = group.substr(0, group.rfind('/'));
  }
}

}  // namespace

int UsableProcessors(const std::string& root) {
  // processors of the affinity mask
  int processors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::ifstream groups(absl::StrCat(root, "/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    // A line is "0::/a/b" in version 2, "4:cpu,cpuacct:/a/b" in version 1.
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const bool second_version = fields[1].empty();
    const std::vector<std::string> controllers = absl::StrSplit(fields[1], ',');
    if (!second_version && std::find(controllers.begin(), controllers.end(), "cpu") == controllers.end()) continue;
    const std::string mount = absl::StrCat(root, "/sys/fs/cgroup", second_version ? "" : "/cpu");
    if (const std::optional<double> share = SmallestShare(mount, fields[2], second_version)) {
      processors = std::min(processors, std::max(1, static_cast<int>(std::ceil(std::min(*share, 1e6)))));
    }
  }
  return processors;
}

}  // namespace tandem
