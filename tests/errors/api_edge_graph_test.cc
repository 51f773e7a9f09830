// graph/graph_builder.h with arguments that it cannot use.
#include <cmath>
#include <cstdint>
#include <limits>

#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/errors/api_edge.h"

namespace tandem::edge {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<Row> Builder() {
  std::vector<Row> rows;
  auto graph = [&rows](const char* function, const char* what, std::function<void(GraphBuilder&, World&)> call,
                       const char* says = "", const char* named = "") {
    rows.push_back({function, what,
                    [call = std::move(call)](World& t) {
                      call(t.graph, t);
                      return t.graph.status();
                    },
                    says, named});
  };
  constexpr DType kFloat = DType::kFloat32;
  graph(
      "Input", "no name", [](GraphBuilder& g, World&) { g.Input("", kFloat, {kBatch}); }, "has no name");
  graph(
      "Input", "no type", [](GraphBuilder& g, World&) { g.Input("y", DType::kInvalid, {kBatch}); }, "no dtype");
  graph(
      "Input", "no shape", [](GraphBuilder& g, World&) { g.Input("y", kFloat, {}); }, "kBatch");
  graph(
      "Input", "no batch", [](GraphBuilder& g, World&) { g.Input("y", kFloat, {3}); }, "kBatch");
  graph(
      "Input", "size 0",
      [](GraphBuilder& g, World&) {
        g.Input("y", kFloat, {kBatch, 0});
      },
      "static");
  graph(
      "Input", "the batch twice",
      [](GraphBuilder& g, World&) {
        g.Input("y", kFloat, {kBatch, kBatch});
      },
      "static");
  graph(
      "Input", "too many elements",
      [](GraphBuilder& g, World&) {
        g.Input("y", kFloat, {kBatch, kHuge, 2});
      },
      "more elements");
  graph(
      "Input", "another type",
      [](GraphBuilder& g, World&) {
        g.Input("x", DType::kInt32, {kBatch, 4});
      },
      "was");
  graph(
      "StepScalar", "no name", [](GraphBuilder& g, World&) { g.StepScalar("", kFloat); }, "no name", "scalar");
  graph(
      "StepScalar", "no type", [](GraphBuilder& g, World&) { g.StepScalar("r", DType::kInvalid); }, "no dtype",
      "scalar");
  graph(
      "StepScalar", "two defaults",
      [](GraphBuilder& g, World&) {
        g.StepScalar("r", kFloat, 1.0);
        g.StepScalar("r", kFloat, 2.0);
      },
      "default", "scalar");
  graph(
      "StepScalar", "two types",
      [](GraphBuilder& g, World&) {
        g.StepScalar("r", kFloat);
        g.StepScalar("r", DType::kInt32);
      },
      "was", "scalar");
  graph(
      "Variable", "nothing", [](GraphBuilder& g, World&) { g.Variable({}); }, "has no name");
  graph("Variable", "no type", [](GraphBuilder& g, World&) { g.Variable({.name = "v", .dtype = DType::kInvalid}); });
  graph(
      "Variable", "a name twice", [](GraphBuilder& g, World&) { g.Variable({.name = "w"}); }, "exists already");
  graph(
      "Variable", "a batch", [](GraphBuilder& g, World&) { g.Variable({.name = "v", .shape = {kBatch}}); }, "static");
  graph(
      "Variable", "size 0", [](GraphBuilder& g, World&) { g.Variable({.name = "v", .shape = {0}}); }, "static");
  graph(
      "Variable", "too many elements",
      [](GraphBuilder& g, World&) {
        g.Variable({.name = "v", .shape = {kHuge, kHuge}});
      },
      "more elements");
  graph(
      "Variable", "a slot of nothing", [](GraphBuilder& g, World&) { g.Variable({.name = "v/Adam", .slot_of = "v"}); },
      "no such variable");
  graph(
      "Variable", "an initialiser without numbers",
      [](GraphBuilder& g, World&) {
        g.Variable({.name = "v", .initializer = {Initializer::Kind::kConstant, kNaN}});
      },
      "finite");
  graph(
      "Assign", "nothing", [](GraphBuilder& g, World& t) { g.Assign(t.none, t.none); }, "never set");
  graph(
      "Assign", "no value", [](GraphBuilder& g, World& t) { g.Assign(t.w, t.none); }, "never set");
  graph(
      "Assign", "no variable", [](GraphBuilder& g, World& t) { g.Assign(t.x, t.x); }, "Variable() returned");
  graph(
      "Assign", "another graph", [](GraphBuilder& g, World& t) { g.Assign(t.w, t.foreign); }, "two graphs");
  graph(
      "Assign", "a value that is gone", [](GraphBuilder& g, World& t) { g.Assign(t.w, t.gone); }, "gone");
  graph("Assign", "another shape", [](GraphBuilder& g, World& t) { g.Assign(t.w, t.scalar); });
  graph(
      "CheckFinite", "nothing", [](GraphBuilder& g, World& t) { g.CheckFinite(t.none); }, "never set");
  graph(
      "CheckFinite", "another graph", [](GraphBuilder& g, World& t) { g.CheckFinite(t.foreign); }, "another graph");
  graph(
      "CheckFinite", "a tensor that is gone", [](GraphBuilder& g, World& t) { g.CheckFinite(t.gone); }, "gone");
  graph(
      "CheckFinite", "a batch", [](GraphBuilder& g, World& t) { g.CheckFinite(t.x); }, "reduce over the batch first");
  graph(
      "Constant", "an empty tensor", [](GraphBuilder& g, World&) { g.Constant(HostTensor()); }, "no elements");
  graph(
      "Constant", "no elements", [](GraphBuilder& g, World&) { g.Constant(HostTensor(kFloat, {0})); }, "no elements");
  graph(
      "Constant", "a tensor that could not be made",
      [](GraphBuilder& g, World&) {
        g.Constant(HostTensor::FromVector<float>({3}, {1, 2}));
      },
      "3 elements, but 2 values");
  graph(
      "Output", "no name", [](GraphBuilder& g, World& t) { g.Output("", t.x); }, "no name");
  graph(
      "Output", "nothing", [](GraphBuilder& g, World& t) { g.Output("o", t.none); }, "never set");
  graph(
      "Output", "another graph", [](GraphBuilder& g, World& t) { g.Output("o", t.foreign); }, "another graph");
  graph(
      "Output", "a tensor that is gone", [](GraphBuilder& g, World& t) { g.Output("o", t.gone); }, "gone");
  graph(
      "Emit", "no op", [](GraphBuilder& g, World& t) { g.Emit("", {t.x}, {}, {}); }, "no such op", "such op");
  graph(
      "Emit", "too many operands",
      [](GraphBuilder& g, World& t) {
        g.Emit("neg", {t.x, t.x}, {}, {});
      },
      "takes 1 operands, got 2", "neg");
  graph(
      "Emit", "no attributes", [](GraphBuilder& g, World& t) { g.Emit("transpose", {t.x}, {}, {}); }, "", "transpose");
  graph(
      "Emit", "an attribute of another kind",
      [](GraphBuilder& g, World& t) {
        g.Emit("transpose", {t.x}, {{"permutation", std::string("x")}}, {});
      },
      "", "transpose");
  graph(
      "EmitMulti", "no operands", [](GraphBuilder& g, World&) { g.EmitMulti("batch_moments", {}, {}, {}); },
      "takes 2 operands", "batch_moments");
  graph(
      "Gradients", "no loss", [](GraphBuilder& g, World& t) { g.Gradients(t.none, {t.w}); }, "the loss");
  graph("Gradients", "a loss of another graph", [](GraphBuilder& g, World& t) { g.Gradients(t.foreign, {t.w}); });
  graph(
      "Gradients", "a batched loss", [](GraphBuilder& g, World& t) { g.Gradients(t.x, {t.w}); }, "scalar");
  graph(
      "Gradients", "an empty x", [](GraphBuilder& g, World& t) { g.Gradients(t.scalar, {t.none}); }, "an x");
  graph(
      "Gradients", "an x that is gone", [](GraphBuilder& g, World& t) { g.Gradients(t.scalar, {t.gone}); }, "an x");
  graph("Gradients", "an x of another graph", [](GraphBuilder& g, World& t) { g.Gradients(t.scalar, {t.foreign}); });
  graph(
      "Assign", "twice",
      [](GraphBuilder& g, World& t) {
        g.Assign(t.w, t.m);
        g.Assign(t.w, t.m);
      },
      "twice");
  graph(
      "Output", "a name twice",
      [](GraphBuilder& g, World& t) {
        g.Output("o", t.x);
        g.Output("o", t.m);
      },
      "o");
  graph(
      "Absent", "an op takes it", [](GraphBuilder& g, World& t) { Add(g.Absent("there is none"), t.x); },
      "there is none", "there is none");
  graph(
      "FailAt", "no place", [](GraphBuilder& g, World&) { g.FailAt("", "a reason", {}); }, "a reason", "reason");
  graph("AddRegularizationLoss", "nothing", [](GraphBuilder& g, World& t) { g.AddRegularizationLoss(t.none); });
  graph(
      "AddRegularizationLoss", "a batch", [](GraphBuilder& g, World& t) { g.AddRegularizationLoss(t.x); }, "scalar");
  graph(
      "AddRegularizationLoss", "another graph", [](GraphBuilder& g, World& t) { g.AddRegularizationLoss(t.foreign); },
      "another graph");
  return rows;
}

TEST(GraphEdgeTest, Builder) { Check(Builder()); }

TEST(GraphEdgeTest, WhatCannotFailDoesNotCrash) {
  World t;
  t.graph.PopScope();
  t.graph.PushScope("");
  t.graph.PopScope();
  t.graph.PopScope();
  EXPECT_FALSE(t.graph.Find("").ok());
  EXPECT_FALSE(t.graph.Find("nothing").ok());
  { NameScope null(nullptr, "a"); }
  for (const Tensor& bad : {t.none, t.gone}) {
    EXPECT_EQ(bad.dtype(), DType::kInvalid);
    EXPECT_EQ(bad.shape(), Shape());
    EXPECT_EQ(bad.rank(), 0);
    EXPECT_EQ(bad.name(), "");
    EXPECT_EQ(bad.graph(), nullptr);
    EXPECT_FALSE(bad.status().ok());
  }
  for (const Tensor& bad : {t.none, t.gone, t.foreign}) {
    EXPECT_TRUE(t.graph.UnusedRegularizationLosses(bad).empty());
    EXPECT_FALSE(t.graph.VariesByReplica(bad));
    EXPECT_NE(t.graph.WhyNoGradient(bad, {t.w}), "");
    EXPECT_NE(t.graph.WhyNoGradient(t.scalar, {bad}), "");
  }
  EXPECT_NE(t.graph.WhyAbsent(t.none), "");
  EXPECT_NE(t.graph.WhyAbsent(t.gone), "");
  EXPECT_NE(t.graph.WhyNoGradient(t.scalar, {}), "");
  EXPECT_NE(t.graph.UniqueName(""), t.graph.UniqueName(""));
  EXPECT_FALSE(t.graph.HasScalarDefault(""));
  EXPECT_TRUE(t.graph.Gradients(t.scalar, {}).empty());
  EXPECT_TRUE(t.graph.status().ok()) << t.graph.status();
}

}  // namespace
}  // namespace tandem::edge
