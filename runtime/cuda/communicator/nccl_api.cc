#include "runtime/cuda/communicator/nccl_api.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/shared_library.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// 2.18.0 is the first version with CUDA 12 and an asynchronous error of every communicator.
constexpr int kOldestNccl = 21800, kPastNewestNccl = 30000;

std::string VersionName(int version) {
  return absl::StrCat(version / 10000, ".", version / 100 % 100, ".", version % 100);
}

absl::StatusOr<const NcclApi*> BindNccl(const std::string& path) {
  const LibrarySpec spec = {"NCCL",
                            {"libnccl.so.2"},
                            "TANDEM_LIBNCCL",
                            "install NCCL 2.18 or later of major version 2 and put its folder into LD_LIBRARY_PATH"};
  TD_ASSIGN_OR_RETURN(SharedLibrary library, SharedLibrary::Open(spec, path));
  auto api = std::make_unique<NcclApi>();
#define TANDEM_BIND(R, N, A) TD_RETURN_IF_ERROR(library.Bind(#N, api->N));
  TANDEM_NCCL_FUNCTIONS(TANDEM_BIND)
#undef TANDEM_BIND
  int version = 0;
  TD_RETURN_IF_ERROR(NcclStatus(*api, api->ncclGetVersion(&version), "tell its version"));
  if (version < kOldestNccl || version >= kPastNewestNccl) {
    return library.Error(absl::StrCat("has version ", VersionName(version)));
  }
  return api.release();
}

}  // namespace

absl::StatusOr<const NcclApi*> LoadNccl(const std::string& path) {
  if (!path.empty()) return BindNccl(path);
  if (const NcclApi* api = ScopedNccl::Current()) return api;
  static const auto* loaded = new absl::StatusOr<const NcclApi*>(BindNccl(""));
  return *loaded;
}

absl::Status NcclStatus(const NcclApi& api, ncclResult_t result, const std::string& what) {
  if (result == nccl::kSuccess) return absl::OkStatus();
  const char* detail = api.ncclGetLastError(nullptr);
  std::string message = absl::StrCat("NCCL cannot ", what, ": ", api.ncclGetErrorString(result));
  if (detail != nullptr && *detail != 0) absl::StrAppend(&message, " (", detail, ")");
  const bool lost = result == nccl::kUnhandledCudaError || result == nccl::kSystemError || result == nccl::kRemoteError;
  return lost ? absl::UnavailableError(message) : absl::InternalError(message);
}

}  // namespace tandem
