// The state of one kernel's emission for a GPU, shared by the skeletons (loop, row, col).
#ifndef TANDEM_PASSES_CODEGEN_GPU_GPU_KERNEL_BUILDER_H_
#define TANDEM_PASSES_CODEGEN_GPU_GPU_KERNEL_BUILDER_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/codegen/gpu/device.h"
#include "passes/codegen/gpu/gpu_kernel.h"
#include "passes/codegen/gpu/linear_space.h"
#include "passes/codegen/gpu/matrix_tiles.h"
#include "passes/codegen/kernel_values.h"
#include "passes/codegen/reduction.h"
#include "passes/exec/kernel_kind.h"

namespace tandem {

class GpuKernelBuilder {
 public:
  // `cuts_rows`: several blocks may share a row where its reductions are of parts of it, such as softmax over the keys
  // of every query.
  GpuKernelBuilder(mlir::func::FuncOp kernel, mlir::ModuleOp module, std::string symbol, int64_t rows, bool cuts_rows);
  // `arch`: of the oldest GPU that is to run the code.
  absl::Status Emit(int arch);
  const GpuPlan& plan() const { return plan_; }
  int index_bits() const { return index_bits_; }
  // Whether a part of a row needs what another part computes: the code is wrong, and rows must not be cut.
  bool parts_depend() const { return parts_depend_; }

 private:
  // Threads that work on one row together: a warp, or the block.
  struct Team {
    bool warp = false;
    int64_t size = kWarp;
    mlir::Value lane;    // of this thread in the team
    mlir::Value number;  // of the team, counted through the grid; index
    mlir::Value shared;  // the team's shared memory
  };
  // Where a value that a row computes for later stages lies.
  struct Stage {
    mlir::Value value;
    bool in_shared = true;
    int64_t offset = 0;  // in the team's shared memory, or in its part of `scratch`
  };
  using Store = std::function<void(mlir::ValueRange at, mlir::Value element)>;

  // A function with the kernel's parameters, whose body runs unless the guard is up.
  void Function(const std::string& name, const std::function<void(ElementEmitter&)>& body);
  mlir::Value Number(unsigned i);  // begin, end, row_offset as index
  ElementEmitter::Buffer ResultBuffer(unsigned result);
  void BindOperands(ElementEmitter& e);
  mlir::Value Scratch();
  mlir::Value Counters();  // in front of it

  // Arithmetic on indices.
  mlir::Value Int(int64_t v);
  mlir::Value Add(mlir::Value x, mlir::Value y);
  mlir::Value Sub(mlir::Value x, mlir::Value y);
  mlir::Value Mul(mlir::Value x, int64_t y);
  mlir::Value Div(mlir::Value x, int64_t y);
  mlir::Value Rem(mlir::Value x, int64_t y);
  mlir::Value CeilDiv(mlir::Value x, int64_t y) { return Div(Add(x, Int(y - 1)), y); }
  mlir::Value Min(mlir::Value x, mlir::Value y);
  mlir::Value Max(mlir::Value x, mlir::Value y);
  mlir::Value Less(mlir::Value x, mlir::Value y);
  mlir::Value And(mlir::Value x, mlir::Value y);
  // `pointer` moved by a number of bytes (index).
  mlir::Value Offset(mlir::Value pointer, mlir::Value bytes);

  // loop.cc
  void EmitLoopKernel();
  void EmitStores(ElementEmitter& e, const std::vector<unsigned>& which, mlir::Value rows_begin, mlir::Value rows_end);
  void StorePoints(ElementEmitter& e, const std::vector<unsigned>& which, llvm::ArrayRef<Point> points);

  // row.cc
  void EmitRowKernel(bool batched);
  void PlanStages(bool batched);
  void EmitRow(ElementEmitter& e, const Team& team, const Space& row);
  // The number of the result that `v` is, which is none of the `late` ones any more; nothing where it is no result.
  std::optional<unsigned> TakeResult(mlir::Value v, std::vector<unsigned>& late) const;
  // All elements of values of one inner size, spread over the team.
  void ForElements(ElementEmitter& e, const Team& team, const Space& row, mlir::Type type,
                   const std::function<void(llvm::ArrayRef<Point>)>& body);
  void Sync(const Team& team);
  int64_t RowDomain() const;
  // The number of parts of a row that have a reduction of their own, when all stages and results are made of so many
  // equal parts; else 1.
  int64_t PartsOfRow() const;
  // Looks at an element of a stage that is used for another element: it must be of the same part.
  void CheckPart(ElementEmitter& e, mlir::Value tensor, mlir::ValueRange indices);

  // part.cc
  // The number of parts of a row where each is small enough for the registers of a team and has one result of every
  // reduction; 0 where the kernel is not so.
  int64_t PartsInRegisters() const;
  void EmitPartKernel(int64_t parts);
  void EmitPart(ElementEmitter& e, const Team& team, const Space& row);
  // Elements of values of one inner size in part `part_` of a row, spread over the team without a loop.
  void ForPart(ElementEmitter& e, const Team& team, const Space& row, mlir::Type type,
               const std::function<void(llvm::ArrayRef<Point>)>& body);
  // body(run, it is one of `runs`; null when it always is) for the runs of this thread, one after another.
  void ForRuns(mlir::Value lane, int64_t lanes, int64_t runs,
               const std::function<void(mlir::Value, mlir::Value)>& body);

  // team_reduce.cc
  // The elements of a reduction or argmax, each given to `store` by one thread. `type`: the result's; `row` is
  // given where the operand is batched, and is then the only row that is looked at.
  void EmitReduction(ElementEmitter& e, const Team& team, mlir::Operation* op, mlir::Value row, const Store& store);
  mlir::Value ReduceAcross(ElementEmitter& e, mlir::Operation* op, const Reduction& reduction, mlir::ValueRange fixed,
                           mlir::Value lane, int64_t lanes);
  mlir::Value CombineAcrossBlock(ElementEmitter& e, const Team& team, mlir::Location loc, td::ReduceKind kind,
                                 mlir::Value value, int64_t area);
  int64_t LanesPerElement(const Team& team, mlir::Operation* op, const Reduction& reduction, int64_t results) const;

  // arg_max.cc: the place of the first largest of the elements that `at` gives for the numbers of a loop by `lanes`
  // threads, of which this is number `lane`, as a 64-bit integer that is larger for larger elements and for earlier
  // ones among equals: the maximum over threads has the place of the row.
  mlir::Value ArgMaxKey(ElementEmitter& e, mlir::Location loc, const LinearSpace& space, mlir::Value lane,
                        int64_t lanes, const std::function<mlir::Value(const Point&)>& at);
  // The place, as td.argmax gives it, in a key.
  mlir::Value ArgMaxPlace(mlir::Location loc, mlir::Value key);
  // Whether 64 bits are enough for the keys of an argmax; else every result is one thread's.
  bool HasArgMaxKeys(mlir::Operation* op, const Reduction& reduction) const;

  // attention.cc
  void EmitAttentionKernel(Factors factors);

  // grid_reduce.cc
  bool ReducesOverGrid() const;
  void EmitGridReduceKernel();
  // What the last block does. `types`: of the sums of `values`, as the blocks have left them.
  void AddUpGrid(ElementEmitter& e, const Team& block, llvm::ArrayRef<mlir::Value> values,
                 llvm::ArrayRef<mlir::Type> types, int64_t blocks);

  // col.cc
  bool FitsColumns() const;
  void EmitColumnKernel();
  struct ColumnThread {
    mlir::Value x, y;        // run of columns and lane in the block
    mlir::Value column;      // its first
    mlir::Value has_column;  // false: one thread too many
  };
  // What a block has: `range` runs of `width` columns by `lanes` threads for each.
  struct ColumnTile {
    int64_t columns;  // of all blocks
    int64_t range, lanes;
    int width;
  };
  // What a thread adds up in each of its columns: a sum, or what a sum with taps has for one tap.
  struct ColumnSum {
    unsigned partial;
    int64_t tap;
  };
  void PlanColumnSums(int64_t columns);
  // What the element of the operand at `point` adds to it.
  mlir::Value ColumnAddend(ElementEmitter& e, const ColumnSum& sum, const Point& point);
  // Adds the elements of `width` columns at some places of the reduced dimensions to `sums`, one of column_sums_ after
  // the other.
  void SumColumns(ElementEmitter& e, const LinearSpace& space, mlir::Value column, int width,
                  llvm::ArrayRef<mlir::Value> places, std::vector<mlir::Value>& sums);
  // Adds up the sums of a block's lanes, for partial sum `number` or (null) for the results.
  void StoreColumns(ElementEmitter& e, const std::vector<mlir::Value>& sums, const ColumnThread& thread,
                    const ColumnTile& tile, mlir::Value number);

  // partial_sums.cc: what blocks leave of sums over the batch, and how it is added up.
  struct Partial {
    unsigned result;
    td::ReduceKind kind;
    int64_t elements;
    int64_t offset;               // in `scratch`
    mlir::RankedTensorType type;  // of the sum, as it lies there
  };
  // Partial sums of one result: `count` of them, `most` at most, from `first` on and `stride` apart.
  struct Slots {
    mlir::Value first, count;
    int64_t most, stride;
  };
  // A block that has left its partial sums of one tile of the results' elements.
  struct Arrival {
    mlir::Value number, count;       // of this block, and of all blocks, of the tile
    int64_t most;                    // blocks of a tile
    int64_t partials_per_block = 1;  // of each sum
    mlir::Value tile;
    int64_t tiles = 1;
    int64_t columns = 0, columns_of_tile = 0;  // with several tiles, which are of columns
  };
  // `most`: how many there may be of each.
  void PlanPartials(int64_t most);
  // Where partial sum `number` of one result lies.
  ElementEmitter::Buffer PartialBuffer(const Partial& partial, mlir::Value number);
  // Whether this block is the last of `count` to come here, for all of its threads: then it sees what the others have
  // written. The counter is zero before the first and after the last.
  mlir::Value IsLastBlock(ElementEmitter& e, mlir::Value counter, mlir::Value count);
  mlir::Value SumOfPartials(ElementEmitter& e, const Partial& partial, mlir::Value element, const Slots& slots);
  // Adds up the slots for each of the tile's elements, into the results where that makes them whole, else into the
  // first slot.
  void SumSlots(ElementEmitter& e, const Arrival& arrival, const Slots& slots, bool whole);
  // All threads of the block come here, when the block has written its partial sums.
  void AddUpPartials(ElementEmitter& e, const Arrival& arrival);
  static int64_t CountersOf(int64_t most);
  // The results that are computed from sums at these points, by the thread that has stored the sums there.
  void StoreEpilogue(ElementEmitter& e, const std::vector<unsigned>& which, llvm::ArrayRef<Point> points);

  mlir::func::FuncOp kernel_;
  mlir::ModuleOp module_;
  mlir::OpBuilder b_;
  Device device_;
  mlir::Location loc_;
  std::string symbol_;
  exec::KernelKind kind_;
  int64_t rows_;
  std::vector<mlir::Value> results_;
  std::vector<int> alias_;                  // per result: operand or -1
  std::vector<unsigned> batch_reduces_;     // results that are sums (max, ...) over the batch
  std::vector<unsigned> epilogue_results_;  // without batch, and no sums: computed behind those
  std::vector<unsigned> plain_results_;     // all others
  llvm::DenseSet<mlir::Value> epilogue_;    // what is computed from sums over the batch
  std::vector<Stage> stages_;
  std::vector<Partial> partials_;
  std::vector<ColumnSum> column_sums_;
  bool warp_teams_ = false;
  bool cuts_rows_, parts_depend_ = false;
  int64_t parts_ = 1;                      // of a row
  mlir::Value part_begin_, part_end_;      // that this block has
  llvm::DenseSet<mlir::Value> own_parts_;  // values that number parts of this block
  bool in_registers_ = false;              // reductions keep what they read
  mlir::Value part_;                       // of this team, where parts are in registers
  int64_t team_shared_ = 0, team_scratch_ = 0, scratch_stages_ = 0;
  int64_t reduce_areas_ = 0;  // of kReduceAreaBytes each, behind the teams' shared memory
  GpuPlan plan_;
  int index_bits_ = 64;
  absl::Status status_;
  // Of the function that is emitted.
  mlir::LLVM::LLVMFuncOp f_;
  mlir::Value thread_, block_, shared_;
};

// What one reduction of a block needs in shared memory: 8 bytes per warp.
inline constexpr int64_t kReduceAreaBytes = 8 * kWarp;

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_GPU_KERNEL_BUILDER_H_
