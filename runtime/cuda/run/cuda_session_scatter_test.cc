// Sums of rows by index, of more indices than are looked through for each row, on a fake GPU.
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/cuda/run/cuda_device_class.h"
#include "runtime/cuda/testing/fake_builtin_kernels.h"
#include "runtime/cuda/testing/fake_driver.h"
#include "runtime/cuda/testing/gpu_program.h"
#include "runtime/session/session.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

constexpr int64_t kRows = 700, kWidth = 5, kTableRows = 40;

std::shared_ptr<const Executable> Model() {
  ExecutableBuilder b(1, 1, kRows, kRows);
  const int x = b.Input("x", {kBatch, kWidth}), k = b.Input("k", {kBatch}, DType::kInt32);
  const int kept = b.Batch("kept", {kBatch, kWidth}), keys = b.Batch("keys", {kBatch}, DType::kInt32);
  const int table = b.Step("table", {kTableRows, kWidth});
  b.Map();
  b.Copy(x, kept);
  b.Copy(k, keys);
  b.Global();
  b.ScatterAdd(kept, keys, table);
  b.Output("table", table);
  return FinishGpuProgram(b);
}

TEST(ScatterAddTest, HasTheBitsOfALoop) {
  FakeDriver fake({.gpus = 1});
  RegisterBuiltinKernels(fake);
  {
    auto session = Session::Create(CudaDeviceClass(), Model(), std::make_shared<VariableStore>(1),
                                   {.pool = std::make_shared<ThreadPool>(1)});
    ASSERT_TRUE(session.ok()) << session.status();
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 1000);
    // One by one, captured, replayed, and batches that are short, some so short that nothing is sorted.
    for (int64_t rows : {kRows, kRows, kRows, int64_t{300}, int64_t{129}, int64_t{128}, int64_t{1}, int64_t{0}}) {
      SCOPED_TRACE(rows);
      HostTensor x(DType::kFloat32, {rows, kWidth}), k(DType::kInt32, {rows});
      std::vector<float> want(kTableRows * kWidth, 0);
      for (int64_t i = 0; i < rows; ++i) {
        // Some rows of the table often, most of them never, and indices outside of it.
        const int32_t key = k.data<int32_t>()[i] = static_cast<int32_t>(random() % 7 * (random() % 8)) - 2;
        for (int64_t c = 0; c < kWidth; ++c) {
          x.data<float>()[i * kWidth + c] = normal(random);
          if (key >= 0 && key < kTableRows) want[key * kWidth + c] += x.data<float>()[i * kWidth + c];
        }
      }
      StepInputs inputs;
      inputs.inputs = {{std::move(x), std::move(k)}};
      auto result = (*session)->Run(inputs, {0});
      ASSERT_TRUE(result.ok()) << result.status();
      const auto got = result->outputs[0].values<float>();
      EXPECT_EQ(std::vector<float>(got.begin(), got.end()), want);
    }
    EXPECT_EQ(fake.CountCalls("cuGraphLaunch"), 2);
  }
  EXPECT_EQ(absl::StrJoin(fake.TakeViolations(), "; "), "");
  EXPECT_EQ(fake.AllocatedBytes(0), 0u);
}

}  // namespace
}  // namespace tandem
