// Attention as one kernel, in models, against the reference interpreter: td-form-attention finds it, whoever wrote it,
// and leaves apart what it must not take.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/format/index.h"
#include "tests/compiled/encoder_model.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

constexpr int64_t kPositions = 5, kWidth = 6;

// No scores fit into the second-level cache.
constexpr double kNoCache = 1;

void Train(GraphBuilder& g, const Tensor& x) {
  Tensor y = layers::Dense(layers::Flatten(x), {.units = 2, .name = "head"});
  Tensor loss = ReduceMean(Square(y));
  optimizers::GradientDescent({.learning_rate = 0.5}).Minimize(loss);
  g.Output("x", x);
  g.Output("loss", loss);
}

Tensor Sequence(GraphBuilder& g, int64_t positions = kPositions) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, positions, kWidth});
  return layers::Dense(x, {.units = kWidth, .name = "before"});
}

struct FusedCase {
  std::string name;
  BuildFn build;
  Options options;
  int kernels = 2;  // of attention in the program: forward and backward
};
void PrintTo(const FusedCase& c, std::ostream* os) { *os << c.name; }

FusedCase Layer(const char* name, layers::MultiHeadAttentionOptions options, int mask_rank = 0, Options run = {},
                int kernels = 2) {
  return {name,
          [=](GraphBuilder& g) {
            Tensor mask;
            if (mask_rank > 0) {
              Shape shape = {kBatch, kPositions};
              if (mask_rank == 3) shape.push_back(kPositions);
              // Some rows are masked everywhere: they attend to all positions alike.
              mask = Greater(g.Input("mask", DType::kFloat32, shape), g.Constant(0.3f));
            }
            Train(g, layers::MultiHeadAttention(Sequence(g), options, mask));
          },
          std::move(run), kernels};
}

// Two sequences in turn, one of them longer: as many queries as the first has positions.
Tensor CrossAttention(GraphBuilder& g, double scale) {
  Tensor x = Sequence(g), y = layers::Dense(g.Input("y", DType::kFloat32, {kBatch, 9, kWidth}), {.units = kWidth});
  auto heads = [](const Tensor& t) {
    return Transpose(Reshape(t, {kBatch, t.shape()[1], 2, kWidth / 2}), {0, 2, 1, 3});
  };
  Tensor scores = BatchMatMul(heads(x), heads(y), {.transpose_b = true});
  if (scale != 1) scores = Mul(scores, scale);
  return Reshape(Transpose(BatchMatMul(Softmax(scores), heads(y)), {0, 2, 1, 3}), {kBatch, kPositions, kWidth});
}

// The weights of attention are an output as well: they are kept.
void AttentionWithWeights(GraphBuilder& g) {
  Tensor x = Reshape(Sequence(g), {kBatch, kPositions, 2, kWidth / 2});
  Tensor weights = Softmax(BatchMatMul(x, x, {.transpose_b = true, .swap_a = true, .swap_b = true}));
  Tensor y = BatchMatMul(weights, x, {.swap_b = true, .swap_output = true});
  g.Output("weights", weights);
  Train(g, Reshape(y, {kBatch, kPositions, kWidth}));
}

std::vector<FusedCase> Cases() {
  return {
      Layer("Plain", {.num_heads = 2, .key_dim = 3}),
      Layer("OtherSizes", {.num_heads = 3, .key_dim = 2, .value_dim = 5, .use_bias = false}),
      Layer("Causal", {.num_heads = 2, .key_dim = 3, .use_causal_mask = true}),
      Layer("MaskedPositions", {.num_heads = 2, .key_dim = 3}, 2),
      Layer("MaskedPairs", {.num_heads = 2, .key_dim = 3}, 3, {.devices = 2, .rows = {16, 5}}),
      Layer("CausalAndMasked", {.num_heads = 2, .key_dim = 3, .use_causal_mask = true}, 2),
      Layer("CausalAndMaskedPairs", {.num_heads = 2, .key_dim = 3, .use_causal_mask = true}, 3),
      Layer("ManyDevices", {.num_heads = 2, .key_dim = 3}, 0, {.devices = 3, .batch = 7, .rows = {7, 0, 1}}),
      Layer("LanesAndMicrobatches", {.num_heads = 2, .key_dim = 3}, 0,
            {.devices = 2, .batch = 10, .lanes = 16, .microbatch_rows = 2}),
      Layer("MemoryLimit", {.num_heads = 2, .key_dim = 3}, 0, {.memory_limit = 1 << 20}),
      Layer("MixedPrecision", {.num_heads = 2, .key_dim = 3}, 0,
            {.precision = Precision::kMixedBfloat16, .tolerance = 0.05}),
      Layer("DropoutOfWeights", {.num_heads = 2, .key_dim = 3, .dropout = 0.3, .training = true}, 0, {}, 0),
      Layer("Frozen", {.num_heads = 2, .key_dim = 3, .trainable = false}),
      {"Evaluation",
       [](GraphBuilder& g) { g.Output("y", layers::MultiHeadAttention(Sequence(g), {.num_heads = 2, .key_dim = 3})); },
       {.mode = "eval"},
       1},
      {"CrossAttention", [](GraphBuilder& g) { Train(g, CrossAttention(g, 0.3)); }, {.devices = 2, .rows = {16, 3}}},
      {"Unscaled", [](GraphBuilder& g) { Train(g, CrossAttention(g, 1)); }},
      {"TwoLayers",
       [](GraphBuilder& g) {
         Tensor x = layers::MultiHeadAttention(Sequence(g), {.num_heads = 2, .key_dim = 3});
         Train(g, x + layers::MultiHeadAttention(x, {.num_heads = 1, .key_dim = 6, .use_causal_mask = true}));
       },
       {.devices = 2, .rows = {16, 5}},
       4},
      {"GradientsOfInputsOnly",
       [](GraphBuilder& g) {
         Tensor x = g.Input("x", DType::kFloat32, {kBatch, kPositions, 2, 3});
         Tensor q = Mul(x, g.Variable({.name = "w", .initializer = {Initializer::Kind::kConstant, 1}}));
         Tensor weights = Softmax(BatchMatMul(q, x, {.transpose_b = true, .swap_a = true, .swap_b = true}));
         Train(g, BatchMatMul(weights, x, {.swap_b = true, .swap_output = true}));
       }},
      {"WeightsAreRead", AttentionWithWeights, {}, 0},
      {"Encoder", EncoderModel, {.devices = 2, .ranges = {{"ids", {0, kEncoderVocabulary}}}, .tolerance = 1e-4}},
  };
}

int AttentionKernels(const Executable& executable) {
  int count = 0;
  for (const auto& kernel : executable.index().kernels) {
    for (const std::string& op : kernel.ops) count += op == "exec.attention" || op == "exec.attention_grad";
  }
  return count;
}

class FusedAttention : public testing::TestWithParam<FusedCase> {};

TEST_P(FusedAttention, AgreesWithTheReference) {
  FusedCase c = GetParam();
  c.options.l2_bytes = kNoCache;
  absl::StatusOr<Program> program = Prepare(c.build, c.options);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(AttentionKernels(*program->executable), c.kernels);
  ASSERT_NO_FATAL_FAILURE(CompareWithReference(c.build, c.options));
}

INSTANTIATE_TEST_SUITE_P(All, FusedAttention, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<FusedCase>& info) { return info.param.name; });

// The same bits on one device and on several, whole batches and short ones.
TEST(FusedAttentionBits, DoNotDependOnDevices) {
  const auto build = [](GraphBuilder& g) {
    Train(g, layers::MultiHeadAttention(Sequence(g), {.num_heads = 2, .key_dim = 3, .use_causal_mask = true}));
  };
  ExpectSameBits(build, {.batch = 16, .l2_bytes = kNoCache}, {16, 11}, {{1, 2}, {2, 2}, {4, 3}});
}

// Scores of a long sequence are not in memory: of 512 positions they would be 2 MiB an example.
TEST(FusedAttentionMemory, GrowsWithTheSequence) {
  const auto arena = [](int64_t positions, double l2_bytes) -> uint64_t {
    const auto build = [=](GraphBuilder& g) {
      Train(g, layers::MultiHeadAttention(Sequence(g, positions), {.num_heads = 2, .key_dim = 3}));
    };
    absl::StatusOr<Program> program = Prepare(build, {.batch = 2, .l2_bytes = l2_bytes});
    EXPECT_TRUE(program.ok()) << program.status();
    if (!program.ok()) return 0;
    const format::Program& p = program->executable->index().programs[0];
    return p.lane_bytes + p.microbatch_bytes + p.step_bytes + p.batch_bytes;
  };
  const double apart = 1e12;
  EXPECT_GT(arena(512, apart), 3 * arena(256, apart));
  EXPECT_LT(arena(512, kNoCache), 2.2 * arena(256, kNoCache));
}

}  // namespace
}  // namespace tandem::compiled
