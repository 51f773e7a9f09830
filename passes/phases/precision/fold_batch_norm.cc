// td-fold-batch-norm: folds multiplications and additions per channel, such as those of batch norm, into the kernel and
// the bias of the contraction beside them (passes/Passes.td).
#include <optional>

#include "graph/ir/binary.h"
#include "graph/ir/build.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/shape.h"
#include "passes/analysis/values_of_variables.h"
#include "passes/base/channel_bias.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/target/target.h"

namespace tandem {

#define GEN_PASS_DEF_FOLDBATCHNORMPASS
#include "passes/passes.h.inc"

namespace {

using mlir::Value;

// An op of a chain that computes x + value, x - value, x * value or x / value. `x` is the result of the op before it;
// `value` is a scalar or has one number per channel.
struct Link {
  mlir::Operation* op;
  Value x, value;
};

// The function x * scale + shift per channel; a null scale is 1, a null shift 0.
struct Affine {
  Value scale, shift;
};

Affine Compose(mlir::OpBuilder& b, llvm::ArrayRef<Link> chain, int64_t channels) {
  Affine f;
  for (const Link& link : chain) {
    mlir::Location loc = link.op->getLoc();
    Value v = td::BuildBroadcast(b, loc, link.value, td::TypeOf(link.value).clone({channels}), {});
    if (mlir::isa<td::AddOp>(link.op)) {
      f.shift = f.shift ? td::BuildAdd(b, loc, f.shift, v) : v;
    } else if (mlir::isa<td::SubOp>(link.op)) {
      f.shift = f.shift ? td::BuildSub(b, loc, f.shift, v) : td::BuildNeg(b, loc, v);
    } else if (mlir::isa<td::MulOp>(link.op)) {
      f.scale = f.scale ? td::BuildMul(b, loc, f.scale, v) : v;
      if (f.shift) f.shift = td::BuildMul(b, loc, f.shift, v);
    } else {
      f.scale = td::BuildDiv(b, loc, f.scale ? f.scale : td::BuildSplat(b, loc, v.getType(), 1), v);
      if (f.shift) f.shift = td::BuildDiv(b, loc, f.shift, v);
    }
  }
  return f;
}

bool IsScaling(const Link& link) { return mlir::isa<td::MulOp, td::DivOp>(link.op); }

class FoldBatchNormPass : public impl::FoldBatchNormPassBase<FoldBatchNormPass> {
 public:
  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    mlir::func::FuncOp step = StepFunction(module);
    if (!step || !TargetOf(module)->keeps_invariants() || ConfigOf(module).isStrictFloat32()) return;
    invariant_ = ValuesOfVariables(step, Variables::kNotUpdated);
    llvm::SmallVector<td::LibraryOp> ops(step.getBody().front().getOps<td::LibraryOp>());
    for (td::LibraryOp op : ops) Consider(op);
  }

 private:
  // If `op` can be a link of a chain that continues x, returns that link.
  std::optional<Link> LinkOf(mlir::Operation* op, Value x) const {
    if (!mlir::isa_and_nonnull<td::AddOp, td::SubOp, td::MulOp, td::DivOp>(op)) return std::nullopt;
    const bool first = op->getOperand(0) == x;
    if (!first && mlir::isa<td::SubOp, td::DivOp>(op)) return std::nullopt;
    auto broadcast = op->getOperand(first ? 1 : 0).getDefiningOp<td::BroadcastOp>();
    if (!broadcast || !invariant_.contains(broadcast.getInput())) return std::nullopt;
    llvm::ArrayRef<int64_t> dims = broadcast.getDims();
    const bool per_channel = dims.size() == 1 && dims[0] == td::TypeOf(x).getRank() - 1;
    if (!dims.empty() && !per_channel) return std::nullopt;
    return Link{op, x, broadcast.getInput()};
  }

  // Returns the links of the chain that begins with y. It ends at a result with more than one use.
  llvm::SmallVector<Link> ChainBehind(Value y) const {
    llvm::SmallVector<Link> chain;
    while (std::optional<Link> link = LinkOf(OnlyUser(y), y)) {
      chain.push_back(*link);
      y = link->op->getResult(0);
    }
    return chain;
  }

  // Returns the links of the chain that ends with x. It begins behind a result with more than one use. If the
  // contraction pads x (`padded`), only links that map zeros to zeros are taken.
  llvm::SmallVector<Link> ChainBefore(Value x, bool padded) const {
    llvm::SmallVector<Link> chain;
    while (mlir::Operation* op = x.hasOneUse() ? x.getDefiningOp() : nullptr) {
      std::optional<Link> link;
      for (Value from : op->getOperands()) {
        if (!link) link = LinkOf(op, from);
      }
      if (!link || (padded && !IsScaling(*link))) break;
      chain.insert(chain.begin(), *link);
      x = link->x;
    }
    return chain;
  }

  void Consider(td::LibraryOp op) {
    const td::LibraryCallSpec spec = op.getLibraryCallSpec();
    if (!spec.takes_epilogue || spec.transpose_a || spec.weights < 0 || !invariant_.contains(spec.kernel)) return;
    if (!td::IsBatched(spec.x.getType())) return;
    const auto pads = [](llvm::ArrayRef<int64_t> p) { return llvm::any_of(p, [](int64_t n) { return n != 0; }); };
    llvm::SmallVector<Link> before;
    // The kernel of a grouped convolution has the input channels of one group only.
    if (td::TypeOf(spec.kernel).getDimSize(Channels(spec).in) == td::TypeOf(spec.x).getShape().back()) {
      before = ChainBefore(spec.x, pads(spec.pad_low) || pads(spec.pad_high));
    }
    const llvm::SmallVector<Link> behind = ChainBehind(spec.y);
    // If only additions follow the contraction there is nothing to fold, since they can be its bias.
    if (before.empty() && llvm::none_of(behind, IsScaling)) return;
    Fold(op, spec, before, behind);
  }

  // The kernel's last dimensions are input and output channels, in this order unless it is transposed.
  struct ChannelDims {
    int64_t in, out;
  };
  static ChannelDims Channels(const td::LibraryCallSpec& spec) {
    const int64_t rank = td::TypeOf(spec.kernel).getRank();
    return spec.transpose_b ? ChannelDims{rank - 1, rank - 2} : ChannelDims{rank - 2, rank - 1};
  }

  static void Fold(td::LibraryOp op, const td::LibraryCallSpec& spec, llvm::ArrayRef<Link> before,
                   llvm::ArrayRef<Link> behind) {
    mlir::Operation* last = behind.empty() ? op.getOperation() : behind.back().op;
    mlir::OpBuilder b(last);
    mlir::Location loc = op->getLoc();
    const mlir::RankedTensorType type = td::TypeOf(spec.kernel);
    const auto [in, out] = Channels(spec);
    const Affine input = Compose(b, before, type.getDimSize(in)), output = Compose(b, behind, type.getDimSize(out));

    const auto scaled = [&](Value w, Value factors, int64_t dim) {
      return factors ? td::BuildMul(b, loc, w, td::BuildBroadcast(b, loc, factors, type, {dim})) : w;
    };
    Value kernel = scaled(scaled(spec.kernel, input.scale, in), output.scale, out);
    Value bias;
    if (input.shift) {
      llvm::SmallVector<int64_t> axes;
      for (int64_t i = 0; i < type.getRank(); ++i) {
        if (i != out) axes.push_back(i);
      }
      bias = td::BuildReduce(b, loc, td::ReduceKind::kSum, scaled(spec.kernel, input.shift, in), axes);
      if (output.scale) bias = td::BuildMul(b, loc, bias, output.scale);
    }
    if (output.shift) bias = bias ? td::BuildAdd(b, loc, bias, output.shift) : output.shift;

    mlir::Operation* contraction = b.clone(*op);
    contraction->setOperand(spec.weights, kernel);
    contraction->setOperand(1 - spec.weights, before.empty() ? spec.x : before.front().x);
    Value y = contraction->getResult(0);
    if (bias) {
      const mlir::RankedTensorType wide = td::TypeOf(y);
      y = td::BuildAdd(b, last->getLoc(), y, td::BuildBroadcast(b, last->getLoc(), bias, wide, {wide.getRank() - 1}));
    }
    last->getResult(0).replaceAllUsesWith(y);
    for (const Link& link : llvm::reverse(behind)) Erase(link.op);
    op->erase();
    for (const Link& link : llvm::reverse(before)) Erase(link.op);
  }

  // Erases `op` and those broadcasts among its operands that nothing reads any more.
  static void Erase(mlir::Operation* op) {
    const llvm::SmallVector<Value> operands(op->getOperands());
    op->erase();
    for (Value v : operands) {
      if (auto broadcast = v.getDefiningOp<td::BroadcastOp>(); broadcast && broadcast.use_empty()) broadcast.erase();
    }
  }

  llvm::DenseSet<Value> invariant_;
};

}  // namespace

}  // namespace tandem
