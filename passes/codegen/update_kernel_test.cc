// Kernels of the optimizer updates against the reference semantics of their ops.
#include <cmath>
#include <string>

#include "gtest/gtest.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

struct Update {
  const char* op;
  int slots;
  const char* attributes;
};

std::string KernelText(const Update& u, const std::string& type) {
  std::string arguments, names, types, results = type, targets = "%0";
  for (int i = 0; i < u.slots + 2; ++i) {
    std::string name = "%a" + std::to_string(i);
    arguments += name + ": " + type + ", ";
    names += name + ", ";
    types += type + ", ";
    if (i > 0 && i <= u.slots) {
      results += ", " + type;
      targets += ", %" + std::to_string(i);
    }
  }
  return "func.func private @k(" + arguments + "%lr: tensor<f32>) -> (" + results +
         ") attributes {exec.kernel = #exec.kernel_kind<once>} {\n" + targets + " = td." + u.op + " " + names + "%lr " +
         u.attributes + " : (" + types + "tensor<f32>) -> (" + results + ")\nreturn " + targets + " : " + results +
         "\n}";
}

class UpdateKernelTest : public testing::TestWithParam<Update> {};

TEST_P(UpdateKernelTest, MatchesReference) {
  for (const char* target : {"native", "gpu"}) {
    auto kernel = TestKernel::Create(KernelText(GetParam(), "tensor<3x19xf32>"), target);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    std::mt19937 random(11);
    std::vector<td::RefTensor> operands = (*kernel)->RandomOperands(1, random);
    for (td::RefTensor& t : operands) {
      for (double& v : t.values) v = std::abs(v);  // second moments are not negative
    }
    auto error = (*kernel)->Error(operands, 1);
    ASSERT_TRUE(error.ok()) << error.status();
    EXPECT_LE(*error, 1e-6) << target;
  }
}

INSTANTIATE_TEST_SUITE_P(Updates, UpdateKernelTest,
                         testing::Values(Update{"apply_sgd", 0, ""}, Update{"apply_momentum", 1, "{momentum = 0.9}"},
                                         Update{"apply_momentum", 1, "{momentum = 0.9, nesterov = true}"},
                                         Update{"apply_adam", 2, "{beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-1}"},
                                         Update{"apply_rmsprop", 1, "{rho = 0.9, epsilon = 1.0e-1}"},
                                         Update{"apply_rmsprop_momentum", 2,
                                                "{rho = 0.9, momentum = 0.5, epsilon = 1.0e-1}"}),
                         [](const auto& info) { return std::string(info.param.op) + std::to_string(info.index); });

}  // namespace
}  // namespace tandem
