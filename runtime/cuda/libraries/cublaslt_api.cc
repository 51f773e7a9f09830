#include "runtime/cuda/libraries/cublaslt_api.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/shared_library.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr size_t kOldestMajor = 12, kNewestMajor = 13;

absl::StatusOr<const CublasLtApi*> BindCublasLt(const std::string& path) {
  const LibrarySpec spec = {"cuBLASLt",
                            {"libcublasLt.so.13", "libcublasLt.so.12"},
                            "TANDEM_LIBCUBLASLT",
                            "install CUDA 12 or 13's libraries and put their folder into LD_LIBRARY_PATH"};
  TD_ASSIGN_OR_RETURN(SharedLibrary library, SharedLibrary::Open(spec, path));
  auto api = std::make_unique<CublasLtApi>();
#define TANDEM_BIND(R, N, A) TD_RETURN_IF_ERROR(library.Bind(#N, api->N));
  TANDEM_CUBLASLT_FUNCTIONS(TANDEM_BIND)
#undef TANDEM_BIND
  // Version 130100 is 13.1.0.
  const size_t version = api->cublasLtGetVersion(), major = version / 10000;
  if (major < kOldestMajor || major > kNewestMajor) {
    return library.Error(absl::StrCat("has version ", version, ", but versions ", kOldestMajor, " to ", kNewestMajor,
                                      " are what this program knows"));
  }
  return api.release();
}

}  // namespace

absl::StatusOr<const CublasLtApi*> LoadCublasLt(const std::string& path) {
  if (!path.empty()) return BindCublasLt(path);
  if (const CublasLtApi* api = ScopedCublasLt::Current()) return api;
  static const auto* loaded = new absl::StatusOr<const CublasLtApi*>(BindCublasLt(""));
  return *loaded;
}

absl::Status CublasLtStatus(const CublasLtApi& api, cublasStatus_t status, const std::string& what) {
  if (status == cublaslt::kSuccess) return absl::OkStatus();
  const std::string message =
      absl::StrCat("cuBLASLt cannot ", what, ": ", api.cublasLtGetStatusName(status), " (", status, ")");
  if (status == cublaslt::kAllocFailed) return WithExitCode(absl::ResourceExhaustedError(message), kExitUsage);
  return absl::InternalError(message);
}

}  // namespace tandem
