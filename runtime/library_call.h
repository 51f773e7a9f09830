// Sizes of library calls: what each operand must hold.
#ifndef TANDEM_RUNTIME_LIBRARY_CALL_H_
#define TANDEM_RUNTIME_LIBRARY_CALL_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/executable_generated.h"

namespace tandem {

// Shapes of a call's operands in the order of the step's inputs and outputs. A packed kernel has an empty shape: its
// size is known to the library only (PackedWeightsBytes).
struct LibraryOperands {
  std::vector<std::vector<int64_t>> inputs;
  std::vector<std::vector<int64_t>> outputs;
  std::vector<fb::DType> input_types, output_types;  // Invalid for a packed kernel; UInt8 for a mask
};

// The shape of the mask for a result `y_shape`: a bit per element, rows filled up to 16 bytes. UInt8. Element j of a
// row is bit j % 8 of byte j / 8.
std::vector<int64_t> ReluMaskShape(const std::vector<int64_t>& y_shape);

// Of a convolution: the kernel has the input channels of one group, and the groups' output channels one after another.
int64_t Groups(const fb::LibraryCallT& call);

// The type that a field of a call stands for: Float32 where none is given.
fb::DType LibraryType(fb::DType type);

// Checks ranks, sizes, strides, pads, epilogue and that the shapes fit together; all products fit into 2^40 elements.
// Errors: InvalidArgument saying which field is wrong.
absl::StatusOr<LibraryOperands> CheckLibraryCall(const fb::LibraryCallT& call);

// Product of sizes, or -1 when a size is negative or the product exceeds 2^40.
int64_t CheckedElements(const std::vector<int64_t>& shape);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALL_H_
