#include "runtime/library_calls/gpu_library.h"

#include <algorithm>
#include <cstdlib>

#include "base/dtype.h"
#include "base/status_macros.h"
#include "runtime/library_calls/conv2d.h"
#include "runtime/library_calls/cublaslt_product.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/library_calls/matmul.h"

namespace tandem {
namespace {

uint64_t Bytes(const std::vector<int64_t>& shape, DType type) { return NumElements(shape) * SizeOf(type); }

uint64_t Aligned(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

// Returns the bytes of the matrices' addresses for all operands; 0 if a single stride certainly reaches all matrices.
uint64_t AddressesBytes(const format::BatchMatMul& product) {
  if (!product.swap_a && !product.swap_b && !product.swap_y) return 0;
  const size_t rank = product.y_shape.size();
  int64_t matrices = product.y_shape[product.swap_y ? rank - 2 : rank - 3];
  for (size_t i = 0; i + 3 < rank; ++i) matrices *= product.y_shape[i];
  return Aligned(static_cast<uint64_t>(matrices) * 3 * sizeof(uint64_t));
}

// Returns the workspace around cuDNN's plan: for the kernel in the other layout, for the larger kernel that the result
// is a part of, and for a narrow result before it is widened to float32.
uint64_t BytesAroundPlan(const format::LibraryCall& call) {
  const format::Conv2D& conv = *call.operation.As<format::Conv2D>();
  const DType operand = OperandType(conv);
  const format::LibraryCall planned = PlannedConvolution(call);
  const std::vector<int64_t>& whole = planned.operation.As<format::Conv2D>()->kernel_shape;
  if (whole != conv.kernel_shape) return Aligned(Bytes(whole, operand)) + Aligned(Bytes(whole, ResultType(conv)));
  uint64_t bytes = conv.packed ? 0 : Aligned(Bytes(conv.kernel_shape, operand));
  if (ResultType(conv) == operand || conv.direction == format::Direction::kFilterGrad) return bytes;
  const bool forward = conv.direction == format::Direction::kForward;
  return bytes + Aligned(Bytes(forward ? conv.y_shape : conv.x_shape, operand));
}

// Returns workspace for a bias that is converted to another type, or for one of zeros; 0 without an epilogue.
template <typename Operation>
uint64_t BiasBytes(const Operation& operation) {
  return operation.epilogue.empty() ? 0 : Aligned(Bytes({operation.y_shape.back()}, DType::kFloat32));
}

int64_t LaunchesOf(const format::BatchMatMul& products) {
  const int64_t by_strides = DescribeProduct(products).launches;
  return by_strides < kAddressesFromLaunches ? by_strides : 2;
}

// Returns the number of launches: cuDNN's plan; the kernel's change of layout, and the copy of its rows if it is a part
// of a larger one; a bias of zeros, and for a wider result the conversion of the bias.
int64_t LaunchesOfConvolution(const format::LibraryCall& call) {
  const format::Conv2D& conv = *call.operation.As<format::Conv2D>();
  if (conv.direction == format::Direction::kFilterGrad) {
    const bool is_part = PlannedConvolution(call).operation.As<format::Conv2D>()->kernel_shape != conv.kernel_shape;
    return 2 + (is_part ? conv.kernel_shape[0] : 0);
  }
  const bool widens = ResultType(conv) != OperandType(conv);
  const bool makes_bias = !conv.epilogue.empty() && (!conv.epilogue.bias || widens);
  return 1 + !conv.packed + makes_bias + widens;
}

}  // namespace

GpuLibrary LibraryOf(const format::LibraryCall& call) {
  if (call.operation.As<format::PackWeights>() != nullptr) return GpuLibrary::kKernels;
  const format::Conv2D* conv = call.operation.As<format::Conv2D>();
  return conv != nullptr && !IsDensePointwise(*conv) ? GpuLibrary::kCudnn : GpuLibrary::kCublasLt;
}

format::MatMul ConvolutionAsMatMul(const format::Conv2D& conv) {
  const int64_t rows = RowsOf(conv.x_shape), in = conv.kernel_shape[2], out = conv.kernel_shape[3];
  const std::vector<int64_t> x = {rows, in}, kernel = {in, out}, y = {rows, out};
  format::MatMul product;
  product.epilogue = conv.epilogue;
  product.packed = conv.packed;
  product.a_dtype = product.b_dtype = OperandType(conv);
  product.y_dtype = ResultType(conv);
  switch (conv.direction) {
    case format::Direction::kForward:
      product.a_shape = x;
      product.b_shape = kernel;
      product.y_shape = y;
      break;
    case format::Direction::kInputGrad:
      product.a_shape = y;
      product.b_shape = kernel;
      product.transpose_b = true;
      product.y_shape = x;
      break;
    case format::Direction::kFilterGrad:
      product.a_shape = x;
      product.transpose_a = true;
      product.b_shape = y;
      product.y_shape = kernel;
      product.reduces_batch = true;
      break;
  }
  return product;
}

absl::StatusOr<LibraryOperands> CheckGpuLibraryCall(const format::LibraryCall& call) {
  TD_ASSIGN_OR_RETURN(LibraryOperands operands, CheckLibraryCall(call));
  if (InfoOf(call).epilogue.bias) operands.input_types[2] = operands.output_types[0];
  return operands;
}

format::LibraryCall WithoutEpilogue(format::LibraryCall call) {
  SetEpilogue(call, {});
  return call;
}

format::LibraryCall PlannedConvolution(const format::LibraryCall& call) {
  format::LibraryCall planned = call;
  format::Conv2D& conv = *planned.operation.As<format::Conv2D>();
  if (conv.direction != format::Direction::kFilterGrad || OperandType(conv) != DType::kFloat32 || call.tf32)
    return planned;
  for (int i = 0; i < 2; ++i) {
    conv.kernel_shape[i] += std::abs(conv.pad_high[i] - conv.pad_low[i]);
    conv.pad_low[i] = conv.pad_high[i] = std::max(conv.pad_low[i], conv.pad_high[i]);
  }
  return planned;
}

std::array<int64_t, 2> PartOfKernel(const format::Conv2D& conv) {
  return {std::max<int64_t>(conv.pad_high[0] - conv.pad_low[0], 0),
          std::max<int64_t>(conv.pad_high[1] - conv.pad_low[1], 0)};
}

absl::StatusOr<uint64_t> GpuPackedWeightsBytes(const format::LibraryCall& call) {
  TD_RETURN_IF_ERROR(CheckLibraryCall(call).status());
  const OperationInfo info = InfoOf(call);
  return Bytes(info.weights_shape, info.weights_dtype);
}

int64_t GpuLaunchesOf(const format::LibraryCall& call) {
  if (call.operation.As<format::Conv2D>() != nullptr) {
    return LibraryOf(call) == GpuLibrary::kCudnn ? LaunchesOfConvolution(call) : 1;
  }
  const format::BatchMatMul* products = call.operation.As<format::BatchMatMul>();
  return products != nullptr ? LaunchesOf(*products) : 1;
}

uint64_t GpuWorkspaceBytes(const format::LibraryCall& call, uint64_t plan_bytes) {
  if (const format::Conv2D* conv = call.operation.As<format::Conv2D>()) {
    if (LibraryOf(call) == GpuLibrary::kCublasLt) return kCublasLtWorkspace + BiasBytes(*conv);
    return Aligned(plan_bytes) + BiasBytes(*conv) + BytesAroundPlan(call);
  }
  if (const format::MatMul* product = call.operation.As<format::MatMul>())
    return kCublasLtWorkspace + BiasBytes(*product);
  const format::BatchMatMul* products = call.operation.As<format::BatchMatMul>();
  return products != nullptr ? kCublasLtWorkspace + AddressesBytes(*products) : 0;
}

}  // namespace tandem
