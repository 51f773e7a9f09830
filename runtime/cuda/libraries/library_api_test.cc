// Finding and binding CUDA's libraries: every way in which they are not there gets a sentence, and the real ones load
// where this machine has them.
#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "base/shared_library.h"
#include "gtest/gtest.h"
#include "runtime/cuda/communicator/nccl_api.h"
#include "runtime/cuda/libraries/cublaslt_api.h"

namespace tandem {
namespace {

// The sentence holds all of `parts`, and is one line.
void ExpectSentence(const absl::Status& status, const std::vector<std::string>& parts) {
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  for (const std::string& part : parts) {
    EXPECT_TRUE(absl::StrContains(status.message(), part)) << status << "\n  lacks: " << part;
  }
  EXPECT_FALSE(absl::StrContains(status.message(), "\n")) << status;
}

TEST(LibraryApiTest, MissingLibraries) {
  ExpectSentence(LoadCublasLt("/no/libcublasLt.so.13").status(),
                 {"cuBLASLt cannot be loaded", "/no/libcublasLt.so.13", "install CUDA 12 or 13"});
  ExpectSentence(LoadNccl("/no/libnccl.so.2").status(), {"NCCL cannot be loaded", "/no/libnccl.so.2", "install NCCL"});
}

TEST(LibraryApiTest, ALibraryWithoutTheFunctionsIsTooOld) {
  // A library that every machine has, and that has none of them.
  ExpectSentence(LoadCublasLt("libm.so.6").status(), {"cuBLASLt (libm.so.6) is too old: it has no cublasLt"});
  ExpectSentence(LoadNccl("libm.so.6").status(), {"NCCL (libm.so.6) is too old: it has no nccl"});
}

TEST(LibraryApiTest, AVariableNamesTheLibrary) {
  const LibrarySpec spec = {"Mathematics", {"libnot-there.so.1"}, "TANDEM_TEST_LIBRARY", "install it"};
  ExpectSentence(SharedLibrary::Open(spec).status(), {"Mathematics cannot be loaded (tried libnot-there.so.1:"});
  setenv("TANDEM_TEST_LIBRARY", "libm.so.6", 1);
  absl::StatusOr<SharedLibrary> library = SharedLibrary::Open(spec);
  unsetenv("TANDEM_TEST_LIBRARY");
  ASSERT_TRUE(library.ok()) << library.status();
  EXPECT_EQ(library->name(), "libm.so.6");
  EXPECT_TRUE(library->Symbol("cos").ok());
}

TEST(LibraryApiTest, RealLibrariesBind) {
  absl::StatusOr<const CublasLtApi*> cublaslt = LoadCublasLt();
  absl::StatusOr<const NcclApi*> nccl = LoadNccl();
  if (!cublaslt.ok() && !nccl.ok()) GTEST_SKIP() << cublaslt.status() << "; " << nccl.status();
  if (cublaslt.ok()) {
    EXPECT_EQ(*LoadCublasLt(), *cublaslt);
    const absl::Status bad = CublasLtStatus(**cublaslt, cublaslt::kNotSupported, "multiply");
    EXPECT_EQ(bad.message(), "cuBLASLt cannot multiply: CUBLAS_STATUS_NOT_SUPPORTED (15)");
    // Descriptors need no GPU; a handle does, and says so.
    cublasLtMatmulDesc_t desc = nullptr;
    ASSERT_EQ((*cublaslt)->cublasLtMatmulDescCreate(&desc, cublaslt::kCompute32F, cublaslt::kFloat32), 0);
    const int32_t transpose = cublaslt::kOperationT;
    EXPECT_EQ((*cublaslt)->cublasLtMatmulDescSetAttribute(desc, cublaslt::kDescTransA, &transpose, 4), 0);
    const uint32_t epilogue = cublaslt::kEpilogueRelu + cublaslt::kEpilogueBias;
    EXPECT_EQ((*cublaslt)->cublasLtMatmulDescSetAttribute(desc, cublaslt::kDescEpilogue, &epilogue, 4), 0);
    EXPECT_EQ((*cublaslt)->cublasLtMatmulDescDestroy(desc), 0);
  }
  if (nccl.ok()) {
    EXPECT_EQ(NcclStatus(**nccl, nccl::kRemoteError, "sum").code(), absl::StatusCode::kUnavailable);
  }
}

}  // namespace
}  // namespace tandem
