// Cases for elementwise, shape, gather and reduction ops.
#include "graph/gradients/gradient_cases.h"

namespace tandem {
namespace {

GradientCase Unary(const std::string& op, double low = -1, double high = 1, bool zero = false) {
  return {.op = "td." + op,
          .function = "func.func @main(%x: tensor<?x3xf64>) -> tensor<?x3xf64> {\n  %y = td." + op +
                      " %x : tensor<?x3xf64>\n  return %y : tensor<?x3xf64>\n}",
          .low = low,
          .high = high,
          .zero = zero};
}

GradientCase Binary(const std::string& op, double low = -1, double high = 1) {
  return {.op = "td." + op,
          .function = "func.func @main(%x: tensor<?x3xf64>, %y: tensor<?x3xf64>) -> tensor<?x3xf64> {\n  %z = td." +
                      op + " %x, %y : tensor<?x3xf64>\n  return %z : tensor<?x3xf64>\n}",
          .low = low,
          .high = high};
}

// Returns the case of a function with one op, `expr`, which maps %x (and perhaps %i) of type `from` to type `to`.
GradientCase Shape(const std::string& op, const std::string& expr, const std::string& from, const std::string& to,
                   const std::string& more_arguments = "") {
  return {.op = "td." + op,
          .function = "func.func @main(%x: " + from + more_arguments + ") -> " + to + " {\n  %y = td." + expr +
                      "\n  return %y : " + to + "\n}"};
}

const bool kUnary = AddGradientCases({
    Unary("neg"),
    Unary("abs"),
    Unary("exp"),
    Unary("log", 0.5, 2),
    Unary("sqrt", 0.5, 2),
    Unary("rsqrt", 0.5, 2),
    Unary("tanh", -2, 2),
    Unary("sin", -1e4, 1e4),
    Unary("cos", -1e4, 1e4),
    Unary("sigmoid", -3, 3),
    Unary("relu"),
    Unary("erf", -2, 2),
    Unary("gelu", -3, 3),
    Shape("gelu", "gelu %x {approximate = true} : tensor<?x3xf64>", "tensor<?x3xf64>", "tensor<?x3xf64>"),
    {.op = "td.gelu_grad",
     .function = R"(func.func @main(%x: tensor<?x3xf64>, %y: tensor<?x3xf64>) -> tensor<?x3xf64> {
       %z = td.gelu_grad %x, %y : tensor<?x3xf64>
       return %z : tensor<?x3xf64>
     })",
     .low = -3,
     .high = 3},
    {.op = "td.gelu_grad",
     .function = R"(func.func @main(%x: tensor<?x3xf64>, %y: tensor<?x3xf64>) -> tensor<?x3xf64> {
       %z = td.gelu_grad %x, %y {approximate = true} : tensor<?x3xf64>
       return %z : tensor<?x3xf64>
     })",
     .low = -3,
     .high = 3},
    Unary("sign", -1, 1, true),
    Unary("floor", -3, 3, true),
    Unary("stop_gradient", -1, 1, true),
    Shape("cast", "cast %x : tensor<?x3xf64> -> tensor<?x3xf32>", "tensor<?x3xf64>", "tensor<?x3xf32>"),
});

const bool kBinary = AddGradientCases({
    Binary("add"),
    Binary("sub"),
    Binary("mul"),
    Binary("div", 0.5, 2),
    Binary("max"),
    Binary("min"),
    Binary("pow", 0.5, 2),
    {.op = "td.mul", .function = R"(func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
       %y = td.mul %x, %x : tensor<?xf32>
       %z = td.mul %y, %x : tensor<?xf32>
       return %z : tensor<?xf32>
     })"},
    {.op = "td.pow", .function = R"(func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
       %c = td.constant dense<2.0> : tensor<f32>
       %two = td.broadcast %c dims [] : tensor<f32> -> tensor<?xf32>
       %z = td.pow %x, %two : tensor<?xf32>
       return %z : tensor<?xf32>
     })"},
    {.op = "td.pow", .function = R"(func.func @main(%x: tensor<?x4xf64>) -> tensor<?x4xf64> {
       %c = td.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf64>
       %powers = td.broadcast %c dims [1] : tensor<4xf64> -> tensor<?x4xf64>
       %z = td.pow %x, %powers : tensor<?x4xf64>
       return %z : tensor<?x4xf64>
     })"},
    {.op = "td.select",
     .function = R"(func.func @main(%c: tensor<?x3xi1>, %x: tensor<?x3xf64>, %y: tensor<?x3xf64>) -> tensor<?x3xf64> {
       %z = td.select %c, %x, %y : tensor<?x3xi1>, tensor<?x3xf64>
       return %z : tensor<?x3xf64>
     })"},
});

const bool kShape = AddGradientCases({
    Shape("broadcast", "broadcast %x dims [1] : tensor<3xf64> -> tensor<?x3xf64>", "tensor<3xf64>", "tensor<?x3xf64>"),
    Shape("broadcast", "broadcast %x dims [] : tensor<f64> -> tensor<?x2xf64>", "tensor<f64>", "tensor<?x2xf64>"),
    Shape("broadcast", "broadcast %x dims [0] : tensor<?xf64> -> tensor<?x2xf64>", "tensor<?xf64>", "tensor<?x2xf64>"),
    Shape("reshape", "reshape %x : tensor<?x2x3xf64> -> tensor<?x6xf64>", "tensor<?x2x3xf64>", "tensor<?x6xf64>"),
    Shape("transpose", "transpose %x perm [0, 2, 1] : tensor<?x2x3xf64> -> tensor<?x3x2xf64>", "tensor<?x2x3xf64>",
          "tensor<?x3x2xf64>"),
    Shape("transpose", "transpose %x perm [2, 0, 1] : tensor<2x3x4xf64> -> tensor<4x2x3xf64>", "tensor<2x3x4xf64>",
          "tensor<4x2x3xf64>"),
    Shape("slice", "slice %x begin [0, 1] size [-1, 2] : tensor<?x4xf64> -> tensor<?x2xf64>", "tensor<?x4xf64>",
          "tensor<?x2xf64>"),
    Shape("pad", "pad %x low [0, 1] high [0, 2] value 3.0 : tensor<?x2xf64> -> tensor<?x5xf64>", "tensor<?x2xf64>",
          "tensor<?x5xf64>"),
    Shape("concat", "concat %x, %x2 axis 1 : (tensor<?x2xf64>, tensor<?x3xf64>) -> tensor<?x5xf64>", "tensor<?x2xf64>",
          "tensor<?x5xf64>", ", %x2: tensor<?x3xf64>"),
    Shape("gather", "gather %x, %i : (tensor<3x2xf64>, tensor<?x4xi64>) -> tensor<?x4x2xf64>", "tensor<3x2xf64>",
          "tensor<?x4x2xf64>", ", %i: tensor<?x4xi64>"),
    Shape("scatter_add", "scatter_add %x, %i : (tensor<?x2xf64>, tensor<?xi32>) -> tensor<3x2xf64>", "tensor<?x2xf64>",
          "tensor<3x2xf64>", ", %i: tensor<?xi32>"),
});

const bool kReduce = AddGradientCases({
    Shape("reduce", "reduce sum, %x axes [0] : tensor<?x3xf64> -> tensor<3xf64>", "tensor<?x3xf64>", "tensor<3xf64>"),
    Shape("reduce", "reduce sum, %x axes [1, 2] : tensor<?x2x3xf64> -> tensor<?xf64>", "tensor<?x2x3xf64>",
          "tensor<?xf64>"),
    Shape("reduce", "reduce max, %x axes [1] : tensor<?x3xf64> -> tensor<?xf64>", "tensor<?x3xf64>", "tensor<?xf64>"),
    Shape("reduce", "reduce max, %x axes [0] scope replica : tensor<?x3xf64> -> tensor<3xf64>", "tensor<?x3xf64>",
          "tensor<3xf64>"),
    Shape("reduce", "reduce min, %x axes [0, 1] : tensor<2x3xf64> -> tensor<f64>", "tensor<2x3xf64>", "tensor<f64>"),
});

}  // namespace
}  // namespace tandem
