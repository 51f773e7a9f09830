// What the emitters of kernels for GPUs share: the function of a thread, and what several threads do together.
#ifndef TANDEM_PASSES_CODEGEN_GPU_GPU_KERNEL_BUILDER_H_
#define TANDEM_PASSES_CODEGEN_GPU_GPU_KERNEL_BUILDER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "passes/codegen/gpu/device.h"
#include "passes/codegen/gpu/gpu_kernel.h"
#include "passes/codegen/gpu/linear_space.h"
#include "passes/codegen/kernel_context.h"
#include "passes/codegen/reduction.h"

namespace tandem {

// A kernel to emit; the members are the arguments of EmitGpuKernel.
struct GpuRequest {
  mlir::func::FuncOp kernel;
  const std::string& symbol;
  mlir::ModuleOp module;
  int64_t rows;
  int arch;
  // True if several blocks may share a row. That is right if each of the row's reductions goes over a part of the row
  // only, such as softmax over the keys of every query.
  bool cuts_rows;
};

class GpuKernelBuilder : protected KernelContext {
 public:
  explicit GpuKernelBuilder(const GpuRequest& request);
  virtual ~GpuKernelBuilder() = default;

  // True if this builder can emit the kernel. Builders are asked in the order of the table in gpu_kernel.cc.
  virtual bool Takes() = 0;
  absl::Status Emit();
  const GpuPlan& plan() const { return plan_; }
  int index_bits() const { return index_bits_; }
  // True if a part of a row turned out to need values that another part computes. Then the emitted code is wrong, and
  // must be emitted again without cutting rows.
  virtual bool parts_depend() const { return false; }

 protected:
  // Threads that work on one row together: a warp, or the block.
  struct Team {
    bool warp = false;
    int64_t size = kWarp;
    mlir::Value lane;    // number of this thread in the team
    mlir::Value number;  // number of the team in the grid, of type index
    mlir::Value shared;  // the team's shared memory
  };
  // Numbers of two of the parameters behind the buffers: begin, end, row_offset, scratch, guard.
  static constexpr unsigned kScratch = 3, kGuard = 4;

  absl::Status Check() { return KernelContext::Check(/*takes_epilogues=*/true); }
  virtual void EmitThread() = 0;

  // Emits the function with the kernel's parameters, whose body does nothing if the guard is set.
  void Function(const std::function<void(ElementEmitter&)>& body);
  mlir::Value Scratch();
  // The counters of IsLastBlock are at the beginning of `scratch`.
  mlir::Value Counters() { return Argument(kScratch); }

  // Returns `pointer` moved by a number of bytes (index).
  mlir::Value Offset(mlir::Value pointer, mlir::Value bytes) {
    return Address(pointer, b_.getI8Type(), bytes, /*inbounds=*/true);
  }

  // Calls body(run, condition) for every run of this thread, `lane` of `lanes` threads that share `runs` runs.
  // `condition` is that the run exists; null if it always does.
  void ForRuns(mlir::Value lane, int64_t lanes, int64_t runs,
               const std::function<void(mlir::Value, mlir::Value)>& body);
  // Calls `body` for all elements of a row of `type`, spread over the threads of the team.
  void ForElements(ElementEmitter& e, const Team& team, const Space& row, mlir::Type type,
                   const std::function<void(llvm::ArrayRef<Point>)>& body);
  // Returns the number of the kernel's result that `v` is, and removes it from `late`, the results that are not stored
  // yet; nothing if `v` is no result.
  std::optional<unsigned> TakeResult(mlir::Value v, std::vector<unsigned>& late) const;
  // True, for all threads of this block, if it is the last of `count` blocks to get here: then it sees what the others
  // have written. `counter` is the number of the counter, which is zero before the first block and after the last.
  mlir::Value IsLastBlock(ElementEmitter& e, mlir::Value counter, mlir::Value count);

  // Combines the elements of a reduction (for td.argmax keys of them) over `lanes` neighbouring threads and returns the
  // result. `in_registers`: without a loop, so that elements that are read and computed stay in registers.
  mlir::Value ReduceAcross(ElementEmitter& e, mlir::Operation* op, const Reduction& reduction, mlir::ValueRange fixed,
                           mlir::Value lane, int64_t lanes, bool in_registers = false);
  mlir::Value CombineAcrossBlock(ElementEmitter& e, const Team& team, td::ReduceKind kind, mlir::Value value,
                                 int64_t area);

  const int64_t rows_;
  Device device_;
  GpuPlan plan_;
  int index_bits_ = 64;
  mlir::Value thread_, block_, shared_;

 private:
  // Returns a 64-bit key for the first largest of the elements that this thread, `lane` of `lanes`, visits in a loop
  // over `space`; `at` gives the element of a point. Keys are larger for larger elements, and among equal ones for
  // earlier places, so the maximum of all threads' keys has the place in the row.
  mlir::Value ArgMaxKey(mlir::Location loc, const LinearSpace& space, mlir::Value lane, int64_t lanes,
                        const std::function<mlir::Value(const Point&)>& at);
};

// A row of the table in gpu_kernel.cc: a kind of builder. The first one in the table that Takes() a kernel emits it.
struct GpuEmitter {
  const char* name;
  std::unique_ptr<GpuKernelBuilder> (*make)(const GpuRequest& request);
};

template <typename T>
std::unique_ptr<GpuKernelBuilder> MakeBuilder(const GpuRequest& request) {
  return std::make_unique<T>(request);
}

// Bytes of shared memory that one reduction of a block needs: 8 per warp.
inline constexpr int64_t kReduceAreaBytes = 8 * kWarp;

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_GPU_KERNEL_BUILDER_H_
