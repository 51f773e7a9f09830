// Large variables whose rows are spread over parameter servers: the parts of a step against the whole step, bit for
// bit.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/parameter_server/placement.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/parts.h"

namespace tandem::compiled {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A table of 1.5 MB whose rows are few in a batch, and a kernel of 2 MB; both are more than a server's share of three.
constexpr int64_t kWords = 1501, kWidth = 256, kUnits = 2001;

void Model(GraphBuilder& g, const Optimizer& optimizer, bool dropout = false) {
  Tensor x = layers::Embedding(g.Input("word", DType::kInt32, {kBatch}), {.input_dim = kWords, .output_dim = kWidth});
  if (dropout) x = layers::Dropout(x, {.training = true});
  x = layers::Dense(x, {.units = kUnits, .activation = Tanh});
  Tensor loss =
      losses::MeanSquaredError(g.Input("label", DType::kFloat32, {kBatch, 1}), layers::Dense(x, {.units = 1}));
  optimizer.Minimize(loss);
  g.Output("loss", loss);
}

Options OfModel() { return {.batch = 8, .ranges = {{"word", {0, kWords}}}}; }

std::vector<PlacedPart> PartsOf(const Parts& parts, const std::string& variable) {
  std::vector<PlacedPart> found;
  for (const PlacedPart& part : PlacementOf(*parts.worker().executable)) {
    if (part.variable == variable) found.push_back(part);
  }
  return found;
}

// Three steps, and how many parts the table has.
void ExpectBitsOfTheWhole(const BuildFn& build, const Options& options, int servers, size_t parts_of_table) {
  auto whole = Prepare(build, options);
  ASSERT_TRUE(whole.ok()) << whole.status();
  auto parts = Parts::Make(build, options, servers);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_THAT(PartsOf(*parts, "embedding/embeddings"), SizeIs(parts_of_table));
  ASSERT_TRUE(parts->Assign(whole->Values()).ok());
  for (int step = 0; step < 3; ++step) {
    std::vector<int64_t> rows(options.devices, 8);
    rows.back() -= step;
    const TensorMap batch = RandomInputs(*whole->executable, 8 * options.devices - step, options, step);
    const StepInputs inputs = Deal(*whole, batch, rows, step);
    ASSERT_TRUE(whole->Run(inputs).ok());
    auto result = parts->Run(inputs);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_THAT(parts->Differences(whole->Values()), IsEmpty()) << "step " << step;
  }
}

std::vector<std::pair<std::string, Optimizer>> OptimizersByRows() {
  using namespace optimizers;  // NOLINT
  return {{"Sgd", GradientDescent({.learning_rate = 0.1})},
          {"Nesterov", Momentum({.learning_rate = 0.1, .use_nesterov = true, .clip = {.global_norm = 0.2}})},
          {"Adagrad", Adagrad({.learning_rate = 0.1})},
          {"Adam", Adam({.learning_rate = 0.01, .clip = {.value = 0.02}})},
          {"AdamW", AdamW({.learning_rate = 0.01, .weight_decay = 0.1})},
          {"RmsProp", RMSprop({.learning_rate = 0.01, .momentum = 0.5})},
          {"Ftrl", Ftrl({.learning_rate = 0.1, .l1 = 0.001})},
          {"Adadelta", Adadelta({.learning_rate = 1})},
          {"Adamax", Adamax({.learning_rate = 0.01})},
          {"Nadam", Nadam({.learning_rate = 0.01})},
          {"Lion", Lion({.learning_rate = 0.01})}};
}

TEST(SpreadVariables, HaveTheBitsOfTheWholeWithAnyOptimizerThatGoesByElements) {
  for (const auto& [name, optimizer] : OptimizersByRows()) {
    for (const int servers : {2, 3}) {
      SCOPED_TRACE(absl::StrCat(name, ", ", servers, " servers"));
      const auto build = [&optimizer = optimizer](GraphBuilder& g) { Model(g, optimizer); };
      // Of two servers either has one large variable whole.
      ExpectBitsOfTheWhole(build, OfModel(), servers, servers == 2 ? 1 : 3);
    }
  }
}

TEST(SpreadVariables, OfSeveralDevicesAndWithDropout) {
  for (const int devices : {1, 2, 4}) {
    Options options = OfModel();
    options.devices = devices;
    const auto build = [](GraphBuilder& g) { Model(g, optimizers::Adam({.learning_rate = 0.01}), /*dropout=*/true); };
    ExpectBitsOfTheWhole(build, options, 4, 4);
  }
}

// The norm of a variable needs all of it.
TEST(SpreadVariables, StayWholeWhereAnUpdateNeedsAllOfThem) {
  for (const Optimizer& optimizer :
       {optimizers::LAMB({.learning_rate = 0.01}), optimizers::LARS({.learning_rate = 0.01})}) {
    ExpectBitsOfTheWhole([&](GraphBuilder& g) { Model(g, optimizer); }, OfModel(), 3, 1);
  }
}

// Forward, where a row is added to the weights, and in the gradient, which a server applies, the numbers are the same.
TEST(SpreadVariables, BesideADropoutOfWeights) {
  const auto build = [](GraphBuilder& g) {
    const auto variable = [&g](const char* name, const Shape& shape) {
      return g.Variable({.name = name, .shape = shape, .initializer = {Initializer::Kind::kUniform, -1, 1}});
    };
    Tensor x = layers::Embedding(g.Input("word", DType::kInt32, {kBatch}), {.input_dim = kWords, .output_dim = kWidth});
    Tensor w = layers::Dropout(variable("w", {kWidth, 3}), {.rate = 0.5, .training = true}) + variable("r", {3});
    Tensor loss = ReduceMean(Square(MatMul(x, w) - 1.0));
    optimizers::SGD({.learning_rate = 0.1}).Minimize(loss);
    g.Output("loss", loss);
  };
  ExpectBitsOfTheWhole(build, OfModel(), 1, 1);
}

// Spectral normalization (Miyato et al., 2018): the vector of a power iteration is replaced in each step, by what the
// worker's rows need as well.
TEST(SpreadVariables, BesideAValueThatEachStepMakesAnew) {
  const auto build = [](GraphBuilder& g) {
    Tensor u = g.Variable(
        {.name = "u", .shape = {kUnits, 1}, .initializer = {Initializer::Kind::kUniform, -1, 1}, .trainable = false});
    Tensor w =
        g.Variable({.name = "w", .shape = {kWidth, kUnits}, .initializer = {Initializer::Kind::kUniform, -0.1, 0.1}});
    const auto unit = [](const Tensor& v) { return v * Rsqrt(ReduceSum(Square(v)) + 1e-12); };
    Tensor v = unit(MatMul(w, u));
    Tensor next = unit(MatMul(Transpose(w, {1, 0}), v));
    g.Assign(u, next);
    Tensor x = layers::Embedding(g.Input("word", DType::kInt32, {kBatch}), {.input_dim = kWords, .output_dim = kWidth});
    Tensor loss = ReduceMean(Square(MatMul(x, w / ReduceSum(v * MatMul(w, next)))));
    optimizers::SGD({.learning_rate = 0.1}).Minimize(loss);
    g.Output("loss", loss);
  };
  ExpectBitsOfTheWhole(build, OfModel(), 1, 1);
  ExpectBitsOfTheWhole(build, OfModel(), 3, 3);
}

// A variable that nothing trains, one that another's update reads, and random numbers of its shape.
TEST(SpreadVariables, OfAGraphByHand) {
  const auto large = [](GraphBuilder& g, const char* name, bool trainable) {
    return g.Variable({.name = name,
                       .shape = {2000, kWidth},
                       .initializer = {Initializer::Kind::kUniform, -1, 1},
                       .trainable = trainable});
  };
  Options options = OfModel();
  const auto of = [&](const BuildFn& build) {
    auto parts = Parts::Make(build, options, 2);
    EXPECT_TRUE(parts.ok()) << parts.status();
    return PartsOf(*parts, "table");
  };
  const auto loss_of = [](GraphBuilder& g, Tensor table) {
    Tensor loss = ReduceMean(Gather(table, g.Input("word", DType::kInt32, {kBatch})));
    g.Output("loss", loss);
    return loss;
  };
  const PlacedPart first{"table", 0, 0, 1000}, second{"table", 1, 1000, 1000};
  // Frozen.
  EXPECT_THAT(of([&](GraphBuilder& g) { loss_of(g, large(g, "table", false)); }), ElementsAre(first, second));
  // Its own update is by rows.
  EXPECT_THAT(of([&](GraphBuilder& g) {
                Tensor table = large(g, "table", true);
                optimizers::SGD({.learning_rate = 0.1}).Minimize(loss_of(g, table));
              }),
              ElementsAre(first, second));
  // Assigned: one number to all, or numbers of their places in the whole.
  EXPECT_THAT(of([&](GraphBuilder& g) {
                Tensor table = large(g, "table", false);
                loss_of(g, table);
                g.Assign(table, Broadcast(g.Constant(2.0f), {2000, kWidth}));
              }),
              ElementsAre(first, second));
  EXPECT_THAT(of([&](GraphBuilder& g) {
                Tensor table = large(g, "table", false);
                loss_of(g, table);
                g.Assign(table, Iota(&g, {2000, kWidth}, 0, DType::kFloat32));
              }),
              SizeIs(1));
  // A row moves to another.
  EXPECT_THAT(of([&](GraphBuilder& g) {
                Tensor table = large(g, "table", false);
                loss_of(g, table);
                g.Assign(table, Reshape(Transpose(Reshape(table, {kWidth, 2000}), {1, 0}), {2000, kWidth}));
              }),
              SizeIs(1));
}

}  // namespace
}  // namespace tandem::compiled
