// A few models at many sizes: devices, threads, batch sizes, lanes and microbatches, and batches that are not full.
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

// Library calls that sum over the batch (whose padding must not count) next to own kernels that do.
void Convnet(GraphBuilder& g) {
  Tensor x = g.Input("image", DType::kFloat32, {kBatch, 8, 8, 1});
  x = layers::Conv2D(x, {.filters = 8, .kernel_size = 3, .activation = Relu});
  x = layers::Conv2D(layers::MaxPooling2D(x),
                     {.filters = 4, .kernel_size = 2, .padding = Padding::kSame, .activation = Relu});
  x = layers::Dense(layers::Flatten(x), {.units = 4, .kernel_regularizer = L2(1e-2)});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), x);
  g.Output("logits", x);
  g.Output("loss", loss);
  optimizers::Momentum({.learning_rate = 0.1}).Minimize(loss + losses::RegularizationLoss(&g));
}

// Two maps (the mean over all rows goes back into the rows), dropout, and a maximum over the batch.
void TwoMaps(GraphBuilder& g) {
  Tensor x = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 5}), {.units = 6, .use_bias = false});
  x = layers::BatchNormalization(x, {.training = true, .sync = true});
  x = layers::Dropout(x - ReduceMean(Tanh(x), {0}), {.rate = 0.2, .training = true});
  Tensor error = Square(ReduceSum(x, {1}) - g.Input("y", DType::kFloat32, {kBatch}));
  g.Output("worst", ReduceMax(error));
  g.Output("best", ReduceMin(error));
  g.Output("error", error);
  optimizers::SGD({.learning_rate = 0.1}).Minimize(ReduceMean(error));
}

struct Size {
  int devices = 1;
  int64_t batch = 32;
  int threads = 2;
  std::vector<int64_t> rows;
  int lanes = 0, microbatch_rows = 0;
};

void PrintTo(const Size& size, std::ostream* os) { *os << size.devices << " x " << size.batch; }

const Size kSizes[] = {
    {1, 1, 1},
    {1, 7, 3},
    {1, 100, 2},
    {1, 32, 2, {1}},
    {1, 100, 2, {33}},
    {2, 1, 2},
    {2, 7, 1},
    {2, 32, 3, {1, 0}},
    {2, 32, 2, {0, 9}},
    {2, 100, 2, {100, 37}},
    {3, 7, 2},
    {3, 32, 2, {32, 1, 0}},
    {4, 1, 2, {1, 1, 1, 0}},
    {4, 7, 2, {7, 7, 3, 0}},
    {4, 32, 3},
    // Several microbatches in a lane: the second and later ones are added to the lane's sums.
    {1, 32, 2, {}, 2, 5},
    {1, 32, 1, {17}, 1, 16},
    {1, 100, 2, {}, 4, 8},
    {1, 100, 2, {26}, 4, 8},
    {2, 32, 3, {32, 11}, 4, 3},
    {3, 7, 2, {7, 5, 1}, 3, 2},
    {4, 32, 2, {}, 4, 1},
    {1, 4, 2, {}, 16, 0},  // more lanes than rows
};

using Parameters = std::tuple<bool, Size>;
class Grid : public testing::TestWithParam<Parameters> {};

TEST_P(Grid, AgreesWithTheReference) {
  const auto& [convnet, size] = GetParam();
  Options options{.devices = size.devices,
                  .batch = size.batch,
                  .rows = size.rows,
                  .threads = size.threads,
                  .lanes = size.lanes,
                  .microbatch_rows = size.microbatch_rows,
                  // Two rows of nearly the same value are normalised by their difference.
                  .tolerance = convnet ? 2e-5 : 2e-4};
  ASSERT_NO_FATAL_FAILURE(CompareWithReference(convnet ? Convnet : TwoMaps, options));
}

std::string NameOf(const testing::TestParamInfo<Parameters>& info) {
  const auto& [convnet, size] = info.param;
  return absl::StrCat(convnet ? "Convnet" : "TwoMaps", "_", size.devices, "x", size.batch, "_", size.threads, "threads",
                      size.rows.empty() ? "" : absl::StrCat("_rows", absl::StrJoin(size.rows, "_")),
                      size.lanes > 0 ? absl::StrCat("_lanes", size.lanes, "x", size.microbatch_rows) : "");
}

INSTANTIATE_TEST_SUITE_P(All, Grid, testing::Combine(testing::Bool(), testing::ValuesIn(kSizes)), NameOf);

}  // namespace
}  // namespace tandem::compiled
