// Elementwise ops with one operand.
include "graph/ir/td_base.td"

// `expr` is the reference value of an element x, in double.
class Td_UnaryOp<string mnemonic, string expr, list<Trait> traits = []>
    : Td_ElementwiseOp<mnemonic, traits # [DeclareOpInterfaceMethods<Td_GradientOp>]> {
  let reference = "for (size_t i = 0; i < r.values.size(); ++i) { double x = operands[0]->values[i]; r.values[i] = " #
                  expr # "; }";
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

class Td_FloatUnaryOp<string mnemonic, string expr> : Td_UnaryOp<mnemonic, expr, [SameOperandsAndResultType]> {
  let arguments = (ins Td_FloatTensor:$input);
  let results = (outs Td_FloatTensor:$output);
}

class Td_NumericUnaryOp<string mnemonic, string expr> : Td_UnaryOp<mnemonic, expr, [SameOperandsAndResultType]> {
  let arguments = (ins Td_NumericTensor:$input);
  let results = (outs Td_NumericTensor:$output);
}

def Td_NegOp : Td_NumericUnaryOp<"neg", "-x"> {
  let precision = "kClear";
  let summary = "-x";
  let description = "```mlir\n%y = td.neg %x : tensor<?x3xf32>\n```";
  let hasFolder = 1;
}

def Td_AbsOp : Td_NumericUnaryOp<"abs", "std::fabs(x)"> {
  let precision = "kClear";
  let summary = "|x|";
  let description = "The gradient at 0 is 0.";
}

def Td_SignOp : Td_NumericUnaryOp<"sign", "(x > 0 ? 1.0 : x < 0 ? -1.0 : x)"> {
  let precision = "kClear";
  let summary = "-1, 0 or 1; NaN stays NaN";
  let description = "Its gradient is zero.";
}

def Td_ExpOp : Td_FloatUnaryOp<"exp", "std::exp(x)"> {
  let precision = "kDeny";
  let summary = "e to the power x";
}

def Td_LogOp : Td_FloatUnaryOp<"log", "std::log(x)"> {
  let precision = "kDeny";
  let summary = "natural logarithm";
  let description = "-inf at 0, NaN below. A number below the smallest normal one may count as that.";
}

def Td_SqrtOp : Td_FloatUnaryOp<"sqrt", "std::sqrt(x)"> {
  let precision = "kDeny";
  let summary = "square root";
  let description = "NaN below 0. The gradient at 0 is infinite.";
}

def Td_RsqrtOp : Td_FloatUnaryOp<"rsqrt", "1.0 / std::sqrt(x)"> {
  let precision = "kDeny";
  let summary = "1 / sqrt(x)";
}

def Td_TanhOp : Td_FloatUnaryOp<"tanh", "std::tanh(x)"> {
  let summary = "hyperbolic tangent";
}

def Td_SinOp : Td_FloatUnaryOp<"sin", "std::sin(x)"> {
  let precision = "kDeny";
  let summary = "sine of an angle in radians";
  let description = "NaN where x is infinite. Beyond |x| = 2^45 any number from -1 to 1.";
}

def Td_CosOp : Td_FloatUnaryOp<"cos", "std::cos(x)"> {
  let precision = "kDeny";
  let summary = "cosine of an angle in radians";
  let description = "As for sin where x is large.";
}

def Td_SigmoidOp : Td_FloatUnaryOp<"sigmoid", "1.0 / (1.0 + std::exp(-x))"> {
  let summary = "1 / (1 + exp(-x))";
}

def Td_ReluOp : Td_FloatUnaryOp<"relu", "(x < 0 ? 0.0 : x)"> {
  let precision = "kClear";
  let summary = "max(x, 0)";
  let description = "NaN stays NaN. The gradient at 0 is 0.";
  let hasFolder = 1;
}

def Td_FloorOp : Td_FloatUnaryOp<"floor", "std::floor(x)"> {
  let precision = "kDeny";
  let summary = "largest whole number that is not above x";
  let description = "Its gradient is zero.";
}

def Td_StopGradientOp : Td_UnaryOp<"stop_gradient", "x", [SameOperandsAndResultType]> {
  let precision = "kClear";
  let summary = "x, without a gradient";
  let description = "Gradients are built before any folding, so that folding it away is safe.";
  let arguments = (ins Td_Tensor:$input);
  let results = (outs Td_Tensor:$output);
  let hasFolder = 1;
}

// No gradient: results or operands are not floating-point numbers.

def Td_NotOp : Td_ElementwiseOp<"not", [SameOperandsAndResultType]> {
  let precision = "kClear";
  let summary = "logical negation";
  let arguments = (ins Td_BoolTensor:$input);
  let results = (outs Td_BoolTensor:$output);
  let reference = "for (size_t i = 0; i < r.values.size(); ++i)\n  r.values[i] = operands[0]->values[i] == 0;";
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasFolder = 1;
}

def Td_IsFiniteOp : Td_ElementwiseOp<"is_finite", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let precision = "kDeny";
  let summary = "neither infinite nor NaN";
  let description = "```mlir\n%ok = td.is_finite %x : tensor<?xf32> -> tensor<?xi1>\n```";
  let arguments = (ins Td_FloatTensor:$input);
  let results = (outs Td_BoolTensor:$output);
  let reference = "for (size_t i = 0; i < r.values.size(); ++i)\n  r.values[i] = std::isfinite(operands[0]->values[i]);";
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
}

def Td_CastOp : Td_ElementwiseOp<"cast", [SameOperandsAndResultShape, DeclareOpInterfaceMethods<Td_GradientOp>]> {
  let precision = "kDeny";
  let summary = "the same numbers in another element type";
  let description = [{
    To an integer it rounds toward zero; to a boolean it is x != 0. Values that the type cannot hold give
    unspecified numbers. Between floating-point types it has a gradient.
    ```mlir
    %y = td.cast %x : tensor<?xui8> -> tensor<?xf32>
    ```
  }];
  let arguments = (ins Td_Tensor:$input);
  let results = (outs Td_Tensor:$output);
  let reference = [{
    mlir::Type to = mlir::getElementTypeOrSelf(getOutput().getType());
    for (size_t i = 0; i < r.values.size(); ++i) {
      double x = operands[0]->values[i];
      r.values[i] = to.isInteger(1) ? x != 0 : mlir::isa<mlir::FloatType>(to) ? x : std::trunc(x);
    }
  }];
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasFolder = 1;
}
