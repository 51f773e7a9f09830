#include "runtime/conformance/places.h"

#include <cmath>
#include <cstdlib>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "runtime/conformance/conformance_kernels.h"
#include "runtime/cpu/run/cpu_device_class.h"
#include "runtime/cuda/driver/driver_api.h"
#include "runtime/cuda/run/cuda_device_class.h"
#include "runtime/cuda/testing/fake_builtin_kernels.h"
#include "runtime/cuda/testing/fake_cublaslt.h"
#include "runtime/cuda/testing/fake_cudnn.h"
#include "runtime/cuda/testing/fake_driver.h"
#include "runtime/cuda/testing/fake_library_kernels.h"
#include "runtime/cuda/testing/fake_nccl.h"
#include "runtime/cuda/testing/gpu_program.h"
#include "runtime/testing/compile_ir.h"

namespace tandem {

std::string PlaceName(const ::testing::TestParamInfo<Place>& info) {
  return absl::StrCat(info.param.kind, info.param.replicas, info.param.shared ? "shared" : "");
}

bool GpuIsRequired() {
  const char* value = std::getenv("TANDEM_TEST_REQUIRE_GPU");
  return value != nullptr && std::string(value) == "1";
}

absl::StatusOr<int> CountGpus() {
  TD_ASSIGN_OR_RETURN(const DriverApi* driver, LoadDriver());
  int gpus = 0;
  TD_CU(*driver, cuDeviceGetCount(&gpus));
  if (gpus == 0) return absl::FailedPreconditionError("the driver knows no GPU");
  return gpus;
}

std::vector<Place> Places() {
  std::vector<Place> places = {{"cpu", 1}, {"cpu", 2}, {"fake", 1}, {"fake", 2}, {"fake", 4}, {"fake", 2, true}};
  const absl::StatusOr<int> found = CountGpus();
  // If GPUs are required and there is none, the cases of GPUs are listed nevertheless, and fail.
  if (!found.ok() && !GpuIsRequired()) return places;
  const int gpus = found.value_or(1);
  places.push_back({"gpu", 1});
  places.push_back({"gpu", 2, true});
  if (gpus >= 2) places.push_back({"gpu", 2});
  if (gpus >= 4) places.push_back({"gpu", 4});
  return places;
}

// A fake driver with fake libraries, which a session uses like those of real GPUs.
struct FakeGpu {
  FakeGpu() {
    RegisterBuiltinKernels(driver);
    RegisterLibraryKernels(driver);
    RegisterConformanceKernels(driver);
  }
  ~FakeGpu() {
    for (const auto& violations : {driver.TakeViolations(), blas.TakeViolations(), nccl.TakeViolations()}) {
      EXPECT_EQ(absl::StrJoin(violations, "; "), "");
    }
  }
  FakeDriver driver{{.gpus = 4}};
  FakeCublasLt blas;
  FakeCudnn dnn;
  FakeNccl nccl;
};

PlaceTest::PlaceTest() = default;
PlaceTest::~PlaceTest() = default;

void PlaceTest::SetUp() {
  if (GetParam().kind == "fake") fake_ = std::make_unique<FakeGpu>();
  if (GetParam().kind == "gpu") {
    const absl::StatusOr<int> gpus = CountGpus();
    ASSERT_TRUE(gpus.ok()) << "a GPU is required: " << gpus.status();
  }
}

void PlaceTest::TearDown() {
  session_.reset();
  variables_.reset();
  fake_.reset();
}

ExecutableBuilder PlaceTest::Builder() const {
  const int rows = kRows / replicas();
  return cpu() ? ExecutableBuilder(replicas(), 2 * replicas(), (rows + 1) / 2, (rows + 3) / 4)
               : ExecutableBuilder(replicas(), replicas(), rows, rows);
}

void PlaceTest::Start(ExecutableBuilder& b) {
  std::shared_ptr<const Executable> executable;
  if (cpu()) {
    auto parsed = Executable::Parse(
        BuildExecutable(b.Take(), {{format::SegmentKind::kElfObject, "kernels", CompileIr(ConformanceKernelsIr())}}));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    executable = *parsed;
  } else {
    executable = FinishGpuProgram(b, {75}, ConformanceKernelsPtx(), GetParam().shared);
  }
  variables_ = std::make_shared<VariableStore>(replicas());
  auto session = Session::Create(cpu() ? CpuDeviceClass() : CudaDeviceClass(), executable, variables_,
                                 {.pool = std::make_shared<ThreadPool>(2)});
  ASSERT_TRUE(session.ok()) << session.status();
  session_ = *std::move(session);
}

HostTensor Random(Shape shape, uint32_t seed) {
  HostTensor t(DType::kFloat32, std::move(shape));
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<float>()[i] = uniform(rng);
  return t;
}

std::vector<double> Doubles(const HostTensor& t) {
  return std::vector<double>(t.data<float>(), t.data<float>() + t.num_elements());
}

void ExpectNear(const HostTensor& got, const std::vector<double>& want, const std::string& what) {
  ASSERT_EQ(got.num_elements(), static_cast<int64_t>(want.size())) << what;
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got.data<float>()[i], want[i], 2e-5 * (1 + std::fabs(want[i]))) << what << " element " << i;
  }
}

// Returns the numbers of rows of all replicas in five steps. The last replica has all of its rows, or one row, or none;
// if it is the only replica, it has one row less than all instead of none.
std::vector<std::vector<int64_t>> RowCases(int replicas) {
  const int64_t each = kRows / replicas;
  std::vector<int64_t> full(replicas, each), uneven(replicas, each), some(replicas, each);
  uneven.back() = 1;
  some.back() = 0;
  if (replicas == 1) some.back() = each - 1;
  return {full, full, uneven, full, some};
}

}  // namespace tandem
