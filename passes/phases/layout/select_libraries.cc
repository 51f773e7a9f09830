// td-select-libraries, as Passes.td describes it.
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/ir/binary.h"
#include "graph/ir/shape.h"
#include "graph/ir/unary.h"
#include "passes/base/channel_bias.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/base/unsupported.h"
#include "passes/contraction/choice.h"
#include "passes/contraction/epilogue.h"
#include "passes/contraction/measure_step.h"
#include "passes/contraction/residual.h"
#include "passes/exec/dialect.h"
#include "passes/exec/library_call.h"
#include "passes/target/target.h"
#include "runtime/library_calls/library_call.h"

namespace tandem {

#define GEN_PASS_DEF_SELECTLIBRARIESPASS
#include "passes/passes.h.inc"

namespace {

// Returns the sizes of `v` with `rows` in place of the batch.
std::vector<int64_t> ShapeWithRows(mlir::Value v, int64_t rows) {
  Shape shape = td::ToShape(v.getType());
  if (!shape.empty() && shape[0] == kBatch) shape[0] = rows;
  return shape;
}

DType DTypeOf(mlir::Value v) { return td::ToDType(mlir::getElementTypeOrSelf(v.getType())); }

// Returns the float32 value that `v`, a bfloat16, is cast from; `v` itself when it is float32; else null. If `v` is an
// argument of a map's body, the value that it is cast from may become another argument.
mlir::Value InFloat32(mlir::Value v) {
  if (mlir::getElementTypeOrSelf(v.getType()).isF32()) return v;
  if (auto cast = v.getDefiningOp<td::CastOp>()) {
    mlir::Value from = cast.getInput();
    return mlir::getElementTypeOrSelf(from.getType()).isF32() ? from : mlir::Value();
  }
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(v);
  auto map = argument ? mlir::dyn_cast<exec::MapMicrobatchesOp>(argument.getOwner()->getParentOp())
                      : exec::MapMicrobatchesOp();
  if (!map) return {};
  mlir::Value outside = InFloat32(map.getOperand(argument.getArgNumber()));
  if (!outside) return {};
  for (auto [i, operand] : llvm::enumerate(map.getOperands())) {
    if (operand == outside) return map.getBody().front().getArgument(i);
  }
  map.getOperandsMutable().append(outside);
  return map.getBody().front().addArgument(outside.getType(), outside.getLoc());
}

class SelectLibrariesPass : public impl::SelectLibrariesPassBase<SelectLibrariesPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    absl::StatusOr<MachineModel> machine = MachineModelOf(getOperation());
    if (!machine.ok()) {
      getOperation()->emitError() << std::string(machine.status().message());
      return signalPassFailure();
    }
    machine_ = *machine;
    target_ = TargetOf(getOperation());
    llvm::SmallVector<td::LibraryOp> ops;
    step.walk([&](td::LibraryOp op) { ops.push_back(op); });
    for (td::LibraryOp op : ops) {
      if (mlir::failed(Select(op))) return signalPassFailure();
    }
    for (auto map : step.getOps<exec::MapMicrobatchesOp>()) EraseUnusedOperands(map);
  }

 private:
  static int64_t RowsOf(mlir::Operation* op) {
    auto map = op->getParentOfType<exec::MapMicrobatchesOp>();
    return map ? map.getMicrobatchRows() : 1;
  }

  static format::Conv2D ConvolutionOf(format::Direction direction, const td::LibraryCallSpec& spec, int64_t rows) {
    format::Conv2D conv;
    conv.direction = direction;
    conv.x_shape = ShapeWithRows(spec.x, rows);
    conv.kernel_shape = ShapeWithRows(spec.kernel, rows);
    conv.y_shape = ShapeWithRows(spec.y, rows);
    conv.x_dtype = DTypeOf(spec.x);
    conv.kernel_dtype = DTypeOf(spec.kernel);
    conv.y_dtype = DTypeOf(spec.y);
    conv.strides.assign(spec.strides.begin(), spec.strides.end());
    conv.pad_low.assign(spec.pad_low.begin(), spec.pad_low.end());
    conv.pad_high.assign(spec.pad_high.begin(), spec.pad_high.end());
    return conv;
  }

  // Returns a MatMul or BatchMatMul with the fields that both have.
  template <typename Table>
  static Table ProductOf(const td::LibraryCallSpec& spec, int64_t rows) {
    Table product;
    product.a_shape = ShapeWithRows(spec.x, rows);
    product.b_shape = ShapeWithRows(spec.kernel, rows);
    product.y_shape = ShapeWithRows(spec.y, rows);
    product.a_dtype = DTypeOf(spec.x);
    product.b_dtype = DTypeOf(spec.kernel);
    product.y_dtype = DTypeOf(spec.y);
    product.transpose_a = spec.transpose_a;
    product.transpose_b = spec.transpose_b;
    return product;
  }

  static format::LibraryOperation OperationOf(const td::LibraryCallSpec& spec, int64_t rows) {
    switch (spec.primitive) {
      case td::LibraryPrimitive::kConv2D:
        return ConvolutionOf(format::Direction::kForward, spec, rows);
      case td::LibraryPrimitive::kConv2DInputGrad:
        return ConvolutionOf(format::Direction::kInputGrad, spec, rows);
      case td::LibraryPrimitive::kConv2DFilterGrad:
        return ConvolutionOf(format::Direction::kFilterGrad, spec, rows);
      case td::LibraryPrimitive::kMatMul: {
        auto product = ProductOf<format::MatMul>(spec, rows);
        product.reduces_batch = spec.reduces_batch;
        return product;
      }
      case td::LibraryPrimitive::kBatchMatMul: {
        auto product = ProductOf<format::BatchMatMul>(spec, rows);
        product.swap_a = spec.swap_x;
        product.swap_b = spec.swap_kernel;
        product.swap_y = spec.swap_y;
        return product;
      }
    }
    return {};
  }

  // Returns the call for a full microbatch, without epilogue and packing.
  format::LibraryCall CallOf(mlir::Operation* op, const td::LibraryCallSpec& spec) const {
    format::LibraryCall call;
    call.operation = OperationOf(spec, RowsOf(op));
    const auto is_float32 = [](mlir::Value v) { return DTypeOf(v) == DType::kFloat32; };
    call.tf32 = target_->has_tf32() && ConfigOf(op->getParentOfType<mlir::ModuleOp>()).getTf32() &&
                is_float32(spec.x) && is_float32(spec.kernel);
    return call;
  }

  // Returns the operands of a call in the order of its operation's table.
  static llvm::SmallVector<mlir::Value> OperandsOf(const td::LibraryCallSpec& spec) {
    if (spec.primitive == td::LibraryPrimitive::kConv2DInputGrad) return {spec.y, spec.kernel};
    if (spec.primitive == td::LibraryPrimitive::kConv2DFilterGrad) return {spec.x, spec.y};
    return {spec.x, spec.kernel};
  }

  mlir::LogicalResult Select(td::LibraryOp op) {
    if (IsChosen(op, exec::Algorithm::kGeneratedLoop)) {
      RemoveChoice(op);
      return mlir::success();
    }
    td::LibraryCallSpec spec = op.getLibraryCallSpec();
    format::LibraryCall call = CallOf(op, spec);
    const std::optional<format::Algorithm> forced = ForcedAlgorithm(op, call);
    mlir::OpBuilder builder(op);
    llvm::SmallVector<mlir::Value> operands = OperandsOf(spec);
    EpilogueOps epilogue;
    epilogue.ops = {op};
    if (spec.takes_epilogue) epilogue = TakeEpilogue(op, forced, call, operands);
    mlir::Operation* last = epilogue.last();
    builder.setInsertionPoint(last);
    if (spec.weights >= 0) {
      absl::StatusOr<mlir::Value> packed = Pack(op, operands[spec.weights], forced, call);
      if (!packed.ok()) return Unsupported(op, packed.status());
      operands[spec.weights] = *packed;
    }
    if (absl::Status s = target_->ChooseAlgorithm(call, machine_, forced); !s.ok()) return Unsupported(op, s);
    exec::LibraryCallOp library =
        BuildLibraryCall(builder, last->getLoc(), last->getResult(0).getType(), call, operands);
    ReplaceAll(epilogue, library->getResult(0));
    return mlir::success();
  }

  // Returns the algorithm of library calls that TANDEM_FLAGS asks for, if it can compute the call or if the flag names
  // exactly this op (then an algorithm that cannot is an error).
  std::optional<format::Algorithm> ForcedAlgorithm(mlir::Operation* op, format::LibraryCall call) const {
    const Override wanted = OverrideOf(op, ConfigOf(op->getParentOfType<mlir::ModuleOp>()));
    if (!wanted.choice || wanted.choice.getAlgorithm() >= format::Algorithm::kFusedProduct) return {};
    const auto algorithm = wanted.choice.getAlgorithm();
    return wanted.exact || target_->ChooseAlgorithm(call, machine_, algorithm).ok() ? std::optional(algorithm)
                                                                                    : std::nullopt;
  }

  // Takes bias, residual and relu behind `op` into the call. A relu without bias and residual stays with the ops around
  // it.
  EpilogueOps TakeEpilogue(mlir::Operation* op, std::optional<format::Algorithm> forced, format::LibraryCall& call,
                           llvm::SmallVector<mlir::Value>& operands) const {
    const bool adds = !forced || *forced == format::Algorithm::kLibrary;
    format::Epilogue parts;
    EpilogueOps epilogue = EpilogueOf(
        op,
        [&](mlir::Value bias) {
          // A library that adds the bias to float32 sums takes it in float32, before it is rounded.
          mlir::Value taken = target_->has_float32_biases() ? InFloat32(bias) : bias;
          parts.bias = taken != nullptr;
          SetEpilogue(call, parts);
          return taken;
        },
        [&](td::AddOp add, mlir::Value residual) {
          return adds && IsWritten(add) && DiesAt(residual, add, op) && target_->AddsResidual(call, machine_);
        },
        /*takes_relu_alone=*/false);
    if (epilogue.bias) operands.push_back(epilogue.bias);
    if (epilogue.residual) operands.push_back(epilogue.residual);
    parts.residual = epilogue.residual != nullptr;
    if (epilogue.relu) parts.activation = format::Activation::kRelu;
    SetEpilogue(call, parts);
    return epilogue;
  }

  // True if a call may write the result of `add`, or of the relu behind it, over the residual. Not so for values that a
  // map yields, which have places of their own.
  static bool IsWritten(td::AddOp add) {
    mlir::Value y = add->getResult(0);
    if (auto relu = mlir::dyn_cast_or_null<td::ReluOp>(OnlyUser(y))) y = relu->getResult(0);
    return !llvm::is_contained(y.getUsers(), add->getBlock()->getTerminator());
  }

  static mlir::LogicalResult Unsupported(mlir::Operation* op, const absl::Status& status) {
    const auto is_double = [](mlir::Type type) { return mlir::getElementTypeOrSelf(type).isF64(); };
    if (llvm::any_of(op->getOperandTypes(), is_double)) {
      MarkUnsupported(op);
      return op->emitError() << "float64 has no convolutions and matrix products; Cast the operands to float32";
    }
    return op->emitError() << "cannot be given to the kernel library: " << std::string(status.message());
  }

  // Returns the weights in the library's layout, packed once at the top of the step; the weights themselves where
  // packing gains nothing.
  absl::StatusOr<mlir::Value> Pack(mlir::Operation* op, mlir::Value weights, std::optional<format::Algorithm> forced,
                                   format::LibraryCall& call) {
    auto map = op->getParentOfType<exec::MapMicrobatchesOp>();
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(weights);
    if (!map || !argument) return weights;
    TD_ASSIGN_OR_RETURN(std::optional<WeightsPacking> packing, target_->PackingOf(call, machine_, forced));
    if (!packing) return weights;
    SetPacked(call, true);
    auto type = mlir::RankedTensorType::get({static_cast<int64_t>(packing->bytes + 3) / 4},
                                            mlir::Float32Type::get(&getContext()));
    mlir::Value plain = map.getOperand(argument.getArgNumber());
    // Packing rounds the float32 weights in the same pass over them.
    if (mlir::Value exact = InFloat32(plain)) {
      plain = exact;
      packing->call.operation.As<format::PackWeights>()->plain_dtype = DType::kFloat32;
    }
    TD_RETURN_IF_ERROR(target_->ChooseAlgorithm(packing->call, machine_));
    mlir::OpBuilder builder = BehindValue(map, plain);
    auto packed = BuildLibraryCall(builder, op->getLoc(), type, packing->call, plain);
    map.getOperandsMutable().append(packed->getResult(0));
    return map.getBody().front().addArgument(type, op->getLoc());
  }

  MachineModel machine_;
  std::shared_ptr<const Target> target_;
};

}  // namespace

}  // namespace tandem
