// The whole step of a tiny program as a list of calls, for which every address is computed beforehand. The work that a
// general step does around each call (distributing tasks, resolving operands, traversing reduction trees) takes longer
// than such calls do.
#ifndef TANDEM_RUNTIME_CPU_STEP_CALL_LIST_H_
#define TANDEM_RUNTIME_CPU_STEP_CALL_LIST_H_

#include <cstdint>
#include <vector>

#include "runtime/cpu/kernels/object_loader.h"
#include "runtime/cpu/step/step_state.h"

namespace tandem {

class CallList {
 public:
  // Makes an empty list. `state` must outlive the list and keep its memory where it is.
  explicit CallList(const StepState& state);

  // True if the devices now have the rows for which the list was made: all lanes are full.
  bool Fits() const;
  // Runs the step on the calling thread, with the same bits as section by section. Returns false if a value was not
  // finite. In that case the calls behind the check, including the updates, did not run.
  bool Run();

  // These are called by commands while the list is made. After AddKernel and AddCopy, the command adds the addresses of
  // the call's operands with AddAddress.
  void AddKernel(KernelFunction function, int64_t begin, int64_t end, int64_t row_offset);
  // Adds the reduction of the values at `offset` in the slots (memory of sums) of all lanes of a device.
  void AddReduce(format::ReduceKind kind, DType dtype, int device, uint64_t offset, uint8_t* out, int64_t elements);
  void AddCheckFinite(DType dtype, uint8_t* data, int64_t elements);
  void AddCopy(int64_t bytes);
  void AddAddress(const MicrobatchContext& context, int device, const Operand& o);
  int64_t rows_per_lane() const { return state_.rows_per_lane; }
  // Returns where in the global batch the rows of a device begin.
  int64_t first_row(int device) const { return first_rows_[device]; }

 private:
  enum class Kind { kKernel, kReduce, kCheckFinite, kCopy };
  struct Call {
    Kind kind;
    // Index in addresses_ of the call's first address. The addresses are a kernel's operands and results, a reduction's
    // leaves and result, or the values to check.
    int first;
    int num_leaves = 0;  // for kReduce: number of leaves
    KernelFunction function = nullptr;
    int64_t begin = 0, end = 0;  // for kKernel: range of its domain; for kCopy: [0, end) bytes; else [0, end) elements
    int64_t row_offset = 0;
    format::ReduceKind reduce = format::ReduceKind::kSum;
    DType dtype = DType::kFloat32;
  };
  // An address in an input tensor. The caller passes other tensors for every step.
  struct InputAddress {
    int at;
    int device;
    uint32_t input;
    uint64_t offset;
  };

  Call& AddCall(Kind kind);

  const StepState& state_;
  std::vector<Call> calls_;
  std::vector<void*> addresses_;
  std::vector<InputAddress> inputs_;
  std::vector<int64_t> first_rows_;  // indexed by device
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_STEP_CALL_LIST_H_
