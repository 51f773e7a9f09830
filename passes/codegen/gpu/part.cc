// Emits kernels whose reductions go over parts of rows that fit into the registers of a few threads, such as softmax
// over the keys of a query or layer normalization of a position. The elements of a part stay in registers from one
// reduction to the next, and for the results.
#include "passes/codegen/gpu/row.h"

namespace tandem {
namespace {

constexpr int64_t kPartThreads = 256;
constexpr int64_t kMaxPart = 1024;  // most elements of a part, 32 per thread

class PartKernel : public RowKernel {
 public:
  using RowKernel::RowKernel;
  bool Takes() override {
    if (!is_of_loops() || !has_rows() || !Check().ok()) return false;
    PlanStages();
    parts_ = PartsInRegisters();
    return parts_ > 0;
  }

 private:
  void EmitThread() override;
  // Returns the number of parts of a row, or 0 if this emitter cannot be used: each part must fit into the registers of
  // a team (threads that work on one part), and every reduction must have one result for each part.
  int64_t PartsInRegisters() const;
  void EmitPart(ElementEmitter& e, const Team& team, const Space& row);
  // Calls `body` for the elements of `type` in part `part_` of a row, spread over the threads of the team without a
  // loop.
  void ForPart(ElementEmitter& e, const Team& team, const Space& row, mlir::Type type,
               const std::function<void(llvm::ArrayRef<Point>)>& body);

  mlir::Value part_;  // number of the part that this team computes
};

int64_t PartKernel::PartsInRegisters() const {
  if (!batch_reduces_.empty()) return 0;
  const int64_t parts = cuts_rows_ ? PartsOfRow() : 1;
  auto fits = [&](mlir::Value v) { return InnerSize(v.getType()) <= kMaxPart * parts; };
  for (const Stage& stage : stages_) {
    if (!fits(stage.value)) return 0;
    mlir::Operation* op = stage.value.getDefiningOp();
    if (!IsReduceOp(op)) continue;
    if (!td::IsBatched(stage.value.getType()) || !td::IsBatched(op->getOperand(0).getType())) return 0;
    // ReductionOf returns nothing for an argmax, which has a loop of its own.
    const std::optional<Reduction> reduction = ReductionOf(op);
    if (!reduction || reduction->taps > 0 || InnerSize(stage.value.getType()) != parts) return 0;
    if (!fits(op->getOperand(0)) || LanesPerElement(Team{true}, op, *reduction, parts) == 1) return 0;
  }
  return llvm::all_of(results_, fits) ? parts : 0;
}

void PartKernel::ForPart(ElementEmitter& e, const Team& team, const Space& row, mlir::Type type,
                         const std::function<void(llvm::ArrayRef<Point>)>& body) {
  Space space = row;
  space.radices = KernelRadices(kernel_, type);
  const int64_t rest = InnerSize(type) / parts_;
  const unsigned border = parts_ > 1 ? DigitsBefore(space.radices, rest) : 0;
  const LinearSpace linear(e, loc_, space, border, [&](const Point& point) { body({point}); });
  const int width = rest % 4 == 0 ? linear.width() : 1;
  ForRuns(team.lane, team.size, rest / width, [&](mlir::Value run, mlir::Value is_one) {
    auto emit = [&] {
      body(parts_ > 1 ? linear.At(part_, Mul(run, width), width) : linear.At(Mul(run, width), width));
    };
    is_one ? If(is_one, emit) : emit();
  });
}

void PartKernel::EmitThread() {
  const int64_t parts = parts_;
  // A team may be smaller than a warp if each warp then has only whole teams with parts of their own: all threads of a
  // warp must take part in a shuffle.
  int64_t lanes = kWarp;
  while (lanes > 8 && RowDomain() <= 2 * lanes * parts && parts % (2 * kWarp / lanes) == 0 &&
         parts >= 2 * kPartThreads / lanes) {
    lanes /= 2;
  }
  const int64_t teams = kPartThreads / lanes;
  plan_.block = kPartThreads;
  plan_.split = (parts + teams - 1) / teams;
  plan_.items_per_block = plan_.split > 1 ? 1 : teams / parts;
  Function([&](ElementEmitter& e) {
    Team team;
    team.warp = true;
    team.size = lanes;
    team.lane = Rem(thread_, lanes);
    Space space;
    space.rows = Space::Rows::kFixed;
    mlir::Value in_block = Div(thread_, lanes), runs;
    if (plan_.split > 1) {
      space.row = Add(Number(0), Div(block_, plan_.split));
      part_ = Add(Mul(Rem(block_, plan_.split), teams), in_block);
      runs = Less(space.row, Number(1));
      if (parts % teams != 0) runs = And(runs, Less(part_, Int(parts)));
    } else {
      space.row = Add(Add(Number(0), Mul(block_, plan_.items_per_block)), Div(in_block, parts));
      part_ = Rem(in_block, parts);
      runs = Less(space.row, Number(1));
      if (teams % parts != 0) runs = And(runs, Less(in_block, Int(plan_.items_per_block * parts)));
    }
    own_parts_.insert(part_);
    if (parts > 1) CheckParts(e);
    If(runs, [&] { EmitPart(e, team, space); });
  });
}

void PartKernel::EmitPart(ElementEmitter& e, const Team& team, const Space& row) {
  std::vector<unsigned> late = plain_results_;
  for (const Stage& stage : stages_) {
    mlir::Value v = stage.value;
    mlir::Operation* op = v.getDefiningOp();
    if (!IsReduceOp(op)) continue;
    auto type = mlir::cast<mlir::RankedTensorType>(v.getType());
    const Reduction reduction = *ReductionOf(op);
    Point point;
    point.digits.push_back({row.row, mlir::ShapedType::kDynamic});
    if (parts_ > 1) point.digits.push_back({part_, parts_});
    const llvm::SmallVector<mlir::Value> at = IndicesAt(e, op->getLoc(), point, type);
    mlir::Value result = ReduceAcross(e, op, reduction, at, team.lane, team.size, /*in_registers=*/true);
    if (const std::optional<unsigned> r = TakeResult(v, late)) {
      If(Less(team.lane, Int(1)), [&] { e.Store(op->getLoc(), type, ResultBuffer(*r), at, result); });
    }
    e.BindElement(op->getLoc(), v, result);
  }
  for (const auto& group : GroupBySize(results_, late)) {
    ForPart(e, team, row, results_[group[0]].getType(),
            [&](llvm::ArrayRef<Point> points) { StorePoints(e, group, points); });
  }
}

}  // namespace

extern const GpuEmitter kGpuParts = {"parts of rows", MakeBuilder<PartKernel>};

}  // namespace tandem
