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
  // A value of a row that is computed into memory, from where later ops read it.
  struct Stage {
    mlir::Value value;
    bool in_shared = true;
    int64_t offset = 0;  // bytes from the start of the team's shared memory, or of the team's part of `scratch`
  };

  void EmitThread() override;
  void PlanStages();
  int64_t RowDomain();
  // If all reductions have the same number of results per row, and all stages and results consist of so many equal
  // parts, returns that number: each reduction may then belong to one part. Else returns 1.
  int64_t PartsOfRow() const;
  // Lets `e` set parts_depend_ if code for one part of a row reads an element of a stage that is in another part.
  void CheckParts(ElementEmitter& e);
  static int64_t LanesPerElement(const Team& team, mlir::Operation* op, const Reduction& reduction, int64_t results);

  const bool cuts_rows_;
  std::vector<Stage> stages_;
  int64_t parts_ = 1;                      // number of parts that a row is cut into
  llvm::DenseSet<mlir::Value> own_parts_;  // index values in the emitted code that number parts of this block

 private:
  using Store = std::function<void(mlir::ValueRange at, mlir::Value element)>;

  void EmitRow(ElementEmitter& e, const Team& team, const Space& row);
  // Calls `body` for all elements of `type` in this block's parts of a row, spread over the threads of the team.
  void ForOwnElements(ElementEmitter& e, const Team& team, const Space& row, mlir::Type type,
                      const std::function<void(llvm::ArrayRef<Point>)>& body);
  void Sync(const Team& team);
  // Emits a reduction or argmax. For each element of the result, one thread calls `store`. `row` is set if the operand
  // is batched, and is then the only row that is read.
  void EmitReduction(ElementEmitter& e, const Team& team, mlir::Operation* op, mlir::Value row, const Store& store);

  // Returns the index that td.argmax gives, which is part of a key of ReduceAcross.
  mlir::Value ArgMaxPlace(mlir::Location loc, mlir::Value key);
  // True if 64 bits are enough for the keys of an argmax; else one thread computes each result.
  static bool HasArgMaxKeys(mlir::Operation* op, const Reduction& reduction);

  bool warp_teams_ = false, parts_depend_ = false;
  mlir::Value part_begin_, part_end_;  // this block computes parts [begin, end) of the row
  int64_t team_shared_ = 0, team_scratch_ = 0, scratch_stages_ = 0;
  int64_t reduce_areas_ = 0;  // number of areas of kReduceAreaBytes behind the teams' shared memory
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_ROW_H_
