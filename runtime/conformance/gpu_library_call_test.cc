// Library calls and collectives as a GPU computes them, against oneDNN for the same call: on the fakes, and on the
// first real GPU where there is one. Every call runs twice and must give the same bits.
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/bfloat16.h"
#include "base/dtype.h"
#include "gtest/gtest.h"
#include "runtime/collectives/reduction_tree.h"
#include "runtime/conformance/places.h"
#include "runtime/cuda/communicator/communicator.h"
#include "runtime/cuda/libraries/cudnn_api.h"
#include "runtime/cuda/libraries/library_calls.h"
#include "runtime/cuda/libraries/plan_choices.h"
#include "runtime/cuda/testing/fake_cublaslt.h"
#include "runtime/cuda/testing/fake_cudnn.h"
#include "runtime/cuda/testing/fake_driver.h"
#include "runtime/cuda/testing/fake_library_kernels.h"
#include "runtime/library_calls/gpu_library.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/library_calls/pack_weights.h"
#include "runtime/testing/library_calls.h"
#include "runtime/testing/library_reference.h"

namespace tandem {
namespace {

using DType::kBFloat16;
using DType::kFloat32;

const format::Epilogue kEpilogues[] = {{},
                                       {.bias = true},
                                       {.bias = true, .activation = format::Activation::kRelu},
                                       {.activation = format::Activation::kRelu}};

const format::Conv2D kConvolutions[] = {Conv(8, 28, 28, 1, 3, 3, 32, 1, 0, 0),
                                        Conv(4, 13, 13, 32, 3, 3, 64, 1, 0, 0),
                                        Conv(2, 9, 7, 3, 5, 3, 10, 2, 2, 1),
                                        Conv(2, 8, 8, 16, 3, 3, 16, 2, 0, 1),
                                        Conv(2, 14, 14, 64, 1, 1, 32, 1, 0, 0),
                                        Conv(2, 8, 8, 24, 1, 1, 16, 2, 0, 0),
                                        Grouped(32, Conv(2, 14, 14, 32, 3, 3, 32, 1, 1, 1))};

// A device with its libraries, and memory on it.
class GpuLibraryCallTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      fake = std::make_unique<FakeDriver>();
      RegisterLibraryKernels(*fake);
      cublaslt = std::make_unique<FakeCublasLt>();
      cudnn = std::make_unique<FakeCudnn>();
    }
    const absl::StatusOr<int> gpus = CountGpus();
    if (!gpus.ok() && !GpuIsRequired()) GTEST_SKIP() << gpus.status();
    ASSERT_TRUE(gpus.ok()) << "a GPU is required: " << gpus.status();
    api = *LoadDriver();
    CUdevice device = 0;
    ASSERT_EQ(api->cuDeviceGet(&device, 0), 0);
    ASSERT_EQ(api->cuDevicePrimaryCtxRetain(&context, device), 0);
    ASSERT_EQ(api->cuCtxSetCurrent(context), 0);
    ASSERT_EQ(api->cuStreamCreate(&stream, kCudaStreamNonBlocking), 0);
    ASSERT_EQ(api->cuMemHostAlloc(&host, kHostBytes, 0), 0);
    auto made = LibraryCallRunner::Create(api, {});
    ASSERT_TRUE(made.ok()) << made.status();
    runner = *std::move(made);
  }

  void TearDown() override {
    if (api == nullptr) return;
    runner.reset();
    FreeAll();
    api->cuMemFreeHost(host);
    api->cuStreamDestroy_v2(stream);
    api->cuDevicePrimaryCtxRelease_v2(0);
    if (fake != nullptr) {
      EXPECT_EQ(absl::StrJoin(fake->TakeViolations(), "; "), "");
    }
  }

  CUdeviceptr Allocate(uint64_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(api->cuMemAlloc_v2(&address, std::max<uint64_t>(bytes, 1)), 0);
    memory.push_back(address);
    return address;
  }
  void FreeAll() {
    EXPECT_EQ(api->cuStreamSynchronize(stream), 0);
    for (CUdeviceptr address : memory) api->cuMemFree_v2(address);
    memory.clear();
  }

  CUdeviceptr Upload(const std::vector<char>& bytes) {
    EXPECT_LE(bytes.size(), kHostBytes);
    const CUdeviceptr address = Allocate(bytes.size());
    std::memcpy(host, bytes.data(), bytes.size());
    EXPECT_EQ(api->cuMemcpyHtoDAsync_v2(address, host, bytes.size(), stream), 0);
    EXPECT_EQ(api->cuStreamSynchronize(stream), 0);
    return address;
  }
  std::vector<char> Download(CUdeviceptr address, uint64_t bytes) {
    EXPECT_LE(bytes, kHostBytes);
    EXPECT_EQ(api->cuMemcpyDtoHAsync_v2(host, address, bytes, stream), 0);
    EXPECT_EQ(api->cuStreamSynchronize(stream), 0);
    return std::vector<char>(static_cast<char*>(host), static_cast<char*>(host) + bytes);
  }

  static std::vector<char> Random(int64_t n, DType type, uint32_t seed) {
    std::vector<char> bytes(n * SizeOf(type));
    std::mt19937 rng(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int64_t i = 0; i < n; ++i) {
      const float x = uniform(rng);
      if (type == kBFloat16) {
        const uint16_t b = ToBFloat16Bits(x);
        std::memcpy(&bytes[i * 2], &b, 2);
      } else {
        std::memcpy(&bytes[i * 4], &x, 4);
      }
    }
    return bytes;
  }
  static float At(const std::vector<char>& bytes, DType type, int64_t i) {
    if (type == kBFloat16) {
      uint16_t b;
      std::memcpy(&b, &bytes[i * 2], 2);
      return FromBFloat16Bits(b);
    }
    float x;
    std::memcpy(&x, &bytes[i * 4], 4);
    return x;
  }

  static std::vector<const void*> Pointers(const std::vector<std::vector<char>>& buffers) {
    std::vector<const void*> pointers;
    for (const std::vector<char>& buffer : buffers) pointers.push_back(buffer.data());
    return pointers;
  }

  static uint64_t ElementBytes(DType type) { return SizeOf(type); }

  // Outputs of the given sizes.
  std::vector<std::vector<char>> RunOnDevice(const format::MatMul& product, const std::vector<std::vector<char>>& in,
                                             const std::vector<uint64_t>& bytes) {
    std::vector<std::vector<char>> results;
    const format::LibraryCall call = CallOf(product);
    auto prepared = runner->Prepare(call, "");
    EXPECT_TRUE(prepared.ok()) << TextOf(call) << ": " << prepared.status();
    if (!prepared.ok()) return results;
    RecordProperty(TextOf(call), (*prepared)->implementation());
    std::vector<CUdeviceptr> inputs, outputs;
    for (const std::vector<char>& operand : in) inputs.push_back(Upload(operand));
    for (uint64_t size : bytes) outputs.push_back(Allocate(size));
    const CUdeviceptr workspace = Allocate((*prepared)->workspace_bytes());
    const absl::Status status = (*prepared)->Enqueue(inputs, outputs, workspace, stream);
    EXPECT_TRUE(status.ok()) << TextOf(call) << ": " << status;
    for (size_t i = 0; i < bytes.size(); ++i) results.push_back(Download(outputs[i], bytes[i]));
    FreeAll();
    return results;
  }

  template <typename Operation>
  void Compare(const Operation& operation) {
    Compare(CallOf(operation));
  }
  // A packed call gets its kernel from PackWeights, as in a program.
  // `given`: how far an element of 0 may be off; by the operands' type otherwise.
  void Compare(const format::LibraryCall& call, std::optional<double> given = std::nullopt,
               const std::string& plan = "") {
    const std::string what = TextOf(call);
    const bool packed = InfoOf(call).packed;
    format::LibraryCall plain = call;
    SetPacked(plain, false);
    const LibraryOperands operands = *CheckGpuLibraryCall(plain);
    std::vector<std::vector<char>> in;
    std::vector<CUdeviceptr> inputs;
    for (size_t i = 0; i < operands.inputs.size(); ++i) {
      in.push_back(Random(NumElements(operands.inputs[i]), operands.input_types[i], i + 1));
      inputs.push_back(Upload(in.back()));
    }
    const DType type = operands.output_types[0];
    const int64_t n = NumElements(operands.outputs[0]);
    const uint64_t bytes = n * SizeOf(type);
    const absl::StatusOr<std::vector<float>> want = RunInFloat32(call, Pointers(in));
    ASSERT_TRUE(want.ok()) << what << ": " << want.status();
    if (packed) {
      const format::LibraryCall packing = PackingFor(call);
      auto pack = runner->Prepare(packing, "");
      ASSERT_TRUE(pack.ok()) << what << ": " << pack.status();
      const CUdeviceptr kernel = Allocate(*GpuPackedWeightsBytes(packing));
      const absl::Status status = (*pack)->Enqueue({inputs[1]}, {&kernel, 1}, 0, stream);
      ASSERT_TRUE(status.ok()) << what << ": " << status;
      inputs[1] = kernel;
    }
    auto prepared = runner->Prepare(call, plan);
    ASSERT_TRUE(prepared.ok()) << what << ": " << prepared.status();
    implementation = (*prepared)->implementation();
    const CUdeviceptr workspace = Allocate((*prepared)->workspace_bytes()), output = Allocate(bytes);
    std::vector<char> got[2];
    for (std::vector<char>& result : got) {
      const absl::Status status = (*prepared)->Enqueue(inputs, {&output, 1}, workspace, stream);
      ASSERT_TRUE(status.ok()) << what << ": " << status;
      result = Download(output, bytes);
    }
    EXPECT_EQ(got[0], got[1]) << what << " by " << (*prepared)->implementation() << " does not repeat its bits";
    const double unit = given.value_or(operands.input_types[0] == kBFloat16 ? 1.0 / 64 : 5e-4);
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_NEAR(At(got[0], type, i), (*want)[i], unit * (1 + std::fabs((*want)[i])))
          << what << " by " << (*prepared)->implementation() << " element " << i;
    }
    FreeAll();
  }

  static constexpr uint64_t kHostBytes = 16 << 20;
  std::unique_ptr<FakeDriver> fake;
  std::unique_ptr<FakeCublasLt> cublaslt;
  std::unique_ptr<FakeCudnn> cudnn;
  const DriverApi* api = nullptr;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  void* host = nullptr;
  std::vector<CUdeviceptr> memory;
  std::unique_ptr<LibraryCallRunner> runner;
  std::string implementation;  // of the last comparison
};

TEST_P(GpuLibraryCallTest, Convolutions) {
  for (const format::Conv2D& base : kConvolutions) {
    for (DType type : {kFloat32, kBFloat16}) {
      format::Conv2D call = base;
      SetTypes(call, type);
      for (bool packed : {false, true}) {
        call.packed = packed;
        call.direction = format::Direction::kForward;
        for (const format::Epilogue& epilogue : kEpilogues) {
          call.epilogue = epilogue;
          Compare(call);
          if (HasFatalFailure()) return;
        }
        call.epilogue = {};
        call.direction = format::Direction::kInputGrad;
        Compare(call);
      }
      call.packed = false;
      call.direction = format::Direction::kFilterGrad;
      Compare(call);
      if (type == kBFloat16) {
        call.kernel_dtype = kFloat32;
        Compare(call);
      }
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(GpuLibraryCallTest, MatrixProducts) {
  const std::vector<std::vector<int64_t>> sizes = {{16, 576, 64}, {1, 10, 3}, {8, 64, 10}, {33, 17, 1}, {64, 3000, 8}};
  for (const auto& s : sizes) {
    for (int flags = 0; flags < 8; ++flags) {
      format::MatMul call = MatMulOf(s[0], s[1], s[2], flags & 1, flags & 2);
      call.epilogue =
          flags & 4 ? format::Epilogue{.bias = true, .activation = format::Activation::kRelu} : format::Epilogue();
      Compare(call);
      SetTypes(call, kBFloat16);
      Compare(call);
      if (HasFatalFailure()) return;
    }
  }
}

// What no CPU library has is compared with its parts: the same product without the epilogue, and loops.
TEST_P(GpuLibraryCallTest, MasksOfRelu) {
  for (DType type : {kFloat32, kBFloat16}) {
    format::MatMul forward = MatMulOf(37, 24, 10, false, false);
    SetTypes(forward, type);
    forward.epilogue = {.bias = true, .activation = format::Activation::kRelu, .saves = true};
    const std::vector<std::vector<char>> in = {Random(37 * 24, type, 1), Random(24 * 10, type, 2), Random(10, type, 3)};
    const auto y = RunOnDevice(forward, in, {370 * ElementBytes(type), 37 * 16});
    ASSERT_EQ(y.size(), 2u);
    format::MatMul plain = forward;
    plain.epilogue = {.bias = true};
    const absl::StatusOr<std::vector<float>> sums = RunInFloat32(CallOf(plain), Pointers(in));
    ASSERT_TRUE(sums.ok()) << sums.status();
    const double unit = type == kBFloat16 ? 1.0 / 64 : 1e-4;
    for (int64_t i = 0; i < 370; ++i) {
      const float x = (*sums)[i];
      ASSERT_NEAR(At(y[0], type, i), std::max(x, 0.0f), unit * (1 + std::fabs(x))) << i;
      const bool bit = y[1][i / 10 * 16 + i % 10 / 8] >> (i % 10 % 8) & 1;
      ASSERT_EQ(bit, At(y[0], type, i) > 0) << i;
    }
    // The mask is the gradient's, whose bias takes the sums of its rows.
    format::MatMul backward = MatMulOf(37, 16, 10, false, true);
    SetTypes(backward, type);
    backward.epilogue = {.activation = format::Activation::kRelu, .gradient = true};
    if (type == kFloat32) {
      backward.epilogue.sums = format::Summed::kY;
      backward.reduces_batch = true;
    }
    std::vector<std::vector<char>> back = {Random(37 * 16, type, 4), Random(16 * 10, type, 5)};
    plain = backward;
    plain.epilogue = {};
    plain.reduces_batch = false;
    const absl::StatusOr<std::vector<float>> dy = RunInFloat32(CallOf(plain), Pointers(back));
    ASSERT_TRUE(dy.ok()) << dy.status();
    back.push_back(y[1]);
    std::vector<uint64_t> bytes = {370 * ElementBytes(type)};
    if (type == kFloat32) bytes.push_back(10 * 4);
    const auto dx = RunOnDevice(backward, back, bytes);
    ASSERT_EQ(dx.size(), bytes.size());
    std::vector<double> columns(10);
    for (int64_t i = 0; i < 370; ++i) {
      const float want = At(y[0], type, i) > 0 ? (*dy)[i] : 0;
      ASSERT_NEAR(At(dx[0], type, i), want, unit * (1 + std::fabs(want))) << i;
      columns[i % 10] += want;
    }
    for (int64_t j = 0; j < 10 && type == kFloat32; ++j) ASSERT_NEAR(At(dx[1], kFloat32, j), columns[j], 1e-3) << j;
  }
}

TEST_P(GpuLibraryCallTest, GeluAndItsGradient) {
  for (DType type : {kFloat32, kBFloat16}) {
    const double unit = type == kBFloat16 ? 1.0 / 64 : 5e-4;
    format::MatMul forward = MatMulOf(20, 24, 16, false, false);
    SetTypes(forward, type);
    forward.epilogue = {.bias = true, .activation = format::Activation::kGelu, .saves = true};
    const std::vector<std::vector<char>> in = {Random(20 * 24, type, 1), Random(24 * 16, type, 2), Random(16, type, 3)};
    const uint64_t bytes = 320 * ElementBytes(type);
    const auto y = RunOnDevice(forward, in, {bytes, bytes});
    ASSERT_EQ(y.size(), 2u);
    format::MatMul plain = forward;
    plain.epilogue = {.bias = true};
    const absl::StatusOr<std::vector<float>> sums = RunInFloat32(CallOf(plain), Pointers(in));
    ASSERT_TRUE(sums.ok()) << sums.status();
    auto gelu = [](double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); };
    for (int64_t i = 0; i < 320; ++i) {
      const double x = (*sums)[i];
      ASSERT_NEAR(At(y[1], type, i), x, unit * (1 + std::fabs(x))) << i;
      ASSERT_NEAR(At(y[0], type, i), gelu(x), unit * (1 + std::fabs(x))) << i;
    }
    format::MatMul backward = MatMulOf(20, 8, 16, false, true);
    SetTypes(backward, type);
    std::vector<std::vector<char>> back = {Random(20 * 8, type, 4), Random(8 * 16, type, 5)};
    const absl::StatusOr<std::vector<float>> dy = RunInFloat32(CallOf(backward), Pointers(back));
    ASSERT_TRUE(dy.ok()) << dy.status();
    backward.epilogue = {.activation = format::Activation::kGelu, .gradient = true};
    back.push_back(y[1]);
    const auto dx = RunOnDevice(backward, back, {bytes});
    ASSERT_EQ(dx.size(), 1u);
    for (int64_t i = 0; i < 320; ++i) {
      const double x = At(y[1], type, i), slope = (gelu(x + 1e-4) - gelu(x - 1e-4)) / 2e-4;
      ASSERT_NEAR(At(dx[0], type, i), (*dy)[i] * slope, unit * (1 + std::fabs((*dy)[i]))) << i;
    }
  }
}

// A weight's gradient and the sums of its operands, which are a bias's.
TEST_P(GpuLibraryCallTest, SumsOfOperands) {
  for (format::Summed summed : {format::Summed::kA, format::Summed::kB}) {
    format::MatMul call = MatMulOf(64, 512, 10, true, false);
    call.reduces_batch = true;
    const std::vector<std::vector<char>> in = {Random(512 * 64, kFloat32, 1), Random(512 * 10, kFloat32, 2)};
    const absl::StatusOr<std::vector<float>> want = RunInFloat32(CallOf(call), Pointers(in));
    ASSERT_TRUE(want.ok()) << want.status();
    call.epilogue.sums = summed;
    const int64_t columns = summed == format::Summed::kA ? 64 : 10;
    const auto got = RunOnDevice(call, in, {640 * 4, static_cast<uint64_t>(columns * 4)});
    ASSERT_EQ(got.size(), 2u);
    for (int64_t i = 0; i < 640; ++i) ASSERT_NEAR(At(got[0], kFloat32, i), (*want)[i], 2e-3) << i;
    for (int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (int64_t q = 0; q < 512; ++q) sum += At(in[summed == format::Summed::kA ? 0 : 1], kFloat32, q * columns + j);
      ASSERT_NEAR(At(got[1], kFloat32, j), sum, 1e-3) << j;
    }
  }
}

// Rounded operands: near the exact product, and not as near as it would be without leave to round.
TEST_P(GpuLibraryCallTest, TensorFloat32) {
  for (const format::LibraryCall& base : {CallOf(MatMulOf(64, 256, 64)), CallOf(kConvolutions[1])}) {
    format::LibraryCall call = base;
    call.tf32 = true;
    Compare(call, 1.5e-2);
    if (HasFatalFailure()) return;
  }
}

// A plan made without a device, on one; and what was measured, repeated.
TEST_P(GpuLibraryCallTest, PlansOfTheExecutableAndMeasuredOnes) {
  const format::LibraryCall calls[] = {CallOf(kConvolutions[1]), CallOf(MatMulOf(64, 600, 64))};
  if (absl::StatusOr<CudnnPlan> plan = CompileCudnnPlan(calls[0], 90); plan.ok())
    Compare(calls[0], std::nullopt, plan->bytes);
  if (HasFatalFailure()) return;
  PlanChoices choices;
  std::string chosen[2];
  for (std::string& implementations : chosen) {
    auto made = LibraryCallRunner::Create(api, {.autotune = true, .choices = &choices, .device_name = "this GPU"});
    ASSERT_TRUE(made.ok()) << made.status();
    runner = *std::move(made);
    for (const format::LibraryCall& call : calls) {
      Compare(call);
      if (HasFatalFailure()) return;
      absl::StrAppend(&implementations, implementation, " ");
    }
  }
  EXPECT_EQ(chosen[0], chosen[1]);
  EXPECT_EQ(choices.size(), 2);
}

// Whatever may be measured to be the fastest is right. Pads that are uneven meet engines of cuDNN's that were made for
// even ones.
TEST_P(GpuLibraryCallTest, EveryPlanOfAConvolution) {
  const format::Conv2D convolutions[] = {Conv(2, 9, 7, 3, 5, 3, 10, 2, 2, 1),
                                         Conv(2, 8, 8, 16, 3, 3, 16, 2, 0, 1),
                                         Conv(2, 14, 14, 64, 3, 3, 128, 2, 0, 1),
                                         Conv(2, 7, 7, 8, 2, 2, 4, 1, 0, 1),
                                         Conv(2, 16, 16, 3, 7, 7, 64, 2, 2, 3),
                                         Conv(4, 9, 9, 32, 4, 4, 32, 1, 1, 2),
                                         Grouped(16, Conv(2, 9, 9, 16, 3, 3, 16, 2, 0, 1)),
                                         Conv(2, 8, 8, 16, 3, 3, 16, 1, 1, 1),
                                         Conv(2, 13, 13, 32, 3, 3, 64, 1, 0, 0),
                                         Conv(2, 16, 16, 3, 7, 7, 64, 2, 3, 3)};
  const auto library = LoadCudnn();
  ASSERT_TRUE(library.ok()) << library.status();
  const auto device = (*library)->OpenDevice();
  ASSERT_TRUE(device.ok()) << device.status();
  PlanChoices choices;
  auto made = LibraryCallRunner::Create(api, {.choices = &choices, .device_name = "this GPU"});
  ASSERT_TRUE(made.ok()) << made.status();
  runner = *std::move(made);
  int plans = 0;
  for (format::Conv2D conv : convolutions) {
    for (const auto& [type, tf32] : {std::pair{kFloat32, false}, {kFloat32, true}, {kBFloat16, false}}) {
      SetTypes(conv, type);
      for (format::Direction direction : format::kDirectionValues) {
        conv.direction = direction;
        format::LibraryCall call = CallOf(conv);
        call.tf32 = tf32;
        const auto built = (*device)->Build(PlannedConvolution(call), 100, kMaxPlanWorkspace);
        ASSERT_TRUE(built.ok()) << TextOf(call) << ": " << built.status();
        for (const auto& plan : *built) {
          SCOPED_TRACE(plan->name());
          choices.Record(PlanChoiceKey(call, "this GPU", (*library)->version()), plan->name());
          // Parts of a sum may be rounded to bfloat16 each; transformed tiles have larger terms than the sum.
          Compare(call, type == kBFloat16 ? 1.0 / 32 : tf32 ? 1.0 / 64 : 1e-3);
          EXPECT_EQ(implementation, absl::StrCat("cuDNN ", plan->name()));
          ++plans;
        }
      }
    }
  }
  RecordProperty("plans", plans);
}

TEST_P(GpuLibraryCallTest, BatchedProducts) {
  for (int flags = 0; flags < 32; ++flags) {
    Compare(BatchMatMulOf(3, 4, 16, 8, 12, flags));
    if (HasFatalFailure()) return;
  }
}

// Three replicas on one GPU, with a stream each.
TEST_P(GpuLibraryCallTest, SharedGpuAllReduce) {
  constexpr int kReplicas = 3;
  constexpr int64_t kElements = 1000;
  const CommunicatorDevice device = {0, context};
  auto communicator = MakeCommunicator(api, std::vector<CommunicatorDevice>(kReplicas, device), /*tree_order=*/false);
  ASSERT_TRUE(communicator.ok()) << communicator.status();
  std::vector<CUstream> streams(kReplicas);
  for (CUstream& s : streams) ASSERT_EQ(api->cuStreamCreate(&s, kCudaStreamNonBlocking), 0);
  for (format::ReduceKind kind : {format::ReduceKind::kSum, format::ReduceKind::kMax, format::ReduceKind::kMean}) {
    std::vector<std::vector<char>> in;
    CollectiveTensor tensor;
    tensor.elements = kElements;
    std::vector<const void*> leaves;
    for (int r = 0; r < kReplicas; ++r) in.push_back(Random(kElements, kFloat32, r + 1));
    for (int r = 0; r < kReplicas; ++r) {
      tensor.buffers.push_back(Upload(in[r]));
      leaves.push_back(r == 1 ? nullptr : in[r].data());
    }
    std::vector<char> want(kElements * 4);
    TreeReduce(kind, DType::kFloat32, leaves, want.data(), kElements);
    absl::Status status = (*communicator)->AllReduce(kind, {&tensor, 1}, {true, false, true}, streams);
    ASSERT_TRUE(status.ok()) << status;
    status = (*communicator)->Wait(streams, 30, "an all-reduce");
    ASSERT_TRUE(status.ok()) << status;
    for (CUdeviceptr buffer : tensor.buffers) {
      EXPECT_EQ(Download(buffer, kElements * 4), want) << format::Name(kind);
    }
  }
  FreeAll();
  communicator->reset();
  for (CUstream s : streams) api->cuStreamDestroy_v2(s);
}

INSTANTIATE_TEST_SUITE_P(Devices, GpuLibraryCallTest, ::testing::Values(true, false),
                         [](const auto& info) { return info.param ? "Fake" : "Gpu"; });

}  // namespace
}  // namespace tandem
