// The state of one kernel's emission for a GPU, shared by the skeletons (loop, row, col).
#ifndef TANDEM_PASSES_CODEGEN_GPU_GPU_KERNEL_BUILDER_H_
#define TANDEM_PASSES_CODEGEN_GPU_GPU_KERNEL_BUILDER_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "passes/codegen/gpu/device.h"
#include "passes/codegen/gpu/gpu_kernel.h"
#include "passes/codegen/gpu/linear_space.h"
#include "passes/codegen/gpu/matrix_tiles.h"
#include "passes/codegen/kernel_context.h"
#include "passes/codegen/reduction.h"

namespace tandem {

class GpuKernelBuilder : private KernelContext {
 public:
  // `cuts_rows`: several blocks may share a row if each of its reductions goes over a part of it only, such as softmax
  // over the keys of every query.
  GpuKernelBuilder(mlir::func::FuncOp kernel, mlir::ModuleOp module, std::string symbol, int64_t rows, bool cuts_rows);
  // `arch`: architecture of the oldest GPU that is to run the code.
  absl::Status Emit(int arch);
  const GpuPlan& plan() const { return plan_; }
  int index_bits() const { return index_bits_; }
  // True if a part of a row needs values that another part computes: then the emitted code is wrong, and rows must not
  // be cut.
  bool parts_depend() const { return parts_depend_; }

 private:
  // Threads that work on one row together: a warp, or the block.
  struct Team {
    bool warp = false;
    int64_t size = kWarp;
    mlir::Value lane;    // number of this thread in the team
    mlir::Value number;  // number of the team in the grid, of type index
    mlir::Value shared;  // the team's shared memory
  };
  // The memory of a value that a row computes for later stages.
  struct Stage {
    mlir::Value value;
    bool in_shared = true;
    int64_t offset = 0;  // bytes from the start of the team's shared memory, or of its part of `scratch`
  };
  // Numbers of parameters behind the buffers, which are begin, end, row_offset, scratch, guard.
  static constexpr unsigned kScratch = 3, kGuard = 4;
  using Store = std::function<void(mlir::ValueRange at, mlir::Value element)>;

  // Emits a function with the kernel's parameters, whose body does nothing if the guard is set.
  void Function(const std::string& name, const std::function<void(ElementEmitter&)>& body);
  mlir::Value Scratch();
  mlir::Value Counters() { return Argument(kScratch); }  // at the beginning of the scratch parameter

  // Returns `pointer` moved by a number of bytes (index).
  mlir::Value Offset(mlir::Value pointer, mlir::Value bytes) {
    return Address(pointer, b_.getI8Type(), bytes, /*inbounds=*/true);
  }

  // loop.cc
  void EmitLoopKernel();
  void EmitStores(ElementEmitter& e, const std::vector<unsigned>& which, mlir::Value rows_begin, mlir::Value rows_end);

  // row.cc
  void EmitRowKernel();
  void PlanStages();
  void EmitRow(ElementEmitter& e, const Team& team, const Space& row);
  // Returns the number of the result that `v` is, and removes it from `late`; nothing if it is no result.
  std::optional<unsigned> TakeResult(mlir::Value v, std::vector<unsigned>& late) const;
  // Calls `body` for all elements of values of one inner size, spread over the team.
  void ForElements(ElementEmitter& e, const Team& team, const Space& row, mlir::Type type,
                   const std::function<void(llvm::ArrayRef<Point>)>& body);
  void Sync(const Team& team);
  int64_t RowDomain() const;
  // Returns the number of parts of a row that have reductions of their own, if all stages and results consist of so
  // many equal parts; else 1.
  int64_t PartsOfRow() const;
  // Checks that an element of a stage that is used for another element is in the same part of the row; sets
  // parts_depend_ if it is not.
  void CheckPart(ElementEmitter& e, mlir::Value tensor, mlir::ValueRange indices);

  // part.cc
  // Returns the number of parts of a row if each part fits the registers of a team and has one result of every
  // reduction; else 0.
  int64_t PartsInRegisters() const;
  void EmitPartKernel(int64_t parts);
  void EmitPart(ElementEmitter& e, const Team& team, const Space& row);
  // Calls `body` for the elements of values of one inner size in part `part_` of a row, spread over the team without a
  // loop.
  void ForPart(ElementEmitter& e, const Team& team, const Space& row, mlir::Type type,
               const std::function<void(llvm::ArrayRef<Point>)>& body);
  // Calls body(run, condition that it is one of `runs`, or null if it always is) for the runs of this thread, one after
  // another.
  void ForRuns(mlir::Value lane, int64_t lanes, int64_t runs,
               const std::function<void(mlir::Value, mlir::Value)>& body);

  // team_reduce.cc
  // Emits a reduction or argmax; one thread passes each element of the result to `store`. `row` is given if the operand
  // is batched, and is then the only row that is read.
  void EmitReduction(ElementEmitter& e, const Team& team, mlir::Operation* op, mlir::Value row, const Store& store);
  mlir::Value ReduceAcross(ElementEmitter& e, mlir::Operation* op, const Reduction& reduction, mlir::ValueRange fixed,
                           mlir::Value lane, int64_t lanes);
  mlir::Value CombineAcrossBlock(ElementEmitter& e, const Team& team, mlir::Location loc, td::ReduceKind kind,
                                 mlir::Value value, int64_t area);
  int64_t LanesPerElement(const Team& team, mlir::Operation* op, const Reduction& reduction, int64_t results) const;

  // arg_max.cc. Returns a 64-bit key for the first largest of the elements that this thread, `lane` of `lanes`, visits
  // in a loop over `space`; `at` gives the element of a point. Keys are larger for larger elements, and among equal
  // ones for earlier places, so the maximum of all threads' keys has the place in the row.
  mlir::Value ArgMaxKey(ElementEmitter& e, mlir::Location loc, const LinearSpace& space, mlir::Value lane,
                        int64_t lanes, const std::function<mlir::Value(const Point&)>& at);
  // Returns the place in a key, as td.argmax counts it.
  mlir::Value ArgMaxPlace(mlir::Location loc, mlir::Value key);
  // True if 64 bits are enough for the keys of an argmax; else one thread computes each result.
  bool HasArgMaxKeys(mlir::Operation* op, const Reduction& reduction) const;

  // attention.cc
  void EmitAttentionKernel(Factors factors);

  // grid_reduce.cc
  bool ReducesOverGrid() const;
  void EmitGridReduceKernel();
  // Emits the work of the last block. `types`: the types of the sums of `values` that the blocks have left.
  void AddUpGrid(ElementEmitter& e, const Team& block, llvm::ArrayRef<mlir::Value> values,
                 llvm::ArrayRef<mlir::Type> types, int64_t blocks);

  // col.cc
  void EmitColumnKernel();
  struct ColumnThread {
    mlir::Value x, y;        // this thread's run of columns and its lane in the block
    mlir::Value column;      // first column of the run
    mlir::Value has_column;  // false: there is no column left for this thread
  };
  // The columns of a block: `range` runs of `width` columns, with `lanes` threads for each run.
  struct ColumnTile {
    int64_t columns;  // columns of all blocks
    int64_t range, lanes;
    int width;
  };
  // A sum that a thread adds up in each of its columns: a plain sum, or one tap of a sum with taps.
  struct ColumnSum {
    unsigned partial;
    int64_t tap;
  };
  void PlanColumnSums(int64_t columns);
  // Returns what the element of the operand at `point` adds to `sum`.
  mlir::Value ColumnAddend(ElementEmitter& e, const ColumnSum& sum, const Point& point);
  // Adds the elements of `width` columns at `places` of the reduced dimensions to `sums`, which has `width` sums for
  // each of column_sums_.
  void SumColumns(ElementEmitter& e, const LinearSpace& space, mlir::Value column, int width,
                  llvm::ArrayRef<mlir::Value> places, std::vector<mlir::Value>& sums);
  // Adds up the sums of a block's lanes and stores them: as partial sum `number`, or (null) as the results.
  void StoreColumns(ElementEmitter& e, const std::vector<mlir::Value>& sums, const ColumnThread& thread,
                    const ColumnTile& tile, mlir::Value number);

  // partial_sums.cc: the partial sums over the batch that blocks leave, and how they are added up.
  struct Partial {
    unsigned result;
    td::ReduceKind kind;
    int64_t elements;
    int64_t offset;               // bytes from the start of `scratch`
    mlir::RankedTensorType type;  // type of the sum in `scratch`
  };
  // Partial sums of one result: `count` of them, at most `most`, from number `first` on and `stride` apart.
  struct Slots {
    mlir::Value first, count;
    int64_t most, stride;
  };
  // The arrival of a block that has left its partial sums of one tile of the results' elements.
  struct Arrival {
    mlir::Value number, count;       // number of this block, and of blocks, of the tile
    int64_t most;                    // most blocks of a tile
    int64_t partials_per_block = 1;  // partial sums that a block leaves of each sum
    mlir::Value tile;
    int64_t tiles = 1;
    int64_t columns = 0, columns_of_tile = 0;  // set if there are several tiles, which consist of columns
  };
  // Reserves scratch memory for partial sums. `most`: the most partial sums of each result.
  void PlanPartials(int64_t most);
  // Returns the memory of partial sum `number` of one result.
  ElementEmitter::Buffer PartialBuffer(const Partial& partial, mlir::Value number);
  // True, for all threads of this block, if it is the last of `count` blocks to come here: then it sees what the others
  // have written. The counter is zero before the first block and after the last.
  mlir::Value IsLastBlock(ElementEmitter& e, mlir::Value counter, mlir::Value count);
  mlir::Value SumOfPartials(ElementEmitter& e, const Partial& partial, mlir::Value element, const Slots& slots);
  // Adds up the slots for each of the tile's elements: into the results if the sums are `whole` then, else into the
  // first slot.
  void SumSlots(ElementEmitter& e, const Arrival& arrival, const Slots& slots, bool whole);
  // Adds up partial sums as far as this block is the last one to arrive. All threads of the block come here, when the
  // block has written its partial sums.
  void AddUpPartials(ElementEmitter& e, const Arrival& arrival);
  static int64_t CountersOf(int64_t most);
  // Stores the results that are computed from sums at these points; the thread that has stored the sums does so.
  void StoreEpilogue(ElementEmitter& e, const std::vector<unsigned>& which, llvm::ArrayRef<Point> points);

  Device device_;
  int64_t rows_;
  std::vector<Stage> stages_;
  std::vector<Partial> partials_;
  std::vector<ColumnSum> column_sums_;
  bool warp_teams_ = false;
  bool cuts_rows_, parts_depend_ = false;
  int64_t parts_ = 1;                      // parts of a row
  mlir::Value part_begin_, part_end_;      // parts [begin, end) of this block
  llvm::DenseSet<mlir::Value> own_parts_;  // values that number parts of this block
  bool in_registers_ = false;              // reductions keep the elements that they read in registers
  mlir::Value part_;                       // part of this team, if parts are in registers
  int64_t team_shared_ = 0, team_scratch_ = 0, scratch_stages_ = 0;
  int64_t reduce_areas_ = 0;  // areas of kReduceAreaBytes behind the teams' shared memory
  GpuPlan plan_;
  int index_bits_ = 64;
  mlir::Value thread_, block_, shared_;
};

// Bytes of shared memory that one reduction of a block needs: 8 per warp.
inline constexpr int64_t kReduceAreaBytes = 8 * kWarp;

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_GPU_KERNEL_BUILDER_H_
