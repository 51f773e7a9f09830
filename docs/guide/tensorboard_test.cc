// Compiles and runs the code blocks of tensorboard.md.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "frontends/summary_marks.h"
#include "tandem/estimator/estimator.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/frontends/summary.h"
#include "tandem/graph/ops.h"

namespace tandem {
namespace {

#include "docs/guide/tensorboard_test_blocks.inc"

TEST(TensorBoardGuide, TheModelShowsWhatItSays) {
  GraphBuilder graph;
  const Features features(&graph, {{"image", DType::kFloat32, {kBatch, 4, 4, 1}}});
  const Tensor labels = graph.Input("label", DType::kInt32, {kBatch});
  const EstimatorSpec spec = ShownModel(features, labels, Mode::kTrain, Params());
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  std::set<std::string> tags;
  for (const ModelSummary& summary : ModelSummariesOf(graph)) tags.insert(summary.tag);
  EXPECT_EQ(tags,
            (std::set<std::string>{"input", "hidden", "note", "logits/mean", "learning_rate", "weights/dense/kernel",
                                   "weights/dense/bias", "weights/dense_1/kernel", "weights/dense_1/bias"}));
}

}  // namespace
}  // namespace tandem
