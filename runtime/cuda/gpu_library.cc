#include "runtime/cuda/gpu_library.h"

#include <algorithm>

#include "base/dtype.h"
#include "base/status_macros.h"
#include "runtime/library_call.h"

namespace tandem {
namespace {

uint64_t Bytes(const std::vector<int64_t>& shape, fb::DType type) {
  return NumElements(shape) * SizeOf(static_cast<DType>(LibraryType(type)));
}

uint64_t Aligned(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

// An address for each matrix of each operand, where no stride may lead through them.
uint64_t AddressesBytes(const fb::LibraryCallT& call) {
  if (call.primitive != fb::Primitive::BatchMatMul || !(call.swap_x || call.swap_kernel || call.swap_y)) return 0;
  const size_t rank = call.y_shape.size();
  int64_t matrices = call.y_shape[call.swap_y ? rank - 2 : rank - 3];
  for (size_t i = 0; i + 3 < rank; ++i) matrices *= call.y_shape[i];
  return Aligned(static_cast<uint64_t>(matrices) * 3 * sizeof(uint64_t));
}

bool IsConvolution(fb::Primitive p) {
  return p == fb::Primitive::Conv2D || p == fb::Primitive::Conv2DInputGrad || p == fb::Primitive::Conv2DFilterGrad;
}

}  // namespace

GpuLibrary LibraryOf(const fb::LibraryCallT& call) {
  if (call.primitive == fb::Primitive::PackWeights) return GpuLibrary::kKernels;
  if (!IsConvolution(call.primitive)) return GpuLibrary::kCublasLt;
  const bool product = Groups(call) == 1 && call.kernel_shape[0] == 1 && call.kernel_shape[1] == 1 &&
                       call.strides[0] == 1 && call.strides[1] == 1 && call.pad_low[0] == 0 && call.pad_low[1] == 0 &&
                       call.pad_high[0] == 0 && call.pad_high[1] == 0;
  return product ? GpuLibrary::kCublasLt : GpuLibrary::kCudnn;
}

std::optional<fb::LibraryCallT> ConvolutionAsMatMul(const fb::LibraryCallT& call) {
  if (!IsConvolution(call.primitive) || LibraryOf(call) != GpuLibrary::kCublasLt) return std::nullopt;
  const int64_t rows = call.x_shape[0] * call.x_shape[1] * call.x_shape[2];
  const int64_t in = call.kernel_shape[2], out = call.kernel_shape[3];
  const std::vector<int64_t> x = {rows, in}, kernel = {in, out}, y = {rows, out};
  fb::LibraryCallT product;
  product.primitive = fb::Primitive::MatMul;
  product.epilogue = call.epilogue;
  product.packed = call.packed;
  product.tf32 = call.tf32;
  switch (call.primitive) {
    case fb::Primitive::Conv2D:
      product.x_shape = x;
      product.kernel_shape = kernel;
      product.y_shape = y;
      product.x_dtype = call.x_dtype;
      product.kernel_dtype = call.kernel_dtype;
      product.y_dtype = call.y_dtype;
      break;
    case fb::Primitive::Conv2DInputGrad:
      product.x_shape = y;
      product.kernel_shape = kernel;
      product.transpose_b = true;
      product.y_shape = x;
      product.x_dtype = call.y_dtype;
      product.kernel_dtype = call.kernel_dtype;
      product.y_dtype = call.x_dtype;
      break;
    default:
      product.x_shape = x;
      product.transpose_a = true;
      product.kernel_shape = y;
      product.y_shape = kernel;
      product.reduces_batch = true;
      product.x_dtype = call.x_dtype;
      product.kernel_dtype = call.y_dtype;
      product.y_dtype = call.kernel_dtype;
  }
  return product;
}

absl::StatusOr<uint64_t> GpuPackedWeightsBytes(const fb::LibraryCallT& call) {
  TD_RETURN_IF_ERROR(CheckLibraryCall(call).status());
  return Bytes(call.kernel_shape, call.kernel_dtype);
}

uint64_t GpuWorkspaceBytes(const fb::LibraryCallT& call, uint64_t plan_bytes) {
  // A bias in the type of the result, where that is bfloat16, or of zeros.
  const uint64_t bias = !call.epilogue.empty() ? Aligned(Bytes({call.y_shape.back()}, fb::DType::Float32)) : 0;
  switch (LibraryOf(call)) {
    case GpuLibrary::kKernels:
      return 0;
    case GpuLibrary::kCublasLt:
      return kCublasLtWorkspace + bias + AddressesBytes(call);
    case GpuLibrary::kCudnn:
      break;
  }
  // Around the plan: the kernel in the other layout, and a float32 result before it is widened.
  const bool input_gradient = call.primitive == fb::Primitive::Conv2DInputGrad;
  const fb::DType operand = LibraryType(input_gradient ? call.y_dtype : call.x_dtype);
  uint64_t bytes = Aligned(plan_bytes) + bias;
  if (!call.packed) bytes += Aligned(Bytes(call.kernel_shape, operand));
  if (call.primitive == fb::Primitive::Conv2D && LibraryType(call.y_dtype) != operand) {
    bytes += Aligned(Bytes(call.y_shape, operand));
  }
  if (input_gradient && LibraryType(call.x_dtype) != operand) bytes += Aligned(Bytes(call.x_shape, operand));
  return bytes;
}

}  // namespace tandem
