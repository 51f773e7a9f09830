#include "runtime/testing/small_programs.h"

#include <memory>
#include <vector>

#include "runtime/cpu/run/cpu_device_class.h"
#include "runtime/session/session.h"
#include "runtime/testing/compile_ir.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {

// Returns two kernels: z = 2 x for every row of three; t -= rate * s for every element.
std::string SmallKernels() {
  return CompileIr(LoopKernel("twice", "12 12", R"(
  %x = load <3 x float>, ptr %p0, align 4
  %y = fadd <3 x float> %x, %x
  store <3 x float> %y, ptr %p1, align 4
)") + LoopKernel("update", "4 0 4", R"(
  %s = load float, ptr %p0, align 4
  %rate = load float, ptr %p1, align 4
  %t = load float, ptr %p2, align 4
  %d = fmul float %s, %rate
  %n = fsub float %t, %d
  store float %n, ptr %p2, align 4
)"));
}

std::string ProgramWithKernels() {
  ExecutableBuilder b(/*replicas=*/2, /*lanes=*/4, /*rows_per_lane=*/3, /*microbatch_rows=*/2);
  const int twice = b.Kernel("twice", 0, format::Domain::kRows),
            update = b.Kernel("update", 0, format::Domain::kElements);
  const int w = b.Variable("w", {3, 5}), bias = b.Variable("bias", {5}), x = b.Input("x", {kBatch, 3});
  const int rate = b.Scalar("rate"), small = b.Step("small", {1});
  const int z = b.Microbatch("z", {kBatch, 3}), y = b.Batch("y", {kBatch, 5});
  const int g = b.Lane("g", {3, 5}, format::ReduceKind::kSum), sum = b.Step("sum", {3, 5}), s = b.Step("s", {5});
  b.Map();
  b.Launch("twice", twice, {x}, {z});
  b.MatMul("forward", z, w, y);
  b.MatMulWeightGrad("gradient", z, y, g);
  b.Global();
  b.LaneReduce(format::ReduceKind::kSum, {g}, {sum});
  b.AllReduce(format::ReduceKind::kSum, {sum});
  b.CheckFinite({sum});
  b.Launch("again", update, {s, rate}, {bias}, 5);
  b.Grouped("update", update, 3, {sum, rate, w, s, rate, bias}, {15, 5});
  for (int o : {sum, y, small}) b.Output("o", o);
  return BuildExecutable(b.Take(), {{format::SegmentKind::kElfObject, "code", SmallKernels()}});
}

std::string ProgramOfLibraryCalls() {
  ExecutableBuilder b(/*replicas=*/2, /*lanes=*/4, /*rows_per_lane=*/3, /*microbatch_rows=*/2);
  int w = b.Variable("w", {3, 5}), x = b.Input("x", {kBatch, 3}), s = b.Scalar("example_count");
  int y = b.Batch("y", {kBatch, 5}), z = b.Microbatch("z", {kBatch, 5}), t = b.Constant("t", 0, {5});
  int g = b.Lane("g", {3, 5}, format::ReduceKind::kSum), m = b.Lane("m", {5, 5}, format::ReduceKind::kMax);
  int sum = b.Step("sum", {3, 5}), max = b.Step("max", {5, 5}), copy = b.Step("copy", {}), constant = b.Step("c", {5});
  b.Map();
  b.MatMul("forward", x, w, y);
  b.Copy(y, z);
  b.MatMulWeightGrad("gradient", x, z, g);
  b.MatMulWeightGrad("square", z, y, m);
  b.Global();
  b.LaneReduce(format::ReduceKind::kSum, {g}, {sum});
  b.LaneReduce(format::ReduceKind::kMax, {m}, {max});
  b.AllReduce(format::ReduceKind::kSum, {sum});
  b.AllReduce(format::ReduceKind::kMax, {max});
  b.Copy(s, copy);
  b.Copy(t, constant);
  b.CheckFinite({sum, max});
  for (int o : {sum, max, y, copy, constant}) b.Output("o", o);
  return BuildExecutable(b.Take(), {{format::SegmentKind::kConstants, "constants", std::string(64, 1)}});
}

namespace {

// Makes inputs of the shapes that the executable asks for; false when they are not small.
bool MakeInputs(const format::Index& index, StepInputs& inputs) {
  for (size_t r = 0; r < index.replicas.size(); ++r) {
    inputs.inputs.emplace_back();
    for (const auto& in : index.inputs) {
      Shape shape = in.shape;
      shape[0] = 5;
      if (NumElements(shape) > 1 << 20) return false;
      inputs.inputs.back().push_back(HostTensor::Zeros(in.dtype, shape));
    }
  }
  for (const auto& s : index.scalars) inputs.scalars[s.name] = 1;
  return true;
}

}  // namespace

bool TryToRun(const std::shared_ptr<const Executable>& executable, const std::shared_ptr<ThreadPool>& pool) {
  const format::Index& index = executable->index();
  uint64_t memory = 0;
  for (const auto& p : index.programs) {
    memory += p.lane_bytes * index.lanes + p.microbatch_bytes + (p.step_bytes + p.batch_bytes) * index.replicas.size();
  }
  if (memory > 64 << 20 || index.replicas.size() > 8) return false;
  for (const auto& v : index.variables) {
    if (NumElements(v.shape) > 1 << 20) return false;
  }
  auto variables = std::make_shared<VariableStore>(executable->num_replicas());
  auto session = Session::Create(CpuDeviceClass(), executable, variables, {pool});
  if (!session.ok()) return false;
  for (const VariableInfo& v : variables->List()) {
    if (!variables->Assign(v.name, HostTensor::Zeros(v.dtype, v.shape)).ok()) return false;
  }
  StepInputs inputs;
  if (!MakeInputs(index, inputs)) return false;
  std::vector<int> fetches;
  for (size_t i = 0; i < index.outputs.size(); ++i) fetches.push_back(static_cast<int>(i));
  return (*session)->Run(inputs, fetches).ok() && (*session)->FindNonFinite(inputs).ok();
}

}  // namespace tandem
