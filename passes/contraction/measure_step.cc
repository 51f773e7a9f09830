#include "passes/contraction/measure_step.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "graph/ir/contract.h"
#include "graph/ir/interfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/IR/Matchers.h"
#include "passes/contraction/choice.h"
#include "passes/exec/dialect.h"

namespace tandem {
namespace {

// The distance (OpWork::Read) of values that are in no cache, in bytes: more than any cache holds.
constexpr double kFarAway = 1e15;

// Returns the bytes of one row, or of the whole value when it has no batch.
double Bytes(mlir::Value v) {
  mlir::RankedTensorType type = td::TypeOf(v);
  double bytes = static_cast<double>(SizeOf(td::ToDType(type.getElementType())));
  for (int64_t d : type.getShape()) bytes *= mlir::ShapedType::isDynamic(d) ? 1 : static_cast<double>(d);
  return bytes;
}

// True if the op computes element by element, so that its result stays in registers if the op that reads it does so
// too.
bool Streams(mlir::Operation* op) {
  const td::FusionKind kind = td::FusionKindOf(op);
  return kind == td::FusionKind::kElementwise || kind == td::FusionKind::kInjective;
}

// Returns the bytes of the transformed kernel that Winograd's algorithm reads; 0 where the op is computed in another
// way.
double TransformedKernelBytes(mlir::Operation* op) {
  if (!IsChosen(op, exec::Algorithm::kWinograd) || !mlir::isa<td::Conv2DOp, td::Conv2DInputGradOp>(op)) return 0;
  const auto points = static_cast<double>(ChoiceOf(op).getTile() + 2);
  return points * points / 9 * Bytes(op->getOperand(1));
}

class StepMeter {
 public:
  StepMeter(mlir::func::FuncOp step, const BatchAxis& axis) : step_(step), axis_(axis) {}

  StepWork Measure() {
    for (int level = 0; level < axis_.num_levels(); ++level) {
      double lane_bytes = 0;
      for (mlir::Operation& op : step_.getBody().front().without_terminator()) {
        if (axis_.Level(&op) != level || !axis_.IsMapOp(&op)) continue;
        AddOp(&op, level);
        for (mlir::Value v : op.getResults()) lane_bytes += td::IsBatched(v.getType()) ? 0 : Bytes(v);
      }
      work_.lane_bytes = std::max(work_.lane_bytes, lane_bytes);
    }
    for (mlir::Operation& op : step_.getBody().front().without_terminator()) {
      // Of the ops that read all rows only products (td::CostOp) count: they write their whole result, while a scatter
      // writes a few rows of it.
      if (!BatchAxis::ReadsAllRows(&op) || !mlir::isa<td::CostOp>(op)) continue;
      for (mlir::Value v : op.getResults()) work_.block_bytes += Bytes(v);
    }
    work_.row_bytes = written_;
    return std::move(work_);
  }

 private:
  // True if `op` and `other` are in the same map and both work element by element (Streams): most likely one kernel
  // computes both.
  bool Fuses(mlir::Operation* op, mlir::Operation* other, int level) const {
    return Streams(op) && Streams(other) && axis_.IsMapOp(other) && axis_.Level(other) == level;
  }

  void AddOp(mlir::Operation* op, int level) {
    OpWork work;
    work.library = mlir::isa<td::LibraryOp>(op) && !mlir::isa<td::ElementalOp>(op);
    if (auto cost = mlir::dyn_cast<td::CostOp>(op)) work.flops = static_cast<double>(cost.getFlops());
    work.streamed_bytes = TransformedKernelBytes(op);
    llvm::SmallDenseSet<mlir::Value> seen;
    for (mlir::Value v : op->getOperands()) {
      mlir::Operation* producer = v.getDefiningOp();
      if (!seen.insert(v).second || mlir::matchPattern(v, mlir::m_Constant())) continue;
      if (!td::IsBatched(v.getType())) {
        work.static_bytes += Bytes(v);
        if (statics_.insert(v).second) work_.static_bytes += Bytes(v);
      } else if (!producer || axis_.Level(producer) != level) {
        work.reads.push_back({Bytes(v), kFarAway});
      } else if (!axis_.CreatesBatch(producer) && !Fuses(op, producer, level)) {
        work.reads.push_back({Bytes(v), written_ - last_use_.lookup(v)});
      }
      last_use_[v] = written_;
    }
    for (mlir::Value v : op->getResults()) {
      if (!td::IsBatched(v.getType())) {
        work.sum_bytes += Bytes(v);
      } else if (llvm::any_of(v.getUsers(), [&](mlir::Operation* user) { return !Fuses(op, user, level); })) {
        work.written += Bytes(v);
      }
      last_use_[v] = written_;
    }
    written_ += work.written;
    if (work.written + work.sum_bytes > 0 && !axis_.CreatesBatch(op)) work_.ops.push_back(std::move(work));
  }

  mlir::func::FuncOp step_;
  const BatchAxis& axis_;
  StepWork work_;
  // For each value: what `written_`, the bytes written so far, was at its last use.
  llvm::DenseMap<mlir::Value, double> last_use_;
  llvm::DenseSet<mlir::Value> statics_;
  double written_ = 0;
};

}  // namespace

StepWork MeasureStep(mlir::func::FuncOp step, const BatchAxis& axis) { return StepMeter(step, axis).Measure(); }

absl::StatusOr<MachineModel> MachineModelOf(mlir::ModuleOp module) {
  const std::string text = exec::CompileConfigAttr::of(module).getMachineModelName().str();
  return absl::StrContains(text, '=') ? ParseMachineModel("machine model", text) : BuiltInMachineModel(text);
}

}  // namespace tandem
