#include "graph/parameter_servers.h"

#include <algorithm>
#include <map>
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

// A variable and its slots, which are placed together.
struct Group {
  const VariableSpec* variable = nullptr;  // the first slot, if the variable itself is not in the list
  int64_t bytes = 0;
  std::vector<PlacedPart> parts;  // where the variable's rows were placed
};

// Spreads a group by rows over the `count` servers with the fewest bytes so far (of equal ones the first); each gets
// one part.
std::vector<PlacedPart> Spread(const Group& group, int64_t count, std::vector<int64_t>& load) {
  const int64_t rows = count == 1 ? 1 : group.variable->shape[0];
  std::vector<PlacedPart> parts;
  std::vector<bool> taken(load.size(), false);
  for (int64_t i = 0, first = 0; i < count; ++i) {
    int server = -1;
    for (int s = 0; s < static_cast<int>(load.size()); ++s) {
      if (!taken[s] && (server < 0 || load[s] < load[server])) server = s;
    }
    taken[server] = true;
    const int64_t of_part = rows / count + (i < rows % count ? 1 : 0);
    load[server] += group.bytes / rows * of_part;
    parts.push_back({.server = server, .first_row = first, .rows = count == 1 ? 0 : of_part});
    first += of_part;
  }
  return parts;
}

}  // namespace

std::string PlacedPart::name() const {
  return whole() ? variable : absl::StrCat(variable, "[", first_row, ":", first_row + rows, "]");
}

Shape PlacedPart::ShapeOf(Shape shape) const {
  if (!whole()) shape[0] = rows;
  return shape;
}

std::vector<PlacedPart> PlaceVariables(const std::vector<VariableSpec>& variables, int servers,
                                       const std::set<std::string>& by_rows) {
  std::vector<Group> groups;
  std::map<std::string, size_t> group_of;  // index in the groups by the variable's name
  int64_t total = 0;
  const auto owner = [](const VariableSpec& v) { return v.slot_of.empty() ? v.name : v.slot_of; };
  for (const VariableSpec& v : variables) {
    const auto [it, added] = group_of.emplace(owner(v), groups.size());
    if (added) groups.push_back({.variable = &v});
    Group& group = groups[it->second];
    if (v.name == it->first) group.variable = &v;
    group.bytes += Bytes(v);
    total += Bytes(v);
  }
  std::vector<Group*> order;
  for (Group& group : groups) order.push_back(&group);
  std::stable_sort(order.begin(), order.end(), [](const Group* a, const Group* b) { return a->bytes > b->bytes; });
  std::vector<int64_t> load(servers, 0);
  for (Group* group : order) {
    int64_t count = 1;
    const VariableSpec& v = *group->variable;
    if (by_rows.contains(v.name) && !v.shape.empty() && group->bytes > total / servers) {
      count = std::clamp<int64_t>(Bytes(v) / kMinPartBytes, 1, std::min<int64_t>(servers, v.shape[0]));
    }
    group->parts = Spread(*group, count, load);
  }
  std::vector<PlacedPart> placed;
  for (const VariableSpec& v : variables) {
    for (PlacedPart part : groups[group_of.at(owner(v))].parts) {
      part.variable = v.name;
      placed.push_back(std::move(part));
    }
  }
  return placed;
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
