// A session that watches the memory between its buffers, over kernels that write beyond them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/sanitizers.h"
#include "runtime/cpu/run/cpu_device_class.h"
#include "runtime/session/session.h"
#include "runtime/testing/compile_ir.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Before anything asks for it.
[[maybe_unused]] const int kAsked = setenv("TANDEM_FLAGS", "--timing --guard-buffers", 1);

constexpr int kLanes = 2, kRowsPerLane = 3, kRows = kLanes * kRowsPerLane;

const char kCopy[] = R"(
  %x = load float, ptr %p0, align 4
  store float %x, ptr %p1, align 4
)";

// Copies x to `kept`, and adds a number of the wild kernels' own behind one buffer.
enum class Wild { kNothing, kMicrobatch, kBatch, kLane, kStep, kVariable };

absl::StatusOr<StepResult> RunOneStep(Wild wild) {
  ExecutableBuilder b(1, kLanes, kRowsPerLane, kRowsPerLane);
  const int copy = b.Kernel("copy", 0, format::Domain::kRows), beyond = b.Kernel("beyond", 0, format::Domain::kRows),
            last = b.Kernel("last", 0, format::Domain::kRows), once = b.Kernel("once", 0, format::Domain::kOnce);
  const int w = b.Variable("w", {3}), x = b.Input("x", {kBatch});
  const int in_microbatch = b.Microbatch("in_microbatch", {kBatch}), in_batch = b.Batch("in_batch", {kBatch});
  const int in_lane = b.Lane("in_lane", {1}, format::ReduceKind::kSum), in_step = b.Step("in_step", {1});
  b.Map();
  b.Launch("model/copy", copy, {x}, {in_batch});
  b.Launch("model/wild", wild == Wild::kMicrobatch || wild == Wild::kBatch ? beyond : copy, {x},
           {wild == Wild::kMicrobatch ? in_microbatch : in_batch});
  b.Launch("model/sum", wild == Wild::kLane ? beyond : last, {x}, {in_lane});
  b.Global();
  b.LaneReduce(format::ReduceKind::kSum, {in_lane}, {in_step});
  b.Launch("model/once", once, {}, {wild == Wild::kVariable ? w : in_step});
  b.Output("kept", in_batch);
  // Of six rows of four bytes the last is followed by 40 bytes of nobody.
  const std::string object =
      CompileIr(LoopKernel("copy", "4 4", kCopy) + LoopKernel("last", "4 0", kCopy) + LoopKernel("beyond", "4 4", R"(
  %x = load float, ptr %p0, align 4
  store float %x, ptr %p1, align 4
  %q = getelementptr float, ptr %p1, i64 7
  store float %x, ptr %q, align 4
)") +
                LoopKernel("once", "0",
                           absl::StrCat("%q = getelementptr float, ptr %p0, i64 ",
                                        wild == Wild::kStep || wild == Wild::kVariable ? 5 : 0,
                                        "\n store float 1.0, ptr %q, align 4\n")));
  auto executable =
      Executable::Parse(BuildExecutable(b.Take(), {{format::SegmentKind::kElfObject, "kernels", object}}));
  if (!executable.ok()) return executable.status();
  auto variables = std::make_shared<VariableStore>(1);
  auto session = Session::Create(CpuDeviceClass(), *executable, variables, {.pool = std::make_shared<ThreadPool>(1)});
  if (!session.ok()) return session.status();
  if (absl::Status s = variables->Assign("w", HostTensor::Zeros(DType::kFloat32, {3})); !s.ok()) return s;
  StepInputs inputs;
  inputs.inputs.push_back({HostTensor::FromVector<float>({kRows}, {1, 2, 3, 4, 5, 6})});
  for (int step = 0; step < 3; ++step) {  // what a step leaves is there in the next
    auto result = (*session)->Run(inputs, {0});
    if (!result.ok() || step == 2) return result;
  }
  return absl::InternalError("no step");
}

TEST(BufferGuard, CommandsThatStayInsideRun) {
  auto result = RunOneStep(Wild::kNothing);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->outputs[0].BitEqual(HostTensor::FromVector<float>({kRows}, {1, 2, 3, 4, 5, 6})));
}

TEST(BufferGuard, NamesTheCommandAndTheBuffer) {
  if (kAddressSanitizer) GTEST_SKIP() << "the guards are poisoned, and whoever fills them would be reported";
  auto message = [](Wild wild) { return std::string(RunOneStep(wild).status().message()); };
  EXPECT_THAT(message(Wild::kMicrobatch),
              AllOf(HasSubstr("command model/wild wrote outside of its buffers: "),
                    HasSubstr("behind buffer \"in_microbatch\""), HasSubstr("in a microbatch")));
  EXPECT_THAT(message(Wild::kBatch),
              AllOf(HasSubstr("one of the commands model/copy to model/sum wrote"),
                    HasSubstr("behind buffer \"in_batch\" (24 bytes in the batch of replica 0)")));
  EXPECT_THAT(message(Wild::kLane), HasSubstr("behind buffer \"in_lane\""));
  EXPECT_THAT(message(Wild::kStep),
              AllOf(HasSubstr("command model/once wrote"), HasSubstr("behind buffer \"in_step\"")));
  EXPECT_THAT(message(Wild::kVariable),
              AllOf(HasSubstr("command model/once wrote outside of its buffers: byte 8 behind "),
                    HasSubstr("variable \"w\" of replica 0 was changed")));
}

}  // namespace
}  // namespace tandem
