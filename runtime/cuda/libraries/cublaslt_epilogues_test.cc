// What a matrix product may do with its result and operands on a GPU: values against loops in double precision, forward
// and backward, as the fake computes what the descriptors say.
#include <cmath>
#include <numbers>
#include <random>

#include "absl/strings/str_join.h"
#include "base/bfloat16.h"
#include "base/dtype.h"
#include "gtest/gtest.h"
#include "runtime/cpu/onednn/onednn_primitives.h"
#include "runtime/cuda/libraries/library_calls.h"
#include "runtime/cuda/testing/fake_cublaslt.h"
#include "runtime/cuda/testing/library_fixture.h"
#include "runtime/library_calls/gpu_library.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/library_calls/matmul.h"
#include "runtime/testing/library_calls.h"

namespace tandem {
namespace {

using DType::kBFloat16;
using DType::kFloat32;
using format::Activation;
using format::Summed;

uint64_t BytesOf(const std::vector<int64_t>& shape, DType type) { return NumElements(shape) * SizeOf(type); }

// Phi(x) = (1 + tanh(u)) / 2, u = sqrt(2/pi) (x + 0.044715 x^3); the slope by a central difference.
double Gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
double GeluSlope(double x) { return (Gelu(x + 1e-5) - Gelu(x - 1e-5)) / 2e-5; }

// By the library, and where it refuses epilogues.
class CublasLtEpiloguesTest : public ::testing::TestWithParam<bool>, public LibraryFixture {
 protected:
  CublasLtEpiloguesTest() {
    if (GetParam()) cublaslt.RefuseEpilogues(cublaslt::kNotSupported);
    MakeRunner();
  }

  void TearDown() override {
    Close();
    EXPECT_EQ(absl::StrJoin(cublaslt.TakeViolations(), "; "), "");
    EXPECT_EQ(cublaslt.live_objects(), 0);
  }

  // [m, k] by [k, n], perhaps transposed.
  static format::MatMul Product(int64_t m, int64_t k, int64_t n, bool ta, bool tb, format::Epilogue epilogue,
                                DType type = kFloat32) {
    format::MatMul product = MatMulOf(m, k, n, ta, tb);
    product.epilogue = epilogue;
    SetTypes(product, type);
    return product;
  }

  CUdeviceptr Random(const std::vector<int64_t>& shape, DType type, uint32_t seed) {
    const CUdeviceptr address = Allocate(BytesOf(shape, type));
    std::mt19937 rng(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int64_t i = 0; i < NumElements(shape); ++i) {
      if (type == DType::kUInt8) {
        reinterpret_cast<uint8_t*>(address)[i] = static_cast<uint8_t>(rng());
      } else if (type == kBFloat16) {
        reinterpret_cast<uint16_t*>(address)[i] = ToBFloat16Bits(uniform(rng));
      } else {
        reinterpret_cast<float*>(address)[i] = uniform(rng);
      }
    }
    return address;
  }

  static double At(CUdeviceptr address, DType type, int64_t i) {
    return type == kBFloat16 ? FromBFloat16Bits(reinterpret_cast<const uint16_t*>(address)[i])
                             : reinterpret_cast<const float*>(address)[i];
  }

  static bool Bit(CUdeviceptr mask, int64_t row_bytes, int64_t row, int64_t j) {
    return (reinterpret_cast<const uint8_t*>(mask)[row * row_bytes + j / 8] >> (j % 8) & 1) != 0;
  }

  struct Run {
    std::vector<CUdeviceptr> inputs, outputs;
  };
  // The call with random operands, recorded and launched.
  Run Execute(const format::MatMul& product) {
    const format::LibraryCall call = CallOf(product);
    Run run;
    absl::StatusOr<LibraryOperands> operands = CheckGpuLibraryCall(call);
    EXPECT_TRUE(operands.ok()) << operands.status();
    if (!operands.ok()) return run;
    for (size_t i = 0; i < operands->inputs.size(); ++i) {
      run.inputs.push_back(Random(operands->inputs[i], operands->input_types[i], static_cast<uint32_t>(i + 1)));
    }
    for (size_t i = 0; i < operands->outputs.size(); ++i) {
      run.outputs.push_back(Allocate(BytesOf(operands->outputs[i], operands->output_types[i])));
    }
    auto prepared = runner->Prepare(call, "");
    EXPECT_TRUE(prepared.ok()) << prepared.status();
    if (!prepared.ok()) return run;
    EXPECT_LE((*prepared)->workspace_bytes(), GpuWorkspaceBytes(call, 0));
    EXPECT_EQ((*prepared)->implementation(), GetParam() ? "cuBLASLt + kernels" : "cuBLASLt");
    const CUdeviceptr workspace = Allocate((*prepared)->workspace_bytes() + 1);
    const absl::Status status = (*prepared)->Enqueue(run.inputs, run.outputs, workspace, stream);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(api.cuStreamSynchronize(stream), 0);
    return run;
  }

  // Element (i, j) of the product alone.
  static double Dot(const format::MatMul& c, const Run& run, int64_t i, int64_t j) {
    const int64_t m = c.y_shape[0], n = c.y_shape[1], k = c.a_shape[c.transpose_a ? 0 : 1];
    double sum = 0;
    for (int64_t q = 0; q < k; ++q) {
      sum += At(run.inputs[0], c.a_dtype, c.transpose_a ? q * m + i : i * k + q) *
             At(run.inputs[1], c.b_dtype, c.transpose_b ? j * k + q : q * n + j);
    }
    return sum;
  }

  FakeCublasLt cublaslt;
};

TEST_P(CublasLtEpiloguesTest, GeluAndWhatItWasAppliedTo) {
  for (DType type : {kFloat32, kBFloat16}) {
    const double unit = type == kBFloat16 ? 1.0 / 64 : 1e-5;
    for (int flags = 0; flags < 4; ++flags) {
      const format::Epilogue e = {.bias = (flags & 1) != 0, .activation = Activation::kGelu, .saves = (flags & 2) != 0};
      const format::MatMul call = Product(5, 7, 24, false, false, e, type);
      const Run run = Execute(call);
      ASSERT_EQ(run.outputs.size(), e.saves ? 2u : 1u);
      for (int64_t i = 0; i < 5; ++i) {
        for (int64_t j = 0; j < 24; ++j) {
          double x = Dot(call, run, i, j);
          if (e.bias) x += At(run.inputs[2], type, j);
          ASSERT_NEAR(At(run.outputs[0], type, i * 24 + j), Gelu(x), unit * (1 + std::fabs(x)));
          if (!e.saves) continue;
          ASSERT_NEAR(At(run.outputs[1], type, i * 24 + j), x, unit * (1 + std::fabs(x)));
        }
      }
    }
  }
}

TEST_P(CublasLtEpiloguesTest, ReluWritesABitPerElement) {
  const format::MatMul call =
      Product(3, 6, 130, false, true, {.bias = true, .activation = Activation::kRelu, .saves = true});
  const std::vector<int64_t> mask_shape = {3, 32};
  EXPECT_EQ(ReluMaskShape(call.y_shape), mask_shape);
  const Run run = Execute(call);
  int positive = 0;
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 130; ++j) {
      const double x = Dot(call, run, i, j) + At(run.inputs[2], kFloat32, j);
      ASSERT_NEAR(At(run.outputs[0], kFloat32, i * 130 + j), std::max(x, 0.0), 1e-5);
      ASSERT_EQ(Bit(run.outputs[1], 32, i, j), x > 0);
      positive += x > 0;
    }
  }
  EXPECT_GT(positive, 50);
  EXPECT_LT(positive, 340);
}

TEST_P(CublasLtEpiloguesTest, GradientsOfActivationsAndBiases) {
  for (int flags = 0; flags < 4; ++flags) {
    const bool sums_up = flags & 2;
    const format::Epilogue e = {.activation = flags & 1 ? Activation::kGelu : Activation::kRelu,
                                .gradient = true,
                                .sums = sums_up ? Summed::kY : Summed::kNone};
    format::MatMul call = Product(9, 5, 16, false, true, e);
    call.reduces_batch = sums_up;
    const Run run = Execute(call);
    std::vector<double> sums(16);
    for (int64_t i = 0; i < 9; ++i) {
      for (int64_t j = 0; j < 16; ++j) {
        const double slope =
            e.relu() ? Bit(run.inputs[2], 16, i, j) : GeluSlope(At(run.inputs[2], kFloat32, i * 16 + j));
        const double want = Dot(call, run, i, j) * slope;
        ASSERT_NEAR(At(run.outputs[0], kFloat32, i * 16 + j), want, 1e-5) << e.Text();
        sums[j] += want;
      }
    }
    ASSERT_EQ(run.outputs.size(), sums_up ? 2u : 1u);
    for (int64_t j = 0; j < 16 && sums_up; ++j) ASSERT_NEAR(At(run.outputs[1], kFloat32, j), sums[j], 1e-4);
  }
}

TEST_P(CublasLtEpiloguesTest, SumsOfOperandsOfAWeightGradient) {
  for (Summed summed : {Summed::kA, Summed::kB}) {
    format::MatMul call = Product(6, 11, 4, true, false, {.sums = summed});
    call.reduces_batch = true;
    const Run run = Execute(call);
    ASSERT_EQ(run.outputs.size(), 2u);
    const int64_t columns = summed == Summed::kA ? 6 : 4;
    for (int64_t j = 0; j < columns; ++j) {
      double want = 0;
      for (int64_t q = 0; q < 11; ++q) want += At(run.inputs[summed == Summed::kA ? 0 : 1], kFloat32, q * columns + j);
      EXPECT_NEAR(At(run.outputs[1], kFloat32, j), want, 1e-5);
    }
    for (int64_t i = 0; i < 6; ++i) {
      for (int64_t j = 0; j < 4; ++j) EXPECT_NEAR(At(run.outputs[0], kFloat32, i * 4 + j), Dot(call, run, i, j), 1e-5);
    }
  }
}

// What a network's layer computes forward it takes back: the mask that one call writes is the other's input.
TEST_P(CublasLtEpiloguesTest, TheMaskOfOneCallServesTheOther) {
  const format::MatMul forward = Product(7, 5, 24, false, false, {.activation = Activation::kRelu, .saves = true});
  const Run there = Execute(forward);
  const format::MatMul backward = Product(7, 9, 24, false, true, {.activation = Activation::kRelu, .gradient = true});
  Run back = Execute(backward);
  back.inputs[2] = there.outputs[1];
  auto prepared = runner->Prepare(CallOf(backward), "");
  ASSERT_TRUE(prepared.ok());
  ASSERT_TRUE((*prepared)->Enqueue(back.inputs, back.outputs, 0, stream).ok());
  ASSERT_EQ(api.cuStreamSynchronize(stream), 0);
  for (int64_t i = 0; i < 7; ++i) {
    for (int64_t j = 0; j < 24; ++j) {
      const bool on = At(there.outputs[0], kFloat32, i * 24 + j) > 0;
      EXPECT_NEAR(At(back.outputs[0], kFloat32, i * 24 + j), on ? Dot(backward, back, i, j) : 0, 1e-5);
    }
  }
}

TEST_P(CublasLtEpiloguesTest, WhatDoesNotGoTogetherIsRefused) {
  const auto message = [](const format::Epilogue& e, int64_t n = 8, DType type = kFloat32) {
    return std::string(CheckOperation(Product(4, 4, n, false, false, e, type)).status().message());
  };
  const format::Epilogue gelu_grad = {.activation = Activation::kGelu, .gradient = true, .sums = Summed::kY};
  EXPECT_EQ(message(gelu_grad, 8, kBFloat16), "only float32 is summed up by an epilogue");
  EXPECT_EQ(message({.activation = Activation::kGelu, .saves = true}, 9),
            "the input of GELU needs rows of a multiple of 8 elements");
  EXPECT_EQ(message({.sums = Summed::kA}), "operands are summed up only where a is transposed and b is not");
  format::MatMul wide = Product(4, 4, 8, false, false, {.activation = Activation::kGelu}, kBFloat16);
  wide.y_dtype = kFloat32;
  EXPECT_EQ(CheckOperation(wide).status().message(), "with this epilogue the result must have the operands' type");
  // Nor does a CPU take them.
  EXPECT_EQ(OneDnnPrimitive::Create(CallOf(Product(4, 4, 8, false, false, {.activation = Activation::kGelu})), 1)
                .status()
                .message(),
            "the epilogue gelu is for GPUs");
  // No library has these, and a file may say anything.
  const Activation relu = Activation::kRelu;
  EXPECT_EQ(message({.bias = true, .activation = relu, .gradient = true}),
            "the parts of the epilogue bias+relu+gradient do not go together");
  EXPECT_EQ(message({.activation = relu, .saves = true, .gradient = true}),
            "the parts of the epilogue relu+gradient+mask do not go together");
  EXPECT_EQ(message({.gradient = true}), "the parts of the epilogue gradient do not go together");
  EXPECT_EQ(message({.sums = Summed::kY}), "the parts of the epilogue y_sums do not go together");
  EXPECT_EQ(message({.bias = true, .sums = Summed::kA}), "the parts of the epilogue bias+a_sums do not go together");
  EXPECT_EQ(message({.residual = true, .activation = relu, .saves = true}),
            "only Conv2D and MatMul of a batch add a residual, with no more than a bias and a relu");
  EXPECT_EQ(message({.activation = static_cast<Activation>(7)}), "unknown activation");
  EXPECT_EQ(message({.sums = static_cast<Summed>(-1)}), "unknown sums of an epilogue");
}

// The status that the library refuses with does not matter, nor is what it lacks alone the end of a product.
TEST_P(CublasLtEpiloguesTest, AnyStatusIsARefusal) {
  const format::MatMul product =
      Product(5, 7, 24, false, false, {.bias = true, .activation = Activation::kGelu, .saves = true}, kBFloat16);
  ASSERT_TRUE(runner->Prepare(CallOf(product), "").ok());  // opens the library
  for (cublasStatus_t status : {cublaslt::kNotSupported, cublaslt::kInvalidValue, cublaslt::kArchMismatch,
                                cublaslt::kInternalError, cublaslt::kAllocFailed}) {
    cublaslt.RefuseEpilogues(status);
    cublaslt.TakeCalls();
    auto prepared = runner->Prepare(CallOf(product), "");
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    EXPECT_EQ((*prepared)->implementation(), "cuBLASLt + kernels");
    // Asked once with the epilogue and once without.
    EXPECT_EQ(absl::StrJoin(cublaslt.TakeCalls(), " "),
              "cublasLtMatmulAlgoGetHeuristic cublasLtMatmulAlgoGetHeuristic");
    cublaslt.RefuseEpilogues(cublaslt::kSuccess);
    prepared = runner->Prepare(CallOf(product), "");
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    EXPECT_EQ((*prepared)->implementation(), "cuBLASLt");
  }
}

TEST_P(CublasLtEpiloguesTest, WhatTheGpuCannotMultiplyIsNamed) {
  cublaslt.SupportNothing();
  const format::MatMul product = Product(4, 4, 8, false, false, {.bias = true, .activation = Activation::kGelu});
  EXPECT_EQ(runner->Prepare(CallOf(product), "").status().message(),
            "cuBLASLt cannot compute MatMul a=[4,4] float32 b=[4,8] float32 y=[4,8] float32 bias+gelu on this GPU");
}

INSTANTIATE_TEST_SUITE_P(Epilogues, CublasLtEpiloguesTest, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "Refused" : "Taken"; });

}  // namespace
}  // namespace tandem
