// What the session computes, on the fake driver.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/cuda/run/cuda_device_class.h"
#include "runtime/cuda/testing/linear_job.h"

namespace tandem {
namespace {

std::vector<double> Doubles(const HostTensor& t) {
  std::vector<double> v;
  for (int64_t i = 0; i < t.num_elements(); ++i) v.push_back(t.data<float>()[i]);
  return v;
}

// Against double, for full, short and empty batches, eager and captured.
TEST_F(CudaSessionTest, ComputesSteps) {
  const std::vector<std::vector<int64_t>> cases = {{8},    {8},    {8},    {5},    {0},          {8},         {4, 4},
                                                   {4, 4}, {4, 4}, {3, 2}, {4, 0}, {2, 2, 2, 2}, {0, 1, 0, 2}};
  Job job;
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::vector<int64_t>& rows = cases[i];
    if (i == 0 || rows.size() != cases[i - 1].size()) {
      job = Job();
      job = Start(static_cast<int>(rows.size()));
    }
    const StepInputs inputs = Inputs(rows, static_cast<uint32_t>(10 * i));
    const std::vector<double> w = Doubles(*job.variables->Read("w"));
    const double c = job.variables->Read("c")->data<float>()[0];
    auto result = job.session->Run(inputs, kAll);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_TRUE(result->finite);

    std::vector<double> y, row, dw(kIn), table(4 * kIn);
    double loss = 0, dc = 0, max = -INFINITY;
    for (size_t r = 0; r < rows.size(); ++r) {
      const float *x = inputs.inputs[r][0].data<float>(), *t = inputs.inputs[r][1].data<float>();
      for (int64_t n = 0; n < rows[r]; ++n) {
        row.push_back(static_cast<double>(row.size()));
        y.push_back(c);
        for (int k = 0; k < kIn; ++k) y.back() += w[k] * x[n * kIn + k];
        const double d = y.back() - t[n];
        loss += d * d;
        dc += d;
        const int32_t key = inputs.inputs[r][2].data<int32_t>()[n];
        for (int k = 0; k < kIn; ++k) {
          dw[k] += d * x[n * kIn + k];
          max = std::max<double>(max, x[n * kIn + k]);
          if (r == 0 && key >= 0 && key < 4) table[key * kIn + k] += x[n * kIn + k];
        }
      }
    }
    auto near = [&](const HostTensor& got, const std::vector<double>& want, const std::string& what) {
      ASSERT_EQ(got.num_elements(), static_cast<int64_t>(want.size())) << what;
      for (size_t j = 0; j < want.size(); ++j) {
        if (std::isinf(want[j])) {
          EXPECT_EQ(got.data<float>()[j], want[j]) << what;
        } else {
          EXPECT_NEAR(got.data<float>()[j], want[j], 1e-5 * (1 + std::fabs(want[j]))) << what << " case " << i;
        }
      }
    };
    EXPECT_EQ(result->examples, static_cast<int64_t>(y.size()));
    near(result->outputs[kLoss], {loss}, "loss");
    near(result->outputs[kPrediction], y, "prediction");
    near(result->outputs[kRow], row, "row");
    near(result->outputs[kMax], {max}, "max");
    near(result->outputs[kTable], table, "table");
    const double n = static_cast<double>(y.size());
    if (n == 0) {  // 0 / 0: what an update without examples does is the program's matter
      ASSERT_TRUE(job.variables->Assign("w", Random({kIn}, 1)).ok());
      ASSERT_TRUE(job.variables->Assign("c", Random({}, 2)).ok());
      continue;
    }
    std::vector<double> updated;
    for (int k = 0; k < kIn; ++k) updated.push_back(w[k] - 0.1 * dw[k] / n);
    near(*job.variables->Read("w"), updated, "w");
    near(*job.variables->Read("c"), {c - 0.1 * dc / n}, "c");
  }
}

TEST_F(CudaSessionTest, SameBitsEverySecondTime) {
  std::vector<HostTensor> want;
  for (int run = 0; run < 2; ++run) {
    Job job = Start(2);
    std::vector<HostTensor> got;
    for (uint32_t step = 0; step < 4; ++step) {
      auto result = job.session->Run(Inputs(Full(2), step), kAll);
      ASSERT_TRUE(result.ok()) << result.status();
      for (HostTensor& t : result->outputs) got.push_back(t);
    }
    got.push_back(*job.variables->Read("w"));
    if (run == 0) want = got;
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i].BitEqual(want[i])) << i;
  }
}

TEST_F(CudaSessionTest, ANonFiniteStepChangesNothingAndIsFound) {
  for (int replicas : {1, 2}) {
    Job job = Start(replicas);
    StepInputs inputs = Inputs(Full(replicas), 5);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(job.session->Run(inputs, {}).ok());
    const HostTensor before = *job.variables->Read("w");
    auto fine = job.session->FindNonFinite(inputs);
    ASSERT_TRUE(fine.ok()) << fine.status();
    EXPECT_EQ(*fine, "");
    inputs.inputs.back()[1].data<float>()[1] = std::nanf("");
    auto result = job.session->Run(inputs, kAll);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_FALSE(result->finite);
    ASSERT_FALSE(result->outputs[kLoss].empty());  // it is computed before the check
    EXPECT_TRUE(std::isnan(result->outputs[kLoss].data<float>()[0]));
    auto found = job.session->FindNonFinite(inputs);
    ASSERT_TRUE(found.ok()) << found.status();
    const int last = replicas - 1;
    EXPECT_EQ(*found, absl::StrCat("forward [model.cc:7], replica ", last, " (gpu:", last, "), lane ", last));
    EXPECT_TRUE(job.variables->Read("w")->BitEqual(before));
    // The next step is as if nothing had been.
    auto next = job.session->Run(Inputs(Full(replicas), 6), kAll);
    ASSERT_TRUE(next.ok());
    EXPECT_TRUE(next->finite);
  }
}

TEST_F(CudaSessionTest, VariablesStayOnTheDeviceBetweenSessions) {
  Job job = Start(1);
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 1), {}).ok());
  EXPECT_EQ(job.variables->place(), "gpu:0");
  const HostTensor w = *job.variables->Read("w");
  auto second =
      Session::Create(CudaDeviceClass(), LinearModel(1), job.variables, {.pool = std::make_shared<ThreadPool>(1)});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(job.variables->Read("w")->BitEqual(w));
  job.session.reset();
  ASSERT_TRUE((*second)->Run(Inputs(Full(1), 2), {}).ok());
  EXPECT_FALSE(job.variables->Read("w")->BitEqual(w));
  EXPECT_GT(fake.AllocatedBytes(0), 0u);
  second->reset();
  job.variables.reset();
  EXPECT_EQ(fake.AllocatedBytes(0), 0u);
}

}  // namespace
}  // namespace tandem
