// Damaged indices behind correct checksums: what the loader lets through must run, or fail with a status.
#include <random>

#include "gtest/gtest.h"
#include "runtime/session.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

std::string Program() {
  ExecutableBuilder b(/*replicas=*/2, /*lanes=*/4, /*rows_per_lane=*/3, /*shard_rows=*/2);
  int w = b.Variable("w", {3, 5}), x = b.Input("x", {kBatch, 3}), s = b.Scalar("example_count");
  int y = b.Batch("y", {kBatch, 5}), z = b.Shard("z", {kBatch, 5}), t = b.Constant("t", 0, {5});
  int g = b.Lane("g", {3, 5}, fb::ReduceKind::Sum), m = b.Lane("m", {5, 5}, fb::ReduceKind::Max);
  int sum = b.Step("sum", {3, 5}), max = b.Step("max", {5, 5}), copy = b.Step("copy", {}), constant = b.Step("c", {5});
  b.Map();
  b.MatMul("forward", x, w, y);
  b.Copy(y, z);
  b.MatMulWeightGrad("gradient", x, z, g);
  b.MatMulWeightGrad("square", z, y, m);
  b.Global();
  b.LaneReduce(fb::ReduceKind::Sum, {g}, {sum});
  b.LaneReduce(fb::ReduceKind::Max, {m}, {max});
  b.AllReduce(fb::ReduceKind::Sum, {sum});
  b.AllReduce(fb::ReduceKind::Max, {max});
  b.Copy(s, copy);
  b.Copy(t, constant);
  b.CheckFinite({sum, max});
  for (int o : {sum, max, y, copy, constant}) b.Output("o", o);
  return BuildExecutable(b.Take(), {{fb::SegmentKind::Constants, "constants", std::string(64, 1)}});
}

// Inputs of the shapes that the executable asks for, when they are small.
bool MakeInputs(const fb::ExecutableT& index, StepInputs& inputs) {
  for (size_t r = 0; r < index.replicas.size(); ++r) {
    inputs.inputs.emplace_back();
    for (const auto& in : index.inputs) {
      Shape shape = in->shape;
      shape[0] = 5;
      if (NumElements(shape) > 1 << 20) return false;
      inputs.inputs.back().push_back(HostTensor::Zeros(static_cast<DType>(in->dtype), shape));
    }
  }
  for (const auto& s : index.scalars) inputs.scalars[s->name] = 1;
  return true;
}

// Whether the program came as far as a step.
bool TryToRun(const Executable& e, std::shared_ptr<const Executable> executable, std::shared_ptr<ThreadPool> pool) {
  const fb::ExecutableT& index = e.index();
  uint64_t memory = 0;
  for (const auto& p : index.programs) {
    memory += p->lane_bytes * index.lanes + p->shard_bytes + (p->step_bytes + p->batch_bytes) * index.replicas.size();
  }
  if (memory > 64 << 20 || index.replicas.size() > 8) return false;
  for (const auto& v : index.variables) {
    if (NumElements(v->shape) > 1 << 20) return false;
  }
  auto variables = std::make_shared<VariableStore>(e.num_replicas());
  auto session = Session::Create(executable, variables, {pool});
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

TEST(SessionFuzzTest, WhatTheLoaderAcceptsRuns) {
  auto pool = std::make_shared<ThreadPool>(2);
  const std::string good = Program();
  auto original = Executable::Parse(good);
  ASSERT_TRUE(original.ok()) << original.status();
  ASSERT_TRUE(TryToRun(**original, *original, pool));
  std::mt19937 rng(1);
  int accepted = 0, ran = 0;
  constexpr int kRuns = 6000;
  for (int i = 0; i < kRuns; ++i) {
    std::string bytes = good;
    for (int k = 1 + rng() % 2; k > 0; --k) {
      size_t at = 32 + rng() % IndexBytes(good);
      switch (rng() % 3) {
        case 0:
          bytes[at] ^= 1 << rng() % 8;
          break;
        case 1:
          bytes[at] = static_cast<char>(rng() % 24);
          break;
        default:
          bytes[at] = static_cast<char>(rng());
      }
    }
    Reseal(bytes);
    auto e = Executable::Parse(bytes);
    if (!e.ok()) continue;
    ++accepted;
    ran += TryToRun(**e, *e, pool);
  }
  EXPECT_GT(accepted, kRuns / 100);
  EXPECT_LT(accepted, kRuns);
  EXPECT_GT(ran, 0);
}

}  // namespace
}  // namespace tandem
