// The whole step of a tiny program as a list of calls, for which every address is computed beforehand. The work that a
// general step does around each call (dealing out tasks, resolving operands, walking reduction trees) takes longer than
// such calls do.
#ifndef TANDEM_RUNTIME_CPU_STEP_CALL_LIST_H_
#define TANDEM_RUNTIME_CPU_STEP_CALL_LIST_H_

#include <cstdint>
#include <vector>

#include "runtime/cpu/kernels/object_loader.h"
#include "runtime/cpu/step/step_state.h"

namespace tandem {

class CallList {
 public:
  // An empty list. `state` must outlive it and keep its memory where it is.
  explicit CallList(const StepState& state);

  // True if the list is for the rows that the devices have now: all that there is room for.
  bool Fits() const;
  // Runs the step on the calling thread, with the same bits as section by section. False when a value was not finite:
  // calls behind the check, the updates among them, did not run.
  bool Run();

  // Called by commands while the list is made. The addresses of a kernel's operands are added after it, and those of a
  // copy.
  void AddKernel(KernelFunction function, int64_t begin, int64_t end, int64_t row_offset);
  // Adds the reduction of all lanes' slots at `offset`.
  void AddReduce(format::ReduceKind kind, DType dtype, int device, uint64_t offset, uint8_t* out, int64_t elements);
  void AddCheckFinite(DType dtype, uint8_t* data, int64_t elements);
  void AddCopy(int64_t bytes);
  void AddAddress(const MicrobatchContext& context, int device, const Operand& o);
  int64_t rows_per_lane() const { return state_.rows_per_lane; }
  // The first row of a device's part of the batch.
  int64_t first_row(int device) const { return first_rows_[device]; }

 private:
  enum class Kind { kKernel, kReduce, kCheckFinite, kCopy };
  struct Call {
    Kind kind;
    // Index of its first address. The addresses are a kernel's operands and results, a reduction's leaves and its
    // result, or the values that are checked.
    int first;
    int num_leaves = 0;  // kReduce
    KernelFunction function = nullptr;
    int64_t begin = 0, end = 0;  // kKernel: the range of its domain; else [0, end) elements, for kCopy bytes
    int64_t row_offset = 0;
    format::ReduceKind reduce = format::ReduceKind::kSum;
    DType dtype = DType::kFloat32;
  };
  // An address in an input tensor, which the caller gives anew for every step.
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
