// Library calls against loops in double over many shapes.
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/dtype.h"
#include "base/host_tensor.h"
#include "gtest/gtest.h"
#include "runtime/cpu/onednn_layout.h"
#include "runtime/cpu/onednn_primitives.h"

namespace tandem {
namespace {

HostTensor Random(Shape shape, uint32_t seed) {
  HostTensor t(DType::kFloat32, std::move(shape));
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<float>()[i] = uniform(rng);
  return t;
}

void RunCall(const fb::LibraryCallT& call, std::vector<HostTensor> in, HostTensor& out) {
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

void ExpectNear(const HostTensor& got, const std::vector<double>& want, const std::string& what) {
  ASSERT_EQ(got.num_elements(), static_cast<int64_t>(want.size()));
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(got.data<float>()[i], want[i], 2e-4 * (1 + std::fabs(want[i]))) << what << " element " << i;
  }
}

HostTensor Pack(fb::LibraryCallT call, const HostTensor& kernel) {
  call.packed_for = call.primitive;
  call.primitive = fb::Primitive::PackWeights;
  call.packed = false;
  auto bytes = PackedWeightsBytes(call);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  HostTensor packed = HostTensor::Zeros(DType::kFloat32, {static_cast<int64_t>(*bytes / 4)});
  RunCall(call, {kernel}, packed);
  return packed;
}

fb::LibraryCallT Conv(int n, int h, int w, int c, int kh, int kw, int o, int stride, int low, int high) {
  fb::LibraryCallT call;
  call.x_shape = {n, h, w, c};
  call.kernel_shape = {kh, kw, c, o};
  call.strides = {stride, stride};
  call.pad_low = {low, low};
  call.pad_high = {high, high};
  call.y_shape = {n, (h + low + high - kh) / stride + 1, (w + low + high - kw) / stride + 1, o};
  return call;
}

// Calls fn(x index, kernel index, y index) for every product of the convolution.
void ForEachProduct(const fb::LibraryCallT& c, const std::function<void(int64_t, int64_t, int64_t)>& fn) {
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
                fn(((n * x[1] + p) * x[2] + q) * x[3] + s, ((a * k[1] + b) * k[2] + s) * k[3] + o,
                   ((n * y[1] + i) * y[2] + j) * y[3] + o);
              }
          }
}

const fb::LibraryCallT kConvs[] = {
    Conv(4, 28, 28, 1, 3, 3, 32, 1, 0, 0), Conv(2, 13, 13, 32, 3, 3, 64, 1, 0, 0), Conv(3, 5, 5, 64, 3, 3, 64, 1, 0, 0),
    Conv(2, 9, 7, 3, 5, 3, 10, 2, 2, 1),   Conv(1, 6, 6, 2, 1, 1, 1, 1, 0, 0),     Conv(2, 8, 8, 3, 3, 3, 16, 2, 0, 1),
    Conv(1, 13, 13, 2, 5, 5, 1, 1, 2, 2),  Conv(5, 8, 9, 4, 2, 2, 7, 2, 0, 0),     Conv(1, 4, 4, 20, 3, 3, 5, 1, 1, 1)};

TEST(LibraryCallTest, ConvolutionForward) {
  for (fb::LibraryCallT call : kConvs) {
    HostTensor x = Random(call.x_shape, 1), k = Random(call.kernel_shape, 2), b = Random({call.kernel_shape[3]}, 3);
    for (auto epilogue : {fb::Epilogue::None, fb::Epilogue::Bias, fb::Epilogue::BiasRelu, fb::Epilogue::Relu}) {
      for (bool packed : {false, true}) {
        call.primitive = fb::Primitive::Conv2D;
        call.epilogue = epilogue;
        call.packed = packed;
        bool bias = epilogue == fb::Epilogue::Bias || epilogue == fb::Epilogue::BiasRelu;
        bool relu = epilogue == fb::Epilogue::Relu || epilogue == fb::Epilogue::BiasRelu;
        std::vector<double> want(NumElements(call.y_shape));
        for (size_t i = 0; i < want.size(); ++i) want[i] = bias ? b.data<float>()[i % b.num_elements()] : 0;
        ForEachProduct(call, [&](int64_t xi, int64_t ki, int64_t yi) {
          want[yi] += double{x.data<float>()[xi]} * k.data<float>()[ki];
        });
        for (double& v : want) v = relu && v < 0 ? 0 : v;
        HostTensor y(DType::kFloat32, call.y_shape);
        std::vector<HostTensor> in = {x, packed ? Pack(call, k) : k};
        if (bias) in.push_back(b);
        RunCall(call, in, y);
        ExpectNear(y, want, absl::StrCat(ShapeString(call.x_shape), ShapeString(call.kernel_shape)));
      }
    }
  }
}

TEST(LibraryCallTest, ConvolutionInputGradient) {
  for (fb::LibraryCallT call : kConvs) {
    call.primitive = fb::Primitive::Conv2DInputGrad;
    HostTensor dy = Random(call.y_shape, 1), k = Random(call.kernel_shape, 2);
    std::vector<double> want(NumElements(call.x_shape));
    ForEachProduct(call, [&](int64_t xi, int64_t ki, int64_t yi) {
      want[xi] += double{dy.data<float>()[yi]} * k.data<float>()[ki];
    });
    for (bool packed : {false, true}) {
      call.packed = packed;
      HostTensor dx(DType::kFloat32, call.x_shape);
      RunCall(call, {dy, packed ? Pack(call, k) : k}, dx);
      ExpectNear(dx, want, ShapeString(call.x_shape));
    }
  }
}

TEST(LibraryCallTest, ConvolutionFilterGradient) {
  for (fb::LibraryCallT call : kConvs) {
    call.primitive = fb::Primitive::Conv2DFilterGrad;
    call.reduces_batch = true;
    HostTensor x = Random(call.x_shape, 1), dy = Random(call.y_shape, 2), dk(DType::kFloat32, call.kernel_shape);
    std::vector<double> want(NumElements(call.kernel_shape));
    ForEachProduct(call, [&](int64_t xi, int64_t ki, int64_t yi) {
      want[ki] += double{dy.data<float>()[yi]} * x.data<float>()[xi];
    });
    RunCall(call, {x, dy}, dk);
    ExpectNear(dk, want, ShapeString(call.x_shape));
  }
}

TEST(LibraryCallTest, MatMul) {
  const std::vector<std::vector<int64_t>> sizes = {{16, 576, 64}, {1, 10, 3}, {8, 64, 10},
                                                   {576, 16, 64}, {5, 1, 7},  {33, 17, 1}};
  for (const auto& s : sizes) {
    int64_t m = s[0], k = s[1], n = s[2];
    for (int flags = 0; flags < 16; ++flags) {
      fb::LibraryCallT call;
      call.primitive = fb::Primitive::MatMul;
      call.transpose_a = flags & 1;
      call.transpose_b = flags & 2;
      call.packed = flags & 4;
      bool fused = flags & 8;
      if (fused) call.epilogue = fb::Epilogue::BiasRelu;
      call.x_shape = call.transpose_a ? Shape{k, m} : Shape{m, k};
      call.kernel_shape = call.transpose_b ? Shape{n, k} : Shape{k, n};
      call.y_shape = {m, n};
      HostTensor a = Random(call.x_shape, 1), b = Random(call.kernel_shape, 2), bias = Random({n}, 3);
      std::vector<double> want(m * n);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double sum = fused ? bias.data<float>()[j] : 0;
          for (int64_t p = 0; p < k; ++p) {
            sum += double{a.data<float>()[call.transpose_a ? p * m + i : i * k + p]} *
                   b.data<float>()[call.transpose_b ? j * k + p : p * n + j];
          }
          want[i * n + j] = fused && sum < 0 ? 0 : sum;
        }
      HostTensor y(DType::kFloat32, {m, n});
      std::vector<HostTensor> in = {a, call.packed ? Pack(call, b) : b};
      if (fused) in.push_back(bias);
      RunCall(call, in, y);
      ExpectNear(y, want, absl::StrCat(m, "x", k, "x", n, " flags ", flags));
    }
  }
}

TEST(LibraryCallTest, BadCallsAreErrors) {
  fb::LibraryCallT call = Conv(1, 5, 5, 1, 3, 3, 4, 1, 0, 0);
  call.y_shape[1] = 4;
  EXPECT_EQ(OneDnnPrimitive::Create(call, 1).status().code(), absl::StatusCode::kInvalidArgument);
  call = Conv(1, 5, 5, 1, 3, 3, 4, 1, 0, 0);
  call.primitive = fb::Primitive::Conv2DFilterGrad;
  EXPECT_FALSE(PackedWeightsBytes(call).ok());
}

}  // namespace
}  // namespace tandem
