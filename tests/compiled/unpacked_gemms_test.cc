// Dense layers whose weights are read where they lie: which are, values, and bits.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/cpu/kernels/instruction_set.h"
#include "runtime/executable/command_info.h"
#include "runtime/format/index.h"
#include "runtime/session/command_trace.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

constexpr int64_t kRows = 32;

// The second layer's product and its input gradient are large enough, the first one's input gradient is not needed.
void Model(GraphBuilder& g) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 500});
  x = layers::Dense(x, {.units = 544, .activation = Relu});
  x = layers::Dense(x, {.units = 512, .activation = Tanh});
  Tensor logits = layers::Dense(x, {.units = 5});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), logits);
  g.Output("loss", loss);
  optimizers::Momentum({.learning_rate = 0.1, .momentum = 0.9}).Minimize(loss);
}

class UnpackedGemms : public testing::Test {
 protected:
  void SetUp() override {
    if (!UsesAvx512()) GTEST_SKIP() << "this CPU has no AVX-512: all products are oneDNN's";
  }
};

struct Calls {
  int unpacked_gemms = 0, packings = 0;
};

Calls Count(const Executable& executable) {
  Calls calls;
  for (const auto& section : executable.index().programs[0].sections) {
    for (const auto& command : section.commands) {
      const auto* call = command.body.As<format::LibraryCall>();
      if (call == nullptr) continue;
      calls.unpacked_gemms += call->implementation == "unpacked_gemm";
      calls.packings += call->operation.As<format::PackWeights>() != nullptr;
    }
  }
  return calls;
}

TEST_F(UnpackedGemms, LargeMatricesAreNotPacked) {
  absl::StatusOr<Program> program = Prepare(Model, {.batch = kRows, .lanes = 4});
  ASSERT_TRUE(program.ok()) << program.status();
  const Calls calls = Count(*program->executable);
  EXPECT_EQ(calls.unpacked_gemms, 3);
  EXPECT_EQ(calls.packings, 2);  // the last layer, forward and backward
}

TEST_F(UnpackedGemms, TrainingStepsMatchTheReference) {
  CompareWithReference(Model, {.batch = kRows, .rows = {kRows}, .lanes = 4, .steps = 2});
  CompareWithReference(Model, {.batch = kRows, .rows = {21}, .lanes = 4, .steps = 1});
}

TEST_F(UnpackedGemms, SameBitsOnAnyDevicesAndThreads) {
  for (int devices : {1, 2, 4}) {
    absl::StatusOr<Program> program = Prepare(Model, {.devices = devices, .batch = kRows / devices, .lanes = 4});
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_EQ(Count(*program->executable).unpacked_gemms, 3);
  }
  ExpectSameBits(Model, {.batch = kRows, .lanes = 4, .steps = 3}, {kRows, 21}, {{1, 3}, {2, 2}, {4, 3}});
}

// Rows of the largest call of unpacked_gemm in a step.
int32_t RowsOfAProduct(const Options& options, const std::vector<int64_t>& rows) {
  absl::StatusOr<Program> program = Prepare(Model, options);
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return 0;
  absl::flat_hash_set<int> products;
  for (const CommandInfo& command : ListCommands(*program->executable)) {
    if (absl::StrContains(command.detail, "unpacked_gemm")) products.insert(command.id);
  }
  CommandTrace trace;
  program->session->set_trace(&trace);
  int64_t all = 0;
  for (int64_t n : rows) all += n;
  const TensorMap batch = RandomInputs(*program->executable, all, options, 1);
  EXPECT_TRUE(program->Run(Deal(*program, batch, rows, 0)).ok());
  int32_t most = 0;
  for (const auto& thread : trace.threads) {
    for (const CommandRecord& r : thread) most = products.contains(r.id) ? std::max(most, r.rows) : most;
  }
  return most;
}

TEST_F(UnpackedGemms, NeighbouringLanesShareAProductWhereAThreadHasTwo) {
  EXPECT_EQ(RowsOfAProduct({.batch = kRows, .threads = 2, .lanes = 4}, {kRows}), 16);
  EXPECT_EQ(RowsOfAProduct({.devices = 2, .batch = kRows / 2, .threads = 1, .lanes = 4}, {16, 16}), 16);
  EXPECT_EQ(RowsOfAProduct({.batch = kRows, .threads = 3, .lanes = 4}, {kRows}), 8);
  EXPECT_EQ(RowsOfAProduct({.devices = 4, .batch = kRows / 4, .threads = 2, .lanes = 4}, {8, 8, 8, 8}), 8);
  EXPECT_EQ(RowsOfAProduct({.batch = kRows, .threads = 2, .lanes = 4}, {15}), 8);  // one lane is not full
}

}  // namespace
}  // namespace tandem::compiled
