// Graphs byte by byte, and names. Those of whole trainings: tests/summary.
#include "estimator/summary/graph_def.h"

#include "absl/strings/escaping.h"
#include "estimator/summary/hyperparameters.h"
#include "frontends/layers.h"
#include "frontends/summary.h"
#include "graph/ops.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

// By the messages of TensorBoard 2.15, GraphDef(...).SerializeToString(deterministic=True).
TEST(GraphDefTest, IsWhatTensorBoardWrites) {
  const GraphDefNode a{.name = "a", .op = "Input", .inputs = {}, .device = "", .outputs = {}, .attributes = {}};
  const GraphDefNode b{.name = "s/b",
                       .op = "Relu",
                       .inputs = {"a", "a:1"},
                       .device = "cpu:1",
                       .outputs = {{DType::kInt64, {kBatch, 3}}},
                       .attributes = {{"source", "m.cc:7"}}};
  EXPECT_EQ(absl::BytesToHexString(GraphDef({a, b})),
            "0a0a0a01611205496e7075740a88010a03732f62120452656c751a01611a03613a3122292f6a6f623a776f726b65722f7265706c69"
            "63613a302f7461736b3a302f6465766963653a4350553a312a270a0e5f6f75747075745f73686170657312150a133a11120b08ffff"
            "ffffffffffffff01120208032a0b0a056474797065120230092a120a06736f75726365120812066d2e63633a37220308f30a");
}

TEST(GraphDefTest, NamesAreUniqueAndReadable) {
  NodeNames names;
  EXPECT_EQ(names.Take("dense/MatMul"), "dense/MatMul");
  EXPECT_EQ(names.Take("dense/MatMul"), "dense/MatMul_1");
  EXPECT_EQ(names.Take("a b:c"), "a_b_c");
  EXPECT_EQ(names.Take("_x"), "n_x");
  EXPECT_EQ(names.Take(""), "n");
}

TEST(GraphDefTest, HasTheModelWithoutItsSummaries) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 4});
  Tensor y = layers::Dense(x, {.units = 2, .name = "head"});
  summary::Histogram("y", y);
  summary::Text(&graph, "note", "text");
  graph.Output("mean", ReduceMean(y));
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  std::map<std::string, GraphDefNode> nodes;
  for (const GraphDefNode& node : NodesOfModel(GraphNodesOf(graph))) {
    EXPECT_EQ(node.name.find("summary"), std::string::npos) << node.name;
    nodes.emplace(node.name, node);
  }
  EXPECT_EQ(nodes["head/MatMul"].inputs, (std::vector<std::string>{"x", "head/kernel"}));
  EXPECT_EQ(nodes["head/MatMul"].outputs[0].shape, (Shape{kBatch, 2}));
  EXPECT_EQ(nodes["head/kernel"].op, "Variable");
  ASSERT_EQ(nodes["output/mean"].inputs.size(), 1u);
  EXPECT_EQ(nodes.count(nodes["output/mean"].inputs[0]), 1u);
}

TEST(HyperparametersTest, AreATable) {
  EXPECT_EQ(HyperparameterTable({{"a", 1}, {"b", 1e-3}, {"c", "x|y\nz"}, {"d", true}}),
            "| name | value |\n|---|---|\n| a | 1 |\n| b | 0.001 |\n| c | x\\|y z |\n| d | true |\n");
  EXPECT_TRUE(HyperparameterValues({}, 1).empty());
}

}  // namespace
}  // namespace tandem
