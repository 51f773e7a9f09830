// td-take-gpu-epilogues: makes GELU, gradients of activations and sums of columns epilogues of cuBLASLt's products
// (passes/Passes.td).
#include <optional>
#include <utility>

#include "graph/ir/activation.h"
#include "graph/ir/binary.h"
#include "graph/ir/build.h"
#include "graph/ir/reduce.h"
#include "graph/ir/shape.h"
#include "passes/base/channel_bias.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/exec/dialect.h"
#include "passes/exec/library_call.h"
#include "passes/target/target.h"
#include "runtime/library_calls/matmul.h"

namespace tandem {

#define GEN_PASS_DEF_TAKEGPUEPILOGUESPASS
#include "passes/passes.h.inc"

namespace {

// A call of a matrix product with its parameters.
struct Product {
  exec::LibraryCallOp op;
  format::MatMul call;

  mlir::Value y() const { return op->getResult(0); }
  bool OneType() const { return call.a_dtype == call.y_dtype; }
  bool Float32() const { return OneType() && call.a_dtype == DType::kFloat32; }
  // cuBLASLt needs rows of GELU's input whose length is a multiple of 16 bytes.
  bool TakesGeluInput() const { return OneType() && call.y_shape.back() % 8 == 0; }
};

std::optional<Product> AsProduct(mlir::Operation* op) {
  auto library = mlir::dyn_cast_or_null<exec::LibraryCallOp>(op);
  if (!library) return std::nullopt;
  const format::LibraryCall call = LibraryCallOf(library);
  const format::MatMul* product = call.operation.As<format::MatMul>();
  if (product == nullptr || product->packed) return std::nullopt;
  return Product{library, *product};
}

// Builds a call of the same product with the epilogue in `p`, and inserts it in front of `before`, which is the old
// call or an op behind it. The call's first result replaces all uses of `result`.
exec::LibraryCallOp Replace(const Product& p, mlir::Operation* before, mlir::Value result,
                            mlir::ValueRange more_operands, mlir::TypeRange more_results) {
  mlir::OpBuilder builder(before);
  exec::LibraryCallOp old = p.op;
  llvm::SmallVector<mlir::Value> operands(old->getOperands());
  operands.append(more_operands.begin(), more_operands.end());
  llvm::SmallVector<mlir::Type> types = {result.getType()};
  types.append(more_results.begin(), more_results.end());
  format::LibraryCall call = LibraryCallOf(old);
  call.operation = format::MatMul(p.call);
  exec::LibraryCallOp op = BuildLibraryCall(builder, result.getLoc(), types, call, operands);
  result.replaceAllUsesWith(op->getResult(0));
  return op;
}

// Makes a GELU that follows a product, or its bias, the product's epilogue.
void TakeGelu(Product p) {
  if (p.call.epilogue != format::Epilogue{.bias = p.call.epilogue.bias}) return;
  td::GeluOp gelu;
  for (mlir::Operation* user : p.y().getUsers()) {
    auto op = mlir::dyn_cast<td::GeluOp>(user);
    if (op && op.getApproximate() && op->getBlock() == p.op->getBlock()) gelu = op;
  }
  if (!gelu || !p.OneType()) return;
  p.call.epilogue.activation = format::Activation::kGelu;
  if (p.y().hasOneUse()) {
    Replace(p, p.op, gelu->getResult(0), {}, {});
  } else {
    auto is_call = [](mlir::Operation* user) { return mlir::isa<exec::LibraryCallOp>(user); };
    if (!p.TakesGeluInput() || !llvm::all_of(gelu->getUsers(), is_call)) return;
    p.call.epilogue.saves = true;
    exec::LibraryCallOp op = Replace(p, p.op, gelu->getResult(0), {}, p.y().getType());
    gelu->erase();
    p.y().replaceAllUsesWith(op->getResult(1));
    return p.op->erase();
  }
  gelu->erase();
  p.op->erase();
}

// If `user` is the gradient of a relu, a select that passes `d` where the relu was positive: returns the product that
// has that relu as its epilogue.
std::optional<Product> ReluOf(mlir::Operation* user, mlir::Value d) {
  auto select = mlir::dyn_cast<td::SelectOp>(user);
  if (!select || select->getOperand(1) != d || !td::IsSplat(select->getOperand(2), 0)) return std::nullopt;
  auto compare = select->getOperand(0).getDefiningOp<td::CompareOp>();
  if (!compare || compare.getPredicate() != td::ComparePredicate::kGt || !td::IsSplat(compare->getOperand(1), 0))
    return std::nullopt;
  std::optional<Product> relu = AsProduct(compare->getOperand(0).getDefiningOp());
  if (!relu || compare->getOperand(0) != relu->y()) return std::nullopt;
  const format::Epilogue& epilogue = relu->call.epilogue;
  if (!epilogue.relu() || epilogue.gradient || !relu->OneType()) return std::nullopt;
  // The product must come before the op that computes `d`, so that its own epilogue is final.
  mlir::Operation* behind = d.getDefiningOp();
  const bool in_front = behind->getBlock() == relu->op->getBlock() && relu->op->isBeforeInBlock(behind);
  return in_front && relu->op->getBlock() == user->getBlock() ? relu : std::nullopt;
}

// Returns the mask of a relu that is a product's epilogue. If the product does not save the mask yet, it is replaced by
// one that does.
mlir::Value MaskOf(Product relu) {
  if (relu.op->getNumResults() == 2) return relu.op->getResult(1);
  llvm::SmallVector<int64_t> shape(td::TypeOf(relu.y()).getShape());
  shape.back() = ReluMaskShape(relu.call.y_shape).back();
  const mlir::Type type = mlir::RankedTensorType::get(shape, td::FromDType(relu.op.getContext(), DType::kUInt8));
  relu.call.epilogue.saves = true;
  exec::LibraryCallOp op = Replace(relu, relu.op, relu.y(), {}, type);
  relu.op->erase();
  return op->getResult(1);
}

// Finds a sum of `v` over all dimensions but the last that is in the block of `op` and is read behind `op` only.
td::ReduceOp RowSum(mlir::Value v, mlir::Operation* op) {
  const int64_t last = td::TypeOf(v).getRank() - 1;
  for (mlir::Operation* user : v.getUsers()) {
    auto sum = mlir::dyn_cast<td::ReduceOp>(user);
    if (!sum || sum.getKind() != td::ReduceKind::kSum || sum->getBlock() != op->getBlock()) continue;
    const auto axes = sum.getAxes();
    if (static_cast<int64_t>(axes.size()) != last || llvm::is_contained(axes, last)) continue;
    if (td::TypeOf(sum->getResult(0)).getRank() != 1) continue;
    if (llvm::all_of(sum->getUsers(), [&](mlir::Operation* u) { return u != op && op->isBeforeInBlock(u); }))
      return sum;
  }
  return nullptr;
}

// Makes the gradient of a relu or GELU that follows a product the product's epilogue, and with it the sum of that
// gradient over the rows.
void TakeGradient(Product p) {
  mlir::Operation* user = OnlyUser(p.y());
  if (!p.call.epilogue.empty() || !user || user->getBlock() != p.op->getBlock() || !p.OneType()) return;
  mlir::Value saved;
  if (auto gelu = mlir::dyn_cast<td::GeluGradOp>(user)) {
    if (!gelu.getApproximate() || gelu.getDy() != p.y() || !p.TakesGeluInput()) return;
    saved = gelu.getInput();
  } else if (std::optional<Product> relu = ReluOf(user, p.y())) {
    saved = MaskOf(*std::move(relu));
  } else {
    return;
  }
  const bool relu = mlir::isa<td::SelectOp>(user);
  p.call.epilogue = {.activation = relu ? format::Activation::kRelu : format::Activation::kGelu, .gradient = true};
  mlir::Value gradient = user->getResult(0);
  td::ReduceOp sum = p.Float32() ? RowSum(gradient, user) : td::ReduceOp();
  if (!sum) {
    Replace(p, user, gradient, saved, {});
  } else {
    p.call.epilogue.sums = format::Summed::kY;
    p.call.reduces_batch |= td::IsBatched(gradient.getType());
    exec::LibraryCallOp op = Replace(p, user, gradient, saved, sum->getResult(0).getType());
    sum->getResult(0).replaceAllUsesWith(op->getResult(1));
    sum->erase();
  }
  mlir::Operation* compare = relu ? user->getOperand(0).getDefiningOp() : nullptr;
  user->erase();
  if (compare != nullptr && compare->use_empty()) compare->erase();
  p.op->erase();
}

// True if a generated kernel computes `v`.
bool MadeByKernel(mlir::Value v) {
  while (auto reshape = v.getDefiningOp<td::ReshapeOp>()) v = reshape->getOperand(0);
  mlir::Operation* op = v.getDefiningOp();
  return op != nullptr && !mlir::isa<exec::LibraryCallOp>(op);
}

// Makes the sum over the rows of an operand of a weight gradient, the gradient of a bias, an epilogue of that product.
void TakeOperandSum(Product p) {
  // With TensorFloat-32 the library might round the numbers that it sums up.
  if (!p.call.epilogue.empty() || !p.Float32() || p.op.getTf32()) return;
  if (!p.call.transpose_a || p.call.transpose_b) return;
  for (int i : {1, 0}) {
    mlir::Value operand = p.op->getOperand(i);
    if (MadeByKernel(operand)) continue;
    td::ReduceOp sum = RowSum(operand, p.op);
    if (!sum) continue;
    p.call.epilogue.sums = i == 1 ? format::Summed::kB : format::Summed::kA;
    exec::LibraryCallOp op = Replace(p, p.op, p.y(), {}, sum->getResult(0).getType());
    sum->getResult(0).replaceAllUsesWith(op->getResult(1));
    sum->erase();
    return p.op->erase();
  }
}

class TakeGpuEpiloguesPass : public impl::TakeGpuEpiloguesPassBase<TakeGpuEpiloguesPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step || !TargetOf(getOperation())->has_gradient_epilogues()) return;
    for (auto* take : {TakeGelu, TakeGradient, TakeOperandSum}) {
      llvm::SmallVector<Product> products;
      step.walk([&](exec::LibraryCallOp op) {
        if (std::optional<Product> p = AsProduct(op)) products.push_back(*std::move(p));
      });
      // `take` only replaces calls of this product and of products in front of it, so those that follow remain valid.
      for (Product& p : products) take(std::move(p));
    }
    for (auto map : step.getOps<exec::MapMicrobatchesOp>()) EraseUnusedOperands(map);
  }
};

}  // namespace

}  // namespace tandem
