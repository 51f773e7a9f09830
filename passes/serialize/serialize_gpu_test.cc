// From the text of a model to an executable for GPUs, with stand-ins for the code of kernels and libraries' plans.
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "graph/ir/dialect.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/exec/kernel_kind.h"
#include "passes/pipeline/pipeline.h"
#include "passes/serialize/serialize.h"
#include "runtime/commands/gpu_launch.h"
#include "runtime/executable/executable.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

using testing::ElementsAre;

// Two convolutions of equal size and their filter gradients, each larger than a bucket.
constexpr char kModel[] = R"(
module attributes {exec.config = #exec.config<mode = "train", devices = ["gpu:0", "gpu:1"], batch = 8, tf32 = true, bucket_bytes = 4096, first_bucket_bytes = 4096, target = <backend = cuda>>} {
  td.variable @k1 : tensor<3x3x16x16xf32> {initializer = [2.0, -0.1, 0.1], trainable}
  td.variable @k2 : tensor<3x3x16x16xf32> {initializer = [2.0, -0.1, 0.1], trainable}
  func.func @main() {
    %x = td.input "x" : tensor<?x8x8x16xf32>
    %lr = td.scalar "learning_rate" : tensor<f32>
    %k1 = td.read @k1 : tensor<3x3x16x16xf32>
    %k2 = td.read @k2 : tensor<3x3x16x16xf32>
    %y1 = td.conv2d %x, %k1 strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x16xf32>, tensor<3x3x16x16xf32> -> tensor<?x8x8x16xf32>
    %y2 = td.conv2d %y1, %k2 strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x16xf32>, tensor<3x3x16x16xf32> -> tensor<?x8x8x16xf32>
    %d2 = td.tanh %y2 : tensor<?x8x8x16xf32>
    %g2 = td.conv2d_filter_grad %y1, %d2 size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x16xf32>, tensor<?x8x8x16xf32> -> tensor<3x3x16x16xf32>
    %d1 = td.conv2d_input_grad %d2, %k2 size [8, 8] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x16xf32>, tensor<3x3x16x16xf32> -> tensor<?x8x8x16xf32>
    %g1 = td.conv2d_filter_grad %x, %d1 size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x16xf32>, tensor<?x8x8x16xf32> -> tensor<3x3x16x16xf32>
    %loss = td.reduce sum, %y2 axes [0, 1, 2, 3] : tensor<?x8x8x16xf32> -> tensor<f32>
    %v1 = td.apply_sgd %k1, %g1, %lr : (tensor<3x3x16x16xf32>, tensor<3x3x16x16xf32>, tensor<f32>) -> tensor<3x3x16x16xf32>
    %v2 = td.apply_sgd %k2, %g2, %lr : (tensor<3x3x16x16xf32>, tensor<3x3x16x16xf32>, tensor<f32>) -> tensor<3x3x16x16xf32>
    td.assign @k1, %v1 : tensor<3x3x16x16xf32>
    td.assign @k2, %v2 : tensor<3x3x16x16xf32>
    td.output "loss", %loss : tensor<f32>
    return
  }
}
)";

class SerializeGpuTest : public testing::Test {
 protected:
  // Phases, stand-ins and the executable that comes of them.
  absl::StatusOr<std::shared_ptr<const Executable>> Compile(SerializeOptions options) {
    mlir::DialectRegistry registry;
    registry.insert<mlir::func::FuncDialect, td::TdDialect, exec::ExecDialect>();
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(kModel, &context_);
    if (!module) return absl::InternalError("the model does not parse");
    if (absl::Status s = RunPipeline(*module, {}, nullptr); !s.ok()) return s;
    std::vector<KernelCode> kernels;
    for (auto kernel : module->getOps<mlir::func::FuncOp>()) {
      if (!exec::GetKernelKind(kernel)) continue;
      KernelCode& code = kernels.emplace_back();
      code.name = code.symbol = kernel.getName().str();
      code.launch.block = 128;
      code.launch.items_per_block = 4;
      code.launch.scratch_bytes = 300;
    }
    options.mode = "train";
    options.target = "cuda sm_90";
    options.images = {{75, "ptx of all kernels"}, {90, "other ptx"}};
    absl::StatusOr<HostTensor> bytes = SerializeExecutable(*module, kernels, options);
    if (!bytes.ok()) return bytes.status();
    return Executable::FromBytes(*std::move(bytes), "test");
  }

  mlir::MLIRContext context_;
};

TEST_F(SerializeGpuTest, KernelsImagesAndStreams) {
  auto executable = Compile({});
  ASSERT_TRUE(executable.ok()) << executable.status();
  const format::Index& e = (*executable)->index();
  EXPECT_EQ(e.target, "cuda sm_90");
  EXPECT_EQ(e.lanes, 2u);
  EXPECT_EQ(e.microbatch_rows, 8u);
  ASSERT_EQ(e.images.size(), 2u);
  EXPECT_EQ((*executable)->segment(static_cast<int>(e.images[1].segment)), "other ptx");
  ASSERT_FALSE(e.kernels.empty());
  for (const auto& kernel : e.kernels) {
    EXPECT_EQ(kernel.segment, e.images[0].segment);
    ASSERT_TRUE(kernel.gpu.has_value());
    EXPECT_EQ(GpuGrid(*kernel.gpu, 9), 3u);
  }
  const format::Program& p = e.programs[0];
  EXPECT_EQ(p.device_class, "gpu");
  EXPECT_EQ(p.lane_bytes, 0u);
  EXPECT_TRUE(p.lane_slots.empty());
  EXPECT_EQ(p.gpu->workspace_bytes, 300u);
  // A bucket leaves while the rest of the backward pass goes on.
  std::vector<format::Stream> streams;
  for (const auto& s : p.gpu->segments) streams.push_back(s.stream);
  using format::Stream;
  EXPECT_THAT(streams, ElementsAre(Stream::kCompute, Stream::kCommunication, Stream::kCompute, Stream::kCommunication,
                                   Stream::kCompute));
  // Without a planner the library makes its plans when the executable is loaded.
  ASSERT_EQ(p.sections.size(), 3u);  // kernels are packed, rows mapped, variables updated
  for (const auto& command : p.sections[1].commands) {
    if (const auto* call = command.body.As<format::LibraryCall>()) {
      EXPECT_EQ(call->plan, 0u);
      EXPECT_TRUE(call->tf32);
    }
  }
}

TEST_F(SerializeGpuTest, CallsOfTheSameSizesShareAPlan) {
  int plans = 0;
  SerializeOptions options;
  options.planner = [&](const format::LibraryCall& call) -> absl::StatusOr<std::optional<LibraryPlan>> {
    const format::Conv2D* conv = call.operation.As<format::Conv2D>();
    if (conv == nullptr) return std::nullopt;
    ++plans;
    if (conv->direction == format::Direction::kInputGrad) return std::nullopt;
    const bool sums = conv->direction == format::Direction::kFilterGrad;
    return LibraryPlan{sums ? "plan of sums" : "plan", sums ? 4096u : 100u, "engine"};
  };
  auto executable = Compile(options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  EXPECT_EQ(plans, 3);  // forward, filter gradient, input gradient
  const format::Program& p = (*executable)->index().programs[0];
  EXPECT_EQ(p.gpu->workspace_bytes, 4096u);
  int forward = 0, sums = 0, none = 0;
  for (const auto& command : p.sections[1].commands) {
    const auto* call = command.body.As<format::LibraryCall>();
    if (call == nullptr) continue;
    if (call->plan == 0) {
      ++none;
      continue;
    }
    EXPECT_EQ(call->implementation, "engine");
    const absl::string_view bytes = (*executable)->segment(static_cast<int>(call->plan) - 1);
    (bytes == "plan of sums" ? sums : forward)++;
  }
  EXPECT_EQ(forward, 2);
  EXPECT_EQ(sums, 2);
  EXPECT_EQ(none, 1);
}

TEST_F(SerializeGpuTest, APlannersErrorNamesTheOp) {
  SerializeOptions options;
  options.planner = [](const format::LibraryCall&) -> absl::StatusOr<std::optional<LibraryPlan>> {
    return absl::UnimplementedError("no engine");
  };
  auto executable = Compile(options);
  EXPECT_EQ(executable.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(executable.status().message()), testing::HasSubstr(": no engine"));
}

}  // namespace
}  // namespace tandem
