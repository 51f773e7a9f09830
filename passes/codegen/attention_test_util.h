// Test kernels of attention as text, and their operands.
#ifndef TANDEM_PASSES_CODEGEN_ATTENTION_TEST_UTIL_H_
#define TANDEM_PASSES_CODEGEN_ATTENTION_TEST_UTIL_H_

#include <algorithm>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ir/attention_shape.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {

enum class Keep { kAll, kKeys, kPairs };

struct AttentionCase {
  const char* name;
  AttentionShape shape;
  bool causal = false;
  Keep keep = Keep::kAll;
  int64_t examples = 1;
};
inline void PrintTo(const AttentionCase& c, std::ostream* os) { *os << c.name; }

// Returns a kernel of attention, or of its gradient, in `dialect`, on elements of type `element`. `scratch`: the type
// of the memory that is its last result, or empty.
inline std::string AttentionText(const AttentionCase& c, bool gradient, const char* dialect, const char* element,
                                 const char* scale, const std::string& scratch = "") {
  const AttentionShape& s = c.shape;
  const auto tensor = [](const std::vector<int64_t>& dims, const char* of) {
    std::string text = "tensor<?x";
    for (int64_t d : dims) absl::StrAppend(&text, d, "x");
    return absl::StrCat(text, of, ">");
  };
  const auto rows = [&](int64_t positions, int64_t width) {
    return s.heads_inside ? tensor({positions, s.heads, width}, element) : tensor({s.heads, positions, width}, element);
  };
  const std::string query = rows(s.queries, s.size), key = rows(s.keys, s.size), value = rows(s.keys, s.value_size);
  const std::string output = rows(s.queries, s.value_size), statistic = tensor({s.heads, s.queries}, "f32");
  std::vector<std::string> operands = {query, key, value};
  if (gradient) operands.insert(operands.end(), {output, statistic, statistic, output});
  const size_t plain = operands.size();
  if (c.keep == Keep::kKeys) operands.push_back(tensor({s.keys}, "i1"));
  if (c.keep == Keep::kPairs) operands.push_back(tensor({s.queries, s.keys}, "i1"));
  std::string arguments, values, types;
  for (size_t i = 0; i < operands.size(); ++i) {
    const char* comma = i == 0 ? "" : ", ";
    absl::StrAppend(&arguments, comma, "%a", i, ": ", operands[i]);
    absl::StrAppend(&types, comma, operands[i]);
    absl::StrAppend(&values, i == 0 ? "" : i == plain ? " keep " : ", ", "%a", i);
  }
  std::string made =
      gradient ? absl::StrCat(query, ", ", key, ", ", value) : absl::StrCat(output, ", ", statistic, ", ", statistic);
  if (!scratch.empty()) absl::StrAppend(&made, ", ", scratch);
  return absl::StrCat("func.func private @k(", arguments, ") -> (", made,
                      ") attributes {exec.kernel = #exec.kernel_kind<tile>} { %0:", scratch.empty() ? 3 : 4, " = ",
                      dialect, gradient ? ".attention_grad " : ".attention ", values, " {scale = ", scale,
                      ", low = -1.000000e+09", c.causal ? ", causal" : "", s.heads_inside ? ", heads_inside" : "",
                      "} : (", types, ") -> (", made, ") return %0#0, %0#1, %0#2", scratch.empty() ? "" : ", %0#3",
                      " : ", made, " }");
}

// Returns random operands of the forward kernel. In the last example the first query, or all, has all keys masked, so
// that it attends to all alike.
inline std::vector<td::RefTensor> AttentionOperands(const AttentionCase& c, TestKernel& forward, std::mt19937& random) {
  std::vector<td::RefTensor> operands = forward.RandomOperands(c.examples, random);
  if (c.keep == Keep::kAll) return operands;
  std::vector<double>& keep = operands.back().values;
  std::fill_n(keep.end() - static_cast<int64_t>(keep.size()) / c.examples, c.shape.keys, 0.0);
  return operands;
}

// Returns the operands of the gradient's kernel, from the forward kernel's operands and results.
inline std::vector<td::RefTensor> AttentionGradOperands(const AttentionCase& c, TestKernel& gradient,
                                                        const std::vector<td::RefTensor>& operands,
                                                        const std::vector<td::RefTensor>& results,
                                                        std::mt19937& random) {
  std::vector<td::RefTensor> all(operands.begin(), operands.begin() + 3);
  all.insert(all.end(), results.begin(), results.begin() + 3);
  all.push_back(gradient.RandomOperands(c.examples, random)[6]);
  all.insert(all.end(), operands.begin() + 3, operands.end());
  return all;
}

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_ATTENTION_TEST_UTIL_H_
