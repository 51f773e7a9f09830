// Makes library calls of ops, with their epilogues and packed weights.
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/ir/binary.h"
#include "graph/ir/shape.h"
#include "graph/ir/unary.h"
#include "passes/base/channel_bias.h"
#include "passes/base/pass_util.h"
#include "passes/base/unsupported.h"
#include "passes/contraction/choice.h"
#include "passes/contraction/epilogue.h"
#include "passes/contraction/library_calls.h"
#include "passes/contraction/residual.h"
#include "passes/exec/dialect.h"
#include "passes/exec/library_call.h"
#include "runtime/library_calls/library_call.h"

namespace tandem {

namespace {

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

class CallLowering {
 public:
  explicit CallLowering(const Contraction& contraction)
      : c_(contraction),
        op_(c_.op),
        spec_(c_.spec),
        calls_(c_.target, c_.machine),
        map_(op_->getParentOfType<exec::MapMicrobatchesOp>()),
        rows_(map_ ? static_cast<int64_t>(map_.getMicrobatchRows()) : 1) {}

  mlir::LogicalResult Run() {
    format::LibraryCall call = PlainCall();
    const std::optional<format::Algorithm> forced = ForcedAlgorithm(call);
    llvm::SmallVector<mlir::Value> operands = Operands();
    EpilogueOps epilogue;
    epilogue.ops = {op_};
    if (spec_.takes_epilogue) epilogue = TakeEpilogue(forced, call, operands);
    mlir::Operation* last = epilogue.last();
    if (spec_.weights >= 0) {
      absl::StatusOr<mlir::Value> packed = Pack(operands[spec_.weights], forced, call);
      if (!packed.ok()) return Unsupported(packed.status());
      operands[spec_.weights] = *packed;
    }
    if (absl::Status s = calls_.Choose(call, forced); !s.ok()) return Unsupported(s);
    mlir::OpBuilder builder(last);
    exec::LibraryCallOp library =
        BuildLibraryCall(builder, last->getLoc(), last->getResult(0).getType(), call, operands);
    ReplaceAll(epilogue, library->getResult(0));
    return mlir::success();
  }

 private:
  // Returns the sizes of `v` with a microbatch's rows in place of the batch.
  std::vector<int64_t> ShapeOf(mlir::Value v) const {
    Shape shape = td::ToShape(v.getType());
    if (!shape.empty() && shape[0] == kBatch) shape[0] = rows_;
    return shape;
  }

  format::Conv2D Convolution(format::Direction direction) const {
    format::Conv2D conv;
    conv.direction = direction;
    conv.x_shape = ShapeOf(spec_.x);
    conv.kernel_shape = ShapeOf(spec_.kernel);
    conv.y_shape = ShapeOf(spec_.y);
    conv.x_dtype = DTypeOf(spec_.x);
    conv.kernel_dtype = DTypeOf(spec_.kernel);
    conv.y_dtype = DTypeOf(spec_.y);
    conv.strides.assign(spec_.strides.begin(), spec_.strides.end());
    conv.pad_low.assign(spec_.pad_low.begin(), spec_.pad_low.end());
    conv.pad_high.assign(spec_.pad_high.begin(), spec_.pad_high.end());
    return conv;
  }

  // Returns a MatMul or BatchMatMul with the fields that both have.
  template <typename Table>
  Table Product() const {
    Table product;
    product.a_shape = ShapeOf(spec_.x);
    product.b_shape = ShapeOf(spec_.kernel);
    product.y_shape = ShapeOf(spec_.y);
    product.a_dtype = DTypeOf(spec_.x);
    product.b_dtype = DTypeOf(spec_.kernel);
    product.y_dtype = DTypeOf(spec_.y);
    product.transpose_a = spec_.transpose_a;
    product.transpose_b = spec_.transpose_b;
    return product;
  }

  format::LibraryOperation Operation() const {
    switch (spec_.primitive) {
      case td::LibraryPrimitive::kConv2D:
        return Convolution(format::Direction::kForward);
      case td::LibraryPrimitive::kConv2DInputGrad:
        return Convolution(format::Direction::kInputGrad);
      case td::LibraryPrimitive::kConv2DFilterGrad:
        return Convolution(format::Direction::kFilterGrad);
      case td::LibraryPrimitive::kMatMul: {
        auto product = Product<format::MatMul>();
        product.reduces_batch = spec_.reduces_batch;
        return product;
      }
      case td::LibraryPrimitive::kBatchMatMul: {
        auto product = Product<format::BatchMatMul>();
        product.swap_a = spec_.swap_x;
        product.swap_b = spec_.swap_kernel;
        product.swap_y = spec_.swap_y;
        return product;
      }
    }
    return {};
  }

  // Returns the call for a full microbatch, without epilogue and packing.
  format::LibraryCall PlainCall() const {
    format::LibraryCall call;
    call.operation = Operation();
    const auto is_float32 = [](mlir::Value v) { return DTypeOf(v) == DType::kFloat32; };
    call.tf32 = c_.target.has_tf32() && c_.config.getTf32() && is_float32(spec_.x) && is_float32(spec_.kernel);
    return call;
  }

  // Returns the operands of a call in the order of its operation's table.
  llvm::SmallVector<mlir::Value> Operands() const {
    if (spec_.primitive == td::LibraryPrimitive::kConv2DInputGrad) return {spec_.y, spec_.kernel};
    if (spec_.primitive == td::LibraryPrimitive::kConv2DFilterGrad) return {spec_.x, spec_.y};
    return {spec_.x, spec_.kernel};
  }

  // Returns the algorithm of library calls that TANDEM_FLAGS asks for, if it can compute the call or if the flag names
  // exactly this op (then an algorithm that cannot is an error).
  std::optional<format::Algorithm> ForcedAlgorithm(format::LibraryCall call) const {
    const Override wanted = OverrideOf(op_, c_.config);
    if (!wanted.choice || CandidateFor(wanted.choice.getAlgorithm()).weigh_call == nullptr) return {};
    const auto algorithm = wanted.choice.getAlgorithm();
    return wanted.exact || calls_.Choose(call, algorithm).ok() ? std::optional(algorithm) : std::nullopt;
  }

  // Makes the bias, residual and relu that follow the op part of the call. A relu without bias and residual is left to
  // generated kernels.
  EpilogueOps TakeEpilogue(std::optional<format::Algorithm> forced, format::LibraryCall& call,
                           llvm::SmallVector<mlir::Value>& operands) const {
    const bool adds = !forced || *forced == format::Algorithm::kLibrary;
    format::Epilogue parts;
    EpilogueOps epilogue = EpilogueOf(
        op_,
        [&](mlir::Value bias) {
          // A library that adds biases to its float32 sums reads them in float32, before they are rounded.
          mlir::Value taken = c_.target.has_float32_biases() ? InFloat32(bias) : bias;
          parts.bias = taken != nullptr;
          SetEpilogue(call, parts);
          return taken;
        },
        [&](td::AddOp add, mlir::Value residual) {
          return adds && IsWritten(add) && DiesAt(residual, add, op_) && calls_.AddsResidual(call);
        },
        /*takes_relu_alone=*/false);
    if (epilogue.bias) operands.push_back(epilogue.bias);
    if (epilogue.residual) operands.push_back(epilogue.residual);
    parts.residual = epilogue.residual != nullptr;
    if (epilogue.relu) parts.activation = format::Activation::kRelu;
    SetEpilogue(call, parts);
    return epilogue;
  }

  // True if a call may write the result of `add`, or of the relu that follows it, over the residual. False for values
  // that a map yields, since these have memory of their own.
  static bool IsWritten(td::AddOp add) {
    mlir::Value y = add->getResult(0);
    if (auto relu = mlir::dyn_cast_or_null<td::ReluOp>(OnlyUser(y))) y = relu->getResult(0);
    return !llvm::is_contained(y.getUsers(), add->getBlock()->getTerminator());
  }

  mlir::LogicalResult Unsupported(const absl::Status& status) const {
    const auto is_double = [](mlir::Type type) { return mlir::getElementTypeOrSelf(type).isF64(); };
    if (llvm::any_of(op_->getOperandTypes(), is_double)) {
      MarkUnsupported(op_);
      return op_->emitError() << "float64 has no convolutions and matrix products; Cast the operands to float32";
    }
    return op_->emitError() << "cannot be given to the kernel library: " << std::string(status.message());
  }

  // Returns the weights in the library's layout, packed once at the top of the step; the weights themselves where
  // packing gains nothing.
  absl::StatusOr<mlir::Value> Pack(mlir::Value weights, std::optional<format::Algorithm> forced,
                                   format::LibraryCall& call) const {
    exec::MapMicrobatchesOp map = map_;
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(weights);
    if (!map || !argument) return weights;
    TD_ASSIGN_OR_RETURN(std::optional<WeightsPacking> packing, calls_.PackingOf(call, forced));
    if (!packing) return weights;
    SetPacked(call, true);
    auto type = mlir::RankedTensorType::get({static_cast<int64_t>(packing->bytes + 3) / 4},
                                            mlir::Float32Type::get(op_->getContext()));
    mlir::Value plain = map.getOperand(argument.getArgNumber());
    // If the weights are a rounded copy of float32 weights, packing reads the float32 numbers and rounds them itself.
    if (mlir::Value exact = InFloat32(plain)) {
      plain = exact;
      packing->call.operation.As<format::PackWeights>()->plain_dtype = DType::kFloat32;
    }
    TD_RETURN_IF_ERROR(calls_.Choose(packing->call));
    mlir::OpBuilder builder = BehindValue(map, plain);
    auto packed = BuildLibraryCall(builder, op_->getLoc(), type, packing->call, plain);
    map.getOperandsMutable().append(packed->getResult(0));
    return map.getBody().front().addArgument(type, op_->getLoc());
  }

  const Contraction& c_;
  mlir::Operation* op_;
  const td::LibraryCallSpec& spec_;
  const LibraryCalls calls_;
  exec::MapMicrobatchesOp map_;  // the map (loop over microbatches) around the op; null for an op outside of maps
  const int64_t rows_;           // rows of a microbatch
};

}  // namespace

mlir::LogicalResult LowerToCall(const Contraction& c, exec::ContractionAttr) { return CallLowering(c).Run(); }

}  // namespace tandem
