// The few device kernels that every program needs and that are not generated: hand-written PTX for compute capability
// 7.5 and newer. All are deterministic: no atomics, and every element is computed by one thread in one order.
#ifndef TANDEM_RUNTIME_CUDA_KERNELS_BUILTIN_KERNELS_H_
#define TANDEM_RUNTIME_CUDA_KERNELS_BUILTIN_KERNELS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/cuda/driver/access_watch.h"
#include "runtime/cuda/driver/cuda_types.h"
#include "runtime/cuda/driver/driver_api.h"
#include "runtime/format/index.h"

namespace tandem {

// Returns the kernels' PTX text.
const std::string& BuiltinKernelsPtx();

// The kernels loaded into one context, which must be current in all calls. Launches only queue work, and are legal
// while a stream is captured. All pointers are to device memory; `guard`, where not 0, points to an int32: when that is
// not 0, the kernel does nothing.
class BuiltinKernels {
 public:
  // `driver` must outlive the object.
  static absl::StatusOr<std::unique_ptr<BuiltinKernels>> Load(const DriverApi* driver);
  ~BuiltinKernels();
  // To be called after the device was lost: nothing that belongs to its context is freed then.
  void Forget() { module_ = nullptr; }

  // Sets *flag (int32) to 1 if one of n elements is a NaN or infinity; otherwise *flag stays as it is. dtype is
  // Float32, Float64 or BFloat16; values of all other types are finite.
  absl::Status CheckFinite(DType dtype, CUdeviceptr data, int64_t n, CUdeviceptr flag, CUstream stream);

  // Does the same as CheckFinite for many arrays in one launch. `table` has `chunks` entries FiniteChunk
  // (runtime/commands/gpu_finite_checks.h), which are pieces of `arrays`.
  absl::Status CheckFiniteChunks(DType dtype, CUdeviceptr table, int64_t chunks, absl::Span<const DeviceAccess> arrays,
                                 CUdeviceptr flag, CUstream stream);

  // Copies bytes; the two regions must not overlap.
  absl::Status Copy(CUdeviceptr to, CUdeviceptr from, uint64_t bytes, CUdeviceptr guard, CUstream stream);

  struct Scatter {
    CUdeviceptr updates = 0;  // [count, width] of dtype, Float32 or Float64
    CUdeviceptr indices = 0;  // [count], Int32 or Int64
    CUdeviceptr table = 0;    // [rows, width]
    DType dtype = DType::kFloat32;
    DType index_dtype = DType::kInt32;
    int64_t count = 0, width = 0, rows = 0;
    CUdeviceptr workspace = 0;  // GpuScatterWorkspaceBytes(count) (runtime/commands/gpu_launch.h); 256-byte aligned
  };
  // Sets row k of the table to the sum, from 0 and in order, of the updates with index k: the bits of one lane on a
  // CPU. The positions of updates are first sorted by index: runs of 256 are sorted, and each further launch merges
  // pairs of runs. Then a warp for each row and 32 columns finds the row's positions by bisection. With up to 128
  // indices nothing is sorted, and each row looks through all of them. InvalidArgument from 2^24 indices on.
  absl::Status ScatterAdd(const Scatter& scatter, CUdeviceptr guard, CUstream stream);

 private:
  explicit BuiltinKernels(const DriverApi* driver) : driver_(driver) {}
  // Returns the address of the positions, sorted by index and then by position.
  absl::StatusOr<CUdeviceptr> Sort(const Scatter& scatter, CUstream stream);
  absl::Status Launch(const std::string& symbol, int64_t threads, std::vector<void*> params,
                      absl::Span<const DeviceAccess> accesses, CUstream stream);
  absl::Status LaunchBlocks(const std::string& symbol, int64_t blocks, std::vector<void*> params,
                            absl::Span<const DeviceAccess> accesses, CUstream stream);

  const DriverApi* driver_;
  CUmodule module_ = nullptr;
  std::map<std::string, CUfunction> functions_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_KERNELS_BUILTIN_KERNELS_H_
