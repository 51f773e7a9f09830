// td-form-attention: makes the ops of an attention one op where the scores would not stay in a cache
// (passes/Passes.td).
#include <algorithm>
#include <memory>

#include "graph/ir/attention.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/attention/attention_pattern.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/contraction/measure_step.h"
#include "passes/phases/precision/precision_painter.h"
#include "passes/target/target.h"

namespace tandem {

#define GEN_PASS_DEF_FORMATTENTIONPASS
#include "passes/passes.h.inc"

namespace {

class FormAttentionPass : public impl::FormAttentionPassBase<FormAttentionPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    const std::shared_ptr<const Target> target = TargetOf(getOperation());
    const bool small_heads = target->has_small_head_attention();
    if (small_heads ? !TakesKernels(getOperation(), *target) : !target->generates_contractions()) return;
    absl::StatusOr<MachineModel> machine = MachineModelOf(getOperation());
    if (!machine.ok()) {
      getOperation()->emitError() << std::string(machine.status().message());
      return signalPassFailure();
    }
    const bool tf32 = target->has_tf32() && ConfigOf(getOperation()).getTf32() &&
                      ConfigOf(getOperation()).getPrecision() != Precision::kMixedBfloat16;
    mlir::Block& body = step.getBody().front();
    for (auto softmax : body.getOps<td::SoftmaxOp>()) {
      std::optional<AttentionPattern> p = FindAttention(softmax);
      if (p && (small_heads ? HasSmallHeads(p->shape()) : ExceedsCache(p->shape(), *machine))) Form(*p, tf32);
    }
    for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(body))) {
      if (mlir::isOpTriviallyDead(&op)) op.erase();
    }
  }

 private:
  // Only for targets whose attention kernels are for small heads: true if attention may become such kernels. In mixed
  // precision the user's lists must allow bfloat16 for attention and for the products that it consists of. If the lists
  // have errors the answer is false, and td-paint-precision reports them.
  static bool TakesKernels(mlir::ModuleOp module, const Target& target) {
    if (ConfigOf(module).getPrecision() != Precision::kMixedBfloat16) return true;
    PrecisionRules rules;
    if (!ReadPrecisionRules(module, target, &rules).ok()) return false;
    const auto allows = [&](llvm::StringRef op) {
      auto rule = rules.find(op);
      return rule == rules.end() || rule->second == td::PrecisionRule::kAllow;
    };
    return allows(td::BatchMatMulOp::getOperationName()) && allows(td::AttentionOp::getOperationName()) &&
           allows(td::AttentionGradOp::getOperationName());
  }

  // True if heads are not larger than a GPU's attention kernels can handle (Target::has_small_head_attention).
  static bool HasSmallHeads(const AttentionShape& shape) { return std::max(shape.size, shape.value_size) <= 128; }

  static bool ExceedsCache(const AttentionShape& shape, const MachineModel& machine) {
    return sizeof(float) * static_cast<double>(shape.scores()) > machine.l2_bytes;
  }

  // Replaces the ops of `p`, which nothing reads afterwards, by td.attention and td.attention_grad.
  static void Form(AttentionPattern& p, bool tf32) {
    mlir::OpBuilder b(p.output);
    auto forward = b.create<td::AttentionOp>(p.output.getLoc(), p.query, p.key, p.value, p.keep, llvm::APFloat(p.scale),
                                             llvm::APFloat(p.low), p.causal, p.heads_inside, tf32);
    Replace(p.output, forward.getOutput());
    if (!p.dy) return;
    b.setInsertionPoint(p.first_of_gradient);
    auto backward = b.create<td::AttentionGradOp>(
        p.first_of_gradient->getLoc(), p.query, p.key, p.value, forward.getOutput(), forward.getLargest(),
        forward.getSum(), p.dy, p.keep, llvm::APFloat(p.scale), llvm::APFloat(p.low), p.causal, p.heads_inside, tf32);
    Replace(p.dquery, backward.getDquery());
    Replace(p.dkey, backward.getDkey());
    Replace(p.dvalue, backward.getDvalue());
  }

  static void Replace(td::BatchMatMulOp op, mlir::Value by) {
    if (op) op.getResult().replaceAllUsesWith(by);
  }
};

}  // namespace

}  // namespace tandem
