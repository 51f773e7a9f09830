// Library calls beyond one matrix product, and what surrounds them in a step, with the same values on every kind of
// device (places.h). Expected values are computed in double.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/dtype.h"
#include "gtest/gtest.h"
#include "runtime/conformance/conformance_kernels.h"
#include "runtime/conformance/places.h"
#include "runtime/session/session.h"
#include "runtime/testing/executable_builder.h"
#include "runtime/testing/library_calls.h"

namespace tandem {
namespace {

class LibraryCommandsTest : public PlaceTest {};

// Attention without softmax: heads lie between rows and columns in queries, keys and the result.
TEST_P(LibraryCommandsTest, BatchedProductsOfSwappedOperands) {
  constexpr int64_t kQueries = 3, kHeads = 2, kWidth = 5, kKeys = 4;
  ExecutableBuilder b = Builder();
  const int q = b.Input("q", {kBatch, kQueries, kHeads, kWidth}), k = b.Input("k", {kBatch, kKeys, kHeads, kWidth});
  const int scores = b.Batch("scores", {kBatch, kHeads, kQueries, kKeys});
  const int context = b.Batch("context", {kBatch, kQueries, kHeads, kWidth});
  const int64_t rows = b.index().microbatch_rows;
  format::BatchMatMul call;
  call.a_shape = {rows, kQueries, kHeads, kWidth};
  call.b_shape = {rows, kKeys, kHeads, kWidth};
  call.y_shape = {rows, kHeads, kQueries, kKeys};
  call.swap_a = call.swap_b = call.transpose_b = true;
  b.Map();
  b.Library("scores", CallOf(call), {q, k}, {scores});
  call.a_shape = {rows, kHeads, kQueries, kKeys};
  call.y_shape = {rows, kQueries, kHeads, kWidth};
  call.swap_a = call.transpose_b = false;
  call.swap_y = true;
  b.Library("context", CallOf(call), {scores, k}, {context});
  b.Output("scores", scores);
  b.Output("context", context);
  Start(b);
  uint32_t seed = 1;
  for (const std::vector<int64_t>& counts : RowCases(replicas())) {
    SCOPED_TRACE(absl::StrJoin(counts, " "));
    StepInputs inputs;
    std::vector<double> want_scores, want_context;
    for (int64_t n : counts) {
      const HostTensor qs = Random({n, kQueries, kHeads, kWidth}, ++seed);
      const HostTensor ks = Random({n, kKeys, kHeads, kWidth}, ++seed);
      const std::vector<double> qd = Doubles(qs), kd = Doubles(ks);
      auto key = [&](int64_t r, int64_t j, int64_t h, int64_t c) {
        return kd[((r * kKeys + j) * kHeads + h) * kWidth + c];
      };
      for (int64_t r = 0; r < n; ++r) {
        std::vector<double> s(kHeads * kQueries * kKeys), c(kQueries * kHeads * kWidth);
        for (int64_t h = 0; h < kHeads; ++h) {
          for (int64_t i = 0; i < kQueries; ++i) {
            for (int64_t j = 0; j < kKeys; ++j) {
              double& sum = s[(h * kQueries + i) * kKeys + j];
              for (int64_t d = 0; d < kWidth; ++d) {
                sum += qd[((r * kQueries + i) * kHeads + h) * kWidth + d] * key(r, j, h, d);
              }
              for (int64_t d = 0; d < kWidth; ++d) c[(i * kHeads + h) * kWidth + d] += sum * key(r, j, h, d);
            }
          }
        }
        want_scores.insert(want_scores.end(), s.begin(), s.end());
        want_context.insert(want_context.end(), c.begin(), c.end());
      }
      inputs.inputs.push_back({qs, ks});
    }
    auto result = session_->Run(inputs, {0, 1});
    ASSERT_TRUE(result.ok()) << result.status();
    ExpectNear(result->outputs[0], want_scores, "scores");
    ExpectNear(result->outputs[1], want_context, "context");
  }
}

TEST_P(LibraryCommandsTest, GradientsOfConvolutions) {
  if (GetParam().shared) GTEST_SKIP() << "no difference";
  for (int64_t stride : {1, 2}) {
    SCOPED_TRACE(stride);
    const int64_t side = stride == 1 ? 5 : 3;
    session_.reset();
    ExecutableBuilder b = Builder();
    const int kernel = b.Variable("kernel", {3, 3, 2, 4}), x = b.Input("x", {kBatch, 5, 5, 2});
    const int dy = b.Input("dy", {kBatch, side, side, 4}), dx = b.Batch("dx", {kBatch, 5, 5, 2});
    const int lane_dk = b.Lane("lane_dk", {3, 3, 2, 4}, format::ReduceKind::kSum), dk = b.Step("dk", {3, 3, 2, 4});
    format::Conv2D call;
    call.x_shape = {static_cast<int64_t>(b.index().microbatch_rows), 5, 5, 2};
    call.kernel_shape = {3, 3, 2, 4};
    call.y_shape = {static_cast<int64_t>(b.index().microbatch_rows), side, side, 4};
    call.strides = {stride, stride};
    call.pad_low = call.pad_high = {1, 1};
    b.Map();
    call.direction = format::Direction::kInputGrad;
    b.Library("input_grad", CallOf(call), {dy, kernel}, {dx});
    call.direction = format::Direction::kFilterGrad;
    b.Library("filter_grad", CallOf(call), {x, dy}, {lane_dk});
    b.Global();
    b.LaneReduce(format::ReduceKind::kSum, {lane_dk}, {dk});
    b.AllReduce(format::ReduceKind::kSum, {dk});
    b.Output("dx", dx);
    b.Output("dk", dk);
    Start(b);
    ASSERT_TRUE(variables_->Assign("kernel", Random({3, 3, 2, 4}, 1)).ok());
    const std::vector<double> weights = Doubles(*variables_->Read("kernel"));
    uint32_t seed = 5;
    for (const std::vector<int64_t>& counts : RowCases(replicas())) {
      SCOPED_TRACE(absl::StrJoin(counts, " "));
      StepInputs inputs;
      std::vector<double> want_dx, want_dk(weights.size());
      for (int64_t n : counts) {
        const HostTensor xs = Random({n, 5, 5, 2}, ++seed), dys = Random({n, side, side, 4}, ++seed);
        const std::vector<double> xd = Doubles(xs), dyd = Doubles(dys);
        std::vector<double> grad(xd.size());
        for (int64_t at = 0; at < n * side * side * 9; ++at) {  // every tap of every window
          const int64_t tap = at % 9, pixel = at / 9, j = pixel % side, i = pixel / side % side;
          const int64_t row = i * stride + tap / 3 - 1, column = j * stride + tap % 3 - 1;
          if (row < 0 || row >= 5 || column < 0 || column >= 5) continue;
          const int64_t from = ((pixel / side / side * 5 + row) * 5 + column) * 2;
          for (int64_t c = 0; c < 8; ++c) {
            const int64_t in = c / 4, out = c % 4;
            grad[from + in] += dyd[pixel * 4 + out] * weights[tap * 8 + c];
            want_dk[tap * 8 + c] += dyd[pixel * 4 + out] * xd[from + in];
          }
        }
        want_dx.insert(want_dx.end(), grad.begin(), grad.end());
        inputs.inputs.push_back({xs, dys});
      }
      auto result = session_->Run(inputs, {0, 1});
      ASSERT_TRUE(result.ok()) << result.status();
      ExpectNear(result->outputs[0], want_dx, "dx");
      ExpectNear(result->outputs[1], want_dk, "dk");
    }
  }
}

// Rows of a table by index, their gradient added up by index, a kernel that runs once, and updates of several variables
// of several sizes in one grouped launch.
TEST_P(LibraryCommandsTest, GatherScatterOnceAndGroupedUpdates) {
  ExecutableBuilder b = Builder();
  const ConformanceKernels kernels = AddConformanceKernels(b);
  const int table = b.Variable("table", {5, 4}), w = b.Variable("w", {4}), s = b.Variable("s", {1});
  const int k = b.Input("k", {kBatch}, DType::kInt32), rate = b.Scalar("rate");
  const int row = b.Batch("row", {kBatch, 4}), y = b.Batch("y", {kBatch, 4}),
            keys = b.Batch("keys", {kBatch}, DType::kInt32);
  const int lane_sum = b.Lane("lane_sum", {4}, format::ReduceKind::kSum), sum = b.Step("sum", {4});
  const int total = b.Step("total", {1}), grad = b.Step("grad", {5, 4});
  b.Map();
  b.Launch("gather", kernels.gather, {k, table}, {row});
  b.Launch("affine", kernels.affine, {row, w}, {y});
  b.Launch("column_sum", kernels.column_sum, {y}, {lane_sum});
  b.Copy(k, keys);
  b.Global();
  b.LaneReduce(format::ReduceKind::kSum, {lane_sum}, {sum});
  b.ScatterAdd(y, keys, grad);
  b.AllReduce(format::ReduceKind::kSum, {sum, grad});
  b.CheckFinite({sum, grad});
  b.Launch("total", kernels.total, {sum}, {total});
  b.Grouped("updates", kernels.update, 4, {table, grad, rate, table, w, sum, rate, w, s, total, rate, s}, {20, 4, 1});
  for (int o : {row, total, grad}) b.Output(absl::StrCat("output_", o), o);
  Start(b);
  ASSERT_TRUE(variables_->Assign("table", Random({5, 4}, 1)).ok());
  ASSERT_TRUE(variables_->Assign("w", Random({4}, 2)).ok());
  ASSERT_TRUE(variables_->Assign("s", Random({1}, 3)).ok());
  int32_t key = 0;
  for (const std::vector<int64_t>& counts : RowCases(replicas())) {
    SCOPED_TRACE(absl::StrJoin(counts, " "));
    const std::vector<double> t0 = Doubles(*variables_->Read("table")), w0 = Doubles(*variables_->Read("w")),
                              s0 = Doubles(*variables_->Read("s"));
    StepInputs inputs;
    inputs.scalars["rate"] = 0.001;
    std::vector<double> rows, grads(20), sums(4);
    double all = 0;
    for (int64_t n : counts) {
      HostTensor ks(DType::kInt32, {n});
      for (int64_t i = 0; i < n; ++i) {
        key = (key * 3 + 2) % 5;
        ks.data<int32_t>()[i] = key;
        const double number = static_cast<double>(rows.size() / 4);
        for (int c = 0; c < 4; ++c) {
          rows.push_back(t0[key * 4 + c]);
          const double value = t0[key * 4 + c] * w0[c] + number;
          grads[key * 4 + c] += value;
          sums[c] += value;
          all += value;
        }
      }
      inputs.inputs.push_back({ks});
    }
    auto result = session_->Run(inputs, {0, 1, 2});
    ASSERT_TRUE(result.ok()) << result.status();
    ExpectNear(result->outputs[0], rows, "row");
    ExpectNear(result->outputs[1], {all}, "total");
    ExpectNear(result->outputs[2], grads, "grad");
    std::vector<double> t1 = t0, w1 = w0;
    for (int i = 0; i < 20; ++i) t1[i] -= 0.001 * grads[i];
    for (int i = 0; i < 4; ++i) w1[i] -= 0.001 * sums[i];
    ExpectNear(*variables_->Read("table"), t1, "table");
    ExpectNear(*variables_->Read("w"), w1, "w");
    ExpectNear(*variables_->Read("s"), {s0[0] - 0.001 * all}, "s");
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, LibraryCommandsTest, ::testing::ValuesIn(Places()), PlaceName);

}  // namespace
}  // namespace tandem
