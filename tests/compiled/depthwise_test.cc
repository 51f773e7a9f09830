// Depthwise convolutions, which generated kernels compute with what is around them, against the reference interpreter.
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

struct Case {
  int64_t height, width, channels, kernel_height, kernel_width, multiplier, stride_y, stride_x;
  Padding padding;
};
void PrintTo(const Case& c, std::ostream* os) {
  *os << c.height << "x" << c.width << "x" << c.channels << " by " << c.kernel_height << "x" << c.kernel_width << " x"
      << c.multiplier << ", strides " << c.stride_y << " " << c.stride_x
      << (c.padding == Padding::kSame ? " same" : " valid");
}

class Depthwise : public testing::TestWithParam<Case> {
 protected:
  // Convolves what a kernel made and what a kernel reads, so that all three kernels are fused with others.
  static BuildFn Build() {
    return [c = GetParam()](GraphBuilder& g) {
      Tensor x = g.Input("x", DType::kFloat32, {kBatch, c.height, c.width, c.channels});
      Tensor scale = g.Variable({.name = "scale", .shape = {c.channels}, .initializer = {}});
      Tensor y = layers::DepthwiseConv2D(Tanh(x * scale), {.kernel_size = {c.kernel_height, c.kernel_width},
                                                           .strides = {c.stride_y, c.stride_x},
                                                           .padding = c.padding,
                                                           .depth_multiplier = c.multiplier,
                                                           .activation = Tanh});
      g.Output("y", y);
      optimizers::GradientDescent({.learning_rate = 0.1}).Minimize(ReduceMean(Square(y - 0.3), {0, 1, 2, 3}));
    };
  }
};

TEST_P(Depthwise, MatchesTheReference) {
  CompareWithReference(Build(), {.batch = 9, .lanes = 4, .microbatch_rows = 2, .steps = 2});
  CompareWithReference(Build(),
                       {.devices = 2, .batch = 5, .rows = {5, 2}, .lanes = 4, .microbatch_rows = 2, .steps = 2});
}

// All three are in generated kernels, but for images of one channel.
TEST_P(Depthwise, IsGenerated) {
  absl::StatusOr<Program> program = Prepare(Build(), {.batch = 9});
  ASSERT_TRUE(program.ok()) << program.status();
  int calls = 0, ops = 0;
  for (const auto& section : program->executable->index().programs[0].sections) {
    for (const auto& command : section.commands) calls += command.body.As<format::LibraryCall>() != nullptr;
  }
  for (const auto& kernel : program->executable->index().kernels) {
    for (const std::string& op : kernel.ops) ops += absl::StartsWith(op, "td.depthwise_conv2d");
  }
  const bool one_channel = GetParam().channels == 1;
  EXPECT_EQ(calls > 0, one_channel);
  EXPECT_GE(ops, one_channel ? 0 : 3);
}

TEST_P(Depthwise, SameBitsOnAnyDevicesAndThreads) {
  ExpectSameBits(Build(), {.batch = 16, .lanes = 4, .steps = 2}, {16, 11}, {{1, 3}, {2, 2}, {4, 3}});
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Depthwise,
    testing::Values(Case{6, 6, 2, 1, 1, 1, 2, 1, Padding::kValid}, Case{7, 6, 3, 3, 3, 1, 1, 1, Padding::kSame},
                    Case{9, 8, 16, 3, 3, 1, 2, 2, Padding::kSame}, Case{8, 9, 5, 2, 3, 2, 1, 2, Padding::kValid},
                    Case{5, 5, 24, 5, 5, 1, 1, 1, Padding::kSame}, Case{4, 4, 8, 4, 4, 1, 1, 1, Padding::kValid},
                    Case{6, 7, 1, 3, 2, 4, 2, 3, Padding::kSame}, Case{8, 8, 33, 3, 3, 1, 1, 1, Padding::kSame},
                    Case{6, 7, 1, 3, 2, 1, 1, 1, Padding::kSame}, Case{5, 4, 1, 1, 1, 1, 1, 1, Padding::kValid}));

}  // namespace
}  // namespace tandem::compiled
