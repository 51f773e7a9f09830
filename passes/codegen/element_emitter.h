// Emits the code of single tensor elements, recursively through the ops of a kernel, each element once per loop body.
#ifndef TANDEM_PASSES_CODEGEN_ELEMENT_EMITTER_H_
#define TANDEM_PASSES_CODEGEN_ELEMENT_EMITTER_H_

#include <functional>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "graph/ir/interfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Builders.h"
#include "passes/codegen/index_algebra.h"
#include "passes/codegen/reduction.h"

namespace tandem {

// Returns the type of an element in memory: booleans take a byte, bfloat16 two bytes; integers have no sign, which is
// up to the ops. In registers elements have td::RegisterType.
mlir::Type StorageType(mlir::Type element_type);
int64_t StorageBytes(mlir::Type element_type);

class ElementEmitter {
 public:
  // The memory of a value of the kernel. With `one_row` the buffer holds only one row, so the first index, that of the
  // row, is not used for addresses.
  struct Buffer {
    mlir::Value pointer;
    bool one_row = false;
  };

  ElementEmitter(mlir::OpBuilder& builder, mlir::Value row_offset)
      : builder_(builder), indices_(builder), row_offset_(row_offset) {}

  void Bind(mlir::Value tensor, Buffer buffer) { buffers_[tensor] = buffer; }
  // Makes `element`, rounded to the tensor's type, the element of `tensor` at all indices from here on.
  void BindElement(mlir::Location loc, mlir::Value tensor, mlir::Value element);

  // Returns the element of `tensor` at `indices`: loaded if the tensor is in memory, else computed.
  mlir::Value Element(mlir::Location loc, mlir::Value tensor, mlir::ValueRange indices);
  // Stores an element of a tensor of type `type`.
  void Store(mlir::Location loc, mlir::Type type, Buffer buffer, mlir::ValueRange indices, mlir::Value element);
  mlir::Value Load(mlir::Location loc, mlir::Type type, Buffer buffer, mlir::ValueRange indices);

  // Returns what row `row` adds to the element at indices `kept` of the result of a reduction over the batch.
  mlir::Value ReduceRow(mlir::Operation* op, mlir::Value row, mlir::ValueRange kept);

  // Returns one of the elements of operand 0 that a reduction combines: the one at a point of ReducedSpace
  // (loop_nest.h) in the reduced dimensions, and at `kept` in all others.
  mlir::Value ReducedElement(mlir::Operation* op, const Reduction& reduction, mlir::ValueRange kept,
                             const Digits& digits);

  // Returns what one element of operand 0 adds to one element of a column sum's result: see IsColumnSum for the
  // indices.
  mlir::Value Addend(mlir::Operation* op, mlir::ValueRange indices);

  // Emits `body` into a region that is thrown away again, so that `probe` learns how it uses indices.
  void Trial(mlir::Location loc, llvm::ArrayRef<int64_t> radices, IndexProbe& probe,
             std::function<void(mlir::Block&)> body);

  mlir::OpBuilder& builder() { return builder_; }
  IndexAlgebra& indices() { return indices_; }
  IndexBuilder at(mlir::Location loc) { return {builder_, loc}; }
  mlir::Value row_offset() const { return row_offset_; }
  // If set, it is called for every element that is loaded to compute another one.
  std::function<void(mlir::Value tensor, mlir::ValueRange indices)> on_load;
  // The first error. Emission continues after it, with arbitrary values.
  absl::Status status;

 private:
  struct Entry {
    mlir::Block* block;  // the value may be used in this block and in blocks nested in it
    mlir::Value value;
  };
  using Key = std::vector<void*>;
  // Returns a number for an index value: values with equal numbers are equal, whichever op computed them.
  void* Number(mlir::Value value);
  mlir::Value Emit(mlir::Location loc, mlir::Value tensor, mlir::ValueRange indices);
  mlir::Value EmitReduce(mlir::Operation* op, mlir::ValueRange kept, mlir::Value row = {});

  mlir::OpBuilder& builder_;
  IndexAlgebra indices_;
  mlir::Value row_offset_;
  llvm::DenseMap<mlir::Value, Buffer> buffers_;
  llvm::DenseMap<mlir::Value, mlir::Value> elements_;
  std::map<Key, Entry> memo_;
  std::map<Key, void*> numbers_;
  llvm::DenseMap<mlir::Value, void*> number_of_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_ELEMENT_EMITTER_H_
