// Translates td.erf and td.gelu. StableHLO has neither: chlo.erf is of another dialect, which some readers lack.
#include <cmath>
#include <initializer_list>
#include <numbers>

#include "graph/ir/activation.h"
#include "passes/stablehlo/translators.h"
#include "passes/translation/refusals.h"

namespace tandem::stablehlo {
namespace {

// Short names for sums and products, with numbers as operands too.
class Arithmetic {
 public:
  Arithmetic(Emitter& emitter, mlir::Type type) : emitter_(emitter), type_(type) {}
  mlir::Value Number(double number) { return emitter_.Number(number, type_); }
  mlir::Value Add(mlir::Value x, mlir::Value y) { return emitter_.Same("add", {x, y}); }
  mlir::Value Mul(mlir::Value x, mlir::Value y) { return emitter_.Same("multiply", {x, y}); }
  mlir::Value Polynomial(mlir::Value x, std::initializer_list<double> highest_first) {
    mlir::Value value;
    for (const double c : highest_first) value = value ? Add(Mul(value, x), Number(c)) : Number(c);
    return value;
  }

 private:
  Emitter& emitter_;
  mlir::Type type_;
};

// Returns erf(x) as a quotient of polynomials, with which Eigen and XLA compute it in float32; the relative error is
// below 5e-7. From 4 on erf is 1 in float32; NaN stays NaN.
mlir::Value Erf(mlir::Value x, Emitter& emit) {
  Arithmetic a(emit, x.getType());
  const mlir::Value limited = emit.Op("clamp", {a.Number(-4), x, a.Number(4)}, x.getType());
  const mlir::Value square = a.Mul(limited, limited);
  const mlir::Value above =
      a.Polynomial(square, {-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
                            -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02});
  const mlir::Value below = a.Polynomial(square, {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
                                                  -7.37332916720468e-03, -1.42647390514189e-02});
  return emit.Same("divide", {a.Mul(limited, above), below});
}

absl::Status CheckIsFloat32(mlir::Operation* op) {
  if (mlir::getElementTypeOrSelf(op->getResult(0).getType()).isF32()) return absl::OkStatus();
  return translation::HasNoForm(op, kFormat, "the error function is exported in float32 only; Cast the operand to it");
}

absl::StatusOr<mlir::Value> ErfOp(mlir::Operation* op, Lowering& lowering) {
  if (absl::Status s = CheckIsFloat32(op); !s.ok()) return s;
  return Erf(lowering.Get(op->getOperand(0)), lowering.emitter());
}

absl::StatusOr<mlir::Value> Gelu(mlir::Operation* op, Lowering& lowering) {
  Emitter& emit = lowering.emitter();
  const mlir::Value x = lowering.Get(op->getOperand(0));
  Arithmetic a(emit, x.getType());
  mlir::Value part;
  if (mlir::cast<td::GeluOp>(op).getApproximate()) {
    const mlir::Value slope = a.Add(a.Mul(a.Mul(x, x), a.Number(0.044715)), a.Number(1));
    part = emit.Same("tanh", a.Mul(a.Mul(x, slope), a.Number(std::sqrt(2 / std::numbers::pi))));
  } else {
    if (absl::Status s = CheckIsFloat32(op); !s.ok()) return s;
    part = Erf(a.Mul(x, a.Number(1 / std::numbers::sqrt2)), emit);
  }
  return a.Mul(a.Mul(x, a.Number(0.5)), a.Add(part, a.Number(1)));
}

}  // namespace

void AddActivations(TranslatorTable& table) {
  table["td.erf"] = ErfOp;
  table["td.gelu"] = Gelu;
}

}  // namespace tandem::stablehlo
