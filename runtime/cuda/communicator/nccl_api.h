// The functions of NCCL that Tandem calls, bound when the program runs. Declarations are our own: values and layouts
// are those of nccl.h 2.18 and later.
#ifndef TANDEM_RUNTIME_CUDA_COMMUNICATOR_NCCL_API_H_
#define TANDEM_RUNTIME_CUDA_COMMUNICATOR_NCCL_API_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/driver/cuda_types.h"
#include "runtime/cuda/driver/scoped_table.h"

namespace tandem {

using ncclResult_t = int;
using ncclComm_t = struct NcclCommSt*;
using ncclDataType_t = int;
using ncclRedOp_t = int;
// Identifies the communicator that a rank joins; one of the ranks makes it.
struct ncclUniqueId {
  char internal[128];
};

namespace nccl {

inline constexpr ncclResult_t kSuccess = 0, kUnhandledCudaError = 1, kSystemError = 2, kInternalError = 3,
                              kInvalidArgument = 4, kInvalidUsage = 5, kRemoteError = 6, kInProgress = 7;
inline constexpr ncclDataType_t kUInt8 = 1, kInt32 = 2, kInt64 = 4, kFloat32 = 7, kFloat64 = 8, kBFloat16 = 9;
inline constexpr ncclRedOp_t kSum = 0, kMax = 2;

}  // namespace nccl

// The list of functions: X(result, name, arguments) for each.
#define TANDEM_NCCL_FUNCTIONS(X)                                                                          \
  X(ncclResult_t, ncclGetVersion, (int* version))                                                         \
  X(const char*, ncclGetErrorString, (ncclResult_t result))                                               \
  X(const char*, ncclGetLastError, (ncclComm_t comm))                                                     \
  X(ncclResult_t, ncclCommInitAll, (ncclComm_t * comms, int devices, const int* device_list))             \
  X(ncclResult_t, ncclGetUniqueId, (ncclUniqueId * id))                                                   \
  X(ncclResult_t, ncclCommInitRank, (ncclComm_t * comm, int ranks, ncclUniqueId id, int rank))            \
  X(ncclResult_t, ncclCommDestroy, (ncclComm_t comm))                                                     \
  X(ncclResult_t, ncclCommAbort, (ncclComm_t comm))                                                       \
  X(ncclResult_t, ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t * error))                         \
  X(ncclResult_t, ncclGroupStart, ())                                                                     \
  X(ncclResult_t, ncclGroupEnd, ())                                                                       \
  X(ncclResult_t, ncclAllReduce,                                                                          \
    (const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, \
     CUstream stream))                                                                                    \
  X(ncclResult_t, ncclSend,                                                                               \
    (const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, CUstream stream))    \
  X(ncclResult_t, ncclRecv,                                                                               \
    (void* receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, CUstream stream))

struct NcclApi {
#define TANDEM_MEMBER(R, N, A) R(*N) A = nullptr;
  TANDEM_NCCL_FUNCTIONS(TANDEM_MEMBER)
#undef TANDEM_MEMBER
};

// Returns the library's table, which lives for ever. Without `path` the library is searched for once per process
// (TANDEM_LIBNCCL, then libnccl.so.2) and later calls return the first call's result.
absl::StatusOr<const NcclApi*> LoadNccl(const std::string& path = "");

using ScopedNccl = ScopedTable<NcclApi>;

// Returns OK for success, else the error "NCCL cannot <what>: ...": Unavailable for errors that a lost peer or device
// causes, Internal otherwise.
absl::Status NcclStatus(const NcclApi& api, ncclResult_t result, const std::string& what);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_COMMUNICATOR_NCCL_API_H_
