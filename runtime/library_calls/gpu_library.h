// Decides which library computes a call on a GPU, and what that needs: for the compiler, the executable's loader and
// the runtime alike. Needs no library and no GPU.
//
// Layouts: activations are NHWC and kernels HWIO, as on the CPU. A packed kernel is KRSC for cuDNN and stays as it is
// for cuBLASLt; both directions of a convolution read the same packed kernel.
#ifndef TANDEM_RUNTIME_LIBRARY_CALLS_GPU_LIBRARY_H_
#define TANDEM_RUNTIME_LIBRARY_CALLS_GPU_LIBRARY_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/format/index.h"
#include "runtime/library_calls/operation.h"

namespace tandem {

// kKernels stands for Tandem's own small kernels (PackWeights).
enum class GpuLibrary { kCublasLt, kCudnn, kKernels };

// Returns the library that computes a call. Convolutions go to cuDNN, but those of 1x1 kernels without strides and pads
// are products of matrices: for cuBLASLt no kernel has to change its layout.
GpuLibrary LibraryOf(const format::LibraryCall& call);

// Returns the product that computes a 1x1 convolution without strides and pads, with operands in the same order.
format::MatMul ConvolutionAsMatMul(const format::Conv2D& conv);

// Calls CheckLibraryCall, and returns the operands as they are stored on a GPU: a bias has the type of the result, as
// the libraries require.
absl::StatusOr<LibraryOperands> CheckGpuLibraryCall(const format::LibraryCall& call);

// Returns the call without its epilogue, for libraries that do not accept the epilogue: Tandem's own kernels compute it
// after the result then. Names of cuDNN's plans begin with kUnfusedPlan in this case.
format::LibraryCall WithoutEpilogue(format::LibraryCall call);
inline constexpr char kUnfusedPlan[] = "unfused:";

// Returns the convolution that cuDNN is asked to compute. For filter gradients with more padding on one side, in
// float32 without TensorFloat-32, cuDNN is wrong (engine 1) or many times slower than others (engine 0, which is made
// for groups); so they are replaced by the gradient of a larger kernel with even pads. The call's result is the part of
// it that begins at PartOfKernel and has the call's size. Other calls stay as they are.
format::LibraryCall PlannedConvolution(const format::LibraryCall& call);
// Returns the row and the column of the planned kernel at which the call's kernel begins.
std::array<int64_t, 2> PartOfKernel(const format::Conv2D& conv);

// Returns the bytes that PackWeights writes. Errors: InvalidArgument for a call that CheckLibraryCall rejects.
absl::StatusOr<uint64_t> GpuPackedWeightsBytes(const format::LibraryCall& call);

// Returns the workspace that the call needs on a GPU when cuDNN's plan needs `plan_bytes`. Pass 0 if no plan is known:
// the device may then need more, and its session allocates PreparedCall::workspace_bytes.
uint64_t GpuWorkspaceBytes(const format::LibraryCall& call, uint64_t plan_bytes);

// Returns the number of launches on a stream for the call: the library's call, or several if no single stride reaches
// all matrices, and Tandem's own kernels around it. The number is that of a call whose epilogue the library accepts.
int64_t GpuLaunchesOf(const format::LibraryCall& call);

// The workspace that cuBLASLt may use; NVIDIA recommends 32 MiB for compute capability 9.0.
inline constexpr uint64_t kCublasLtWorkspace = uint64_t{32} << 20;

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALLS_GPU_LIBRARY_H_
