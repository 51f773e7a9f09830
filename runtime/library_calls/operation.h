// The properties, text and checks of every operation of kernel libraries (LibraryOperation of runtime/format/index.td).
// Each operation has a file here.
#ifndef TANDEM_RUNTIME_LIBRARY_CALLS_OPERATION_H_
#define TANDEM_RUNTIME_LIBRARY_CALLS_OPERATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/format/index.h"

namespace tandem {

// Shapes of an operation's operands in the order of the command's inputs and outputs. Packed weights (in the library's
// own layout) have an empty shape: only the library knows their size (PackedWeightsBytes).
struct LibraryOperands {
  std::vector<std::vector<int64_t>> inputs;
  std::vector<std::vector<int64_t>> outputs;
  std::vector<DType> input_types, output_types;  // kInvalid for packed weights, kUInt8 for a mask

  void AddInput(const std::vector<int64_t>& shape, DType type);
  // Adds weights as an input; without shape and type if they are packed, since only the library knows their size.
  void AddWeights(const std::vector<int64_t>& shape, DType type, bool packed);
  void AddOutput(const std::vector<int64_t>& shape, DType type);
};

struct OperationInfo {
  std::string name;  // "Conv2DInputGrad"
  // Number of operations of one execution. It is the same for all three directions of a convolution: a multiply-add for
  // each element of y and every weight of its channel.
  double flops = 0;
  format::Epilogue epilogue;
  // true if the operation sums over rows, so that the missing rows of a short microbatch must be zeros
  bool reduces_batch = false;
  // The shape of the kernel, or of a product's right side; for PackWeights, of its result.
  std::vector<int64_t> weights_shape;
  DType weights_dtype = DType::kFloat32;
  bool packed = false;  // true if the weights are in the library's layout
};

// Returns the properties of any operation, valid or not.
OperationInfo InfoOf(const format::Conv2D& conv);
OperationInfo InfoOf(const format::MatMul& product);
OperationInfo InfoOf(const format::BatchMatMul& product);
OperationInfo InfoOf(const format::PackWeights& packing);

// Returns all fields as text: "Conv2D x=[2,8,8,3] float32 kernel=[3,3,3,16] float32 ... bias+relu packed".
std::string TextOf(const format::Conv2D& conv);
std::string TextOf(const format::MatMul& product);
std::string TextOf(const format::BatchMatMul& product);
std::string TextOf(const format::PackWeights& packing);

// Checks ranks, sizes, strides, pads, types, epilogue, that the shapes fit together, and that all products fit into
// 2^40 elements; returns the operands. Errors: InvalidArgument saying which field is wrong.
absl::StatusOr<LibraryOperands> CheckOperation(const format::Conv2D& conv);
absl::StatusOr<LibraryOperands> CheckOperation(const format::MatMul& product);
absl::StatusOr<LibraryOperands> CheckOperation(const format::BatchMatMul& product);
absl::StatusOr<LibraryOperands> CheckOperation(const format::PackWeights& packing);

// Returns the product of sizes, or -1 when a size is negative or the product exceeds 2^40.
int64_t CheckedElements(const std::vector<int64_t>& shape);

// Returns the InvalidArgument error of a check.
absl::Status BadOperation(absl::string_view what);
// True if all sizes are positive and CheckedElements accepts their product.
bool IsPositive(const std::vector<int64_t>& shape);
bool IsLibraryType(DType type);
// Checks that both operands have one type, and the result that type or float32, which is the accumulator.
absl::Status CheckTypes(DType a, DType b, DType result);
absl::Status CheckActivation(format::Activation activation);
absl::Status CannotMultiply(const std::vector<int64_t>& a, const std::vector<int64_t>& b,
                            const std::vector<int64_t>& y);

// Returns a text such as " x=[2,8,8,3] float32".
std::string TensorText(absl::string_view name, const std::vector<int64_t>& shape, DType type);
// Returns " packed" (with `name` "packed") if the flag is set, else "".
std::string FlagText(absl::string_view name, bool flag);

// Returns the product of all sizes.
double Product(const std::vector<int64_t>& sizes);
// Returns the number of operations of matrix products: every element of `a` is multiplied for each column of `y`.
// Returns 0 for a `y` without dimensions.
double ProductFlops(const std::vector<int64_t>& a, const std::vector<int64_t>& y);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALLS_OPERATION_H_
