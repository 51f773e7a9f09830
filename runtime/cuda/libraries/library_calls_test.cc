// Library calls on the fakes: values against oneDNN for the same call on the CPU, what is issued, and each way to fail.
#include "runtime/cuda/libraries/library_calls.h"

#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/bfloat16.h"
#include "base/dtype.h"
#include "base/env.h"
#include "gtest/gtest.h"
#include "runtime/cuda/libraries/plan_choices.h"
#include "runtime/cuda/testing/fake_cublaslt.h"
#include "runtime/cuda/testing/fake_cudnn.h"
#include "runtime/cuda/testing/library_fixture.h"
#include "runtime/library_calls/gpu_library.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/library_calls/pack_weights.h"
#include "runtime/testing/library_calls.h"
#include "runtime/testing/library_reference.h"

namespace tandem {
namespace {

using DType::kBFloat16;
using DType::kFloat32;

uint64_t BytesOf(const std::vector<int64_t>& shape, DType type) { return NumElements(shape) * SizeOf(type); }

// Kernels of one tap without strides and pads are cuBLASLt's; all others cuDNN's. Pads differ on the two sides.
const format::Epilogue kEpilogues[] = {{},
                                       {.bias = true},
                                       {.bias = true, .activation = format::Activation::kRelu},
                                       {.activation = format::Activation::kRelu}};

const format::Conv2D kConvolutions[] = {Conv(4, 28, 28, 1, 3, 3, 32, 1, 0, 0),
                                        Conv(2, 13, 13, 32, 3, 3, 40, 1, 0, 0),
                                        Conv(2, 9, 7, 3, 5, 3, 10, 2, 2, 1),
                                        Conv(1, 6, 6, 5, 1, 1, 33, 1, 0, 0),
                                        Conv(2, 8, 8, 3, 3, 3, 16, 2, 0, 1),
                                        Conv(1, 13, 13, 2, 5, 5, 1, 1, 2, 2),
                                        Conv(5, 8, 9, 4, 2, 2, 7, 2, 0, 0),
                                        Conv(3, 8, 8, 24, 1, 1, 12, 2, 0, 0),
                                        Conv(2, 14, 14, 640, 1, 1, 20, 1, 0, 0),
                                        Grouped(6, Conv(2, 8, 7, 6, 3, 2, 12, 2, 0, 1)),
                                        Grouped(8, Conv(2, 6, 6, 8, 1, 1, 8, 1, 0, 0))};

// One device, the libraries on it, and a runner.
class LibraryCallsTest : public ::testing::Test, public LibraryFixture {
 protected:
  void TearDown() override {
    Close();
    EXPECT_EQ(absl::StrJoin(cublaslt.TakeViolations(), "; "), "");
    EXPECT_EQ(cublaslt.live_objects(), 0);
    EXPECT_EQ(cudnn.live_objects(), 0);
  }

  // Random numbers of the type, on the device.
  CUdeviceptr Random(const std::vector<int64_t>& shape, DType type, uint32_t seed) {
    const CUdeviceptr address = Allocate(BytesOf(shape, type));
    std::mt19937 rng(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int64_t i = 0; i < NumElements(shape); ++i) {
      const float x = uniform(rng);
      if (type == kBFloat16) {
        reinterpret_cast<uint16_t*>(address)[i] = ToBFloat16Bits(x);
      } else {
        reinterpret_cast<float*>(address)[i] = x;
      }
    }
    return address;
  }

  static float At(CUdeviceptr address, DType type, int64_t i) {
    return type == kBFloat16 ? FromBFloat16Bits(reinterpret_cast<const uint16_t*>(address)[i])
                             : reinterpret_cast<const float*>(address)[i];
  }

  absl::Status Enqueue(const format::LibraryCall& call, const std::vector<CUdeviceptr>& inputs, CUdeviceptr output,
                       absl::string_view plan = "") {
    auto prepared = runner->Prepare(call, plan);
    if (!prepared.ok()) return prepared.status();
    implementation = (*prepared)->implementation();
    const uint64_t plan_bytes = LibraryOf(call) == GpuLibrary::kCudnn ? 1000 : 0;
    EXPECT_LE((*prepared)->workspace_bytes(), GpuWorkspaceBytes(call, plan_bytes)) << TextOf(call);
    const CUdeviceptr workspace = Allocate((*prepared)->workspace_bytes());
    // All that is issued must also be legal in a capture.
    EXPECT_EQ(api.cuStreamBeginCapture_v2(stream, kCudaCaptureThreadLocal), 0);
    const absl::Status status = (*prepared)->Enqueue(inputs, {&output, 1}, workspace, stream);
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    EXPECT_EQ(api.cuStreamEndCapture(stream, &graph), 0);
    EXPECT_EQ(api.cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    EXPECT_EQ(api.cuGraphLaunch(exec, stream), 0);
    EXPECT_EQ(api.cuStreamSynchronize(stream), 0);
    api.cuGraphExecDestroy(exec);
    api.cuGraphDestroy(graph);
    return status;
  }

  // Random operands through both. A packed call gets its kernel from PackWeights.
  template <typename Operation>
  void Compare(const Operation& operation) {
    Compare(CallOf(operation));
  }
  void Compare(const format::LibraryCall& call) {
    const bool packed = InfoOf(call).packed;
    format::LibraryCall plain = call;
    SetPacked(plain, false);
    const LibraryOperands operands = *CheckGpuLibraryCall(plain);
    std::vector<CUdeviceptr> inputs;
    for (size_t i = 0; i < operands.inputs.size(); ++i) {
      inputs.push_back(Random(operands.inputs[i], operands.input_types[i], i + 1));
    }
    std::vector<const void*> pointers;
    for (CUdeviceptr p : inputs) pointers.push_back(reinterpret_cast<const void*>(p));
    const absl::StatusOr<std::vector<float>> computed = RunInFloat32(call, pointers);
    ASSERT_TRUE(computed.ok()) << computed.status();
    const std::vector<float>& want = *computed;
    if (packed) {
      const format::LibraryCall pack = PackingFor(call);
      const CUdeviceptr kernel = Allocate(*GpuPackedWeightsBytes(pack));
      const absl::Status status = Enqueue(pack, {inputs[1]}, kernel);
      ASSERT_TRUE(status.ok()) << status;
      inputs[1] = kernel;
    }
    const DType type = operands.output_types[0];
    const CUdeviceptr output = Allocate(BytesOf(operands.outputs[0], type));
    const absl::Status status = Enqueue(call, inputs, output);
    ASSERT_TRUE(status.ok()) << status;
    const double unit = operands.input_types[0] == kBFloat16 ? 1.0 / 64 : 2e-4;
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_NEAR(At(output, type, i), want[i], unit * (1 + std::fabs(want[i]))) << TextOf(call) << " element " << i;
    }
    FreeAll();
  }

  // Names of the kernels and library calls that were enqueued, and forgets them.
  std::string TakeLaunches() {
    std::vector<std::string> names;
    for (const FakeCall& call : fake.calls()) {
      if (call.name == "cuLaunchKernel") names.push_back(call.detail);
      if (call.name == "cublasLtMatmul") names.push_back(call.name);
    }
    fake.ClearCalls();
    return absl::StrJoin(names, " ");
  }

  FakeCublasLt cublaslt;
  FakeCudnn cudnn;
  std::string implementation;
};

TEST_F(LibraryCallsTest, ConvolutionsMatchOneDnn) {
  MakeRunner();
  for (format::Conv2D call : kConvolutions) {
    for (format::Direction direction : format::kDirectionValues) {
      call.direction = direction;
      for (bool packed : {false, true}) {
        if (packed && direction == format::Direction::kFilterGrad) continue;
        call.packed = packed;
        for (const format::Epilogue& epilogue : kEpilogues) {
          if (!epilogue.empty() && direction != format::Direction::kForward) continue;
          call.epilogue = epilogue;
          Compare(call);
          if (HasFatalFailure()) return;
        }
        call.epilogue = {};
      }
      call.packed = false;
    }
    EXPECT_EQ(implementation, LibraryOf(CallOf(call)) == GpuLibrary::kCudnn ? "cuDNN fake_eng0" : "cuBLASLt");
  }
}

TEST_F(LibraryCallsTest, BFloat16ConvolutionsMatchOneDnn) {
  MakeRunner();
  for (format::Conv2D call : kConvolutions) {
    SetTypes(call, kBFloat16);
    for (bool wide : {false, true}) {
      const DType result = wide ? kFloat32 : kBFloat16;
      format::Conv2D c = call;
      c.y_dtype = result;
      c.epilogue = wide ? format::Epilogue() : format::Epilogue{.bias = true, .activation = format::Activation::kRelu};
      Compare(c);
      c = call;
      c.direction = format::Direction::kInputGrad;
      c.x_dtype = result;
      Compare(c);
      c = call;
      c.direction = format::Direction::kFilterGrad;
      c.kernel_dtype = result;
      Compare(c);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(LibraryCallsTest, MatrixProductsMatchOneDnn) {
  MakeRunner();
  const std::vector<std::vector<int64_t>> sizes = {{16, 576, 64}, {1, 10, 3}, {8, 64, 10}, {5, 1, 7}, {33, 17, 1}};
  for (const auto& s : sizes) {
    for (int flags = 0; flags < 16; ++flags) {
      format::MatMul call = MatMulOf(s[0], s[1], s[2], flags & 1, flags & 2);
      call.packed = flags & 4;
      call.epilogue =
          flags & 8 ? format::Epilogue{.bias = true, .activation = format::Activation::kRelu} : format::Epilogue();
      Compare(call);
      if (HasFatalFailure()) return;
    }
  }
  // Several dimensions of rows, and their sum; bfloat16 with a bias, which is rounded.
  format::MatMul call;
  call.a_shape = {2, 3, 5};
  call.b_shape = {5, 8};
  call.y_shape = {2, 3, 8};
  Compare(call);
  SetTypes(call, kBFloat16);
  call.epilogue = {.bias = true};
  Compare(call);
  call = {};
  call.a_shape = {2, 3, 5};
  call.b_shape = {2, 3, 7};
  call.y_shape = {5, 7};
  call.transpose_a = call.reduces_batch = true;
  Compare(call);
}

TEST_F(LibraryCallsTest, BatchedProductsMatchOneDnn) {
  MakeRunner();
  // Batch, heads, m, k, n: more heads than examples and the other way round.
  const std::vector<std::vector<int64_t>> sizes = {
      {2, 4, 16, 8, 12}, {5, 2, 3, 7, 4}, {1, 3, 1, 4, 6}, {5, 3, 3, 7, 4}};
  for (const auto& s : sizes) {
    for (int flags = 0; flags < 32; ++flags) {
      const format::BatchMatMul call = BatchMatMulOf(s[0], s[1], s[2], s[3], s[4], flags);
      cublaslt.TakeCalls();
      Compare(call);
      if (HasFatalFailure()) return;
      // One launch where one stride leads through all matrices, two where that is as good as addresses.
      const auto calls = cublaslt.TakeCalls();
      const bool swapped = call.swap_a || call.swap_b || call.swap_y;
      const int64_t by_strides = swapped ? std::min(s[0], s[1]) : 1;
      EXPECT_EQ(std::count(calls.begin(), calls.end(), "cublasLtMatmul"), by_strides <= 2 ? by_strides : 1);
    }
  }
}

// x and the result of attention with one query for each head: their matrices have one row.
TEST_F(LibraryCallsTest, SwappedOperandsOfOneRowHaveOneStride) {
  MakeRunner();
  format::BatchMatMul call;
  call.swap_a = call.swap_y = true;
  call.a_shape = {5, 1, 4, 7};
  call.b_shape = {5, 4, 7, 5};
  call.y_shape = {5, 1, 4, 5};
  fake.ClearCalls();
  Compare(call);
  EXPECT_EQ(TakeLaunches(), "cublasLtMatmul");
}

// Attention's products of queries and keys.
format::LibraryCall Heads(DType type) {
  format::BatchMatMul call;
  call.swap_a = call.swap_b = call.transpose_b = true;
  call.a_shape = call.b_shape = {5, 6, 4, 3};
  call.y_shape = {5, 4, 6, 6};
  SetTypes(call, type);
  return CallOf(std::move(call));
}

constexpr char kByAddresses[] = "td_matrix_addresses cublasLtMatmul",
               kByStrides[] = "cublasLtMatmul cublasLtMatmul cublasLtMatmul cublasLtMatmul";

TEST_F(LibraryCallsTest, HeadsAreOneProductByAddresses) {
  MakeRunner();
  for (DType type : {kFloat32, kBFloat16}) {
    fake.ClearCalls();
    Compare(Heads(type));
    EXPECT_EQ(TakeLaunches(), kByAddresses);
  }
}

TEST_F(LibraryCallsTest, HeadsAreProductsByStridesWhereAddressesDoNotDo) {
  MakeRunner();
  // No algorithm for addresses, but one for strides.
  cublaslt.FailCall("cublasLtMatmulAlgoGetHeuristic", cublaslt::kNotSupported);
  fake.ClearCalls();
  Compare(Heads(kFloat32));
  EXPECT_EQ(TakeLaunches(), kByStrides);
  cublaslt.KnowNoPointerArrays();
  Compare(Heads(kBFloat16));
  EXPECT_EQ(TakeLaunches(), kByStrides);
  cublaslt.SupportNothing();
  EXPECT_EQ(runner->Prepare(Heads(kFloat32), "").status().code(), absl::StatusCode::kUnimplemented);
}

TEST_F(LibraryCallsTest, AddressesAndStridesAreMeasuredAgainstEachOther) {
  PlanChoices choices;
  MakeRunner({.autotune = true, .choices = &choices, .device_name = "Fake GPU"});
  fake.ClearCalls();
  ASSERT_TRUE(runner->Prepare(Heads(kFloat32), "").ok());
  const std::string launches = TakeLaunches();
  EXPECT_TRUE(absl::StrContains(launches, kByAddresses));
  EXPECT_TRUE(absl::StrContains(launches, kByStrides));
  // Which it was is part of what is recorded.
  const std::string key = PlanChoiceKey(Heads(kFloat32), "Fake GPU", "cuBLASLt 130000");
  ASSERT_NE(choices.Find(key), nullptr) << choices.ToJson();
  const std::string chosen = *choices.Find(key);
  EXPECT_TRUE(absl::StartsWith(chosen, "addresses:")) << chosen;  // in fake time all are equal, so the first
  choices.Record(key, std::string(absl::StripPrefix(chosen, "addresses:")));
  Compare(Heads(kFloat32));
  EXPECT_EQ(TakeLaunches(), kByStrides);
}

TEST_F(LibraryCallsTest, FailuresWithAddressesAreStatuses) {
  MakeRunner();
  const CUdeviceptr x = Allocate(1440), kernel = Allocate(1440), y = Allocate(2880);
  fake.FailCall("cuLaunchKernel", kCudaLaunchFailed);
  EXPECT_FALSE(Enqueue(Heads(kFloat32), {x, kernel}, y).ok());
  cublaslt.FailCall("cublasLtMatmul", cublaslt::kExecutionFailed);
  EXPECT_EQ(Enqueue(Heads(kFloat32), {x, kernel}, y).message(),
            "cuBLASLt cannot multiply: CUBLAS_STATUS_EXECUTION_FAILED (13)");
  // Whatever is wrong with addresses, there are strides.
  for (const char* name : {"cublasLtMatrixLayoutCreate", "cublasLtMatmulAlgoGetHeuristic"}) {
    for (cublasStatus_t status : {cublaslt::kInternalError, cublaslt::kInvalidValue}) {
      cublaslt.FailCall(name, status);
      fake.ClearCalls();
      Compare(Heads(kFloat32));
      EXPECT_EQ(TakeLaunches(), kByStrides) << name;
    }
  }
  // The first one's reason, where there is nothing else. Failures queue up: the second is of the call behind the first.
  cublaslt.FailCall("cublasLtMatmulAlgoGetHeuristic", cublaslt::kInternalError);
  cublaslt.FailCall("cublasLtMatmulAlgoGetHeuristic", cublaslt::kInvalidValue);
  EXPECT_EQ(runner->Prepare(Heads(kFloat32), "").status().message(),
            "cuBLASLt cannot choose an algorithm: CUBLAS_STATUS_INTERNAL_ERROR (14)");
}

TEST_F(LibraryCallsTest, TensorFloat32IsOptIn) {
  MakeRunner();
  format::LibraryCall call = CallOf(MatMulOf(1, 1, 1));
  const CUdeviceptr x = Allocate(4), kernel = Allocate(4), y = Allocate(4);
  *reinterpret_cast<float*>(x) = 1.0001f;
  *reinterpret_cast<float*>(kernel) = 1;
  ASSERT_TRUE(Enqueue(call, {x, kernel}, y).ok());
  EXPECT_EQ(At(y, kFloat32, 0), 1.0001f);
  call.tf32 = true;
  ASSERT_TRUE(Enqueue(call, {x, kernel}, y).ok());
  EXPECT_EQ(At(y, kFloat32, 0), 1.0f);
}

TEST_F(LibraryCallsTest, LibrariesAreOpenedWhenNeeded) {
  MakeRunner();
  EXPECT_EQ(cublaslt.live_objects(), 0);
  EXPECT_EQ(cudnn.live_objects(), 0);
  const format::LibraryCall call = CallOf(Conv(1, 6, 6, 5, 1, 1, 8, 1, 0, 0));
  ASSERT_TRUE(runner->Prepare(call, "").ok());
  EXPECT_EQ(cudnn.live_objects(), 0);
  EXPECT_EQ(cublaslt.live_objects(), 1);  // the handle
}

TEST_F(LibraryCallsTest, PlansOfTheExecutableAreUsedWhereTheyFit) {
  MakeRunner();
  const format::LibraryCall call = CallOf(Conv(2, 8, 8, 3, 3, 3, 16, 1, 1, 1));
  absl::StatusOr<CudnnPlan> plan = CompileCudnnPlan(call, 90);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_TRUE(runner->Prepare(call, plan->bytes).ok());
  EXPECT_EQ(absl::StrJoin(cudnn.TakeCalls(), ", "), "Load");
  // Of another GPU or version: built anew, without a word.
  ASSERT_TRUE(runner->Prepare(call, "what is this").ok());
  EXPECT_EQ(absl::StrJoin(cudnn.TakeCalls(), ", "), "Load, Build 1");
  ASSERT_TRUE(runner->Prepare(call, "").ok());
  EXPECT_EQ(absl::StrJoin(cudnn.TakeCalls(), ", "), "Build 1");
  // Only convolutions of cuDNN have plans.
  EXPECT_EQ(CompileCudnnPlan(CallOf(Conv(1, 6, 6, 5, 1, 1, 8, 1, 0, 0)), 90).status().message(),
            "cuDNN does not compute this call, so that it needs no plan");
}

TEST_F(LibraryCallsTest, MeasuredChoicesAreRepeated) {
  PlanChoices choices;
  MakeRunner({.autotune = true, .choices = &choices, .device_name = "Fake GPU"});
  const format::LibraryCall conv = CallOf(Conv(2, 8, 8, 3, 3, 3, 16, 1, 1, 1)), product = CallOf(MatMulOf(4, 600, 4));
  const uint64_t before = fake.AllocatedBytes(0);
  ASSERT_TRUE(runner->Prepare(conv, "").ok());
  ASSERT_TRUE(runner->Prepare(product, "").ok());
  EXPECT_EQ(fake.AllocatedBytes(0), before);
  EXPECT_EQ(choices.size(), 2);
  const std::string key = PlanChoiceKey(conv, "Fake GPU", cudnn.version());
  ASSERT_NE(choices.Find(key), nullptr) << choices.ToJson();
  // Another choice than the heuristic's, through a file; nothing is measured then.
  choices.Record(key, "fake_eng2");
  const std::string path = JoinPath(::testing::TempDir(), "plans.json");
  ASSERT_TRUE(choices.Save(Env::Default(), path).ok());
  absl::StatusOr<PlanChoices> again = PlanChoices::Load(Env::Default(), path);
  ASSERT_TRUE(again.ok()) << again.status();
  cudnn.TakeCalls();
  cublaslt.TakeCalls();
  MakeRunner({.autotune = true, .choices = &*again, .device_name = "Fake GPU"});
  auto prepared = runner->Prepare(conv, "");
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_EQ((*prepared)->implementation(), "cuDNN fake_eng2");
  ASSERT_TRUE(runner->Prepare(product, "").ok());
  for (const std::string& call : cudnn.TakeCalls()) EXPECT_FALSE(absl::StrContains(call, "Enqueue")) << call;
  for (const std::string& call : cublaslt.TakeCalls()) EXPECT_NE(call, "cublasLtMatmul");
  EXPECT_FALSE(again->changed());
}

// Behind what a list of a few candidates has, and without building any other.
TEST_F(LibraryCallsTest, RecordedPlansAreFoundByName) {
  PlanChoices choices;
  MakeRunner({.choices = &choices, .device_name = "Fake GPU"});
  const format::LibraryCall conv = CallOf(Conv(2, 8, 8, 3, 3, 3, 16, 1, 1, 1)), product = CallOf(MatMulOf(4, 600, 4));
  choices.Record(PlanChoiceKey(conv, "Fake GPU", cudnn.version()), "fake_eng9");
  auto prepared = runner->Prepare(conv, "");
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_EQ((*prepared)->implementation(), "cuDNN fake_eng9");
  EXPECT_EQ(absl::StrJoin(cudnn.TakeCalls(), ", "), "BuildNamed fake_eng9");
  // cuBLASLt checks an algorithm by its bytes. The fake's second one of three needs no workspace for its sums.
  const std::string key = PlanChoiceKey(product, "Fake GPU", "cuBLASLt 130000");
  MakeRunner({.autotune = true, .choices = &choices, .device_name = "Fake GPU"});
  ASSERT_TRUE(runner->Prepare(product, "").ok());
  std::string second = *choices.Find(key);
  ASSERT_EQ(second[17], '0') << second;  // words are stored with their low byte first
  second[17] = '1';
  choices.Record(key, second);
  cublaslt.TakeCalls();
  prepared = runner->Prepare(product, "");
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_EQ((*prepared)->workspace_bytes(), 0);
  EXPECT_EQ(absl::StrJoin(cublaslt.TakeCalls(), ", "), "cublasLtMatmulAlgoCheck");
  Compare(*product.operation.As<format::MatMul>());
}

TEST_F(LibraryCallsTest, RecordedPlansThatAreNotOfferedAreMeasuredAgain) {
  PlanChoices choices;
  const format::LibraryCall conv = CallOf(Conv(2, 8, 8, 3, 3, 3, 16, 1, 1, 1)), product = CallOf(MatMulOf(4, 600, 4));
  for (bool autotune : {true, false}) {
    MakeRunner({.autotune = autotune, .choices = &choices, .device_name = "Fake GPU"});
    const std::string conv_key = PlanChoiceKey(conv, "Fake GPU", cudnn.version());
    choices.Record(conv_key, "eng99");
    ::testing::internal::CaptureStderr();
    auto prepared = runner->Prepare(conv, "");
    const std::string log = ::testing::internal::GetCapturedStderr();
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    EXPECT_TRUE(absl::StrContains(log, "the recorded plan \"eng99\" for Conv2D x=[2,8,8,3]")) << log;
    EXPECT_TRUE(absl::StrContains(log, autotune ? "the plans are measured again" : "the library's choice stands"))
        << log;
    EXPECT_EQ(*choices.Find(conv_key), autotune ? "fake_eng0" : "eng99");
    const std::string product_key = PlanChoiceKey(product, "Fake GPU", "cuBLASLt 130000");
    for (const std::string& name : {std::string("eng99"), std::string(128, 'f'), std::string(128, 'g')}) {
      choices.Record(product_key, name);
      prepared = runner->Prepare(product, "");
      ASSERT_TRUE(prepared.ok()) << prepared.status();
      EXPECT_EQ(*choices.Find(product_key) == name, !autotune) << name;
    }
  }
}

// An epilogue that was refused when it was measured is part of the name.
TEST_F(LibraryCallsTest, RecordedProductsKeepTheirEpilogueApart) {
  PlanChoices choices;
  MakeRunner({.autotune = true, .choices = &choices, .device_name = "Fake GPU"});
  format::MatMul product = MatMulOf(4, 6, 8);
  product.epilogue = {.bias = true, .activation = format::Activation::kRelu};
  cublaslt.RefuseEpilogues(cublaslt::kInvalidValue);
  ASSERT_TRUE(runner->Prepare(CallOf(product), "").ok());
  const std::string* recorded = choices.Find(PlanChoiceKey(CallOf(product), "Fake GPU", "cuBLASLt 130000"));
  ASSERT_NE(recorded, nullptr);
  EXPECT_TRUE(absl::StartsWith(*recorded, "unfused:")) << *recorded;
  cublaslt.RefuseEpilogues(cublaslt::kSuccess);
  fake.ClearCalls();
  Compare(product);
  EXPECT_EQ(TakeLaunches(), "cublasLtMatmul td_add_bias_f32 td_relu_f32");
}

TEST_F(LibraryCallsTest, AVariableNamesTheFileOfPlans) {
  MakeRunner();
  unsetenv("TANDEM_GPU_PLANS");
  absl::StatusOr<std::unique_ptr<PlanFile>> file = PlanFile::Open(Env::Default(), "");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*file, nullptr);
  const std::string path = JoinPath(::testing::TempDir(), "measured.json");
  setenv("TANDEM_GPU_PLANS", path.c_str(), 1);
  file = PlanFile::Open(Env::Default(), "");
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE((*file)->Save().ok());
  EXPECT_FALSE(Env::Default()->Exists(path));  // nothing to keep
  (*file)->choices()->Record("a call", "eng1");
  ASSERT_TRUE((*file)->Save().ok());
  file = PlanFile::Open(Env::Default(), "");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*(*file)->choices()->Find("a call"), "eng1");
  ASSERT_TRUE(Env::Default()->WriteFile(path, {"{}"}).ok());
  const absl::Status damaged = PlanFile::Open(Env::Default(), "").status();
  unsetenv("TANDEM_GPU_PLANS");
  EXPECT_EQ(damaged.code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(absl::StrContains(damaged.message(), "measured.json: ")) << damaged;
  EXPECT_TRUE(absl::StrContains(damaged.message(), "delete it, and the plans are measured again")) << damaged;
}

TEST_F(LibraryCallsTest, AutotuningPassesOverWhatFails) {
  MakeRunner({.autotune = true});
  cudnn.FailNext("Enqueue", absl::InternalError("no"));
  auto prepared = runner->Prepare(CallOf(Conv(2, 8, 8, 3, 3, 3, 16, 1, 1, 1)), "");
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_NE((*prepared)->implementation(), "cuDNN fake_eng0");
}

TEST_F(LibraryCallsTest, FailuresAreStatuses) {
  MakeRunner();
  format::LibraryCall conv = CallOf(Conv(2, 8, 8, 3, 3, 3, 16, 1, 1, 1));
  cudnn.FailNext("OpenDevice", absl::FailedPreconditionError("cuDNN cannot be loaded"));
  EXPECT_EQ(runner->Prepare(conv, "").status().message(), "cuDNN cannot be loaded");
  cudnn.FailNext("Build", absl::UnimplementedError("cuDNN has no plan"));
  EXPECT_EQ(runner->Prepare(conv, "").status().message(), "cuDNN has no plan");
  conv.operation.As<format::Conv2D>()->y_shape[1] = 3;
  EXPECT_EQ(runner->Prepare(conv, "").status().code(), absl::StatusCode::kInvalidArgument);
  const format::LibraryCall product = CallOf(MatMulOf(4, 6, 4));
  cublaslt.FailCall("cublasLtCreate", cublaslt::kAllocFailed);
  absl::Status status = runner->Prepare(product, "").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "cuBLASLt cannot start on this GPU: CUBLAS_STATUS_ALLOC_FAILED (3)");
  for (const char* name : {"cublasLtMatmulDescCreate", "cublasLtMatrixLayoutCreate", "cublasLtMatmulPreferenceCreate",
                           "cublasLtMatmulAlgoGetHeuristic"}) {
    cublaslt.FailCall(name, cublaslt::kInternalError);
    EXPECT_EQ(runner->Prepare(product, "").status().code(), absl::StatusCode::kInternal) << name;
  }
  const CUdeviceptr a = Allocate(96), b = Allocate(96), y = Allocate(64);
  cublaslt.FailCall("cublasLtMatmul", cublaslt::kExecutionFailed);
  status = Enqueue(product, {a, b}, y);
  EXPECT_EQ(status.message(), "cuBLASLt cannot multiply: CUBLAS_STATUS_EXECUTION_FAILED (13)");
  fake.FailCall("cuLaunchKernel", kCudaLaunchFailed);
  EXPECT_FALSE(Enqueue(CallOf(Conv(2, 8, 8, 3, 3, 3, 16, 1, 1, 1)), {a, b}, y).ok());
  cublaslt.SupportNothing();
  status = runner->Prepare(product, "").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(),
            "cuBLASLt cannot compute MatMul a=[4,6] float32 b=[6,4] float32 y=[4,4] float32 on this GPU");
}

TEST_F(LibraryCallsTest, DamagedChoicesAreErrors) {
  MakeRunner();
  const std::string deep = "{\"version\": " + std::string(200000, '[') + std::string(200000, ']') + "}";
  for (const char* text : {"", "[]", "{}", "{\"version\": 2, \"choices\": {}}", "{\"version\": 1, \"choices\": []}",
                           "{\"version\": 1, \"choices\": {\"a\": 1}}", "{\"version\": 1, \"choices\"", deep.c_str()}) {
    EXPECT_EQ(PlanChoices::FromJson(text).status().code(), absl::StatusCode::kDataLoss) << text;
  }
  // Keys tell apart all that decides about the computation.
  std::set<std::string> keys;
  format::LibraryCall call = CallOf(Conv(2, 8, 8, 3, 3, 3, 16, 1, 1, 1));
  keys.insert(PlanChoiceKey(call, "d", "v"));
  call.tf32 = true;
  keys.insert(PlanChoiceKey(call, "d", "v"));
  call.operation.As<format::Conv2D>()->pad_high = {2, 2};
  keys.insert(PlanChoiceKey(call, "d", "v"));
  call.operation.As<format::Conv2D>()->x_dtype = kBFloat16;
  keys.insert(PlanChoiceKey(call, "d", "v"));
  keys.insert(PlanChoiceKey(call, "e", "v"));
  EXPECT_EQ(keys.size(), 5);
}

}  // namespace
}  // namespace tandem
