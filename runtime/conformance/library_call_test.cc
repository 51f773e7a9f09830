// Library calls against loops in double over many shapes.
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/bfloat16.h"
#include "base/dtype.h"
#include "base/host_tensor.h"
#include "gtest/gtest.h"
#include "runtime/cpu/kernels/instruction_set.h"
#include "runtime/cpu/onednn/onednn_layout.h"
#include "runtime/cpu/onednn/onednn_primitives.h"
#include "runtime/library_calls/conv2d.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/library_calls/pack_weights.h"
#include "runtime/testing/library_calls.h"

namespace tandem {
namespace {

HostTensor Random(Shape shape, uint32_t seed) {
  HostTensor t(DType::kFloat32, std::move(shape));
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<float>()[i] = uniform(rng);
  return t;
}

void RunCall(const format::LibraryCall& call, std::vector<HostTensor> in, HostTensor& out) {
  auto primitive = OneDnnPrimitive::Create(call, 2);
  ASSERT_TRUE(primitive.ok()) << primitive.status();
  EXPECT_FALSE(absl::StrContains((*primitive)->implementation(), "ref")) << (*primitive)->implementation();
  EXPECT_EQ((*primitive)->implementation(), *ImplementationName(call));
  HostTensor scratch(DType::kUInt8, {static_cast<int64_t>((*primitive)->scratch_bytes()) + 1});
  std::vector<void*> inputs;
  for (HostTensor& t : in) inputs.push_back(t.raw());
  absl::Status status = (*primitive)->Run(1, inputs, out.raw(), scratch.raw());
  ASSERT_TRUE(status.ok()) << status;
}

template <typename Operation>
void RunOperation(const Operation& operation, std::vector<HostTensor> in, HostTensor& out) {
  RunCall(CallOf(operation), std::move(in), out);
}

// The call by every algorithm that computes it on this CPU.
std::vector<format::LibraryCall> ByAllAlgorithms(const format::LibraryCall& call) {
  std::vector<format::LibraryCall> calls;
  for (format::Algorithm algorithm : format::kAlgorithmValues) {
    calls.push_back(call);
    calls.back().algorithm = algorithm;
    if (!ImplementationName(calls.back()).ok()) calls.pop_back();
  }
  EXPECT_FALSE(calls.empty());
  return calls;
}

void ExpectNear(const HostTensor& got, const std::vector<double>& want, const std::string& what) {
  ASSERT_EQ(got.num_elements(), static_cast<int64_t>(want.size()));
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(got.data<float>()[i], want[i], 2e-4 * (1 + std::fabs(want[i]))) << what << " element " << i;
  }
}

// The weights of `reader`, from `plain` ones.
template <typename Operation>
HostTensor Pack(const Operation& reader, const HostTensor& kernel, DType plain = DType::kFloat32) {
  format::LibraryCall call = PackingFor(CallOf(reader));
  call.operation.As<format::PackWeights>()->plain_dtype = plain;
  auto bytes = PackedWeightsBytes(call);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  HostTensor packed = HostTensor::Zeros(DType::kFloat32, {static_cast<int64_t>(*bytes / 4)});
  RunCall(call, {kernel}, packed);
  return packed;
}

// Calls fn(x index, kernel index, y index) for every product of the convolution.
void ForEachProduct(const format::Conv2D& c, const std::function<void(int64_t, int64_t, int64_t)>& fn) {
  const int64_t outputs_of_group = c.kernel_shape[3] / Groups(c);
  const auto &x = c.x_shape, &k = c.kernel_shape, &y = c.y_shape;
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t i = 0; i < y[1]; ++i)
      for (int64_t j = 0; j < y[2]; ++j)
        for (int64_t a = 0; a < k[0]; ++a)
          for (int64_t b = 0; b < k[1]; ++b) {
            int64_t p = i * c.strides[0] + a - c.pad_low[0], q = j * c.strides[1] + b - c.pad_low[1];
            if (p < 0 || p >= x[1] || q < 0 || q >= x[2]) continue;
            for (int64_t s = 0; s < k[2]; ++s)
              for (int64_t o = 0; o < k[3]; ++o) {
                const int64_t channel = o / outputs_of_group * k[2] + s;
                fn(((n * x[1] + p) * x[2] + q) * x[3] + channel, ((a * k[1] + b) * k[2] + s) * k[3] + o,
                   ((n * y[1] + i) * y[2] + j) * y[3] + o);
              }
          }
}

const format::Conv2D kConvs[] = {Conv(4, 28, 28, 1, 3, 3, 32, 1, 0, 0), Conv(2, 13, 13, 32, 3, 3, 64, 1, 0, 0),
                                 Conv(3, 5, 5, 64, 3, 3, 64, 1, 0, 0),  Conv(2, 9, 7, 3, 5, 3, 10, 2, 2, 1),
                                 Conv(1, 6, 6, 2, 1, 1, 1, 1, 0, 0),    Conv(2, 8, 8, 3, 3, 3, 16, 2, 0, 1),
                                 Conv(1, 13, 13, 2, 5, 5, 1, 1, 2, 2),  Conv(5, 8, 9, 4, 2, 2, 7, 2, 0, 0),
                                 Conv(1, 4, 4, 20, 3, 3, 5, 1, 1, 1),   Conv(3, 3, 2, 40, 1, 1, 170, 1, 0, 0),
                                 Conv(2, 8, 7, 24, 1, 1, 40, 2, 0, 0),  Conv(3, 9, 8, 32, 1, 1, 128, 2, 0, 0),
                                 Conv(2, 8, 11, 5, 1, 1, 3, 3, 0, 0)};

std::vector<format::Conv2D> ConvsAndGroupedOnes() {
  std::vector<format::Conv2D> calls(std::begin(kConvs), std::end(kConvs));
  calls.push_back(Grouped(16, Conv(2, 9, 8, 16, 3, 3, 16, 1, 1, 1)));
  calls.push_back(Grouped(6, Conv(2, 8, 7, 6, 3, 2, 12, 2, 0, 1)));
  calls.push_back(Grouped(4, Conv(2, 6, 6, 8, 3, 3, 12, 1, 1, 1)));
  calls.push_back(Grouped(24, Conv(3, 8, 8, 24, 1, 1, 24, 2, 0, 0)));
  return calls;
}

const format::Epilogue kEpilogues[] = {{},
                                       {.bias = true},
                                       {.bias = true, .activation = format::Activation::kRelu},
                                       {.activation = format::Activation::kRelu}};

TEST(LibraryCallTest, ConvolutionForward) {
  for (format::Conv2D call : ConvsAndGroupedOnes()) {
    HostTensor x = Random(call.x_shape, 1), k = Random(call.kernel_shape, 2), b = Random({call.kernel_shape[3]}, 3);
    const HostTensor residual = Random(call.y_shape, 4);
    for (const format::Epilogue& epilogue : kEpilogues) {
      for (int flags = 0; flags < 4; ++flags) {
        const bool packed = flags & 1;
        call.epilogue = epilogue;
        call.packed = packed;
        call.epilogue.residual = flags & 2;
        const bool bias = epilogue.bias, relu = epilogue.relu();
        std::vector<double> want(NumElements(call.y_shape));
        for (size_t i = 0; i < want.size(); ++i) want[i] = bias ? b.data<float>()[i % b.num_elements()] : 0;
        ForEachProduct(call, [&](int64_t xi, int64_t ki, int64_t yi) {
          want[yi] += double{x.data<float>()[xi]} * k.data<float>()[ki];
        });
        for (size_t i = 0; i < want.size(); ++i) {
          if (call.epilogue.residual) want[i] += residual.data<float>()[i];
          want[i] = relu && want[i] < 0 ? 0 : want[i];
        }
        HostTensor y = call.epilogue.residual ? residual : HostTensor(DType::kFloat32, call.y_shape);
        std::vector<HostTensor> in = {x, packed ? Pack(call, k) : k};
        if (bias) in.push_back(b);
        RunOperation(call, in, y);
        ExpectNear(y, want, absl::StrCat(ShapeString(call.x_shape), ShapeString(call.kernel_shape)));
      }
    }
  }
}

TEST(LibraryCallTest, ConvolutionInputGradient) {
  for (format::Conv2D call : ConvsAndGroupedOnes()) {
    call.direction = format::Direction::kInputGrad;
    HostTensor dy = Random(call.y_shape, 1), k = Random(call.kernel_shape, 2);
    std::vector<double> want(NumElements(call.x_shape));
    ForEachProduct(call, [&](int64_t xi, int64_t ki, int64_t yi) {
      want[xi] += double{dy.data<float>()[yi]} * k.data<float>()[ki];
    });
    for (bool packed : {false, true}) {
      call.packed = packed;
      HostTensor dx(DType::kFloat32, call.x_shape);
      const HostTensor kernel = packed ? Pack(call, k) : k;
      for (const format::LibraryCall& c : ByAllAlgorithms(CallOf(call))) {
        RunCall(c, {dy, kernel}, dx);
        ExpectNear(dx, want, absl::StrCat(ShapeString(call.x_shape), " by ", format::Name(c.algorithm)));
      }
    }
  }
}

TEST(LibraryCallTest, ConvolutionFilterGradient) {
  for (format::Conv2D call : ConvsAndGroupedOnes()) {
    call.direction = format::Direction::kFilterGrad;
    HostTensor x = Random(call.x_shape, 1), dy = Random(call.y_shape, 2), dk(DType::kFloat32, call.kernel_shape);
    std::vector<double> want(NumElements(call.kernel_shape));
    ForEachProduct(call, [&](int64_t xi, int64_t ki, int64_t yi) {
      want[ki] += double{dy.data<float>()[yi]} * x.data<float>()[xi];
    });
    for (const format::LibraryCall& c : ByAllAlgorithms(CallOf(call))) {
      RunCall(c, {x, dy}, dk);
      ExpectNear(dk, want, absl::StrCat(ShapeString(call.x_shape), " by ", format::Name(c.algorithm)));
    }
  }
}

// The gradient of a 1x1 kernel can be a product, with a stride one of the pixels that it reaches.
TEST(LibraryCallTest, PointwiseFilterGradientIsAProduct) {
  auto implementation = [](format::Conv2D conv, format::Algorithm algorithm) {
    conv.direction = format::Direction::kFilterGrad;
    absl::StatusOr<std::string> name = ImplementationName(CallOf(conv, algorithm));
    EXPECT_TRUE(name.ok()) << name.status();
    return name.value_or("");
  };
  absl::StatusOr<std::string> expected = ImplementationName(CallOf(MatMulOf(512, 8, 512, /*transpose_a=*/true)));
  ASSERT_TRUE(expected.ok()) << expected.status();
  const format::Conv2D dense = Conv(2, 2, 2, 512, 1, 1, 512, 1, 0, 0);
  EXPECT_EQ(implementation(dense, format::Algorithm::kPointwiseProduct), *expected);
  EXPECT_NE(implementation(dense, format::Algorithm::kLibrary), *expected);
  EXPECT_EQ(implementation(Conv(2, 4, 4, 512, 1, 1, 512, 2, 0, 0), format::Algorithm::kDensePointwise),
            absl::StrCat("strided_pixels+", *expected));
}

TEST(LibraryCallTest, MatMul) {
  const std::vector<std::vector<int64_t>> sizes = {{16, 576, 64}, {1, 10, 3}, {8, 64, 10},
                                                   {576, 16, 64}, {5, 1, 7},  {33, 17, 1}};
  for (const auto& s : sizes) {
    int64_t m = s[0], k = s[1], n = s[2];
    const HostTensor residual = Random({m, n}, 4);
    for (int flags = 0; flags < 32; ++flags) {
      format::MatMul call = MatMulOf(m, k, n, flags & 1, flags & 2);
      call.packed = flags & 4;
      bool fused = flags & 8;
      if (fused) call.epilogue = {.bias = true, .activation = format::Activation::kRelu};
      call.epilogue.residual = flags & 16;
      HostTensor a = Random(call.a_shape, 1), b = Random(call.b_shape, 2), bias = Random({n}, 3);
      std::vector<double> want(m * n);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double sum =
              (fused ? bias.data<float>()[j] : 0) + (call.epilogue.residual ? residual.data<float>()[i * n + j] : 0);
          for (int64_t p = 0; p < k; ++p) {
            sum += double{a.data<float>()[call.transpose_a ? p * m + i : i * k + p]} *
                   b.data<float>()[call.transpose_b ? j * k + p : p * n + j];
          }
          want[i * n + j] = fused && sum < 0 ? 0 : sum;
        }
      std::vector<HostTensor> in = {a, call.packed ? Pack(call, b) : b};
      if (fused) in.push_back(bias);
      for (const format::LibraryCall& c : ByAllAlgorithms(CallOf(call))) {
        HostTensor y = call.epilogue.residual ? residual : HostTensor(DType::kFloat32, {m, n});
        RunCall(c, in, y);
        ExpectNear(y, want, absl::StrCat(m, "x", k, "x", n, " flags ", flags, " by ", format::Name(c.algorithm)));
      }
    }
  }
}

// float32 numbers in 16 bits each.
HostTensor ToBFloat16(const HostTensor& t) {
  HostTensor result(DType::kBFloat16, t.shape());
  auto* bits = static_cast<uint16_t*>(result.raw());
  for (int64_t i = 0; i < t.num_elements(); ++i) bits[i] = ToBFloat16Bits(t.data<float>()[i]);
  return result;
}

HostTensor FromBFloat16(const HostTensor& t) {
  HostTensor result(DType::kFloat32, t.shape());
  const auto* bits = static_cast<const uint16_t*>(t.raw());
  for (int64_t i = 0; i < t.num_elements(); ++i) result.data<float>()[i] = FromBFloat16Bits(bits[i]);
  return result;
}

// bfloat16 operands with a bfloat16 or float32 result, from plain and packed weights: products of the rounded numbers,
// summed in float32, the result rounded once.
template <typename Operation>
void CheckBFloat16(Operation call, const Shape& a_shape, const Shape& b_shape, const Shape& out_shape,
                   DType Operation::*result, bool has_weights,
                   const std::function<void(const HostTensor&, const HostTensor&, std::vector<double>&)>& reference) {
  SetTypes(call, DType::kBFloat16);
  const HostTensor exact_a = Random(a_shape, 1), exact_b = Random(b_shape, 2);
  const HostTensor a = ToBFloat16(exact_a), b = ToBFloat16(exact_b);
  std::vector<double> want(NumElements(out_shape));
  reference(FromBFloat16(a), FromBFloat16(b), want);
  for (bool wide : {false, true}) {
    for (bool packed : {false, true}) {
      if (packed && !has_weights) continue;
      Operation c = call;
      c.*result = wide ? DType::kFloat32 : DType::kBFloat16;
      c.packed = packed;
      const HostTensor second = packed ? Pack(c, exact_b) : b;  // straight from the float32 weights
      HostTensor out(wide ? DType::kFloat32 : DType::kBFloat16, out_shape);
      RunCall(ByAllAlgorithms(CallOf(c)).front(), {a, second}, out);
      if (testing::Test::HasFatalFailure()) return;
      const HostTensor got = wide ? out : FromBFloat16(out);
      for (size_t i = 0; i < want.size(); ++i) {
        const double tolerance = (wide ? 2e-4 : 1.0 / 256) * (1 + std::fabs(want[i]));
        ASSERT_NEAR(got.data<float>()[i], want[i], tolerance)
            << TextOf(call) << " wide " << wide << " packed " << packed;
      }
    }
  }
}

TEST(LibraryCallTest, BFloat16) {
  if (!UsesAvx512()) GTEST_SKIP() << "this CPU has no AVX-512: oneDNN has no bfloat16 products here";
  using Vector = std::vector<double>;
  for (format::Conv2D call : kConvs) {
    CheckBFloat16(call, call.x_shape, call.kernel_shape, call.y_shape, &format::Conv2D::y_dtype, true,
                  [&](const HostTensor& a, const HostTensor& b, Vector& want) {
                    ForEachProduct(call, [&](int64_t x, int64_t k, int64_t y) {
                      want[y] += double{a.data<float>()[x]} * b.data<float>()[k];
                    });
                  });
    call.direction = format::Direction::kInputGrad;
    CheckBFloat16(call, call.y_shape, call.kernel_shape, call.x_shape, &format::Conv2D::x_dtype, true,
                  [&](const HostTensor& a, const HostTensor& b, Vector& want) {
                    ForEachProduct(call, [&](int64_t x, int64_t k, int64_t y) {
                      want[x] += double{a.data<float>()[y]} * b.data<float>()[k];
                    });
                  });
    call.direction = format::Direction::kFilterGrad;
    CheckBFloat16(call, call.x_shape, call.y_shape, call.kernel_shape, &format::Conv2D::kernel_dtype, false,
                  [&](const HostTensor& a, const HostTensor& b, Vector& want) {
                    ForEachProduct(call, [&](int64_t x, int64_t k, int64_t y) {
                      want[k] += double{a.data<float>()[x]} * b.data<float>()[y];
                    });
                  });
  }
  for (const Shape& s : {Shape{16, 576, 64}, Shape{8, 64, 10}, Shape{33, 17, 5}}) {
    const format::MatMul call = MatMulOf(s[0], s[1], s[2]);
    CheckBFloat16(call, call.a_shape, call.b_shape, call.y_shape, &format::MatMul::y_dtype, true,
                  [&](const HostTensor& a, const HostTensor& b, Vector& want) {
                    for (int64_t i = 0; i < s[0]; ++i)
                      for (int64_t p = 0; p < s[1]; ++p)
                        for (int64_t j = 0; j < s[2]; ++j)
                          want[i * s[2] + j] += double{a.data<float>()[i * s[1] + p]} * b.data<float>()[p * s[2] + j];
                  });
  }
}

TEST(LibraryCallTest, MixedOperandTypesAreErrors) {
  format::Conv2D call = Conv(1, 5, 5, 1, 3, 3, 4, 1, 0, 0);
  call.x_dtype = DType::kBFloat16;
  EXPECT_EQ(OneDnnPrimitive::Create(CallOf(call), 1).status().message(), "both operands must have one type");
  call.x_dtype = DType::kFloat32;
  call.y_dtype = DType::kBFloat16;
  EXPECT_EQ(OneDnnPrimitive::Create(CallOf(call), 1).status().message(),
            "the result must have the operands' type or Float32");
}

TEST(LibraryCallTest, MatMulOverTheLastDimension) {
  format::MatMul call;
  call.a_shape = {2, 3, 5};
  call.b_shape = {5, 7};
  call.y_shape = {2, 3, 7};
  HostTensor x = Random(call.a_shape, 1), k = Random(call.b_shape, 2), y(DType::kFloat32, call.y_shape);
  std::vector<double> want(2 * 3 * 7);
  for (int64_t i = 0; i < 6 * 7 * 5; ++i) {
    want[i / 35 * 7 + i % 7] += double{x.data<float>()[i / 7]} * k.data<float>()[i / 7 % 5 * 7 + i % 7];
  }
  call.packed = true;
  RunOperation(call, {x, Pack(call, k)}, y);
  ExpectNear(y, want, "rows");
  // The gradient to the kernel sums over both leading dimensions.
  call.packed = false;
  call.transpose_a = true;
  call.b_shape = {2, 3, 7};
  call.y_shape = {5, 7};
  HostTensor dy = Random(call.b_shape, 3), dk(DType::kFloat32, call.y_shape);
  std::vector<double> gradient(5 * 7);
  for (int64_t i = 0; i < 6 * 7 * 5; ++i) {
    gradient[i / 7 % 5 * 7 + i % 7] += double{x.data<float>()[i / 7]} * dy.data<float>()[i / 35 * 7 + i % 7];
  }
  RunOperation(call, {x, dy}, dk);
  ExpectNear(dk, gradient, "sum over rows");
}

TEST(LibraryCallTest, BatchMatMul) {
  // Batch, heads, m, k, n.
  const std::vector<std::vector<int64_t>> sizes = {{2, 4, 16, 8, 12}, {1, 1, 5, 7, 3}, {3, 2, 1, 4, 6},
                                                   {3, 2, 4, 1, 6},   {2, 3, 4, 6, 1}, {1, 2, 33, 64, 17}};
  for (const auto& s : sizes) {
    const int64_t batch = s[0], heads = s[1], m = s[2], k = s[3], n = s[4];
    auto at = [&](const Shape& stored, bool swap, bool transpose, int64_t b, int64_t h, int64_t r, int64_t c) {
      if (transpose) std::swap(r, c);
      return swap ? ((b * stored[1] + r) * heads + h) * stored[3] + c
                  : ((b * heads + h) * stored[2] + r) * stored[3] + c;
    };
    for (int flags = 0; flags < 32; ++flags) {
      const format::BatchMatMul call = BatchMatMulOf(batch, heads, m, k, n, flags);
      HostTensor a = Random(call.a_shape, 1), b = Random(call.b_shape, 2), y(DType::kFloat32, call.y_shape);
      std::vector<double> want(y.num_elements());
      for (int64_t i = 0; i < batch * heads * m * n * k; ++i) {
        int64_t p = i % k, column = i / k % n, row = i / k / n % m, h = i / k / n / m % heads,
                e = i / k / n / m / heads;
        want[at(call.y_shape, call.swap_y, false, e, h, row, column)] +=
            double{a.data<float>()[at(call.a_shape, call.swap_a, call.transpose_a, e, h, row, p)]} *
            b.data<float>()[at(call.b_shape, call.swap_b, call.transpose_b, e, h, p, column)];
      }
      RunOperation(call, {a, b}, y);
      ExpectNear(y, want, absl::StrCat(m, "x", k, "x", n, " flags ", flags));
    }
  }
}

TEST(LibraryCallTest, BadCallsAreErrors) {
  format::Conv2D call = Conv(1, 5, 5, 1, 3, 3, 4, 1, 0, 0);
  call.y_shape[1] = 4;
  EXPECT_EQ(OneDnnPrimitive::Create(CallOf(call), 1).status().code(), absl::StatusCode::kInvalidArgument);
  call = Conv(1, 5, 5, 1, 3, 3, 4, 1, 0, 0);
  call.direction = static_cast<format::Direction>(9);
  EXPECT_EQ(CheckOperation(call).status().message(), "unknown direction");
  EXPECT_EQ(CheckLibraryCall({}).status().message(), "the library call has no operation that is known here");
}

TEST(LibraryCallTest, WeightsArePackedForWhatReadsThem) {
  format::Conv2D conv = Conv(1, 5, 5, 1, 3, 3, 4, 1, 0, 0);
  conv.direction = format::Direction::kFilterGrad;
  EXPECT_EQ(PackedWeightsBytes(CallOf(conv)).status().message(),
            "weights are packed for a Conv2D, its input gradient or a MatMul over rows only");
  EXPECT_FALSE(PackedWeightsBytes(CallOf(BatchMatMulOf(2, 3, 4, 5, 6, 0))).ok());
  EXPECT_EQ(CheckOperation(format::PackWeights()).status().message(),
            "weights are packed for a Conv2D, its input gradient or a MatMul over rows only");
  format::MatMul product = MatMulOf(4, 5, 6);
  format::PackWeights packing;
  packing.reader = product;
  EXPECT_EQ(CheckOperation(packing).status().message(),
            "the reader of packed weights must be packed and without an epilogue");
  product.packed = true;
  packing.reader = product;
  EXPECT_TRUE(CheckOperation(packing).ok());
  packing.plain_dtype = DType::kInt32;
  EXPECT_EQ(CheckOperation(packing).status().message(), "types must be Float32 or BFloat16");
}

}  // namespace
}  // namespace tandem
