// What a summary leaves in the graph, and what is said of a wrong one. What is written: tests/summary.
#include "frontends/summary.h"

#include "base/logging.h"
#include "frontends/layers.h"
#include "frontends/optimizers.h"
#include "frontends/summary_marks.h"
#include "frontends/testing.h"
#include "gmock/gmock.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using frontends::ErrorMismatch;
using ::testing::ElementsAre;

std::vector<std::string> TagsOf(const GraphBuilder& graph) {
  std::vector<std::string> tags;
  for (const ModelSummary& summary : ModelSummariesOf(graph)) tags.push_back(summary.tag);
  return tags;
}

TEST(Summary, MarksSayWhatIsShown) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 2, 3, 1});
  {
    const NameScope scope(&graph, "tower");
    summary::Image("pictures/in", x, {.max_outputs = 7});
  }
  summary::Histogram("all: of x", x);
  summary::Scalar("one", ReduceMean(x));
  summary::Text(&graph, "note", "two words");
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  EXPECT_THAT(TagsOf(graph), ::testing::UnorderedElementsAre("tower/pictures/in", "all: of x", "one", "note"));
  for (const ModelSummary& summary : ModelSummariesOf(graph)) {
    EXPECT_NE(summary.origin.find("summary_test.cc:"), std::string::npos) << summary.origin;
    EXPECT_TRUE(graph.Find(summary.op).ok());
    EXPECT_EQ(summary.kind == SummaryKind::kImage, summary.tag == "tower/pictures/in");
    EXPECT_EQ(summary.kind == SummaryKind::kScalar, summary.tag == "one");
    EXPECT_EQ(summary.max_outputs, summary.kind == SummaryKind::kImage ? 7 : 0);
    EXPECT_EQ(graph.Find(summary.op).shape() == Shape{10}, summary.kind == SummaryKind::kText);
  }
}

TEST(Summary, OtherOpsAreNone) {
  for (const char* name : {"", "dense/MatMul", "summary", "summary:", "summary:scalar:0:x", "summary:curve:0:x/Reshape",
                           "summary:scalar:x/Reshape", "asummary:scalar:0:x/Reshape"}) {
    EXPECT_FALSE(ParseSummaryMark(name).has_value()) << name;
  }
  EXPECT_TRUE(ParseSummaryMark("summary:scalar:0:x/Reshape").has_value());
}

TEST(Summary, RatesAreInTheOrderOfTheOptimizers) {
  GraphBuilder graph;
  Tensor a = graph.Variable({.name = "a", .shape = {2}}), b = graph.Variable({.name = "b", .shape = {2}});
  Tensor loss = ReduceSum(Square(a - 1.0) + Square(b - 1.0));
  const NameScope scope(&graph, "training");
  optimizers::SGD({.learning_rate = schedules::ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 2})})
      .Minimize(loss, {.var_list = {a}});
  optimizers::SGD({.learning_rate = 0.5}).Minimize(loss, {.var_list = {b}});
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  EXPECT_THAT(TagsOf(graph), ElementsAre("learning_rate", "learning_rate_1"));
}

class SummaryError : public testing::Test {
 protected:
  SummaryError() : x_(graph_.Input("x", DType::kFloat32, {kBatch, 4, 4, 2})) {}
  std::string Mismatch(const std::string& text) const { return ErrorMismatch(graph_, text, "summary_test.cc"); }
  GraphBuilder graph_;
  Tensor x_;
};

TEST_F(SummaryError, ANameUsedTwice) {
  summary::Scalar("loss_part", ReduceMean(x_));
  summary::Histogram("loss_part", x_);
  EXPECT_EQ(Mismatch("there is a summary \"loss_part\" already, from "), "");
}

TEST_F(SummaryError, ANameUsedTwiceByOneKind) {
  summary::Text(&graph_, "note", "a");
  summary::Text(&graph_, "note", "b");
  EXPECT_EQ(Mismatch("there is a summary \"note\" already, from "), "");
}

TEST_F(SummaryError, NoName) {
  summary::Histogram("", x_);
  EXPECT_EQ(Mismatch("the name is empty"), "");
}

TEST_F(SummaryError, NoNameOfAText) {
  summary::Text(&graph_, "", "a");
  EXPECT_EQ(Mismatch("the name is empty"), "");
}

TEST_F(SummaryError, AScalarOfManyNumbers) {
  summary::Scalar("many", x_);
  EXPECT_EQ(Mismatch("\"many\" must be one number, got float32 [b,4,4,2] from "), "");
}

TEST_F(SummaryError, AHistogramOfBooleans) {
  summary::Histogram("yes", IsFinite(x_));
  EXPECT_EQ(Mismatch("\"yes\" must be of a number type, got bool [b,4,4,2] from "), "");
}

TEST_F(SummaryError, AnImageOfTwoChannels) {
  summary::Image("flow", x_);
  EXPECT_EQ(Mismatch("\"flow\" must be of 1, 3 or 4 channels (grey, RGB, RGBA), got float32 [b,4,4,2] from "), "");
}

TEST_F(SummaryError, AnImageWithoutChannels) {
  summary::Image("flat", Reshape(x_, {kBatch, 32}));
  EXPECT_EQ(Mismatch("\"flat\" must be of shape [b, height, width, channels], got float32 [b,32] from "), "");
}

TEST_F(SummaryError, AnImageOfIntegers) {
  summary::Image("ids", graph_.Input("y", DType::kInt32, {kBatch, 4, 4, 1}));
  EXPECT_EQ(Mismatch("must be uint8 from 0 to 255 or floating-point from 0 to 1, got int32 [b,4,4,1] from "), "");
}

TEST_F(SummaryError, NoImages) {
  summary::Image("none", graph_.Input("y", DType::kUInt8, {kBatch, 4, 4, 1}), {.max_outputs = 0});
  EXPECT_EQ(Mismatch("`max_outputs` must be at least 1, got 0"), "");
}

TEST_F(SummaryError, ATextThatIsTooLong) {
  summary::Text(&graph_, "book", std::string(70000, 'a'));
  EXPECT_EQ(Mismatch("\"book\" has 70000 bytes; a text has at most 65535: split it into several"), "");
}

TEST_F(SummaryError, APoisonedTensor) {
  summary::Scalar("bad", graph_.Absent("has no value: there are no labels"));
  EXPECT_EQ(Mismatch("`tensor` has no value: there are no labels"), "");
}

TEST_F(SummaryError, AnIntegerThatReplicasDoNotAgreeOn) {
  Tensor rows = graph_.StepScalar("replica_example_count", DType::kFloat32);
  summary::Scalar("share", rows * 0.5);
  ASSERT_TRUE(graph_.status().ok()) << graph_.status();
  summary::Scalar("rows", Cast(rows, DType::kInt32));
  EXPECT_EQ(Mismatch("a mean over the replicas is not a int32; Cast it to float32, or take CrossReplicaSum of it"), "");
}

TEST_F(SummaryError, WithoutAGraphItIsAWarning) {
  LogCapture log;
  summary::Scalar("lost", Tensor());
  summary::Text(nullptr, "note", "a");
  EXPECT_TRUE(log.Contains("summary_test.cc:")) << log.Text();
  EXPECT_TRUE(log.Contains("the summary \"lost\" is left out")) << log.Text();
  EXPECT_TRUE(log.Contains("`graph` is null; give it features.graph(); the summary \"note\" is left out"))
      << log.Text();
}

}  // namespace
}  // namespace tandem
