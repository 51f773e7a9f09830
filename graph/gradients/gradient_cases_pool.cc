// Cases for pooling. The random elements of a window differ by more than the step of the finite differences.
#include "graph/gradients/gradient_cases.h"

namespace tandem {
namespace {

GradientCase Pool(const std::string& op, const std::string& window, const std::string& from, const std::string& to) {
  return {.op = "td." + op,
          .function = "func.func @main(%x: " + from + ") -> " + to + " {\n  %y = td." + op + " %x " + window + " : " +
                      from + " -> " + to + "\n  return %y : " + to + "\n}"};
}

const char kTiling[] = "window [2, 2] strides [2, 2] low [0, 0] high [0, 0]";
const char kRemainder[] = "window [2, 3] strides [2, 3] low [0, 0] high [0, 0]";
const char kOverlap[] = "window [3, 2] strides [2, 1] low [1, 0] high [1, 1]";

const bool kPools = AddGradientCases({
    Pool("max_pool", kTiling, "tensor<?x4x4x2xf64>", "tensor<?x2x2x2xf64>"),
    Pool("max_pool", kRemainder, "tensor<?x3x4x2xf64>", "tensor<?x1x1x2xf64>"),
    Pool("max_pool", kOverlap, "tensor<?x5x4x2xf64>", "tensor<?x3x4x2xf64>"),
    Pool("avg_pool", kTiling, "tensor<?x4x4x2xf64>", "tensor<?x2x2x2xf64>"),
    Pool("avg_pool", kRemainder, "tensor<?x3x4x2xf64>", "tensor<?x1x1x2xf64>"),
    Pool("avg_pool", kOverlap, "tensor<?x5x4x2xf64>", "tensor<?x3x4x2xf64>"),
    Pool("avg_pool_grad", std::string("size [3, 4] ") + kRemainder, "tensor<?x1x1x2xf64>", "tensor<?x3x4x2xf64>"),
    Pool("avg_pool_grad", std::string("size [5, 4] ") + kOverlap, "tensor<?x3x4x2xf64>", "tensor<?x5x4x2xf64>"),
});

}  // namespace
}  // namespace tandem
