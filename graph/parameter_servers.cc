#include "graph/parameter_servers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tandem {
namespace {

constexpr absl::string_view kSentPrefix = "ps";

int64_t Bytes(const VariableSpec& variable) {
  int64_t bytes = SizeOf(variable.dtype);
  for (int64_t size : variable.shape) bytes *= size;
  return bytes;
}

}  // namespace

std::map<std::string, int> PlaceVariables(const std::vector<VariableSpec>& variables, int servers) {
  struct Group {
    std::vector<std::string> names;  // a variable and its slots
    int64_t bytes = 0;
  };
  std::vector<Group> groups;
  std::map<std::string, size_t> group_of;
  const auto add = [&](const VariableSpec& v, const std::string& owner) {
    const auto [it, added] = group_of.emplace(owner, groups.size());
    if (added) groups.emplace_back();
    groups[it->second].names.push_back(v.name);
    groups[it->second].bytes += Bytes(v);
  };
  for (const VariableSpec& v : variables) add(v, v.slot_of.empty() ? v.name : v.slot_of);
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.bytes > b.bytes; });
  std::map<std::string, int> placement;
  std::vector<int64_t> load(servers, 0);
  for (const Group& group : groups) {
    const int server = static_cast<int>(std::min_element(load.begin(), load.end()) - load.begin());
    load[server] += group.bytes;
    for (const std::string& name : group.names) placement[name] = server;
  }
  return placement;
}

std::string SentValueName(int server, int64_t number, absl::string_view op) {
  return absl::StrCat(kSentPrefix, server, "/", number, "/", op);
}

std::optional<SentValue> SentValueOfName(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, kSentPrefix)) return std::nullopt;
  const std::vector<absl::string_view> parts = absl::StrSplit(name, absl::MaxSplits('/', 2));
  SentValue value;
  if (parts.size() < 3 || !absl::SimpleAtoi(parts[0], &value.server) || !absl::SimpleAtoi(parts[1], &value.number)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace tandem
