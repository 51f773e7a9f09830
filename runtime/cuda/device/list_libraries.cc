#include "runtime/cuda/device/list_libraries.h"

#include "absl/strings/str_cat.h"
#include "base/shared_library.h"
#include "runtime/cuda/communicator/nccl_api.h"
#include "runtime/cuda/driver/driver_api.h"
#include "runtime/cuda/libraries/cublaslt_api.h"

namespace tandem {
namespace {

template <typename Function>
std::string FileOf(Function* function) {
  return FileOfCode(reinterpret_cast<const void*>(function));
}

LoadedLibrary Missing(const std::string& name, const absl::Status& status) {
  return {.name = name, .problem = std::string(status.message())};
}

LoadedLibrary Driver() {
  constexpr char kName[] = "CUDA driver";
  const absl::StatusOr<const DriverApi*> driver = LoadDriver();
  if (!driver.ok()) return Missing(kName, driver.status());
  int version = 0;
  if (absl::Status status = CudaStatus(**driver, (*driver)->cuDriverGetVersion(&version), "cuDriverGetVersion");
      !status.ok()) {
    return Missing(kName, status);
  }
  return {.name = kName,
          .version = absl::StrCat(version / 1000, ".", version % 1000 / 10),
          .file = FileOf((*driver)->cuDriverGetVersion)};
}

LoadedLibrary CublasLt() {
  constexpr char kName[] = "cuBLASLt";
  const absl::StatusOr<const CublasLtApi*> api = LoadCublasLt();
  if (!api.ok()) return Missing(kName, api.status());
  const size_t version = (*api)->cublasLtGetVersion();  // 130100 is 13.1.0
  return {.name = kName,
          .version = absl::StrCat(version / 10000, ".", version / 100 % 100, ".", version % 100),
          .file = FileOf((*api)->cublasLtGetVersion)};
}

// Opens cuDNN, whether or not this program was built with its headers.
LoadedLibrary Cudnn() {
  constexpr char kName[] = "cuDNN";
  const LibrarySpec spec = {kName, {"libcudnn.so.9"}, "TANDEM_LIBCUDNN", "install cuDNN 9"};
  const absl::StatusOr<SharedLibrary> library = SharedLibrary::Open(spec);
  if (!library.ok()) return Missing(kName, library.status());
  const absl::StatusOr<void*> symbol = library->Symbol("cudnnGetVersion");
  if (!symbol.ok()) return Missing(kName, symbol.status());
  const size_t version = reinterpret_cast<size_t (*)()>(*symbol)();  // 90800 is 9.8.0
  return {.name = kName,
          .version = absl::StrCat(version / 10000, ".", version / 100 % 100, ".", version % 100),
          .file = FileOfCode(*symbol)};
}

LoadedLibrary Nccl() {
  constexpr char kName[] = "NCCL";
  const absl::StatusOr<const NcclApi*> api = LoadNccl();
  if (!api.ok()) return Missing(kName, api.status());
  int version = 0;  // 21800 is 2.18.0
  if (absl::Status status = NcclStatus(**api, (*api)->ncclGetVersion(&version), "tell its version"); !status.ok()) {
    return Missing(kName, status);
  }
  return {.name = kName,
          .version = absl::StrCat(version / 10000, ".", version / 100 % 100, ".", version % 100),
          .file = FileOf((*api)->ncclGetVersion)};
}

}  // namespace

std::vector<LoadedLibrary> ListCudaLibraries() { return {Driver(), CublasLt(), Cudnn(), Nccl()}; }

}  // namespace tandem
