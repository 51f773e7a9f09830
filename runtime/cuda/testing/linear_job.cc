#include "runtime/cuda/testing/linear_job.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "runtime/cuda/testing/fake_builtin_kernels.h"
#include "runtime/cuda/testing/gpu_program.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

HostTensor Rows(const HostTensor& t, int64_t begin, int64_t n) {
  Shape shape = t.shape();
  shape[0] = n;
  HostTensor part(t.dtype(), shape);
  const int64_t row = t.byte_size() / t.shape()[0];
  std::memcpy(part.raw(), static_cast<const char*>(t.raw()) + begin * row, n * row);
  return part;
}

}  // namespace

std::shared_ptr<const Executable> LinearModel(int replicas, const std::vector<int>& sms, bool groups) {
  ExecutableBuilder b(replicas, replicas, kRows / replicas, kRows / replicas);
  const int forward = b.Kernel("forward", 0, format::Domain::kRows),
            row_number = b.Kernel("row_number", 0, format::Domain::kRows);
  const int gradient = b.Kernel("gradient", 0, format::Domain::kRows),
            largest = b.Kernel("largest", 0, format::Domain::kRows);
  const int sgd = b.Kernel("sgd", 0, format::Domain::kElements);
  const int w = b.Variable("w", {kIn}), c = b.Variable("c", {});
  const int x = b.Input("x", {kBatch, kIn}), t = b.Input("t", {kBatch}), k = b.Input("k", {kBatch}, DType::kInt32);
  const int rate = b.Scalar("learning_rate"), count = b.Scalar("example_count");
  const int y = b.Batch("y", {kBatch}), row = b.Batch("row", {kBatch}), kept = b.Batch("kept", {kBatch, kIn});
  const int keys = b.Batch("keys", {kBatch}, DType::kInt32), d = b.Microbatch("d", {kBatch});
  const int dw = b.Step("dw", {kIn}), dc = b.Step("dc", {}), loss = b.Step("loss", {});
  const int lane_max = b.Lane("lane_max", {1}, format::ReduceKind::kMax), max = b.Step("max", {1});
  const int table = b.Step("table", {4, kIn});

  b.Map();
  b.Launch("forward", forward, {x, w, c, t}, {y, d});
  b.Launch("row_number", row_number, {}, {row});
  b.Launch("gradient", gradient, {x, d}, {dw, dc, loss});
  b.Launch("largest", largest, {x}, {lane_max});
  b.Copy(x, kept);
  b.Copy(k, keys);
  b.Global();
  b.LaneReduce(format::ReduceKind::kMax, {lane_max}, {max});
  b.AllReduce(format::ReduceKind::kSum, {dw, dc});
  b.AllReduce(format::ReduceKind::kSum, {loss});
  b.AllReduce(format::ReduceKind::kMax, {max});
  b.ScatterAdd(kept, keys, table);
  b.CheckFinite({dw, dc, loss});
  b.Grouped("update", sgd, 4, {w, dw, rate, count, c, dc, rate, count}, {kIn, 1});
  for (int o : {loss, y, row, max, table}) b.Output(absl::StrCat("output_", o), o);
  return FinishGpuProgram(b, sms, "", /*shared=*/false, groups);
}

void RegisterLinearKernels(FakeDriver& fake) {
  RegisterBuiltinKernels(fake);
  RegisterGpuKernel(fake, "forward", 6, [](const GpuKernelCall& call) {
    auto [x, w, c, t, y, d] =
        std::tie(call.args[0], call.args[1], call.args[2], call.args[3], call.args[4], call.args[5]);
    for (int64_t i = call.begin; i < call.end; ++i) {
      y[i] = *c;
      for (int k = 0; k < kIn; ++k) y[i] += x[i * kIn + k] * w[k];
      d[i] = y[i] - t[i];
    }
  });
  RegisterGpuKernel(fake, "row_number", 1, [](const GpuKernelCall& call) {
    for (int64_t i = call.begin; i < call.end; ++i) call.args[0][i] = static_cast<float>(call.row_offset + i);
  });
  RegisterGpuKernel(fake, "gradient", 5, [](const GpuKernelCall& call) {
    auto [x, d, dw, dc, loss] = std::tie(call.args[0], call.args[1], call.args[2], call.args[3], call.args[4]);
    std::fill_n(dw, kIn, 0.0f);
    *dc = *loss = 0;
    for (int64_t i = call.begin; i < call.end; ++i) {
      for (int k = 0; k < kIn; ++k) dw[k] += d[i] * x[i * kIn + k];
      *dc += d[i];
      *loss += d[i] * d[i];
    }
  });
  RegisterGpuKernel(fake, "largest", 2, [](const GpuKernelCall& call) {
    *call.args[1] = call.args[0][0];
    for (int64_t i = 0; i < call.end * kIn; ++i) *call.args[1] = std::max(*call.args[1], call.args[0][i]);
  });
  RegisterGpuKernel(fake, "sgd", 4, [](const GpuKernelCall& call) {
    for (int64_t i = call.begin; i < call.end; ++i) {
      call.args[0][i] -= *call.args[2] * call.args[1][i] / *call.args[3];
    }
  });
}

HostTensor Random(Shape shape, uint32_t seed) {
  HostTensor t(DType::kFloat32, std::move(shape));
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<float>()[i] = normal(rng);
  return t;
}

StepInputs Inputs(const std::vector<int64_t>& rows, uint32_t seed) {
  const HostTensor x = Random({kRows, kIn}, seed), t = Random({kRows}, seed + 1);
  HostTensor k(DType::kInt32, {kRows});
  for (int i = 0; i < kRows; ++i) k.data<int32_t>()[i] = (i * 7 + static_cast<int>(seed)) % 5 - 1;
  StepInputs inputs;
  const int64_t each = kRows / static_cast<int64_t>(rows.size());
  for (size_t r = 0; r < rows.size(); ++r) {
    inputs.inputs.push_back({Rows(x, r * each, rows[r]), Rows(t, r * each, rows[r]), Rows(k, r * each, rows[r])});
  }
  inputs.scalars["learning_rate"] = 0.1;
  return inputs;
}

}  // namespace tandem
