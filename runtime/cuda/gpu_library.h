// Which library computes a call on a GPU, and what that needs: for the compiler, the executable's loader and the
// runtime alike. Needs no library and no GPU.
//
// Layouts: activations are NHWC and kernels HWIO, as on the CPU. A packed kernel is KRSC for cuDNN and stays as it is
// for cuBLASLt; both directions of a convolution take the same packed kernel.
#ifndef TANDEM_RUNTIME_CUDA_GPU_LIBRARY_H_
#define TANDEM_RUNTIME_CUDA_GPU_LIBRARY_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/format/index.h"
#include "runtime/library_calls/operation.h"

namespace tandem {

// kKernels: small kernels of our own (PackWeights).
enum class GpuLibrary { kCublasLt, kCudnn, kKernels };

// Convolutions go to cuDNN, but those of 1x1 kernels without strides and pads are products of matrices: no kernel has
// to change its layout for cuBLASLt.
GpuLibrary LibraryOf(const format::LibraryCall& call);

// The product that computes such a convolution, with operands in the same order.
format::MatMul ConvolutionAsMatMul(const format::Conv2D& conv);

// CheckLibraryCall, with operands as they lie on a GPU: a bias has the type of the result, as the libraries take it.
absl::StatusOr<LibraryOperands> CheckGpuLibraryCall(const format::LibraryCall& call);

// The call alone, where a library does not take its epilogue: kernels of our own compute it behind the result then.
// What names a plan of cuDNN's says so in front.
format::LibraryCall WithoutEpilogue(format::LibraryCall call);
inline constexpr char kUnfusedPlan[] = "unfused:";

// The convolution that cuDNN is asked for. Of filter gradients with more padding on one side it computes those in
// float32, without TensorFloat-32, wrongly (engine 1) or many times slower than others (engine 0, which is made for
// groups), so that the gradient of a larger kernel with even pads takes their place. The call's result is the part of
// it from PartOfKernel on, of the call's size. Other calls stay as they are.
format::LibraryCall PlannedConvolution(const format::LibraryCall& call);
// {row, column} of the planned kernel where the call's begins.
std::array<int64_t, 2> PartOfKernel(const format::Conv2D& conv);

// Bytes of what PackWeights writes. Errors: InvalidArgument for a call that CheckLibraryCall rejects.
absl::StatusOr<uint64_t> GpuPackedWeightsBytes(const format::LibraryCall& call);

// Workspace that the call needs on a GPU when cuDNN's plan takes `plan_bytes` (0 where no plan is known: the device may
// then need more, and its session allocates what PreparedCall::workspace_bytes says).
uint64_t GpuWorkspaceBytes(const format::LibraryCall& call, uint64_t plan_bytes);

// What a stream is given for the call: the library's call, or several where no stride leads through all matrices, and
// kernels of our own around it. Counted for a call whose epilogue the library takes.
int64_t GpuLaunchesOf(const format::LibraryCall& call);

// What cuBLASLt may use; NVIDIA recommends 32 MiB for compute capability 9.0.
inline constexpr uint64_t kCublasLtWorkspace = uint64_t{32} << 20;

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_GPU_LIBRARY_H_
