// What becomes of a schedule, and of finite checks over values that differ between replicas.
#include "runtime/cuda/plan/segment_plan.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/cuda/run/cuda_device_class.h"
#include "runtime/cuda/testing/fake_builtin_kernels.h"
#include "runtime/cuda/testing/fake_driver.h"
#include "runtime/cuda/testing/fake_nccl.h"
#include "runtime/cuda/testing/gpu_program.h"
#include "runtime/session/session.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

// sum [1] = rows of x added up, w -= sum of all replicas; the check sees each replica's own sum, or that of all.
std::shared_ptr<const Executable> Model(int replicas, bool check_own) {
  ExecutableBuilder b(replicas, replicas, 2, 2);
  const int add = b.Kernel("add", 0, format::Domain::kRows), update = b.Kernel("update", 0, format::Domain::kElements);
  const int w = b.Variable("w", {1}), v = b.Variable("v", {1}), x = b.Input("x", {kBatch});
  const int own = b.Step("own", {1}), sum = b.Step("sum", {1});
  b.Map();
  b.Launch("add", add, {x}, {own});  // 0
  b.Global();
  b.Copy(own, sum);                              // 1
  b.AllReduce(format::ReduceKind::kSum, {sum});  // 2
  b.CheckFinite({check_own ? own : sum});        // 3
  b.Launch("update", update, {w, sum}, {w}, 1);  // 4
  b.Copy(sum, v);                                // 5: a copy that must be held back
  b.Output("sum", sum);
  return FinishGpuProgram(b);
}

std::string Describe(const SegmentPlan& plan) {
  std::vector<std::string> segments;
  for (const PlannedSegment& segment : plan.segments) {
    std::vector<std::string> pieces;
    for (const PlannedPiece& piece : segment.pieces) {
      const char* kind = piece.kind == PlannedPiece::kAllReduce     ? "all_reduce "
                         : piece.kind == PlannedPiece::kCombineFlag ? "flag "
                         : piece.captured                           ? "graph "
                                                                    : "";
      pieces.push_back(absl::StrCat(kind, absl::StrJoin(piece.commands, ",")));
    }
    segments.push_back(absl::StrCat(absl::StrJoin(pieces, "; "), segment.awaited ? " awaited" : ""));
  }
  return absl::StrJoin(segments, " | ");
}

TEST(SegmentPlanTest, OneReplicaNeedsNoCollectives) {
  const auto executable = Model(1, true);
  const SegmentPlan plan = MakeSegmentPlan(*executable);
  EXPECT_EQ(Describe(plan), "graph 0,1,3,4,5");
  EXPECT_EQ(plan.guarded, std::vector<bool>({false, false, false, false, true, true}));
  EXPECT_EQ(plan.map, std::vector<bool>({true, false, false, false, false, false}));
  EXPECT_EQ(plan.ids, std::vector<int>({0, 2, 3, 4, 5, 6}));
}

TEST(SegmentPlanTest, AFlagIsCombinedWhereReplicasSeeDifferentValues) {
  const auto own = Model(2, true), all = Model(2, false);
  EXPECT_EQ(Describe(MakeSegmentPlan(*all)), "graph 0,1 awaited | all_reduce 2 awaited | graph 3,4,5");
  EXPECT_EQ(Describe(MakeSegmentPlan(*own)), "graph 0,1 awaited | all_reduce 2 awaited | graph 3; flag 3; graph 4,5");
}

TEST(SegmentPlanTest, NoReplicaUpdatesWhenOneFails) {
  for (bool check_own : {true, false}) {
    FakeDriver fake({.gpus = 2});
    FakeNccl nccl;
    RegisterBuiltinKernels(fake);
    RegisterGpuKernel(fake, "add", 2, [](const GpuKernelCall& call) {
      *call.args[1] = 0;
      for (int64_t i = call.begin; i < call.end; ++i) *call.args[1] += call.args[0][i];
    });
    RegisterGpuKernel(fake, "update", 3,
                      [](const GpuKernelCall& call) { *call.args[2] = *call.args[0] - *call.args[1]; });
    {
      auto variables = std::make_shared<VariableStore>(2);
      auto session =
          Session::Create(CudaDeviceClass(), Model(2, check_own), variables, {.pool = std::make_shared<ThreadPool>(1)});
      ASSERT_TRUE(session.ok()) << session.status();
      for (const char* name : {"w", "v"}) {
        ASSERT_TRUE(variables->Assign(name, HostTensor::FromVector<float>({1}, {10})).ok());
      }
      auto run = [&](float last) {
        StepInputs inputs;
        inputs.inputs = {{HostTensor::FromVector<float>({2}, {1, 2})}, {HostTensor::FromVector<float>({2}, {3, last})}};
        return (*session)->Run(inputs, {0});
      };
      float w = 10;
      for (int i = 0; i < 3; ++i) {  // one by one, captured, replayed
        auto good = run(4);
        ASSERT_TRUE(good.ok()) << good.status();
        ASSERT_TRUE(good->finite);
        EXPECT_EQ(good->outputs[0].data<float>()[0], 10);
        w -= 10;
        auto bad = run(INFINITY);
        ASSERT_TRUE(bad.ok()) << bad.status();
        EXPECT_FALSE(bad->finite);
        for (int d = 0; d < 2; ++d) {
          EXPECT_EQ(*reinterpret_cast<float*>(variables->DeviceAddress("w", d).value()), w) << "replica " << d;
          EXPECT_EQ(*reinterpret_cast<float*>(variables->DeviceAddress("v", d).value()), 10) << "replica " << d;
        }
      }
    }
    EXPECT_EQ(absl::StrJoin(fake.TakeViolations(), "; "), "");
    EXPECT_EQ(absl::StrJoin(nccl.TakeViolations(), "; "), "");
  }
}

}  // namespace
}  // namespace tandem
