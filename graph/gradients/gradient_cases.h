// The table of gradient checks by finite differences. Every registered op with a gradient needs a case. The cases of an
// op family are in a file gradient_cases_FAMILY.cc, which adds them to the table:
//   static const bool kAdded = AddGradientCases({{.op = "td.relu", .function = R"(...)"}});
#ifndef TANDEM_GRAPH_GRADIENTS_GRADIENT_CASES_H_
#define TANDEM_GRAPH_GRADIENTS_GRADIENT_CASES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tandem {

struct GradientCase {
  std::string op;  // the op that it checks, e.g. "td.relu"
  // MLIR text of one function @main. Its floating-point arguments are differentiated; the test multiplies all elements
  // of all floating-point results by fixed random numbers and sums them. f32 and f64 give the same results (the
  // interpreter computes in double).
  std::string function;
  double low = -1, high = 1;  // floating-point arguments are in [low, high)
  int64_t int_limit = 3;      // integer arguments are in [0, int_limit)
  int64_t batch = 3;          // size of the dimension `?`, the batch
  // The op defines its gradient as zero (floor, sign, stop_gradient): no gradient may reach any argument.
  bool zero = false;
};

inline std::vector<GradientCase>& GradientCases() {
  static auto* cases = new std::vector<GradientCase>;
  return *cases;
}

inline bool AddGradientCases(std::vector<GradientCase> cases) {
  for (GradientCase& c : cases) GradientCases().push_back(std::move(c));
  return true;
}

}  // namespace tandem

#endif  // TANDEM_GRAPH_GRADIENTS_GRADIENT_CASES_H_
