#include "estimator/model/renamed_variables.h"
#include "runtime/format/index.h"

#include <utility>
#include <vector>

namespace tandem {

absl::StatusOr<std::shared_ptr<const Executable>> RenameVariables(const Executable& executable,
                                                                  const std::map<std::string, std::string>& names) {
  std::map<std::string, std::string> both = names;
  for (const auto& [from, to] : names) both.emplace(to, from);
  format::Index index = executable.index();
  for (auto& variable : index.variables) {
    if (auto it = both.find(variable.name); it != both.end()) variable.name = it->second;
  }
  std::vector<SegmentData> segments;
  for (size_t i = 0; i < index.segments.size(); ++i) {
    const format::Segment& segment = index.segments[i];
    segments.push_back({segment.kind, segment.name, std::string(executable.segment(static_cast<int>(i)))});
  }
  return Executable::Parse(BuildExecutable(std::move(index), segments), executable.name());
}

}  // namespace tandem
