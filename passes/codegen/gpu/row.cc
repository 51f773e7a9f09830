// Emits kernels with reductions: a warp or a block per row. Values that later ops read (stages) go through shared
// memory.
#include "passes/codegen/gpu/row.h"

#include "base/align.h"

namespace tandem {
namespace {

constexpr int64_t kWarps = 8;             // warps of a block, if each has a row of its own
constexpr int64_t kMaxWarpDomain = 1024;  // most elements of a row for which a warp is enough
// Most bytes of stages (values of a row that later ops read) in shared memory. The rest of the 48 KiB that a block may
// use without an opt-in is left for sums over the block.
constexpr int64_t kStageBytes = 40 << 10;
constexpr int64_t kMaxPartialsOfRow = 512;
// Rows are cut into parts so that there are kRowBlocks blocks, of at least kMinElements elements.
constexpr int64_t kRowBlocks = 1024, kMinElements = 2048, kMinParts = 8;

}  // namespace

int64_t RowKernel::RowDomain() {
  int64_t domain = 1;
  kernel_.walk([&](mlir::Operation* op) {
    for (mlir::Value v : op->getResults()) domain = std::max(domain, InnerSize(v.getType()));
    if (!IsReduceOp(op)) return;
    for (mlir::Value v : op->getOperands()) domain = std::max(domain, InnerSize(v.getType()));
  });
  return domain;
}

void RowKernel::Sync(const Team& team) { team.warp ? device_.SyncWarp(loc_) : device_.SyncBlock(loc_); }

void RowKernel::PlanStages() {
  auto bytes = [](mlir::Value v) {
    return AlignUp(InnerSize(v.getType()) * StorageBytes(mlir::getElementTypeOrSelf(v.getType())), 16);
  };
  std::vector<mlir::Value> values = StagedValues(kernel_, has_rows());
  const auto is_sum = [](mlir::Value v) { return IsBatchReduce(v.getDefiningOp()); };
  if (!epilogue_results_.empty()) llvm::erase_if(values, [&](mlir::Value v) { return DependsOn(v, is_sum); });
  int64_t reduced = 0;
  for (mlir::Value v : values) reduced += IsReduceOp(v.getDefiningOp()) ? bytes(v) : 0;
  warp_teams_ = has_rows() && RowDomain() <= kMaxWarpDomain && reduced <= kStageBytes / kWarps;
  const int64_t limit = warp_teams_ ? kStageBytes / kWarps : kStageBytes;
  int64_t free = limit - reduced;  // bytes that are left for values which could also be computed again for each use
  for (mlir::Value v : values) {
    const int64_t size = bytes(v);
    const bool reduce = IsReduceOp(v.getDefiningOp());
    if (!reduce && size > free) continue;
    if (!reduce) free -= size;
    const bool in_shared = team_shared_ + size <= limit;
    int64_t& used = in_shared ? team_shared_ : team_scratch_;
    stages_.push_back({v, in_shared, used});
    used += size;
  }
}

int64_t RowKernel::PartsOfRow() const {
  int64_t parts = 1;
  for (const Stage& stage : stages_) {
    if (!ReductionOrArgMaxOf(stage.value.getDefiningOp())) continue;
    const int64_t size = InnerSize(stage.value.getType());
    if (parts != 1 && size != parts) return 1;
    parts = size;
  }
  std::vector<mlir::Value> made(results_);
  for (const Stage& stage : stages_) made.push_back(stage.value);
  for (mlir::Value v : made) {
    if (!td::IsBatched(v.getType()) || InnerSize(v.getType()) % parts != 0) return 1;
    const int64_t rest = InnerSize(v.getType()) / parts;
    const llvm::SmallVector<int64_t> radices = KernelRadices(kernel_, v.getType());
    int64_t size = 1;
    for (unsigned k = DigitsBefore(radices, rest); k < radices.size(); ++k) size *= radices[k];
    if (size != rest) return 1;
  }
  return parts;
}

void RowKernel::CheckParts(ElementEmitter& e) {
  e.on_load = [&](mlir::Value tensor, mlir::ValueRange indices) {
    if (e.indices().probe != nullptr) return;
    if (llvm::none_of(stages_, [&](const Stage& stage) { return stage.value == tensor; })) return;
    llvm::SmallVector<int64_t> shape = InnerShape(tensor.getType());
    int64_t size = 1;
    size_t leading = 0;
    while (leading < shape.size() && size < parts_) size *= shape[leading++];
    mlir::Value part = size != parts_ ? mlir::Value()
                                      : e.indices().Linearize(loc_, indices.slice(1, leading),
                                                              llvm::ArrayRef<int64_t>(shape).take_front(leading));
    parts_depend_ |= !part || !own_parts_.contains(part);
  };
}

void RowKernel::ForOwnElements(ElementEmitter& e, const Team& team, const Space& row, mlir::Type type,
                               const std::function<void(llvm::ArrayRef<Point>)>& body) {
  if (parts_ == 1) return ForElements(e, team, row, type, body);
  Space space = row;
  space.radices = KernelRadices(kernel_, type);
  const int64_t rest = InnerSize(type) / parts_;
  const LinearSpace linear(e, loc_, space, DigitsBefore(space.radices, rest),
                           [&](const Point& point) { body({point}); });
  const int width = rest % 4 == 0 ? linear.width() : 1;
  const int64_t runs = rest / width;
  For(Add(Mul(part_begin_, runs), team.lane), Mul(part_end_, runs), team.size, [&](mlir::Value run) {
    mlir::Value part = Div(run, runs);
    own_parts_.insert(part);
    body(linear.At(part, Mul(Rem(run, runs), width), width));
  });
}

void RowKernel::EmitRow(ElementEmitter& e, const Team& team, const Space& row) {
  std::vector<unsigned> late = plain_results_;
  for (const Stage& stage : stages_) {
    mlir::Value v = stage.value;
    auto type = mlir::cast<mlir::RankedTensorType>(v.getType());
    mlir::Location loc = v.getLoc();
    ElementEmitter::Buffer buffer = {{}, td::IsBatched(type)};
    if (stage.in_shared) {
      buffer.pointer = Offset(team.shared, Int(stage.offset));
    } else {
      buffer.pointer = Offset(Scratch(), Add(Mul(team.number, team_scratch_), Int(scratch_stages_ + stage.offset)));
    }
    const std::optional<unsigned> r = TakeResult(v, late);
    auto store = [&](mlir::ValueRange at, mlir::Value element) {
      e.Store(loc, type, buffer, at, element);
      if (r) e.Store(loc, type, ResultBuffer(*r), at, element);
    };
    if (ReductionOrArgMaxOf(v.getDefiningOp())) {
      EmitReduction(e, team, v.getDefiningOp(), row.row, store);
    } else {
      ForOwnElements(e, team, row, type, [&](llvm::ArrayRef<Point> points) {
        std::vector<mlir::Value> elements;
        for (const Point& p : points) elements.push_back(e.Element(loc, v, IndicesAt(e, loc, p, type)));
        for (unsigned i = 0; i < points.size(); ++i) store(IndicesAt(e, loc, points[i], type), elements[i]);
      });
    }
    Sync(team);
    e.Bind(v, buffer);
  }
  for (const auto& group : GroupBySize(results_, late)) {
    ForOwnElements(e, team, row, results_[group[0]].getType(),
                   [&](llvm::ArrayRef<Point> points) { StorePoints(e, group, points); });
  }
  for (const Partial& partial : partials_) {
    mlir::Operation* op = results_[partial.result].getDefiningOp();
    ElementEmitter::Buffer buffer = PartialBuffer(partial, team.number);
    EmitReduction(e, team, op, row.row, [&](mlir::ValueRange at, mlir::Value element) {
      mlir::Value sum = e.Load(op->getLoc(), partial.type, buffer, at);
      e.Store(op->getLoc(), partial.type, buffer, at, Combine(b_, op->getLoc(), partial.kind, sum, element, false));
    });
  }
}

void RowKernel::EmitThread() {
  const bool batched = has_rows();
  PlanStages();
  const int64_t domain = RowDomain();
  if (batched && cuts_rows_ && !warp_teams_ && batch_reduces_.empty()) parts_ = PartsOfRow();
  int64_t parts_per_block = parts_;
  if (parts_ >= kMinParts) {
    const int64_t wanted = (kRowBlocks + rows_ - 1) / std::max<int64_t>(rows_, 1), part = domain / parts_;
    parts_per_block = std::max((parts_ + wanted - 1) / wanted, (kMinElements + part - 1) / part);
    plan_.split = (parts_ + parts_per_block - 1) / parts_per_block;
  }
  if (plan_.split == 1) parts_ = 1;
  const int64_t per_block = parts_ > 1 ? domain / parts_ * parts_per_block : domain;
  const int64_t threads = warp_teams_ ? kWarps * kWarp : per_block <= 2 * kWarp ? kWarp : per_block <= 8192 ? 256 : 512;
  const int64_t teams = warp_teams_ ? kWarps : 1;
  int64_t rows_per_team = 1;
  if (!batch_reduces_.empty())
    rows_per_team = std::max<int64_t>(1, (rows_ + kMaxPartialsOfRow - 1) / kMaxPartialsOfRow);
  plan_.block = threads;
  plan_.items_per_block = batched ? teams * rows_per_team : 1;
  const int64_t blocks =
      batched ? std::max<int64_t>(1, (rows_ + plan_.items_per_block - 1) / plan_.items_per_block) : 1;
  PlanPartials(blocks * teams);
  scratch_stages_ = plan_.scratch_bytes;
  plan_.scratch_bytes += blocks * plan_.split * teams * AlignUp(team_scratch_, 256);
  team_scratch_ = AlignUp(team_scratch_, 256);
  const int64_t per_team = team_shared_;
  team_shared_ *= teams;  // the shared memory behind the teams' areas is for reductions over the block

  Function([&](ElementEmitter& e) {
    Team team;
    team.warp = warp_teams_;
    team.size = threads / teams;
    mlir::Value in_block = warp_teams_ ? Div(thread_, kWarp) : Int(0);
    team.lane = warp_teams_ ? Rem(thread_, kWarp) : thread_;
    team.number = warp_teams_ ? Add(Mul(block_, teams), in_block) : block_;
    shared_ = device_.Shared(loc_);
    team.shared = Offset(shared_, Mul(in_block, per_team));
    if (!batched) return EmitRow(e, team, Space{});
    for (const Partial& partial : partials_) {
      auto type = mlir::RankedTensorType::get({partial.elements}, partial.type.getElementType());
      For(team.lane, Int(partial.elements), team.size, [&](mlir::Value k) {
        e.Store(loc_, type, PartialBuffer(partial, team.number), {k},
                NeutralElement(b_, loc_, partial.kind, type.getElementType()));
      });
    }
    if (!partials_.empty()) Sync(team);
    mlir::Value first = Add(Number(0), Mul(Div(team.number, plan_.split), rows_per_team));
    if (parts_ > 1) {
      part_begin_ = Mul(Rem(block_, plan_.split), parts_per_block);
      part_end_ = Min(Add(part_begin_, Int(parts_per_block)), Int(parts_));
      CheckParts(e);
    }
    mlir::Value last = Min(Add(first, Int(rows_per_team)), Number(1));
    For(first, last, 1, [&](mlir::Value row) {
      EmitRow(e, team, {.rows = Space::Rows::kFixed, .row = row});
      // The next row overwrites shared memory that other threads may still read for this row.
      if (rows_per_team > 1) Sync(team);
    });
    if (partials_.empty()) return;
    Arrival arrival;
    arrival.number = block_;
    arrival.count = CeilDiv(Max(Sub(Number(1), Number(0)), Int(1)), plan_.items_per_block);
    arrival.most = blocks;
    arrival.partials_per_block = teams;
    arrival.tile = Int(0);
    AddUpPartials(e, arrival);
  });
  plan_.shared_bytes = std::max(plan_.shared_bytes, team_shared_ + kReduceAreaBytes * reduce_areas_);
}

extern const GpuEmitter kGpuRows = {"rows", MakeBuilder<RowKernel>};

}  // namespace tandem
