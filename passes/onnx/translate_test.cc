// What each family of ops becomes, on graphs in text.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "graph/ir/dialect.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/signature.h"
#include "gtest/gtest.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "passes/onnx/constants.h"
#include "passes/onnx/translate_step.h"
#include "passes/onnx/translators.h"
#include "passes/translation/refusals.h"

namespace tandem {
namespace {

using onnx::Attribute;
using onnx::Initializer;
using onnx::Model;
using onnx::Node;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ValueText(const Attribute& attribute) {
  if (const auto* number = std::get_if<float>(&attribute.value)) return absl::StrCat(*number);
  if (const auto* integer = std::get_if<int64_t>(&attribute.value)) return absl::StrCat(*integer);
  return absl::StrCat("[", absl::StrJoin(std::get<std::vector<int64_t>>(attribute.value), ","), "]");
}

// "y = Conv(x, kernel) pads=[1,1,1,1]"; integers that are constants are written out.
std::vector<std::string> Lines(const Model& model) {
  std::map<std::string, std::string> numbers;
  for (const Initializer& initializer : model.initializers) {
    if (initializer.value.dtype() != DType::kInt64) continue;
    numbers[initializer.name] = absl::StrCat("[", absl::StrJoin(initializer.value.values<int64_t>(), ","), "]");
  }
  std::vector<std::string> lines;
  for (const Node& node : model.nodes) {
    std::vector<std::string> inputs;
    for (const std::string& input : node.inputs) inputs.push_back(numbers.count(input) > 0 ? numbers[input] : input);
    std::string line =
        absl::StrCat(absl::StrJoin(node.outputs, ", "), " = ", node.op_type, "(", absl::StrJoin(inputs, ", "), ")");
    for (const Attribute& attribute : node.attributes) {
      absl::StrAppend(&line, " ", attribute.name, "=", ValueText(attribute));
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<float> ValuesOf(const Model& model, const std::string& name) {
  for (const Initializer& initializer : model.initializers) {
    if (initializer.name != name) continue;
    const auto values = initializer.value.values<float>();
    return {values.begin(), values.end()};
  }
  ADD_FAILURE() << "there is no constant " << name;
  return {};
}

class OnnxTranslationTest : public ::testing::Test {
 protected:
  OnnxTranslationTest() { context_.loadDialect<mlir::func::FuncDialect, td::TdDialect>(); }

  // Variables have the values 0, 1, 2, ... unless the test sets them.
  absl::StatusOr<Model> Translate(const std::string& step, const onnx::TranslateOptions& options = {},
                                  const std::map<std::string, double>& scalars = {}) {
    module_ = mlir::parseSourceString<mlir::ModuleOp>(step, &context_);
    EXPECT_TRUE(module_) << step;
    if (!module_) return absl::InternalError("the text is wrong");
    auto function = module_->lookupSymbol<mlir::func::FuncOp>("step");
    translation::ProgramValues values{.scalars = scalars};
    values.variable = [&](const std::string& name) -> absl::StatusOr<HostTensor> {
      if (const auto given = variables_.find(name); given != variables_.end()) return given->second;
      for (unsigned i = 0; i < function.getNumArguments(); ++i) {
        const mlir::FlatSymbolRefAttr variable = td::VariableOf(function, i);
        if (!variable || variable.getValue() != name) continue;
        const Shape shape = onnx::ShapeOf(function.getArgument(i));
        return onnx::Counted(NumElements(shape), onnx::ElementTypeOf(function.getArgument(i))).Reshaped(shape);
      }
      return absl::NotFoundError(name);
    };
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      values.outputs.push_back(td::OutputOf(function, i).str());
    }
    return onnx::TranslateStep(function, values, options);
  }

  std::vector<std::string> Nodes(const std::string& step) {
    const absl::StatusOr<Model> model = Translate(step);
    EXPECT_TRUE(model.ok()) << model.status();
    return model.ok() ? Lines(*model) : std::vector<std::string>();
  }

  // Of a function with one input "x" and one output "y", whose body computes %y.
  std::vector<std::string> NodesOf(const std::string& x, const std::string& y, const std::string& body) {
    return Nodes(Step("%x: " + x + " {td.input = \"x\"}", y, body));
  }

  static std::string Step(const std::string& arguments, const std::string& y, const std::string& body) {
    return "func.func @step(" + arguments + ") -> (" + y + " {td.output = \"y\"}) {\n" + body + "\nreturn %y : " + y +
           "\n}";
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::map<std::string, HostTensor> variables_;
};

TEST_F(OnnxTranslationTest, EveryOpHasATranslatorOrAReason) {
  for (mlir::RegisteredOperationName op : context_.getRegisteredOperations()) {
    const std::string name = op.getStringRef().str();
    if (op.getDialectNamespace() != "td") continue;
    const bool translated = onnx::Translators().count(name) > 0,
               reason = translation::WhyNotTranslated(name) != nullptr;
    EXPECT_TRUE(translated || reason || op.hasInterface<td::DecomposeOp>())
        << name << " has neither; see docs/developers/add_a_library_op.md";
    EXPECT_FALSE(translated && reason) << name;
  }
}

TEST_F(OnnxTranslationTest, ElementwiseOps) {
  const std::string type = "tensor<?x3xf32>";
  EXPECT_THAT(NodesOf(type, type, "%y = td.exp %x : tensor<?x3xf32>"), ElementsAre("y = Exp(x)"));
  EXPECT_THAT(NodesOf(type, type, "%y = td.rsqrt %x : tensor<?x3xf32>"),
              ElementsAre("rsqrt/Sqrt = Sqrt(x)", "y = Reciprocal(rsqrt/Sqrt)"));
  EXPECT_THAT(NodesOf(type, "tensor<?x3xi1>", "%y = td.compare ne, %x, %x : tensor<?x3xf32> -> tensor<?x3xi1>"),
              ElementsAre("compare/Equal = Equal(x, x)", "y = Not(compare/Equal)"));
  EXPECT_THAT(NodesOf(type, "tensor<?x3xi32>", "%y = td.cast %x : tensor<?x3xf32> -> tensor<?x3xi32>"),
              ElementsAre("y = Cast(x) to=6"));
  EXPECT_EQ(NodesOf(type, type, "%y = td.gelu %x : tensor<?x3xf32>").size(), 5u);
  EXPECT_EQ(NodesOf(type, type, "%y = td.gelu %x {approximate = true} : tensor<?x3xf32>").size(), 9u);
  EXPECT_THAT(NodesOf(type, "tensor<?x3xi1>", "%y = td.is_finite %x : tensor<?x3xf32> -> tensor<?x3xi1>"),
              ElementsAre("is_finite/IsNaN = IsNaN(x)", "is_finite/IsInf = IsInf(x)",
                          "is_finite/Or = Or(is_finite/IsNaN, is_finite/IsInf)", "y = Not(is_finite/Or)"));
}

TEST_F(OnnxTranslationTest, ElementwiseOpsRepeatTheirOperandsThemselves) {
  EXPECT_THAT(NodesOf("tensor<?x3xf32>", "tensor<?x3xf32>",
                      R"(%c = td.constant dense<2.0> : tensor<f32>
                         %b = td.broadcast %c dims [] : tensor<f32> -> tensor<?x3xf32>
                         %y = td.mul %x, %b : tensor<?x3xf32>)"),
              ElementsAre("y = Mul(x, constant)"));
  // A vector of the batch lies along the first dimension.
  EXPECT_THAT(
      Nodes(Step(R"(%x: tensor<?x3xf32> {td.input = "x"}, %w: tensor<?xf32> {td.input = "w"})", "tensor<?x3xf32>",
                 R"(%b = td.broadcast %w dims [0] : tensor<?xf32> -> tensor<?x3xf32>
                            %y = td.sub %x, %b : tensor<?x3xf32>)")),
      ElementsAre("sub/Reshape = Reshape(w, [0,1])", "y = Sub(x, sub/Reshape)"));
  // Where all operands are repeated, one is as large as the result.
  EXPECT_THAT(NodesOf("tensor<?xf32>", "tensor<?x3xf32>",
                      R"(%b = td.broadcast %x dims [0] : tensor<?xf32> -> tensor<?x3xf32>
                         %y = td.add %b, %b : tensor<?x3xf32>)"),
              ElementsAre("add/Reshape = Reshape(x, [0,1])", "add/Expand = Expand(add/Reshape, [1,3])",
                          "y = Add(add/Expand, add/Expand)"));
}

TEST_F(OnnxTranslationTest, AValueGainsTheBatchWhenTheModelRuns) {
  EXPECT_THAT(Nodes(Step(R"(%x: tensor<?x2xf32> {td.input = "x"}, %v: tensor<3xf32> {td.variable = @v})",
                         "tensor<?x3xf32>", "%y = td.broadcast %v dims [1] : tensor<3xf32> -> tensor<?x3xf32>")),
              ElementsAre("batch_size = Shape(x) start=0 end=1", "broadcast/Concat = Concat(batch_size, [3]) axis=0",
                          "y = Expand(v, broadcast/Concat)"));
}

// Images are transposed once, in front of the first convolution, and stay so up to the end. "Same" padding with an odd
// rest has it behind; ONNX's pads are those in front, then those behind.
TEST_F(OnnxTranslationTest, ImagesStayAsConvolutionsHaveThem) {
  const absl::StatusOr<Model> model = Translate(
      R"(func.func @step(%x: tensor<?x4x4x3xf32> {td.input = "x"}, %k: tensor<3x2x3x2xf32> {td.variable = @k},
                         %b: tensor<2xf32> {td.variable = @b}, %d: tensor<2x2x1x4xf32> {td.variable = @d})
           -> (tensor<?x2x4x4xf32> {td.output = "y"}) {
         %0 = td.conv2d %x, %k strides [2, 1] low [0, 0] high [1, 1]
             : tensor<?x4x4x3xf32>, tensor<3x2x3x2xf32> -> tensor<?x2x4x2xf32>
         %1 = td.broadcast %b dims [3] : tensor<2xf32> -> tensor<?x2x4x2xf32>
         %2 = td.mul %0, %1 : tensor<?x2x4x2xf32>
         %3 = td.relu %2 : tensor<?x2x4x2xf32>
         %4 = td.depthwise_conv2d %3, %d strides [1, 1] low [0, 0] high [1, 1]
             : tensor<?x2x4x2xf32>, tensor<2x2x1x4xf32> -> tensor<?x2x4x4xf32>
         return %4 : tensor<?x2x4x4xf32>
       })");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Lines(*model),
              ElementsAre("conv2d/Transpose = Transpose(x) perm=[0,3,1,2]",
                          "conv2d = Conv(conv2d/Transpose, k) kernel_shape=[3,2] strides=[2,1] pads=[0,0,1,1]",
                          "mul = Mul(conv2d, b)", "relu = Relu(mul)",
                          "depthwise_conv2d = Conv(relu, d) kernel_shape=[2,2] strides=[1,1] pads=[0,0,1,1] group=2",
                          "y = Transpose(depthwise_conv2d) perm=[0,2,3,1]"));
  for (const Initializer& initializer : model->initializers) {
    if (initializer.name == "k") {
      EXPECT_EQ(initializer.value.shape(), (Shape{2, 3, 3, 2}));
    }
    if (initializer.name == "d") {
      EXPECT_EQ(initializer.value.shape(), (Shape{4, 1, 2, 2}));
    }
    if (initializer.name == "b") {
      EXPECT_EQ(initializer.value.shape(), (Shape{2, 1, 1}));
    }
  }
  // k[h, w, i, o] = 12 h * ... counts up in td's order.
  EXPECT_EQ(ValuesOf(*model, "k")[1], 6);  // [0, 0, 0, 1] is [0, 1, 0, 0] there
}

TEST_F(OnnxTranslationTest, PoolingDoesNotCountTheBorder) {
  EXPECT_THAT(NodesOf("tensor<?x4x5x1xf32>", "tensor<?x2x3x1xf32>",
                      R"(%y = td.avg_pool %x window [3, 3] strides [2, 2] low [0, 1] high [1, 1]
                             : tensor<?x4x5x1xf32> -> tensor<?x2x3x1xf32>)"),
              ElementsAre("avg_pool/Reshape = Reshape(x, [0,1,4,5])",
                          "avg_pool = AveragePool(avg_pool/Reshape) kernel_shape=[3,3] strides=[2,2] pads=[0,1,1,1] "
                          "count_include_pad=0",
                          "y = Reshape(avg_pool, [0,2,3,1])"));
  EXPECT_THAT(NodesOf("tensor<?x4x4x2xf32>", "tensor<?x2x2x2xf32>",
                      R"(%y = td.max_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0]
                             : tensor<?x4x4x2xf32> -> tensor<?x2x2x2xf32>)"),
              ElementsAre("max_pool/Transpose = Transpose(x) perm=[0,3,1,2]",
                          "max_pool = MaxPool(max_pool/Transpose) kernel_shape=[2,2] strides=[2,2] pads=[0,0,0,0]",
                          "y = Transpose(max_pool) perm=[0,2,3,1]"));
}

TEST_F(OnnxTranslationTest, AGradientToTheInputEnlargesImages) {
  EXPECT_THAT(Nodes(Step(R"(%x: tensor<?x4x4x5xf32> {td.input = "x"}, %k: tensor<3x3x3x5xf32> {td.variable = @k})",
                         "tensor<?x8x8x3xf32>",
                         R"(%y = td.conv2d_input_grad %x, %k size [8, 8] strides [2, 2] low [0, 0] high [1, 1]
                                : tensor<?x4x4x5xf32>, tensor<3x3x3x5xf32> -> tensor<?x8x8x3xf32>)")),
              ElementsAre("conv2d_input_grad/Transpose = Transpose(x) perm=[0,3,1,2]",
                          "conv2d_input_grad = ConvTranspose(conv2d_input_grad/Transpose, k) kernel_shape=[3,3] "
                          "strides=[2,2] pads=[0,0,1,1] output_padding=[0,0]",
                          "y = Transpose(conv2d_input_grad) perm=[0,2,3,1]"));
}

// An image that becomes a row is not transposed: the rows of the kernel behind it change their places.
TEST_F(OnnxTranslationTest, TheKernelBehindFlattenIsInTheImagesOrder) {
  const absl::StatusOr<Model> model =
      Translate(Step(R"(%x: tensor<?x2x2x3xf32> {td.input = "x"}, %w: tensor<12x1xf32> {td.variable = @w},
              %b: tensor<1xf32> {td.variable = @b})",
                     "tensor<?x1xf32>",
                     R"(%0 = td.max_pool %x window [1, 1] strides [1, 1] low [0, 0] high [0, 0]
                  : tensor<?x2x2x3xf32> -> tensor<?x2x2x3xf32>
              %1 = td.reshape %0 : tensor<?x2x2x3xf32> -> tensor<?x12xf32>
              %2 = td.matmul %1, %w : tensor<?x12xf32>, tensor<12x1xf32> -> tensor<?x1xf32>
              %3 = td.broadcast %b dims [1] : tensor<1xf32> -> tensor<?x1xf32>
              %y = td.add %2, %3 : tensor<?x1xf32>)"));
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<std::string> lines = Lines(*model);
  ASSERT_EQ(lines.size(), 4u) << absl::StrJoin(lines, "\n");
  EXPECT_EQ(lines[2], "matmul/Reshape = Reshape(max_pool, [0,12])");
  EXPECT_EQ(lines[3], "y = Gemm(matmul/Reshape, w, b)");
  EXPECT_THAT(ValuesOf(*model, "w"), ElementsAre(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
}

TEST_F(OnnxTranslationTest, AFlattenedImageIsPutInOrderForOthers) {
  EXPECT_THAT(NodesOf("tensor<?x2x2x3xf32>", "tensor<?x12xf32>",
                      R"(%0 = td.max_pool %x window [1, 1] strides [1, 1] low [0, 0] high [0, 0]
                             : tensor<?x2x2x3xf32> -> tensor<?x2x2x3xf32>
                         %1 = td.reshape %0 : tensor<?x2x2x3xf32> -> tensor<?x12xf32>
                         %y = td.tanh %1 : tensor<?x12xf32>)")
                  .back(),
              "y = Tanh(tanh/Reshape)");
}

TEST_F(OnnxTranslationTest, ProductsOfMatrices) {
  EXPECT_THAT(Nodes(Step(R"(%x: tensor<?x2x3xf32> {td.input = "x"}, %w: tensor<4x3xf32> {td.variable = @w})",
                         "tensor<?x2x4xf32>",
                         R"(%y = td.matmul %x, %w {transpose_b = true}
                                : tensor<?x2x3xf32>, tensor<4x3xf32> -> tensor<?x2x4xf32>)")),
              ElementsAre("y = MatMul(x, w)"));
  // Heads lie inside positions.
  EXPECT_THAT(NodesOf("tensor<?x5x2x3xf32>", "tensor<?x2x5x5xf32>",
                      R"(%y = td.batch_matmul %x, %x {swap_a = true, swap_b = true, transpose_b = true}
                     : tensor<?x5x2x3xf32>, tensor<?x5x2x3xf32> -> tensor<?x2x5x5xf32>)"),
              ElementsAre("batch_matmul/Transpose = Transpose(x) perm=[0,2,1,3]",
                          "batch_matmul/Transpose_1 = Transpose(x) perm=[0,2,3,1]",
                          "y = MatMul(batch_matmul/Transpose, batch_matmul/Transpose_1)"));
}

constexpr char kBatchNorm[] =
    R"(%0 = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0]
           : tensor<?x4x4x3xf32>, tensor<1x1x3x2xf32> -> tensor<?x4x4x2xf32> loc("conv")
       %eps = td.constant dense<1.0e-3> : tensor<f32>
       %e = td.broadcast %eps dims [] : tensor<f32> -> tensor<2xf32>
       %1 = td.add %variance, %e : tensor<2xf32>
       %2 = td.rsqrt %1 : tensor<2xf32>
       %3 = td.mul %2, %gamma : tensor<2xf32>
       %m = td.broadcast %mean dims [3] : tensor<2xf32> -> tensor<?x4x4x2xf32>
       %4 = td.sub %0, %m : tensor<?x4x4x2xf32>
       %s = td.broadcast %3 dims [3] : tensor<2xf32> -> tensor<?x4x4x2xf32>
       %5 = td.mul %4, %s : tensor<?x4x4x2xf32>
       %b = td.broadcast %beta dims [3] : tensor<2xf32> -> tensor<?x4x4x2xf32>
       %y = td.add %5, %b : tensor<?x4x4x2xf32> loc("norm"))";
constexpr char kBatchNormArguments[] =
    R"(%x: tensor<?x4x4x3xf32> {td.input = "x"}, %k: tensor<1x1x3x2xf32> {td.variable = @k},
       %variance: tensor<2xf32> {td.variable = @variance}, %gamma: tensor<2xf32> {td.variable = @gamma},
       %mean: tensor<2xf32> {td.variable = @mean}, %beta: tensor<2xf32> {td.variable = @beta})";

TEST_F(OnnxTranslationTest, BatchNormIsOneOp) {
  EXPECT_THAT(Nodes(Step(kBatchNormArguments, "tensor<?x4x4x2xf32>", kBatchNorm)),
              ElementsAre("conv/Transpose = Transpose(x) perm=[0,3,1,2]",
                          "conv = Conv(conv/Transpose, k) kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]",
                          "norm = BatchNormalization(conv, gamma, beta, mean, variance) epsilon=0.001",
                          "y = Transpose(norm) perm=[0,2,3,1]"));
}

TEST_F(OnnxTranslationTest, BatchNormIsFoldedIntoTheConvolution) {
  variables_["variance"] = HostTensor::FromVector<float>({2}, {0.999f, 3.999f});
  variables_["gamma"] = HostTensor::FromVector<float>({2}, {2, 4});
  variables_["mean"] = HostTensor::FromVector<float>({2}, {1, 10});
  variables_["beta"] = HostTensor::FromVector<float>({2}, {5, 6});
  const absl::StatusOr<Model> model =
      Translate(Step(kBatchNormArguments, "tensor<?x4x4x2xf32>", kBatchNorm), {.fold_batch_norm = true});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Lines(*model),
              ElementsAre("conv/Transpose = Transpose(x) perm=[0,3,1,2]",
                          "conv = Conv(conv/Transpose, k, mean) kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]",
                          "y = Transpose(conv) perm=[0,2,3,1]"));
  // The scales are 2 and 2; k is 0, 2, 4 for the first channel and 1, 3, 5 for the second one.
  EXPECT_THAT(ValuesOf(*model, "k"), ElementsAre(0, 4, 8, 2, 6, 10));
  EXPECT_THAT(ValuesOf(*model, "mean"), ElementsAre(3, -14));
}

TEST_F(OnnxTranslationTest, LayerNormTakesGainAndBias) {
  const std::string arguments =
      R"(%x: tensor<?x4xf32> {td.input = "x"}, %gamma: tensor<4xf32> {td.variable = @gamma},
         %beta: tensor<4xf32> {td.variable = @beta})";
  const std::string norm = R"(
      %0, %1 = td.layer_norm %x epsilon 1.0e-3 : tensor<?x4xf32> -> tensor<?x4xf32>, tensor<?xf32>
      %g = td.broadcast %gamma dims [1] : tensor<4xf32> -> tensor<?x4xf32>
      %b = td.broadcast %beta dims [1] : tensor<4xf32> -> tensor<?x4xf32>)";
  EXPECT_THAT(Nodes(Step(arguments, "tensor<?x4xf32>", norm + R"(
      %2 = td.mul %0, %g : tensor<?x4xf32>
      %y = td.add %2, %b : tensor<?x4xf32>)")),
              ElementsAre("y = LayerNormalization(x, gamma, beta) axis=-1 epsilon=0.001"));
  EXPECT_THAT(Nodes(Step(arguments, "tensor<?x4xf32>", norm + "\n%y = td.add %0, %b : tensor<?x4xf32>")),
              ElementsAre("y = LayerNormalization(x, ones, beta) axis=-1 epsilon=0.001"));
  EXPECT_THAT(Nodes(Step(arguments, "tensor<?x4xf32>", norm + "\n%y = td.relu %0 : tensor<?x4xf32>")),
              ElementsAre("layer_norm = LayerNormalization(x, ones) axis=-1 epsilon=0.001", "y = Relu(layer_norm)"));
}

TEST_F(OnnxTranslationTest, Reductions) {
  EXPECT_THAT(
      NodesOf("tensor<?x3xf32>", "tensor<?xf32>", "%y = td.reduce sum, %x axes [1] : tensor<?x3xf32> -> tensor<?xf32>"),
      ElementsAre("y = ReduceSum(x, [1]) keepdims=0"));
  EXPECT_THAT(
      NodesOf("tensor<?x3xf32>", "tensor<?xf32>", "%y = td.reduce max, %x axes [1] : tensor<?x3xf32> -> tensor<?xf32>"),
      ElementsAre("y = ReduceMax(x) keepdims=0 axes=[1]"));
  EXPECT_THAT(
      NodesOf("tensor<?x3xf32>", "tensor<?xi64>", "%y = td.argmax %x axis 1 : tensor<?x3xf32> -> tensor<?xi64>"),
      ElementsAre("y = ArgMax(x) axis=1 keepdims=0"));
  // The mean over all places of an image is taken as the image is held.
  const std::string pooled = R"(
      %0 = td.max_pool %x window [1, 1] strides [1, 1] low [0, 0] high [0, 0]
          : tensor<?x2x2x3xf32> -> tensor<?x2x2x3xf32>)";
  EXPECT_THAT(NodesOf("tensor<?x2x2x3xf32>", "tensor<?x3xf32>", pooled + R"(
      %y = td.reduce sum, %0 axes [1, 2] : tensor<?x2x2x3xf32> -> tensor<?x3xf32>)")
                  .back(),
              "y = ReduceSum(max_pool, [2,3]) keepdims=0");
  // Channels would be left in front of the columns, so that it is transposed.
  EXPECT_THAT(NodesOf("tensor<?x2x2x3xf32>", "tensor<?x2x3xf32>", pooled + R"(
      %y = td.reduce sum, %0 axes [1] : tensor<?x2x2x3xf32> -> tensor<?x2x3xf32>)")
                  .back(),
              "y = ReduceSum(reduce/Transpose, [1]) keepdims=0");
}

TEST_F(OnnxTranslationTest, OpsThatMoveElements) {
  EXPECT_THAT(NodesOf("tensor<?x4xf32>", "tensor<?x2xf32>",
                      "%y = td.slice %x begin [0, 1] size [-1, 2] : tensor<?x4xf32> -> tensor<?x2xf32>"),
              ElementsAre("y = Slice(x, [1], [3], [1])"));
  EXPECT_THAT(NodesOf("tensor<?x4xf32>", "tensor<?x7xf32>",
                      "%y = td.pad %x low [0, 1] high [0, 2] : tensor<?x4xf32> -> tensor<?x7xf32>"),
              ElementsAre("y = Pad(x, [0,1,0,2], number)"));
  EXPECT_THAT(NodesOf("tensor<?x4xf32>", "tensor<?x8xf32>",
                      "%y = td.concat %x, %x axis 1 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>"),
              ElementsAre("y = Concat(x, x) axis=1"));
  EXPECT_THAT(NodesOf("tensor<?x2x3xf32>", "tensor<?x3x2xf32>",
                      "%y = td.transpose %x perm [0, 2, 1] : tensor<?x2x3xf32> -> tensor<?x3x2xf32>"),
              ElementsAre("y = Transpose(x) perm=[0,2,1]"));
  EXPECT_THAT(
      NodesOf("tensor<?x6xf32>", "tensor<?x2x3xf32>", "%y = td.reshape %x : tensor<?x6xf32> -> tensor<?x2x3xf32>"),
      ElementsAre("y = Reshape(x, [0,2,3])"));
  EXPECT_THAT(NodesOf("tensor<?xi64>", "tensor<?xi64>",
                      "%0 = td.iota axis 0 : tensor<?xi64>\n"
                      "%y = td.add %x, %0 : tensor<?xi64>")
                  .back(),
              "y = Add(x, iota)");
}

// An image that is repeated between its rows stays as it is held.
TEST_F(OnnxTranslationTest, EnlargedImagesAreNotTransposed) {
  const std::vector<std::string> lines =
      NodesOf("tensor<?x2x2x3xf32>", "tensor<?x4x2x3xf32>",
              R"(%0 = td.max_pool %x window [1, 1] strides [1, 1] low [0, 0] high [0, 0]
             : tensor<?x2x2x3xf32> -> tensor<?x2x2x3xf32>
         %1 = td.broadcast %0 dims [0, 1, 3, 4] : tensor<?x2x2x3xf32> -> tensor<?x2x2x2x3xf32>
         %2 = td.reshape %1 : tensor<?x2x2x2x3xf32> -> tensor<?x4x2x3xf32>
         %y = td.relu %2 : tensor<?x4x2x3xf32>)");
  EXPECT_THAT(lines, ElementsAre(HasSubstr("Transpose(x)"), HasSubstr("MaxPool("),
                                 "reshape/Reshape = Reshape(max_pool, [0,3,2,1,2])",
                                 "reshape/Expand = Expand(reshape/Reshape, [1,3,2,2,2])",
                                 "reshape = Reshape(reshape/Expand, [0,3,4,2])", "relu = Relu(reshape)",
                                 "y = Transpose(relu) perm=[0,2,3,1]"));
}

TEST_F(OnnxTranslationTest, RowsByIndex) {
  EXPECT_THAT(Nodes(Step(R"(%x: tensor<?x7xi32> {td.input = "x"}, %t: tensor<9x4xf32> {td.variable = @table})",
                         "tensor<?x7x4xf32>",
                         "%y = td.gather %t, %x : (tensor<9x4xf32>, tensor<?x7xi32>) -> tensor<?x7x4xf32>")),
              ElementsAre("y = Gather(table, x) axis=0"));
  // Not OneHot, for which -1 is the last class.
  EXPECT_THAT(NodesOf("tensor<?xi64>", "tensor<?x3xf32>", "%y = td.one_hot %x : tensor<?xi64> -> tensor<?x3xf32>"),
              ElementsAre("one_hot/Unsqueeze = Unsqueeze(x, [-1])", "one_hot/Equal = Equal(one_hot/Unsqueeze, [0,1,2])",
                          "y = Cast(one_hot/Equal) to=1"));
}

TEST_F(OnnxTranslationTest, OutputsMayBeInputsConstantsAndTheSame) {
  EXPECT_THAT(Nodes(R"(func.func @step(%x: tensor<?x2xf32> {td.input = "x"}, %v: tensor<2xf32> {td.variable = @v})
                           -> (tensor<?x2xf32> {td.output = "same"}, tensor<2xf32> {td.output = "known"},
                               tensor<?x2xf32> {td.output = "a"}, tensor<?x2xf32> {td.output = "b"}) {
                         %0 = td.relu %x : tensor<?x2xf32>
                         return %x, %v, %0, %0 : tensor<?x2xf32>, tensor<2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
                       })"),
              ElementsAre("a = Relu(x)", "same = Identity(x)", "known = Identity(v)", "b = Identity(a)"));
}

TEST_F(OnnxTranslationTest, AnOutputMayBeCalledLikeTheInputThatItIs) {
  EXPECT_THAT(Nodes(R"(func.func @step(%x: tensor<?xf32> {td.input = "x"}) -> (tensor<?xf32> {td.output = "x"}) {
                         return %x : tensor<?xf32>
                       })"),
              ElementsAre());
  EXPECT_THAT(
      Translate(R"(func.func @step(%x: tensor<?xf32> {td.input = "x"}) -> (tensor<?xf32> {td.output = "x"}) {
                             %0 = td.relu %x : tensor<?xf32>
                             return %0 : tensor<?xf32>
                           })")
          .status()
          .message(),
      AllOf(HasSubstr("\"x\" is called like an input"), HasSubstr("give the prediction or the feature another")));
}

TEST_F(OnnxTranslationTest, NamesAreThoseOfTheModel) {
  const absl::StatusOr<Model> model = Translate(
      R"(func.func @step(%x: tensor<?x2xf32> {td.input = "x"}, %w: tensor<2x2xf32> {td.variable = @"dense/kernel"})
             -> (tensor<?x2xf32> {td.output = "y"}) {
           %0 = td.matmul %x, %w : tensor<?x2xf32>, tensor<2x2xf32> -> tensor<?x2xf32>
               loc("dense/MatMul"("model.cc":7:1))
           %1 = td.matmul %0, %w : tensor<?x2xf32>, tensor<2x2xf32> -> tensor<?x2xf32>
               loc("dense/MatMul"("model.cc":7:1))
           %2 = td.relu %1 : tensor<?x2xf32> loc("dense/Relu"("model.cc":7:1))
           return %2 : tensor<?x2xf32>
         })");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Lines(*model),
              ElementsAre("dense/MatMul = MatMul(x, dense/kernel)",
                          "dense/MatMul_1 = MatMul(dense/MatMul, dense/kernel)", "y = Relu(dense/MatMul_1)"));
  EXPECT_EQ(model->nodes[2].name, "dense/Relu");
}

TEST_F(OnnxTranslationTest, CompositeOpsAreTakenApart) {
  EXPECT_THAT(Nodes(R"(func.func @step(%p: tensor<?x3xf32> {td.input = "p"}, %x: tensor<?x3xf32> {td.input = "x"})
                           -> (tensor<?xf32> {td.output = "loss"}) {
                         %0 = td.softmax_cross_entropy %p, %x : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?xf32>
                         return %0 : tensor<?xf32>
                       })")
                  .back(),
              HasSubstr("loss = Neg("));
}

TEST_F(OnnxTranslationTest, WhatMixesTheBatchIsRefusedWithItsLine) {
  const auto error = [&](const std::string& y, const std::string& op) {
    return std::string(
        Translate(Step("%x: tensor<?x3xf32> {td.input = \"x\"}", y, op + " loc(\"head/Op\"(\"model.cc\":12:3))"))
            .status()
            .message());
  };
  EXPECT_THAT(error("tensor<3xf32>", "%y = td.reduce sum, %x axes [0] : tensor<?x3xf32> -> tensor<3xf32>"),
              AllOf(HasSubstr("model.cc:12: \"head/Op\": td.reduce has no form in ONNX"), HasSubstr("rows of a batch"),
                    HasSubstr("leave this output out")));
  EXPECT_THAT(error("tensor<3x3xf32>",
                    "%y = td.matmul %x, %x {transpose_a = true} : tensor<?x3xf32>, "
                    "tensor<?x3xf32> -> tensor<3x3xf32>"),
              AllOf(HasSubstr("model.cc:12"), HasSubstr("td.matmul has no form")));
}

TEST_F(OnnxTranslationTest, RandomNumbersAndStepScalarsAreRefusedWithTheirLine) {
  const std::string count = R"(func.func @step(%x: tensor<?xf32> {td.input = "x"},
                                               %n: tensor<f32> {td.scalar = "example_count"})
                                   -> (tensor<?xf32> {td.output = "y"}) {
      %0 = td.broadcast %n dims [] : tensor<f32> -> tensor<?xf32> loc("mean/Div"("model.cc":5:3))
      %1 = td.div %x, %0 : tensor<?xf32>
      return %1 : tensor<?xf32>
    })";
  EXPECT_THAT(Translate(count).status().message(),
              AllOf(HasSubstr("model.cc:5: \"mean/Div\""), HasSubstr("the step scalar \"example_count\"")));
  const absl::StatusOr<Model> given = Translate(count, {}, {{"example_count", 4}});
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_THAT(Lines(*given), ElementsAre("y = Div(x, example_count)"));

  EXPECT_THAT(
      Translate(R"(func.func @step(%x: tensor<?xf32> {td.input = "x"}, %seed: tensor<i64> {td.scalar = "seed"},
                                   %step: tensor<i64> {td.scalar = "global_step"})
                       -> (tensor<?xf32> {td.output = "y"}) {
          %0 = td.random_uniform %seed, %step key 42 shape [-1] -> tensor<?xf32> loc("dropout/Random"("model.cc":9:3))
          %1 = td.add %x, %0 : tensor<?xf32>
          return %1 : tensor<?xf32>
        })",
                {}, {{"seed", 1}, {"global_step", 2}})
          .status()
          .message(),
      AllOf(HasSubstr("model.cc:9: \"dropout/Random\": td.random_uniform has no form in ONNX: it draws random numbers"),
            HasSubstr("Mode::kTrain")));
}

}  // namespace
}  // namespace tandem
