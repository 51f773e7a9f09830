#include "graph/graph_builder.h"

#include <cmath>

#include "graph/ops.h"
#include "graph/reference/reference.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

std::string Message(const GraphBuilder& g) { return std::string(g.status().message()); }

// `file:line` of the call that stands `offset` lines above the use.
std::string At(int offset, SourceLocation here = SourceLocation::Current()) {
  return std::string(here.file) + ":" + std::to_string(here.line - offset);
}

TEST(GraphBuilder, NamesAreUniqueInTheirScope) {
  GraphBuilder g;
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 4});
  {
    NameScope scope(&g, g.UniqueName("dense"));
    EXPECT_EQ(Relu(x).name(), "dense/Relu");
    EXPECT_EQ(Relu(x).name(), "dense/Relu_1");
  }
  NameScope scope(&g, g.UniqueName("dense"));
  Tensor y = Relu(x);
  EXPECT_EQ(y.name(), "dense_1/Relu");
  EXPECT_TRUE(g.Find("dense_1/Relu") == y);
  EXPECT_FALSE(g.Find("dense_7/Relu").ok());
  EXPECT_TRUE(g.status().ok()) << g.status();
}

TEST(GraphBuilder, ShapesBroadcastAsInNumPy) {
  GraphBuilder g;
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 5, 3});
  Tensor w = g.Variable({.name = "w", .shape = {3}});
  Tensor v = g.Variable({.name = "v", .shape = {5, 1}});
  EXPECT_EQ((x + w).shape(), (Shape{kBatch, 5, 3}));
  EXPECT_EQ((v * x).shape(), (Shape{kBatch, 5, 3}));
  EXPECT_EQ((v * w).shape(), (Shape{5, 3}));
  EXPECT_EQ(Less(x, v).dtype(), DType::kBool);
  EXPECT_TRUE(g.status().ok()) << g.status();
}

TEST(GraphBuilder, ErrorsNameOpShapesAndLine) {
  GraphBuilder g;
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 4});
  Tensor w = g.Variable({.name = "w", .shape = {3}});
  NameScope scope(&g, "dense");
  Tensor y = Add(x, w);
  EXPECT_FALSE(y.ok());
  EXPECT_EQ(Message(g), "add \"dense/Add\" at " + At(2) +
                            ": shapes [b,4] and [3] do not broadcast: counted from the last, sizes must be equal or 1; "
                            "Reshape or Slice one "
                            "of them");
  // The first error stays; what follows is poisoned.
  EXPECT_FALSE(Relu(y).ok());
  EXPECT_FALSE(Relu(x).ok());
  EXPECT_NE(Message(g).find("do not broadcast"), std::string::npos);
}

struct Mistake {
  const char* name;
  void (*make)(GraphBuilder& g, Tensor x, Tensor w);  // x: [b,4], w: variable [4], both float32
  const char* message;
};

const Mistake kMistakes[] = {
    {"dtypes", [](GraphBuilder& g, Tensor x, Tensor w) { Add(x, Cast(x, DType::kInt32)); }, "Cast one of them"},
    {"reshape",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       Reshape(x, {kBatch, 5});
     },
     "from [b,4] to [b,5] changes the number of elements (4 to 5 per example)"},
    {"reshape_batch",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       Reshape(x, {2, 2});
     },
     "does not keep the batch"},
    {"transpose_batch",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       Transpose(x, {1, 0});
     },
     "moves the batch of [b,4]"},
    {"transpose",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       Transpose(x, {0, 0});
     },
     "[0,0] is not a permutation"},
    {"slice_batch",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       Slice(x, {1, 0}, {1, 4});
     },
     "cannot cut the batch"},
    {"slice", [](GraphBuilder& g, Tensor x, Tensor w) { Slice(w, {2}, {3}); }, "outside of [4]"},
    {"pad_batch",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       Pad(x, {1, 0}, {0, 0});
     },
     "cannot pad the batch"},
    {"concat",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       Concat({x, w}, 1);
     },
     "operand 1, of shape [4], must have the dtype of operand 0, [b,4], and its size in all dimensions but 1; Reshape"},
    {"concat_batch",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       Concat({x, x}, 0);
     },
     "along the batch"},
    {"concat_nothing",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       g.Emit("concat", {}, {{"axis", int64_t{0}}}, {});
     },
     "at least one operand"},
    {"reduce", [](GraphBuilder& g, Tensor x, Tensor w) { ReduceSum(x, {2}); }, "axis 2 is not a dimension of [b,4]"},
    {"reduce_twice",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       ReduceSum(x, {1, -1});
     },
     "twice"},
    {"argmax", [](GraphBuilder& g, Tensor x, Tensor w) { ArgMax(x, 2); }, "axis 2 is not a dimension of [b,4]"},
    {"mean_of_ints", [](GraphBuilder& g, Tensor x, Tensor w) { ReduceMean(Cast(x, DType::kInt32)); }, "not int32"},
    {"exp_of_ints", [](GraphBuilder& g, Tensor x, Tensor w) { Exp(Cast(x, DType::kInt32)); },
     "operand 0 must be floating-point, got int32 [b,4]; convert it with Cast(x, DType::kFloat32)"},
    {"number", [](GraphBuilder& g, Tensor x, Tensor w) { Add(Cast(x, DType::kInt32), 0.5); }, "does not fit"},
    {"select", [](GraphBuilder& g, Tensor x, Tensor w) { Select(x, x, x); }, "not bool"},
    {"gather", [](GraphBuilder& g, Tensor x, Tensor w) { Gather(x, Cast(x, DType::kInt32)); }, "must not be batched"},
    {"gather_float", [](GraphBuilder& g, Tensor x, Tensor w) { Gather(w, x); }, "int32 or int64"},
    {"one_hot", [](GraphBuilder& g, Tensor x, Tensor w) { OneHot(Cast(x, DType::kInt32), 0); }, "must be positive"},
    {"iota", [](GraphBuilder& g, Tensor x, Tensor w) { Iota(&g, {3}, 1, DType::kInt32); }, "not a dimension"},
    {"empty_tensor", [](GraphBuilder& g, Tensor x, Tensor w) { Add(x, Tensor()); },
     "operand 1 is an empty Tensor: it was never set"},
    {"misspelt_attribute",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       g.Emit("layer_norm", {x}, {{"epsilom", 1e-3}}, {});
     },
     "requires attribute 'epsilon'"},
    {"unknown_op", [](GraphBuilder& g, Tensor x, Tensor w) { g.Emit("frobnicate", {x}, {}, {}); }, "no such op"},
    {"input_shape",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       g.Input("y", DType::kFloat32, {2, 3});
     },
     "kBatch"},
    {"input_again",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       g.Input("x", DType::kInt32, {kBatch, 4});
     },
     "was float32"},
    {"variable_again", [](GraphBuilder& g, Tensor x, Tensor w) { g.Variable({.name = "w", .shape = {1}}); }, "exists"},
    {"variable_shape", [](GraphBuilder& g, Tensor x, Tensor w) { g.Variable({.name = "v", .shape = {kBatch}}); },
     "must be static"},
    {"no_names", [](GraphBuilder& g, Tensor x, Tensor w) { g.Variable({.shape = {1}}); }, "has no name"},
    {"initializer",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       g.Variable({.name = "v", .initializer = {Initializer::Kind::kConstant, NAN}});
     },
     "must be finite, got nan"},
    {"scalar_default",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       g.StepScalar("rate", DType::kFloat32, 0.5, {"first.cc", 3});
       g.StepScalar("rate", DType::kFloat32, std::nullopt, {"second.cc", 4});
       g.StepScalar("rate", DType::kFloat32, 0.5, {"third.cc", 5});
       g.StepScalar("rate", DType::kFloat32, 0.25, {"fourth.cc", 6});
     },
     "scalar \"rate\" at fourth.cc:6: has the default 0.25 here, but 0.5 at first.cc:3: one name has one default"},
    {"too_few_operands", [](GraphBuilder& g, Tensor x, Tensor w) { g.Emit("add", {x}, {}, {}); }, "takes 2 operands"},
    {"no_operands", [](GraphBuilder& g, Tensor x, Tensor w) { g.Emit("exp", {}, {}, {}); }, "takes 1 operands, got 0"},
    {"assign_shape", [](GraphBuilder& g, Tensor x, Tensor w) { g.Assign(w, g.Constant(1.0f)); }, "float32 [4]"},
    {"assign_twice",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       g.Assign(w, w);
       g.Assign(w, w);
     },
     "twice"},
    {"assign_no_variable", [](GraphBuilder& g, Tensor x, Tensor w) { g.Assign(x, x); }, "Variable() returned"},
    {"output_again",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       g.Output("o", x);
       g.Output("o", x);
     },
     "there is an output of this name already"},
    {"loss_shape", [](GraphBuilder& g, Tensor x, Tensor w) { g.Gradients(x, {w}); }, "floating-point scalar"},
    {"two_graphs",
     [](GraphBuilder& g, Tensor x, Tensor w) {
       GraphBuilder other;
       Add(x, other.Constant(1.0f));
     },
     "belongs to another graph"},
};

class MistakeTest : public testing::TestWithParam<Mistake> {};

TEST_P(MistakeTest, IsReported) {
  GraphBuilder g;
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 4});
  Tensor w = g.Variable({.name = "w", .shape = {4}});
  ASSERT_TRUE(g.status().ok());
  GetParam().make(g, x, w);
  EXPECT_EQ(g.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(Message(g).find(GetParam().message), std::string::npos) << Message(g);
}

INSTANTIATE_TEST_SUITE_P(All, MistakeTest, testing::ValuesIn(kMistakes),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(GraphBuilder, ASecondOutputOfANameTellsWhereTheFirstIs) {
  GraphBuilder g;
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 4});
  g.Output("y", x);
  const std::string first = At(1);
  g.Output("y", Relu(x));
  const std::string second = At(1);
  EXPECT_EQ(Message(g), "output \"y\" at " + second + ": there is an output of this name already, from " + first +
                            "; choose another name");
}

TEST(GraphBuilder, AnAbsentTensorSaysWhyItIs) {
  GraphBuilder g;
  Tensor labels = g.Absent("has no value: there are no labels");
  EXPECT_FALSE(labels.ok());
  EXPECT_TRUE(g.status().ok());
  EXPECT_FALSE(Cast(labels, DType::kFloat32).ok());
  const std::string cast = At(1);
  EXPECT_EQ(Message(g), "cast \"Cast\" at " + cast + ": operand 0 has no value: there are no labels");
  EXPECT_EQ(g.WhyAbsent(Tensor()), "is an empty Tensor: it was never set, or is a gradient that does not exist");
}

TEST(GraphBuilder, ATensorKnowsItsOrigin) {
  GraphBuilder g;
  g.Variable({.name = "w", .shape = {3}});
  const std::string variable = At(1);
  EXPECT_EQ(g.Find("w").origin(), variable);
  EXPECT_EQ(Tensor().origin(), "");
}

TEST(GraphBuilder, ADefaultMayComeAfterTheFirstCall) {
  GraphBuilder g;
  Tensor first = g.StepScalar("rate", DType::kFloat32);
  EXPECT_EQ(g.scalar_defaults().at("rate"), 0);
  EXPECT_FALSE(g.HasScalarDefault("rate"));
  EXPECT_TRUE(g.StepScalar("rate", DType::kFloat32, 0.5) == first);
  EXPECT_TRUE(g.StepScalar("rate", DType::kFloat32, 0.5) == first);
  EXPECT_TRUE(g.HasScalarDefault("rate"));
  EXPECT_EQ(g.scalar_defaults().at("rate"), 0.5);
  EXPECT_TRUE(g.status().ok()) << g.status();
}

TEST(GraphBuilder, WhatHasNoGraphKeepsItsOwnError) {
  const Tensor nothing = Exp(Tensor(), {"model.cc", 5});
  EXPECT_FALSE(nothing.ok());
  EXPECT_FALSE(nothing.empty());
  EXPECT_EQ(nothing.status().message(),
            "exp \"Exp\" at model.cc:5: operand 0 is an empty Tensor: it was never set, or is a gradient that does not "
            "exist");
  EXPECT_EQ(Neg(nothing).status(), nothing.status());
  GraphBuilder g;
  Tensor sum = Add(g.Constant(1.0f), nothing, {"model.cc", 7});
  EXPECT_FALSE(sum.ok());
  EXPECT_EQ(sum.status(), g.status());
  EXPECT_NE(Message(g).find("model.cc:7"), std::string::npos) << Message(g);
  EXPECT_NE(Message(g).find("operand 1 is poisoned: exp \"Exp\" at model.cc:5"), std::string::npos) << Message(g);
}

TEST(GraphBuilder, MeanOverTheBatchDividesByTheExampleCount) {
  GraphBuilder g;
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 2});
  g.Output("mean", ReduceMean(x));
  g.Output("rows", ReduceMean(x, {1}));
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto in = HostTensor::FromVector<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  auto out = Evaluate(g, {{"x", in}}, {});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(*out->at("mean").data<double>(), 3.5);
  EXPECT_EQ(out->at("rows").shape(), (Shape{3}));
  EXPECT_EQ(out->at("rows").data<double>()[2], 5.5);
  // A step over several replicas: the divisor is the count of the whole global batch.
  out = Evaluate(g, {{"x", in}}, {}, {{"example_count", HostTensor::Scalar(6.0f)}});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(*out->at("mean").data<double>(), 1.75);
}

TEST(Gradients, OfALinearModel) {
  GraphBuilder g;
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 2});
  Tensor w = g.Variable({.name = "w", .shape = {2}});
  Tensor unused = g.Variable({.name = "unused", .shape = {2}});
  NameScope scope(&g, "loss");
  Tensor loss = ReduceMean(Square(ReduceSum(x * w, {1})));
  std::vector<Tensor> grads = g.Gradients(loss, {w, unused});
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_FALSE(grads[1].ok());  // the loss does not depend on it
  ASSERT_TRUE(grads[0].ok());
  EXPECT_EQ(grads[0].shape(), Shape{2});
  EXPECT_EQ(grads[0].name().rfind("gradients/loss/", 0), 0u) << grads[0].name();
  EXPECT_TRUE(g.Find(grads[0].name()) == grads[0]);
  g.Output("dw", grads[0]);
  g.Assign(w, w - grads[0] * 0.5);
  auto out = Evaluate(
      g, {{"x", HostTensor::FromVector<float>({2, 2}, {1, 2, 3, 4})}},
      {{"w", HostTensor::FromVector<float>({2}, {1, 0.5})}, {"unused", HostTensor::Zeros(DType::kFloat32, {2})}});
  ASSERT_TRUE(out.ok()) << out.status();
  // mean over rows of 2 (x w) x, with x w = 2 and 5.
  EXPECT_DOUBLE_EQ(out->at("dw").data<double>()[0], 17);
  EXPECT_DOUBLE_EQ(out->at("dw").data<double>()[1], 24);
  EXPECT_DOUBLE_EQ(out->at("w").data<double>()[0], 1 - 8.5);
}

TEST(Gradients, MissingGradientNamesOpAndPath) {
  GraphBuilder g;
  Tensor w = g.Variable({.name = "w", .shape = {3}});
  Tensor p = g.Emit("reduce", {w}, {{"kind", std::string("prod")}, {"axes", std::vector<int64_t>{0}}},
                    SourceLocation::Current());
  g.Gradients(Exp(p), {w});
  EXPECT_EQ(g.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(Message(g).find("\"Prod\" has no gradient"), std::string::npos) << Message(g);
  EXPECT_NE(Message(g).find("Prod -> Exp"), std::string::npos) << Message(g);
  EXPECT_NE(Message(g).find(At(5)), std::string::npos) << Message(g);
  EXPECT_NE(Message(g).find("of kind \"prod\" has no gradient"), std::string::npos) << Message(g);
}

TEST(Gradients, WhatCutsThePathIsNamed) {
  GraphBuilder g;
  Tensor w = g.Variable({.name = "w", .shape = {3}});
  Tensor v = g.Variable({.name = "v", .shape = {}});
  Tensor best = ArgMax(w, 0);
  const std::string arg_max = At(1);
  Tensor still = StopGradient(w);
  const std::string stop = At(1);
  Tensor loss = ReduceSum(still) * Cast(best, DType::kFloat32) + v;
  const std::string before = g.ToString();
  EXPECT_EQ(g.WhyNoGradient(loss, {w}), "the loss depends on them only through \"ArgMax\" at " + arg_max +
                                            " and \"StopGradient\" at " + stop + ", which have no gradient");
  EXPECT_EQ(g.ToString(), before);
  EXPECT_EQ(g.WhyNoGradient(ReduceSum(w), {v}), "the loss does not depend on them");
}

TEST(Gradients, StopGradientStops) {
  GraphBuilder g;
  Tensor w = g.Variable({.name = "w", .shape = {}});
  std::vector<Tensor> grads = g.Gradients(w * StopGradient(w), {w});
  ASSERT_TRUE(grads[0].ok()) << g.status();
  g.Output("dw", grads[0]);
  auto out = Evaluate(g, {}, {{"w", HostTensor::Scalar(3.0f)}});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(*out->at("dw").data<double>(), 3);
}

TEST(Reference, NamesWhatIsMissing) {
  GraphBuilder g;
  g.Output("y", Relu(g.Input("image", DType::kFloat32, {kBatch, 4})));
  EXPECT_EQ(Evaluate(g, {}, {}).status().message(), "no input \"image\" was given");
  auto wrong = Evaluate(g, {{"image", HostTensor::Zeros(DType::kFloat32, {2, 5})}}, {});
  EXPECT_NE(std::string(wrong.status().message()).find("input \"image\" has shape [2,5], the program needs [b,4]"),
            std::string::npos)
      << wrong.status();
}

TEST(Reference, ArgMaxOneHotAndGather) {
  GraphBuilder g;
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 3});
  Tensor best = ArgMax(x, -1);
  g.Output("best", best);
  g.Output("one_hot", OneHot(best, 3));
  Tensor table = g.Constant(HostTensor::FromVector<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  g.Output("rows", Gather(table, best));
  g.Output("last", Slice(Concat({x, x}, 1), {0, 4}, {kBatch, -1}));
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto out = Evaluate(g, {{"x", HostTensor::FromVector<float>({2, 3}, {1, 7, 7, 5, 4, 3})}}, {});
  ASSERT_TRUE(out.ok()) << out.status();
  auto values = [&](const char* name) {
    auto span = out->at(name).values<double>();
    return std::vector<double>(span.begin(), span.end());
  };
  EXPECT_EQ(values("best"), (std::vector<double>{1, 0}));
  EXPECT_EQ(values("one_hot"), (std::vector<double>{0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(values("rows"), (std::vector<double>{3, 4, 1, 2}));
  EXPECT_EQ(values("last"), (std::vector<double>{7, 7, 4, 3}));
}

}  // namespace
}  // namespace tandem
