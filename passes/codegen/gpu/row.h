// Kernels with reductions: a warp or a block per row or part of a row.
#ifndef TANDEM_PASSES_CODEGEN_GPU_ROW_H_
#define TANDEM_PASSES_CODEGEN_GPU_ROW_H_

#include <functional>
#include <vector>

#include "passes/codegen/gpu/partial_sums.h"

namespace tandem {

class RowKernel : public PartialSums {
 public:
  explicit RowKernel(const GpuRequest& request) : PartialSums(request), cuts_rows_(request.cuts_rows) {}
  bool Takes() override { return is_of_loops(); }
  bool parts_depend() const override { return parts_depend_; }

 protected:
  // The memory of a value that a row computes for later stages.
  struct Stage {
    mlir::Value value;
    bool in_shared = true;
    int64_t offset = 0;  // bytes from the start of the team's shared memory, or of its part of `scratch`
  };

  void EmitThread() override;
  void PlanStages();
  int64_t RowDomain();
  // Returns the number of parts of a row that have reductions of their own, if all stages and results consist of so
  // many equal parts; else 1.
  int64_t PartsOfRow() const;
  // Lets `e` check that an element of a stage that is used for another element is in the same part of the row, and set
  // parts_depend_ if it is not.
  void CheckParts(ElementEmitter& e);
  static int64_t LanesPerElement(const Team& team, mlir::Operation* op, const Reduction& reduction, int64_t results);

  const bool cuts_rows_;
  std::vector<Stage> stages_;
  int64_t parts_ = 1;                      // parts of a row
  llvm::DenseSet<mlir::Value> own_parts_;  // values that number parts of this block

 private:
  using Store = std::function<void(mlir::ValueRange at, mlir::Value element)>;

  void EmitRow(ElementEmitter& e, const Team& team, const Space& row);
  // Calls `body` for all elements of values of one inner size in this block's parts of a row, spread over the team.
  void ForOwnElements(ElementEmitter& e, const Team& team, const Space& row, mlir::Type type,
                      const std::function<void(llvm::ArrayRef<Point>)>& body);
  void Sync(const Team& team);
  // Emits a reduction or argmax; one thread passes each element of the result to `store`. `row` is given if the operand
  // is batched, and is then the only row that is read.
  void EmitReduction(ElementEmitter& e, const Team& team, mlir::Operation* op, mlir::Value row, const Store& store);

  // Returns the place in a key of ReduceAcross, as td.argmax counts it.
  mlir::Value ArgMaxPlace(mlir::Location loc, mlir::Value key);
  // True if 64 bits are enough for the keys of an argmax; else one thread computes each result.
  static bool HasArgMaxKeys(mlir::Operation* op, const Reduction& reduction);

  bool warp_teams_ = false, parts_depend_ = false;
  mlir::Value part_begin_, part_end_;  // parts [begin, end) of this block
  int64_t team_shared_ = 0, team_scratch_ = 0, scratch_stages_ = 0;
  int64_t reduce_areas_ = 0;  // areas of kReduceAreaBytes behind the teams' shared memory
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_ROW_H_
