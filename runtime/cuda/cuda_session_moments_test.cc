// Statistics over the rows of all replicas, on fake GPUs.
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/cuda/testing/fake_builtin_kernels.h"
#include "runtime/cuda/testing/fake_driver.h"
#include "runtime/cuda/testing/fake_library_kernels.h"
#include "runtime/cuda/testing/fake_nccl.h"
#include "runtime/cuda/testing/gpu_program.h"
#include "runtime/reduction_tree.h"
#include "runtime/session.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

constexpr int kChannels = 3, kRows = 16;  // rows of all replicas

// count, mean and M2 of x's columns over all rows.
std::shared_ptr<const Executable> Model(int replicas, bool shared) {
  ExecutableBuilder b(replicas, replicas, kRows / replicas, kRows / replicas);
  const int moments = b.Kernel("moments", 0, fb::Domain::Rows);
  const int x = b.Input("x", {kBatch, kChannels});
  const int count = b.Step("count", {1}), mean = b.Step("mean", {kChannels}), m2 = b.Step("m2", {kChannels});
  b.Map();
  b.Launch("moments", moments, {x}, {count, mean, m2});
  b.Global();
  b.AllReduce(fb::ReduceKind::Moments, {count, mean, m2});
  for (int o : {count, mean, m2}) b.Output(absl::StrCat("output_", o), o);
  return FinishGpuProgram(b, {75, 90}, "", shared);
}

// Of rows [begin, end).
void Moments(const float* x, int64_t begin, int64_t end, float* count, float* mean, float* m2) {
  *count = static_cast<float>(end - begin);
  for (int c = 0; c < kChannels; ++c) {
    mean[c] = m2[c] = 0;
    for (int64_t i = begin; i < end; ++i) mean[c] += x[i * kChannels + c];
    if (end > begin) mean[c] /= *count;
    for (int64_t i = begin; i < end; ++i) {
      const float d = x[i * kChannels + c] - mean[c];
      m2[c] += d * d;
    }
  }
}

class MomentsTest : public testing::TestWithParam<std::pair<int, bool>> {};

TEST_P(MomentsTest, AreThoseOfAllRows) {
  const auto [replicas, shared] = GetParam();
  FakeDriver fake({.gpus = shared ? 1 : replicas});
  FakeNccl nccl;
  RegisterBuiltinKernels(fake);
  RegisterLibraryKernels(fake);
  RegisterGpuKernel(fake, "moments", 4, [](const GpuKernelCall& call) {
    Moments(call.args[0], call.begin, call.end, call.args[1], call.args[2], call.args[3]);
  });
  {
    auto session = Session::Create(Model(replicas, shared), std::make_shared<VariableStore>(replicas),
                                   {.pool = std::make_shared<ThreadPool>(1)});
    ASSERT_TRUE(session.ok()) << session.status();
    std::mt19937 random(1);
    std::normal_distribution<float> normal(10, 3);
    std::vector<int64_t> full(replicas, kRows / replicas), with_hole = full;
    with_hole[0] = 0;
    for (const std::vector<int64_t>& rows : {full, full, full, with_hole}) {
      StepInputs inputs;
      std::vector<float> counts(replicas), means(replicas * kChannels), m2s(replicas * kChannels);
      std::vector<MomentsLeaf> leaves(replicas);
      std::vector<double> all;
      for (int r = 0; r < replicas; ++r) {
        HostTensor x(DType::kFloat32, {rows[r], kChannels});
        for (int64_t i = 0; i < x.num_elements(); ++i) all.push_back(x.data<float>()[i] = normal(random));
        Moments(x.data<float>(), 0, rows[r], &counts[r], &means[r * kChannels], &m2s[r * kChannels]);
        if (rows[r] > 0) leaves[r] = {&counts[r], &means[r * kChannels], &m2s[r * kChannels]};
        inputs.inputs.push_back({std::move(x)});
      }
      auto result = (*session)->Run(inputs, {0, 1, 2});
      if (all.empty()) continue;
      ASSERT_TRUE(result.ok()) << result.status();
      // The CPU's bits, and the truth.
      float count;
      std::vector<float> mean(kChannels), m2(kChannels);
      TreeMergeMoments(leaves, false, &count, mean.data(), m2.data(), kChannels);
      EXPECT_EQ(result->outputs[0].data<float>()[0], count);
      const double n = static_cast<double>(all.size()) / kChannels;
      EXPECT_EQ(count, n);
      for (int c = 0; c < kChannels; ++c) {
        EXPECT_EQ(result->outputs[1].data<float>()[c], mean[c]);
        EXPECT_EQ(result->outputs[2].data<float>()[c], m2[c]);
        double sum = 0, squares = 0;
        for (size_t i = c; i < all.size(); i += kChannels) sum += all[i];
        for (size_t i = c; i < all.size(); i += kChannels) squares += (all[i] - sum / n) * (all[i] - sum / n);
        EXPECT_NEAR(mean[c], sum / n, 1e-5 * 10);
        EXPECT_NEAR(m2[c], squares, 1e-4 * squares);
      }
    }
  }
  EXPECT_EQ(absl::StrJoin(fake.TakeViolations(), "; "), "");
  EXPECT_EQ(absl::StrJoin(nccl.TakeViolations(), "; "), "");
  for (int d = 0; d < (shared ? 1 : replicas); ++d) EXPECT_EQ(fake.AllocatedBytes(d), 0u);
}

INSTANTIATE_TEST_SUITE_P(Replicas, MomentsTest,
                         testing::Values(std::pair{1, false}, std::pair{2, false}, std::pair{4, false},
                                         std::pair{8, false}, std::pair{2, true}, std::pair{4, true}),
                         [](const auto& info) {
                           return absl::StrCat(info.param.first, info.param.second ? "Shared" : "");
                         });

}  // namespace
}  // namespace tandem
