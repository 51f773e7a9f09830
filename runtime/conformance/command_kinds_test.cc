// Every kind of command, with the same values on every kind of device (places.h). Expected values are computed in
// double.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/conformance/conformance_kernels.h"
#include "runtime/conformance/places.h"
#include "runtime/session/session.h"
#include "runtime/testing/executable_builder.h"
#include "runtime/testing/library_calls.h"

namespace tandem {
namespace {

class CommandKindsTest : public PlaceTest {};

// Expected values of the program below, replica by replica.
struct Expected {
  std::vector<double> y, z, dv = std::vector<double>(12), mean = std::vector<double>(4),
                            max = std::vector<double>(4, -INFINITY), table = std::vector<double>(12);
};

TEST_P(CommandKindsTest, ATrainingStep) {
  ExecutableBuilder b = Builder();
  const ConformanceKernels kernels = AddConformanceKernels(b);
  const int w = b.Variable("w", {4}), v = b.Variable("v", {4, 3}), bias = b.Variable("bias", {3});
  const int x = b.Input("x", {kBatch, 4}), k = b.Input("k", {kBatch}, DType::kInt32), rate = b.Scalar("rate");
  const int y = b.Batch("y", {kBatch, 4}), z = b.Batch("z", {kBatch, 3}),
            keys = b.Batch("keys", {kBatch}, DType::kInt32);
  const int kept = b.Batch("kept", {kBatch, 4});
  const int lane_dv = b.Lane("lane_dv", {4, 3}, format::ReduceKind::kSum),
            lane_sum = b.Lane("lane_sum", {4}, format::ReduceKind::kSum);
  const int lane_max = b.Lane("lane_max", {4}, format::ReduceKind::kMax);
  const int dv = b.Step("dv", {4, 3}), sum = b.Step("sum", {4}), max = b.Step("max", {4}), copy = b.Step("copy", {4});
  const int table = b.Step("table", {3, 4});
  b.Map();
  b.Launch("affine", kernels.affine, {x, w}, {y});
  b.Copy(y, kept);
  b.Copy(k, keys);
  b.MatMul("forward", y, v, z, {.bias = true, .activation = format::Activation::kRelu}, bias);
  b.MatMulWeightGrad("gradient", y, z, lane_dv);
  b.Launch("column_sum", kernels.column_sum, {y}, {lane_sum});
  b.Launch("column_max", kernels.column_max, {y}, {lane_max});
  b.Global();
  b.LaneReduce(format::ReduceKind::kSum, {lane_dv, lane_sum}, {dv, sum});
  b.LaneReduce(format::ReduceKind::kMax, {lane_max}, {max});
  b.ScatterAdd(kept, keys, table);
  b.AllReduce(format::ReduceKind::kSum, {dv, table});
  b.AllReduce(format::ReduceKind::kMean, {sum});
  b.AllReduce(format::ReduceKind::kMax, {max});
  b.Copy(sum, copy);
  b.CheckFinite({dv, sum});
  b.Launch("update", kernels.update, {w, sum, rate}, {w}, 4);
  b.Grouped("updates", kernels.update, 4, {v, dv, rate, v}, {12});
  for (int o : {y, z, dv, copy, max, table}) b.Output(absl::StrCat("output_", o), o);
  Start(b);
  ASSERT_TRUE(variables_->Assign("w", Random({4}, 1)).ok());
  ASSERT_TRUE(variables_->Assign("v", Random({4, 3}, 2)).ok());
  ASSERT_TRUE(variables_->Assign("bias", Random({3}, 3)).ok());

  uint32_t seed = 10;
  for (const std::vector<int64_t>& rows : RowCases(replicas())) {
    SCOPED_TRACE(absl::StrJoin(rows, " "));
    StepInputs inputs;
    inputs.scalars["rate"] = 0.01;
    Expected want;
    const std::vector<double> w0 = Doubles(*variables_->Read("w")), v0 = Doubles(*variables_->Read("v")),
                              b0 = Doubles(*variables_->Read("bias"));
    int present = 0;
    for (int64_t n : rows) {
      HostTensor xs = Random({n, 4}, ++seed), ks(DType::kInt32, {n});
      present += n > 0;
      for (int64_t i = 0; i < n; ++i) {
        ks.data<int32_t>()[i] = static_cast<int32_t>((i * 5 + seed) % 5) - 1;
        const double number = static_cast<double>(want.y.size() / 4);
        std::vector<double> row(4), out(3);
        for (int c = 0; c < 4; ++c) {
          row[c] = xs.data<float>()[i * 4 + c] * w0[c] + number;
          want.mean[c] += row[c];
          want.max[c] = std::max(want.max[c], row[c]);
          const int32_t key = ks.data<int32_t>()[i];
          if (key >= 0 && key < 3) want.table[key * 4 + c] += row[c];
        }
        for (int o = 0; o < 3; ++o) {
          out[o] = b0[o];
          for (int c = 0; c < 4; ++c) out[o] += row[c] * v0[c * 3 + o];
          out[o] = std::max(out[o], 0.0);
          for (int c = 0; c < 4; ++c) want.dv[c * 3 + o] += row[c] * out[o];
        }
        want.y.insert(want.y.end(), row.begin(), row.end());
        want.z.insert(want.z.end(), out.begin(), out.end());
      }
      inputs.inputs.push_back({xs, ks});
    }
    for (double& m : want.mean) m /= present;
    auto result = session_->Run(inputs, {0, 1, 2, 3, 4, 5});
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_TRUE(result->finite);
    ExpectNear(result->outputs[0], want.y, "y");
    ExpectNear(result->outputs[1], want.z, "z");
    ExpectNear(result->outputs[2], want.dv, "dv");
    ExpectNear(result->outputs[3], want.mean, "mean");
    ExpectNear(result->outputs[4], want.max, "max");
    ExpectNear(result->outputs[5], want.table, "table");
    std::vector<double> w1 = w0, v1 = v0;
    for (int i = 0; i < 4; ++i) w1[i] -= 0.01 * want.mean[i];
    for (int i = 0; i < 12; ++i) v1[i] -= 0.01 * want.dv[i];
    ExpectNear(*variables_->Read("w"), w1, "w");
    ExpectNear(*variables_->Read("v"), v1, "v");

    // The same step with a NaN in the last row that there is: nothing changes, and the first command to see it is
    // named.
    const HostTensor before = *variables_->Read("v");
    const size_t last = rows.back() > 0 ? rows.size() - 1 : rows.size() - 2;
    HostTensor& bad = inputs.inputs[last][0];
    bad.data<float>()[bad.num_elements() - 1] = std::nanf("");
    result = session_->Run(inputs, {0});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_FALSE(result->finite);
    EXPECT_TRUE(variables_->Read("v")->BitEqual(before));
    auto found = session_->FindNonFinite(inputs);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->substr(0, 6), "affine") << *found;
    EXPECT_TRUE(variables_->Read("v")->BitEqual(before));
  }
}

TEST_P(CommandKindsTest, AConvolution) {
  if (GetParam().shared) GTEST_SKIP() << "no difference";
  ExecutableBuilder b = Builder();
  const int kernel = b.Variable("kernel", {3, 3, 2, 4}), x = b.Input("x", {kBatch, 5, 5, 2});
  const int y = b.Batch("y", {kBatch, 5, 5, 4});
  format::Conv2D call;
  call.x_shape = {static_cast<int64_t>(b.index().microbatch_rows), 5, 5, 2};
  call.kernel_shape = {3, 3, 2, 4};
  call.y_shape = {static_cast<int64_t>(b.index().microbatch_rows), 5, 5, 4};
  call.strides = {1, 1};
  call.pad_low = call.pad_high = {1, 1};
  b.Map();
  b.Library("conv", CallOf(call), {x, kernel}, {y});
  b.Output("y", y);
  Start(b);
  const HostTensor weights = Random({3, 3, 2, 4}, 1);
  ASSERT_TRUE(variables_->Assign("kernel", weights).ok());
  for (const std::vector<int64_t>& rows : RowCases(replicas())) {
    StepInputs inputs;
    std::vector<double> want;
    for (size_t r = 0; r < rows.size(); ++r) {
      const HostTensor xs = Random({rows[r], 5, 5, 2}, static_cast<uint32_t>(5 + r));
      for (int64_t at = 0; at < rows[r] * 25 * 4; ++at) {
        const int64_t o = at % 4, j = at / 4 % 5, i = at / 20 % 5, n = at / 100;
        double sum = 0;
        for (int64_t p = 0; p < 9; ++p) {
          const int64_t row = i + p / 3 - 1, column = j + p % 3 - 1;
          if (row < 0 || row >= 5 || column < 0 || column >= 5) continue;
          for (int64_t c = 0; c < 2; ++c) {
            sum += double{xs.data<float>()[((n * 5 + row) * 5 + column) * 2 + c]} *
                   weights.data<float>()[(p * 2 + c) * 4 + o];
          }
        }
        want.push_back(sum);
      }
      inputs.inputs.push_back({xs});
    }
    auto result = session_->Run(inputs, {0});
    ASSERT_TRUE(result.ok()) << result.status();
    ExpectNear(result->outputs[0], want, "y");
  }
}

TEST(ConformanceKernelsPtxTest, PtxasTakesIt) {
  const std::string ptxas = "/usr/local/cuda/bin/ptxas";
  if (!std::ifstream(ptxas).good()) GTEST_SKIP() << "no ptxas at " << ptxas;
  const std::string file = absl::StrCat(::testing::TempDir(), "/conformance_kernels.ptx");
  std::ofstream(file) << ConformanceKernelsPtx();
  EXPECT_EQ(std::system(absl::StrCat(ptxas, " -arch=sm_75 ", file, " -o /dev/null").c_str()), 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, CommandKindsTest, ::testing::ValuesIn(Places()), PlaceName);

}  // namespace
}  // namespace tandem
