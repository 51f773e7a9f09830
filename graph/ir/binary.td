// Elementwise ops with two operands of one type (and select). Shapes do not broadcast here: the builder inserts
// td.broadcast.
include "graph/ir/attributes.td"
include "graph/ir/td_base.td"

// `expr` is the reference value of elements x and y, in double.
class Td_BinaryOp<string mnemonic, string expr, list<Trait> traits = []>
    : Td_ElementwiseOp<mnemonic, traits # [SameOperandsAndResultType, DeclareOpInterfaceMethods<Td_GradientOp>]> {
  let reference = "for (size_t i = 0; i < r.values.size(); ++i) { double x = operands[0]->values[i], y = operands[1]->values[i]; r.values[i] = " #
                  expr # "; }";
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

class Td_NumericBinaryOp<string mnemonic, string expr, list<Trait> traits = []>
    : Td_BinaryOp<mnemonic, expr, traits> {
  let arguments = (ins Td_NumericTensor:$lhs, Td_NumericTensor:$rhs);
  let results = (outs Td_NumericTensor:$output);
}

class Td_FloatBinaryOp<string mnemonic, string expr> : Td_BinaryOp<mnemonic, expr> {
  let arguments = (ins Td_FloatTensor:$lhs, Td_FloatTensor:$rhs);
  let results = (outs Td_FloatTensor:$output);
}

def Td_AddOp : Td_NumericBinaryOp<"add", "x + y", [Commutative]> {
  let summary = "x + y";
  let description = "```mlir\n%z = td.add %x, %y : tensor<?x3xf32>\n```";
  let hasFolder = 1;
}

def Td_SubOp : Td_NumericBinaryOp<"sub", "x - y"> {
  let summary = "x - y";
  let hasFolder = 1;
}

def Td_MulOp : Td_NumericBinaryOp<"mul", "x * y", [Commutative]> {
  let summary = "x * y";
  let hasFolder = 1;
}

def Td_DivOp : Td_FloatBinaryOp<"div", "x / y"> {
  let summary = "x / y, of floating-point numbers";
  let hasFolder = 1;
}

def Td_MaxOp : Td_NumericBinaryOp<"max", "(x != x || x >= y ? x : y)", [Commutative]> {
  let precision = "kClear";
  let summary = "the larger of x and y; NaN if either is NaN";
  let description = "The gradient goes to the larger operand, to x where both are equal.";
  let hasFolder = 1;
}

def Td_MinOp : Td_NumericBinaryOp<"min", "(x != x || x <= y ? x : y)", [Commutative]> {
  let precision = "kClear";
  let summary = "the smaller of x and y; NaN if either is NaN";
  let description = "The gradient goes to the smaller operand, to x where both are equal.";
  let hasFolder = 1;
}

def Td_PowOp : Td_FloatBinaryOp<"pow", "std::pow(x, y)"> {
  let precision = "kDeny";
  let summary = "x to the power y";
  let description = "NaN where x < 0 and y is not whole. The gradient to x is 0 where y is 0, that to y where x <= 0.";
  let hasFolder = 1;
}

// No gradient.

def Td_AndOp : Td_ElementwiseOp<"and", [SameOperandsAndResultType, Commutative]> {
  let precision = "kClear";
  let summary = "logical and";
  let arguments = (ins Td_BoolTensor:$lhs, Td_BoolTensor:$rhs);
  let results = (outs Td_BoolTensor:$output);
  let reference = "for (size_t i = 0; i < r.values.size(); ++i)\n  r.values[i] = operands[0]->values[i] != 0 && operands[1]->values[i] != 0;";
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
  let hasFolder = 1;
}

def Td_OrOp : Td_ElementwiseOp<"or", [SameOperandsAndResultType, Commutative]> {
  let precision = "kClear";
  let summary = "logical or";
  let arguments = (ins Td_BoolTensor:$lhs, Td_BoolTensor:$rhs);
  let results = (outs Td_BoolTensor:$output);
  let reference = "for (size_t i = 0; i < r.values.size(); ++i)\n  r.values[i] = operands[0]->values[i] != 0 || operands[1]->values[i] != 0;";
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
  let hasFolder = 1;
}

def Td_CompareOp : Td_ElementwiseOp<"compare", [SameTypeOperands, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let precision = "kClear";
  let summary = "whether x and y stand in a relation";
  let description = [{
    `predicate` is eq, ne, lt, le, gt or ge. With a NaN only ne holds.
    ```mlir
    %m = td.compare lt, %x, %y : tensor<?x3xf32> -> tensor<?x3xi1>
    ```
  }];
  let arguments = (ins Td_ComparePredicateAttr:$predicate, Td_Tensor:$lhs, Td_Tensor:$rhs);
  let results = (outs Td_BoolTensor:$output);
  let reference = [{
    for (size_t i = 0; i < r.values.size(); ++i) {
      r.values[i] = Holds(getPredicate(), operands[0]->values[i], operands[1]->values[i]);
    }
  }];
  let assemblyFormat = "$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($output)";
}

def Td_SelectOp : Td_ElementwiseOp<"select", [
    AllTypesMatch<["lhs", "rhs", "output"]>, DeclareOpInterfaceMethods<Td_GradientOp>]> {
  let precision = "kClear";
  let summary = "x where the condition holds, else y";
  let description = "```mlir\n%z = td.select %c, %x, %y : tensor<?xi1>, tensor<?xf32>\n```";
  let arguments = (ins Td_BoolTensor:$condition, Td_Tensor:$lhs, Td_Tensor:$rhs);
  let results = (outs Td_Tensor:$output);
  let reference = [{
    for (size_t i = 0; i < r.values.size(); ++i) {
      r.values[i] = (operands[0]->values[i] != 0 ? operands[1] : operands[2])->values[i];
    }
  }];
  let assemblyFormat = "$condition `,` $lhs `,` $rhs attr-dict `:` type($condition) `,` type($lhs)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
