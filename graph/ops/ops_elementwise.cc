#include "absl/strings/str_cat.h"
#include "graph/module/graph_module.h"
#include "graph/ops.h"
#include "graph/ops/ops_internal.h"

namespace tandem {

using internal::EmitOp;

#define TD_UNARY(Function, op) \
  Tensor Function(const Tensor& x, SourceLocation loc) { return EmitOp(op, {x}, {}, loc); }

TD_UNARY(Neg, "neg")
TD_UNARY(Abs, "abs")
TD_UNARY(Exp, "exp")
TD_UNARY(Log, "log")
TD_UNARY(Sqrt, "sqrt")
TD_UNARY(Rsqrt, "rsqrt")
TD_UNARY(Tanh, "tanh")
TD_UNARY(Sin, "sin")
TD_UNARY(Cos, "cos")
TD_UNARY(Sigmoid, "sigmoid")
TD_UNARY(Relu, "relu")
TD_UNARY(Erf, "erf")
TD_UNARY(Gelu, "gelu")
TD_UNARY(Sign, "sign")
TD_UNARY(Floor, "floor")
TD_UNARY(Not, "not")
TD_UNARY(IsFinite, "is_finite")
TD_UNARY(StopGradient, "stop_gradient")

#undef TD_UNARY

Tensor GeluTanh(const Tensor& x, SourceLocation loc) { return EmitOp("gelu", {x}, {{"approximate", true}}, loc); }

Tensor Square(const Tensor& x, SourceLocation loc) { return EmitOp("mul", {x, x}, {}, loc); }

Tensor Cast(const Tensor& x, DType dtype, SourceLocation loc) {
  if (x.ok() && x.dtype() == dtype) return x;
  if (x.ok() && dtype == DType::kBFloat16) {
    return x.graph()->FailAt("cast",
                             "cannot be to bfloat16: the compiler chooses where bfloat16 is used "
                             "(RunConfig.precision = mixed_bfloat16)",
                             loc);
  }
  if (x.ok() && dtype == DType::kString) return x.graph()->FailAt("cast", "cannot be to string", loc);
  return EmitOp("cast", {x}, {{"dtype", dtype}}, loc);
}

namespace {

Tensor EmitBinary(absl::string_view op, Tensor x, Tensor y, const Attrs& attrs, SourceLocation loc) {
  GraphBuilder* graph = internal::GraphOf({x, y});
  // All comparisons are the same op; its display name tells which.
  const std::string name = op == "compare" ? internal::OpDisplayName(op, attrs) : std::string(op);
  if (graph == nullptr) return internal::WithoutGraph(name, {x, y}, loc);
  if (x.ok() && y.ok() && x.graph() == y.graph() && x.dtype() != y.dtype()) {
    return graph->FailAt(name,
                         absl::StrCat("operands are ", Name(x.dtype()), " ", ShapeString(x.shape()), " and ",
                                      Name(y.dtype()), " ", ShapeString(y.shape()), "; Cast one of them"),
                         loc);
  }
  if (!internal::BroadcastTogether(name, &x, &y, loc)) return graph->Poisoned();
  return EmitOp(op, {x, y}, attrs, loc);
}

}  // namespace

#define TD_BINARY(Function, op, ...)                                      \
  Tensor Function(const Tensor& x, const Tensor& y, SourceLocation loc) { \
    return EmitBinary(op, x, y, {__VA_ARGS__}, loc);                      \
  }
using P = std::pair<std::string, Attr>;

TD_BINARY(Add, "add")
TD_BINARY(Sub, "sub")
TD_BINARY(Mul, "mul")
TD_BINARY(Div, "div")
TD_BINARY(Maximum, "max")
TD_BINARY(Minimum, "min")
TD_BINARY(Pow, "pow")
TD_BINARY(And, "and")
TD_BINARY(Or, "or")
TD_BINARY(Equal, "compare", P("predicate", std::string("eq")))
TD_BINARY(NotEqual, "compare", P("predicate", std::string("ne")))
TD_BINARY(Less, "compare", P("predicate", std::string("lt")))
TD_BINARY(LessEqual, "compare", P("predicate", std::string("le")))
TD_BINARY(Greater, "compare", P("predicate", std::string("gt")))
TD_BINARY(GreaterEqual, "compare", P("predicate", std::string("ge")))

#undef TD_BINARY
// `name` is the op's name in errors.
#define TD_BINARY(Function, name)                                  \
  Tensor Function(const Tensor& x, double y, SourceLocation loc) { \
    if (!x.ok()) return Function(x, x, loc);                       \
    Tensor number = internal::NumberLike(name, x, y, loc);         \
    return number.ok() ? Function(x, number, loc) : number;        \
  }

TD_BINARY(Add, "add")
TD_BINARY(Sub, "sub")
TD_BINARY(Mul, "mul")
TD_BINARY(Div, "div")
TD_BINARY(Pow, "pow")
TD_BINARY(Maximum, "max")
TD_BINARY(Minimum, "min")
TD_BINARY(Equal, "equal")
TD_BINARY(NotEqual, "not_equal")
TD_BINARY(Less, "less")
TD_BINARY(LessEqual, "less_equal")
TD_BINARY(Greater, "greater")
TD_BINARY(GreaterEqual, "greater_equal")

#undef TD_BINARY
#define TD_NUMBER_FIRST(Function, name)                            \
  Tensor Function(double x, const Tensor& y, SourceLocation loc) { \
    if (!y.ok()) return Function(y, y, loc);                       \
    Tensor number = internal::NumberLike(name, y, x, loc);         \
    return number.ok() ? Function(number, y, loc) : number;        \
  }

TD_NUMBER_FIRST(Sub, "sub")
TD_NUMBER_FIRST(Div, "div")
TD_NUMBER_FIRST(Pow, "pow")

#undef TD_NUMBER_FIRST

Tensor Select(const Tensor& condition, const Tensor& x, const Tensor& y, SourceLocation loc) {
  Tensor c = condition, a = x, b = y;
  GraphBuilder* graph = internal::GraphOf({c, a, b});
  if (graph == nullptr) return internal::WithoutGraph("select", {c, a, b}, loc);
  if (c.ok() && c.dtype() != DType::kBool) {
    return c.graph()->FailAt("select", absl::StrCat("the condition is ", Name(c.dtype()), ", not bool"), loc);
  }
  if (a.ok() && b.ok() && a.dtype() != b.dtype()) {
    return a.graph()->FailAt(
        "select", absl::StrCat("values are ", Name(a.dtype()), " and ", Name(b.dtype()), "; Cast one of them"), loc);
  }
  // Brings all three operands to one shape in three calls: the third gives y the shape that the second has found.
  if (!internal::BroadcastTogether("select", &a, &b, loc) || !internal::BroadcastTogether("select", &c, &a, loc) ||
      !internal::BroadcastTogether("select", &a, &b, loc)) {
    return graph->Poisoned();
  }
  return EmitOp("select", {c, a, b}, {}, loc);
}

}  // namespace tandem
