#include "estimator/model/parameter_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tandem {

std::string ParameterTable(const std::vector<VariableSpec>& variables) {
  size_t name_width = 4, shape_width = 5;
  for (const VariableSpec& v : variables) {
    if (!v.slot_of.empty()) continue;
    name_width = std::max(name_width, v.name.size());
    shape_width = std::max(shape_width, ShapeString(v.shape).size());
  }
  std::string table = absl::StrFormat("%-*s  %-*s  %10s\n", name_width, "name", shape_width, "shape", "parameters");
  int64_t total = 0, trainable = 0;
  for (const VariableSpec& v : variables) {
    if (!v.slot_of.empty()) continue;
    const int64_t count = NumElements(v.shape);
    total += count;
    if (v.trainable) trainable += count;
    absl::StrAppendFormat(&table, "%-*s  %-*s  %10d\n", name_width, v.name, shape_width, ShapeString(v.shape), count);
  }
  absl::StrAppendFormat(&table, "total %d parameters, of which %d are trainable", total, trainable);
  return table;
}

}  // namespace tandem
