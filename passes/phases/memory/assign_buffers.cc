// td-assign-buffers, as Passes.td describes it.
#include "base/align.h"
#include "graph/ir/gather.h"
#include "graph/ir/shape.h"
#include "graph/ir/signature.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/offset_assignment.h"
#include "passes/analysis/values_of_variables.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/base/step_signature.h"
#include "passes/exec/dialect.h"
#include "passes/exec/kernel_kind.h"
#include "passes/phases/memory/buffer_table.h"
#include "passes/target/target.h"

namespace tandem {

#define GEN_PASS_DEF_ASSIGNBUFFERSPASS
#include "passes/passes.h.inc"

namespace {

bool IsConstant(mlir::Operation* op) { return mlir::matchPattern(op, mlir::m_Constant()); }

class AssignBuffersPass : public impl::AssignBuffersPassBase<AssignBuffersPass> {
 public:
  void runOnOperation() final {
    step_ = StepFunction(getOperation());
    if (!step_) return;
    if (mlir::failed(VerifyStepSignature(step_)) || mlir::failed(VerifyLaunches(getOperation(), step_))) {
      return signalPassFailure();
    }
    buffers_.clear();
    ids_.clear();
    peaks_.clear();
    const std::shared_ptr<const Target> target = TargetOf(getOperation());
    alignment_ = target->buffer_alignment();
    guard_bytes_ = ConfigOf(getOperation()).getGuardBuffers() ? 256 : 0;
    PlaceArguments();
    InsertOutputCopies();
    InsertUpdateCopies();
    InsertInPlaceCopies();
    InsertYieldCopies();
    common_ = ValuesOfVariables(step_, Variables::kAll);
    if (target->keeps_invariants()) invariant_ = ValuesOfVariables(step_, Variables::kNotUpdated);
    const int64_t batch_bytes = PlaceKept();
    int64_t microbatch_bytes = 0, lane_bytes = 0, step_bytes = 0;
    if (!target->has_lanes()) {
      PlaceUpdates();
      step_bytes = PlaceTopLevel();
      for (auto map : step_.getOps<exec::MapMicrobatchesOp>()) PlaceSums(map);
    }
    for (auto map : step_.getOps<exec::MapMicrobatchesOp>()) {
      if (target->has_lanes()) PlaceLaneSlots(map, &lane_bytes);
      microbatch_bytes = std::max(microbatch_bytes, PlaceBody(map));
    }
    if (target->has_lanes()) {
      PlaceUpdates();
      step_bytes = PlaceTopLevel();
    }
    // Every other value has its place now: place those that share another value's.
    PlaceViews(step_.getBody().front());
    SeparateAliasPatterns();
    Annotate(microbatch_bytes, lane_bytes, step_bytes, batch_bytes);
  }

 private:
  int64_t Align(int64_t n) const { return AlignUp(n, alignment_); }

  // With guard_buffers no values share memory, and unused bytes follow every buffer, so that a write beyond its end
  // changes no other buffer (runtime/cpu/run/buffer_guard.h).
  ArenaPlan Assign(std::vector<LiveRange> ranges) const {
    if (guard_bytes_ > 0) {
      int last = 0;
      for (const LiveRange& range : ranges) last = std::max(last, range.last);
      for (LiveRange& range : ranges) range = {range.bytes + guard_bytes_, 0, last};
    }
    return AssignOffsets(ranges, alignment_);
  }

  int Add(mlir::Value v, exec::Space space, int64_t index, int64_t offset, int64_t bytes) {
    format::Buffer& buffer = buffers_.emplace_back();
    buffer.name = ValueName(v);
    buffer.space = space;
    buffer.index = static_cast<uint32_t>(index);
    buffer.offset = offset;
    buffer.bytes = bytes;
    buffer.row_bytes = td::IsBatched(v.getType()) ? RowBytes(v.getType()) : 0;
    buffer.dtype = td::ToDType(mlir::getElementTypeOrSelf(v.getType()));
    buffer.shape = td::ToShape(v.getType());
    buffer.common = space == exec::Space::kStep && common_.contains(v);
    ids_[v] = static_cast<int>(buffers_.size()) - 1;
    return ids_[v];
  }

  void PlaceArguments() {
    int64_t inputs = 0, scalars = 0, variables = 0;
    for (unsigned i = 0; i < step_.getNumArguments(); ++i) {
      mlir::BlockArgument a = step_.getArgument(i);
      std::string name;
      if (mlir::StringAttr input = td::InputOf(step_, i)) {
        Add(a, exec::Space::kInput, inputs++, 0, 0);
        name = input.getValue().str();
      } else if (mlir::StringAttr scalar = td::ScalarOf(step_, i)) {
        Add(a, exec::Space::kScalar, scalars++, 0, 8);
        name = scalar.getValue().str();
      } else if (mlir::FlatSymbolRefAttr variable = td::VariableOf(step_, i)) {
        Add(a, exec::Space::kVariable, variables, 0, StaticBytes(a.getType()));
        variable_index_[variable.getAttr()] = variables++;
        variable_argument_[variable.getAttr()] = a;
        name = variable.getValue().str();
      }
      buffers_.back().name = name;
      SetArgumentBuffer(step_, i, ids_[a]);
    }
    // A variable that is written but never read has no argument; it still has an index.
    for (unsigned i = 0; i < step_.getNumResults(); ++i) {
      mlir::FlatSymbolRefAttr update = td::UpdateOf(step_, i);
      if (update && !variable_index_.contains(update.getAttr())) variable_index_[update.getAttr()] = variables++;
    }
  }

  // True if the op that computes `v` may write it to any buffer: `v` is no argument and shares no other value's buffer.
  static bool WritesFreely(mlir::Value v) {
    auto command = v.getDefiningOp<exec::CommandOp>();
    return command && !command.isInPlace();
  }

  // Returns the value behind views: a reshape is its operand under another shape.
  static mlir::Value SourceOf(mlir::Value v) {
    while (auto reshape = v.getDefiningOp<td::ReshapeOp>()) v = reshape.getInput();
    return v;
  }

  // True if nothing but the op of `result` reads `v`, directly or through views, at or after that op, which reads each
  // element of `v` before it writes that element of `result`.
  bool IsLastReader(mlir::OpResult result, mlir::Value v) {
    return llvm::all_of(v.getUses(), [&](mlir::OpOperand& use) {
      mlir::Operation* reader = use.getOwner();
      if (reader == result.getOwner()) return ReadsElementwise(reader) && IsOfMember(result, use);
      if (auto view = mlir::dyn_cast<td::ReshapeOp>(reader)) return IsLastReader(result, view.getResult());
      return reader->isBeforeInBlock(result.getOwner());
    });
  }

  // True if `operand` belongs to the same member of a group as `result`: members run in any order.
  static bool IsOfMember(mlir::OpResult result, mlir::OpOperand& operand) {
    const int64_t members = mlir::cast<exec::CommandOp>(result.getOwner()).getLaunchedMembers();
    if (members == 1) return true;
    const int64_t operands = operand.getOwner()->getNumOperands() / members;
    const int64_t results = result.getOwner()->getNumResults() / members;
    return operand.getOperandNumber() / operands == result.getResultNumber() / results;
  }

  // True if the update can be written straight over the variable: it has no other use and is computed after the finite
  // checks and after the last other reader of the variable.
  bool CanUpdateInPlace(mlir::OpOperand& operand, mlir::FlatSymbolRefAttr variable) {
    mlir::Value v = operand.get();
    if (!WritesFreely(v) || !v.hasOneUse()) return false;
    for (auto check : step_.getOps<exec::CheckFiniteOp>()) {
      if (v.getDefiningOp()->isBeforeInBlock(check)) return false;
    }
    mlir::BlockArgument old = variable_argument_.lookup(variable.getAttr());
    return !old || IsLastReader(mlir::cast<mlir::OpResult>(v), old);
  }

  // True if `op` launches a flat kernel, which reads element i of its operands before it writes element i of its
  // results.
  bool ReadsElementwise(mlir::Operation* op) {
    auto command = mlir::dyn_cast<exec::CommandOp>(op);
    const mlir::FlatSymbolRefAttr kernel = command ? command.getLaunchedKernel() : nullptr;
    if (!kernel) return false;
    auto function = getOperation().lookupSymbol<mlir::func::FuncOp>(kernel.getAttr());
    return function && exec::GetKernelKind(function) == exec::KernelKind::kFlat;
  }

  void InsertUpdateCopies() {
    mlir::Operation* terminator = step_.getBody().front().getTerminator();
    mlir::OpBuilder builder(terminator);
    llvm::DenseSet<mlir::Operation*> copied;  // the members of a grouped launch are all in place, or none is
    llvm::SmallVector<mlir::OpOperand*> updates;
    for (mlir::OpOperand& operand : terminator->getOpOperands()) {
      mlir::FlatSymbolRefAttr update = td::UpdateOf(step_, operand.getOperandNumber());
      if (!update) continue;
      updates.push_back(&operand);
      if (!CanUpdateInPlace(operand, update)) copied.insert(operand.get().getDefiningOp());
    }
    auto copy = [&](mlir::OpOperand* operand) {
      mlir::Value v = operand->get();
      operand->set(builder.create<exec::CopyOp>(v.getLoc(), v.getType(), v));
    };
    llvm::erase_if(updates, [&](mlir::OpOperand* operand) { return !copied.contains(operand->get().getDefiningOp()); });
    // Copies old values of variables first, before any variable is written: a swap of two variables needs both.
    for (mlir::OpOperand* operand : updates) {
      if (mlir::isa<mlir::BlockArgument>(SourceOf(operand->get()))) copy(operand);
    }
    for (mlir::OpOperand* operand : updates) copy(operand);
  }

  // Returns for each result the operand of the kernel that it overwrites, or -1. For a grouped launch those of its
  // first member, which are those of all.
  llvm::SmallVector<int64_t> AliasesOf(mlir::Operation* op, mlir::func::FuncOp kernel) {
    llvm::SmallVector<int64_t> aliases(kernel.getNumResults(), -1);
    for (unsigned r = 0; r < kernel.getNumResults(); ++r) {
      for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
        if (ids_.lookup(op->getResult(r)) == ids_.lookup(op->getOperand(i))) aliases[r] = i;
      }
    }
    return aliases;
  }

  // A kernel is compiled for a pattern of results that overwrite operands: makes a copy of it for every pattern that
  // occurs.
  void SeparateAliasPatterns() {
    llvm::DenseMap<mlir::Attribute, llvm::SmallVector<std::pair<mlir::Attribute, mlir::Attribute>>> patterns;
    mlir::Builder b(&getContext());
    step_.walk([&](exec::CommandOp op) {
      const mlir::FlatSymbolRefAttr name = op.getLaunchedKernel();
      if (!name) return;
      auto kernel = getOperation().lookupSymbol<mlir::func::FuncOp>(name.getAttr());
      mlir::DenseI64ArrayAttr alias = b.getDenseI64ArrayAttr(AliasesOf(op, kernel));
      auto& known = patterns[name];
      for (auto [a, symbol] : known) {
        if (a == alias) return op->setAttr("kernel", symbol);
      }
      if (!known.empty()) {
        mlir::func::FuncOp copy = kernel.clone();
        copy.setName((name.getValue() + "_" + llvm::Twine(known.size())).str());
        getOperation().insert(kernel, copy);
        kernel = copy;
      }
      exec::SetAliases(kernel, alias);
      mlir::Attribute symbol = mlir::FlatSymbolRefAttr::get(kernel.getSymNameAttr());
      known.push_back({alias, symbol});
      op->setAttr("kernel", symbol);
    });
  }

  // Copies outputs that lie in a step scalar, a variable or among the constants to memory that survives the step.
  void InsertOutputCopies() {
    mlir::Operation* terminator = step_.getBody().front().getTerminator();
    mlir::OpBuilder builder(terminator);
    for (mlir::OpOperand& operand : terminator->getOpOperands()) {
      mlir::Value v = operand.get();
      if (!td::OutputOf(step_, operand.getOperandNumber()) || td::IsBatched(v.getType())) continue;
      mlir::Operation* source = SourceOf(v).getDefiningOp();
      if (!source || IsConstant(source)) operand.set(builder.create<exec::CopyOp>(v.getLoc(), v.getType(), v));
    }
  }

  // Returns the operand whose buffer `result` has, because it is a view or because its command writes over the operand;
  // null for a result with a buffer of its own.
  static mlir::OpOperand* SharedWith(mlir::OpResult result) {
    if (mlir::isa<td::ReshapeOp>(result.getOwner())) return &result.getOwner()->getOpOperand(0);
    auto command = mlir::dyn_cast<exec::CommandOp>(result.getOwner());
    return command ? command.getOperandInPlace(result.getResultNumber()) : nullptr;
  }

  // True if nothing but `residual` reads `v`, directly or through views, at or after the op of `residual`.
  static bool IsLastUse(mlir::OpOperand& residual, mlir::Value v) {
    return llvm::all_of(v.getUses(), [&](mlir::OpOperand& use) {
      mlir::Operation* reader = use.getOwner();
      if (reader == residual.getOwner()) return &use == &residual;
      if (auto view = mlir::dyn_cast<td::ReshapeOp>(reader)) return IsLastUse(residual, view.getResult());
      return reader->isBeforeInBlock(residual.getOwner());
    });
  }

  static bool IsInPlace(mlir::Operation* op) {
    auto command = mlir::dyn_cast<exec::CommandOp>(op);
    return command && command.isInPlace();
  }

  // Copies operands that commands write over, unless they are computed in the command's block and nothing else reads
  // them afterwards: td-select-libraries takes only residuals that die, but later passes may have made other ops read
  // the same value.
  void InsertInPlaceCopies() {
    step_.walk([&](exec::CommandOp command) {
      for (mlir::OpResult result : command->getOpResults()) {
        mlir::OpOperand* operand = command.getOperandInPlace(result.getResultNumber());
        if (!operand) continue;
        mlir::Value source = SourceOf(operand->get());
        const bool own = WritesFreely(source) || source.getDefiningOp<exec::MapMicrobatchesOp>();
        if (own && source.getParentBlock() == command->getBlock() && IsLastUse(*operand, source)) continue;
        mlir::OpBuilder builder(command);
        operand->set(builder.create<exec::CopyOp>(command.getLoc(), operand->get().getType(), operand->get()));
      }
    });
  }

  void InsertYieldCopies() {
    for (auto map : step_.getOps<exec::MapMicrobatchesOp>()) {
      mlir::Operation* yield = map.getBody().front().getTerminator();
      mlir::OpBuilder builder(yield);
      llvm::DenseSet<mlir::Value> seen;
      for (mlir::OpOperand& operand : yield->getOpOperands()) {
        const bool free = WritesFreely(operand.get()) && !SharedWith(mlir::cast<mlir::OpResult>(operand.get()));
        if (!free || !seen.insert(operand.get()).second) {
          operand.set(builder.create<exec::CopyOp>(operand.get().getLoc(), operand.get().getType(), operand.get()));
        }
      }
    }
  }

  // Returns the position of the last op of the step's block that reads `v` or another view of it.
  static int LastUse(mlir::Value v, const llvm::DenseMap<mlir::Operation*, int>& position) {
    int last = 0;
    for (mlir::Operation* user : v.getUsers()) {
      last = std::max(last, position.lookup(user));
      if (mlir::isa<td::ReshapeOp>(user) || IsInPlace(user)) {
        for (mlir::Value view : user->getResults()) last = std::max(last, LastUse(view, position));
      }
    }
    return last;
  }

  // Assigns offsets in the batch arena by life time. A kept value is written by one map as a whole, in any order of its
  // microbatches, and read by others, so two values of one map never share memory. Returns the arena's size.
  int64_t PlaceKept() {
    llvm::DenseMap<mlir::Operation*, int> position;
    for (mlir::Operation& op : step_.getBody().front()) position.insert({&op, static_cast<int>(position.size())});
    std::vector<LiveRange> ranges;
    std::vector<mlir::Value> values;
    for (auto map : step_.getOps<exec::MapMicrobatchesOp>()) {
      const int64_t device_rows = map.getRowsPerLane() * map.getLanes() / ConfigOf(getOperation()).getReplicas();
      for (mlir::OpResult result : map.getResults()) {
        if (!td::IsBatched(result.getType())) continue;
        const int first = position.lookup(map);
        ranges.push_back({device_rows * RowBytes(result.getType()), first, std::max(first, LastUse(result, position))});
        values.push_back(result);
      }
    }
    const ArenaPlan plan = Assign(ranges);
    for (size_t i = 0; i < values.size(); ++i) {
      auto result = mlir::cast<mlir::OpResult>(values[i]);
      auto map = mlir::cast<exec::MapMicrobatchesOp>(result.getOwner());
      mlir::Value inner = map.getBody().front().getTerminator()->getOperand(result.getResultNumber());
      ids_[result] = Add(inner, exec::Space::kBatch, 0, plan.offsets[i], ranges[i].bytes);
    }
    if (!values.empty()) RecordPeak(exec::Space::kBatch, ranges, values, plan.bytes);
    return plan.bytes;
  }

  void PlaceLaneSlots(exec::MapMicrobatchesOp map, int64_t* lane_bytes) {
    mlir::Operation* yield = map.getBody().front().getTerminator();
    llvm::SmallVector<exec::LaneSlotAttr> slots;
    int64_t lane_offset = 0;  // all maps use the same memory: slots are read right after the map
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      const exec::Combine combine = map.getCombine(i);
      if (combine == exec::Combine::kKeep) continue;
      mlir::Value inner = yield->getOperand(i);
      int64_t bytes = StaticBytes(inner.getType());
      int id = Add(inner, exec::Space::kLane, 0, lane_offset, bytes);
      slots.push_back(exec::LaneSlotAttr::get(
          &getContext(), id, combine == exec::Combine::kMax ? exec::ReduceKind::kMax : exec::ReduceKind::kSum));
      lane_offset += Align(bytes + guard_bytes_);
    }
    *lane_bytes = std::max(*lane_bytes, lane_offset);
    SetLaneSlots(map, slots);
  }

  // Maps have copies of the constants that they read; equal constants share one place in memory.
  int PlaceConstant(mlir::Operation* op) {
    mlir::Attribute value;
    mlir::matchPattern(op, mlir::m_Constant(&value));
    const int64_t bytes = StaticBytes(op->getResult(0).getType());
    const auto [place, is_new] = constant_offsets_.try_emplace(value, constant_bytes_);
    if (is_new) constant_bytes_ += Align(bytes);
    return Add(op->getResult(0), exec::Space::kConstant, 0, place->second, bytes);
  }

  // True if `v` is invariant and only invariant commands read it, so that it need not be kept between steps: for
  // example kernels that are scaled and then packed.
  bool IsIntermediate(mlir::Value v) const {
    return invariant_.contains(v) && !v.use_empty() && llvm::all_of(v.getUsers(), [&](mlir::Operation* user) {
             return mlir::isa<exec::LaunchOp, exec::LibraryCallOp, exec::CopyOp>(user) &&
                    llvm::all_of(user->getResults(), [&](mlir::Value r) { return invariant_.contains(r); });
           });
  }

  // Assigns offsets by life time to the values of `block` that have no place yet. Returns the arena's size.
  int64_t PlaceBlock(mlir::Block& block, exec::Space space, int64_t microbatch_rows) {
    llvm::DenseMap<mlir::Operation*, int> position;
    int now = 0;
    for (mlir::Operation& op : block) position[&op] = now++;
    std::vector<LiveRange> ranges, intermediate_ranges;
    std::vector<mlir::Value> values, intermediates;
    llvm::DenseMap<mlir::Value, size_t> range_of;
    for (mlir::Operation& op : block) {
      if (IsConstant(&op)) {
        PlaceConstant(&op);
        continue;
      }
      for (mlir::OpResult v : op.getResults()) {
        int last = position[&op];
        for (mlir::Operation* user : v.getUsers()) last = std::max(last, position.lookup(user));
        if (ids_.contains(v)) continue;
        if (mlir::OpOperand* shared = SharedWith(v)) {  // the operand lives on as the result
          mlir::Value source = shared->get();
          auto it = range_of.find(source);
          if (it != range_of.end()) {
            ranges[it->second].last = std::max(ranges[it->second].last, last);
            range_of[v] = it->second;
          }
          continue;
        }
        int64_t bytes = td::IsBatched(v.getType()) ? microbatch_rows * RowBytes(v.getType()) : StaticBytes(v.getType());
        if (IsIntermediate(v)) {
          intermediate_ranges.push_back({bytes, position[&op], last});
          intermediates.push_back(v);
          continue;
        }
        range_of[v] = ranges.size();
        ranges.push_back({bytes, position[&op], last});
        if (invariant_.contains(v)) ranges.back() = {bytes, 0, now};
        values.push_back(v);
      }
    }
    // Intermediates share memory only with one another: a command is invariant only if no other command touches its
    // memory (td-mark-invariants).
    const ArenaPlan shared = Assign(intermediate_ranges);
    ArenaPlan plan = Assign(ranges);
    for (size_t i = 0; i < values.size(); ++i) Add(values[i], space, 0, plan.offsets[i], ranges[i].bytes);
    for (size_t i = 0; i < intermediates.size(); ++i) {
      Add(intermediates[i], space, 0, Align(plan.bytes) + shared.offsets[i], intermediate_ranges[i].bytes);
    }
    if (!intermediates.empty()) plan.bytes = Align(plan.bytes) + shared.bytes;
    RecordPeak(space, ranges, values, plan.bytes);
    return plan.bytes;
  }

  int64_t PlaceBody(exec::MapMicrobatchesOp map) {
    mlir::Block& body = map.getBody().front();
    return PlaceBlock(body, exec::Space::kMicrobatch, map.getMicrobatchRows());
  }

  // Gives values the buffers that they share: arguments of map bodies those of the map's operands, a reshape the bytes
  // of its operand, results that overwrite an operand that operand's.
  void PlaceViews(mlir::Block& block) {
    for (mlir::Operation& op : block) {
      if (auto map = mlir::dyn_cast<exec::MapMicrobatchesOp>(op)) {
        mlir::Block& body = map.getBody().front();
        for (auto [a, operand] : llvm::zip(body.getArguments(), map.getOperands())) ids_[a] = ids_.lookup(operand);
        PlaceViews(body);
      } else if (auto reshape = mlir::dyn_cast<td::ReshapeOp>(op)) {
        const format::Buffer source = buffers_[ids_.lookup(reshape.getInput())];
        Add(reshape.getResult(), source.space, source.index, source.offset, source.bytes);
      } else {
        for (mlir::OpResult result : op.getResults()) {
          if (mlir::OpOperand* shared = SharedWith(result)) ids_[result] = ids_.lookup(shared->get());
        }
      }
    }
  }

  void PlaceUpdates() {
    mlir::Operation* terminator = step_.getBody().front().getTerminator();
    for (mlir::OpOperand& operand : terminator->getOpOperands()) {
      mlir::FlatSymbolRefAttr update = td::UpdateOf(step_, operand.getOperandNumber());
      if (!update) continue;
      mlir::BlockArgument old = variable_argument_.lookup(update.getAttr());
      if (old) {
        ids_[operand.get()] = ids_[old];
      } else {
        Add(operand.get(), exec::Space::kVariable, variable_index_[update.getAttr()], 0,
            StaticBytes(operand.get().getType()));
      }
    }
  }

  int64_t PlaceTopLevel() { return PlaceBlock(step_.getBody().front(), exec::Space::kStep, 0); }

  // For a GPU's map, which has one lane: a sum that its body yields has the buffer of the map's result.
  void PlaceSums(exec::MapMicrobatchesOp map) {
    mlir::Operation* yield = map.getBody().front().getTerminator();
    for (mlir::OpResult result : map->getResults()) {
      if (!td::IsBatched(result.getType())) ids_[yield->getOperand(result.getResultNumber())] = ids_.lookup(result);
    }
  }

  void RecordPeak(exec::Space space, const std::vector<LiveRange>& ranges, const std::vector<mlir::Value>& values,
                  int64_t arena_bytes) {
    // Finds the command at which most bytes are live, and the ten largest buffers there.
    int64_t best = -1, best_command = 0;
    for (const LiveRange& at : ranges) {
      int64_t live = 0;
      for (const LiveRange& r : ranges) live += r.first <= at.first && at.first <= r.last ? r.bytes : 0;
      if (live > best) best = live, best_command = at.first;
    }
    std::vector<size_t> live;
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i].first <= best_command && best_command <= ranges[i].last) live.push_back(i);
    }
    llvm::stable_sort(live, [&](size_t a, size_t b) { return ranges[a].bytes > ranges[b].bytes; });
    if (live.size() > 10) live.resize(10);
    llvm::SmallVector<mlir::Attribute> rows;
    for (size_t i : live) {
      rows.push_back(exec::LiveBufferAttr::get(&getContext(), ValueName(values[i]), ranges[i].bytes));
    }
    peaks_.push_back(exec::PeakAttr::get(&getContext(), space, arena_bytes, mlir::ArrayAttr::get(&getContext(), rows)));
  }

  void Annotate(int64_t microbatch, int64_t lane, int64_t step, int64_t batch) {
    auto buffer_ids = [&](mlir::ValueRange values) {
      llvm::SmallVector<int64_t> ids;
      for (mlir::Value v : values) ids.push_back(ids_.lookup(v));
      return ids;
    };
    step_.walk([&](mlir::Operation* op) {
      if (op == step_.getOperation()) return;
      SetResultBuffers(op, buffer_ids(op->getResults()));
      if (auto map = mlir::dyn_cast<exec::MapMicrobatchesOp>(op))
        SetArgumentBuffers(map, buffer_ids(map.getBody().getArguments()));
    });
    SetBuffers(getOperation(), buffers_);
    SetArenas(getOperation(), exec::ArenasAttr::get(&getContext(), Align(microbatch), Align(lane), Align(step),
                                                    Align(batch), constant_bytes_));
    SetPeaks(getOperation(), peaks_);
  }

  mlir::func::FuncOp step_;
  std::vector<format::Buffer> buffers_;
  llvm::DenseMap<mlir::Value, int> ids_;
  llvm::DenseMap<mlir::Attribute, int64_t> variable_index_;
  llvm::DenseMap<mlir::Attribute, mlir::BlockArgument> variable_argument_;
  llvm::SmallVector<exec::PeakAttr> peaks_;
  llvm::DenseSet<mlir::Value> common_, invariant_;  // ValuesOfVariables: kAll and kNotUpdated
  int64_t constant_bytes_ = 0;
  llvm::DenseMap<mlir::Attribute, int64_t> constant_offsets_;
  int64_t alignment_ = 64;
  int64_t guard_bytes_ = 0;
};

}  // namespace

}  // namespace tandem
