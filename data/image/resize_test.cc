#include "data/image/resize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "data/image/test_util.h"

namespace tandem {
namespace {

double At(const HostTensor& t, int64_t i) {
  return t.dtype() == DType::kUInt8 ? t.values<uint8_t>()[i] : t.values<float>()[i];
}

// Of "IN METHOD HEIGHT WIDTH".
struct Case {
  std::string in, method;
  int64_t height = 0, width = 0;
};

Case Parse(const std::string& name) {
  const std::vector<std::string> words = absl::StrSplit(name, ' ');
  Case c;
  c.in = words[0];
  if (words.size() < 4) return c;
  c.method = words[1];
  EXPECT_TRUE(absl::SimpleAtoi(words[2], &c.height) && absl::SimpleAtoi(words[3], &c.width));
  return c;
}

ResizeOptions OptionsOf(const std::string& method) {
  ResizeOptions options;
  if (method == "nearest") options.method = ResizeMethod::kNearest;
  if (method == "area") options.method = ResizeMethod::kArea;
  options.antialias = method == "antialias";
  return options;
}

TEST(Resize, EqualsTensorFlow) {
  const Goldens goldens("resize.safetensors");
  ASSERT_TRUE(goldens.ok());
  std::map<std::string, int> compared;
  for (const SafetensorsEntry& entry : goldens.reader().entries()) {
    const Case c = Parse(entry.name);
    if (c.method.empty()) continue;
    const auto result = Resize(goldens.Get(c.in), c.height, c.width, OptionsOf(c.method));
    ASSERT_TRUE(result.ok()) << result.status();
    const HostTensor expected = goldens.Get(entry.name);
    ASSERT_EQ(result->shape(), expected.shape()) << entry.name;
    double worst = 0;
    for (int64_t i = 0; i < expected.num_elements(); ++i) {
      const double e = At(expected, i);
      worst = std::max(worst, std::abs(At(*result, i) - e) / std::max(1.0, std::abs(e)));
    }
    EXPECT_LE(worst, c.method == "area" ? 1e-6 : 0) << entry.name;
    ++compared[c.method];
  }
  for (const char* method : {"bilinear", "antialias", "nearest", "area"}) EXPECT_GE(compared[method], 20) << method;
}

// Bytes have a way of their own where they get smaller; the same numbers as floats have not.
TEST(Resize, BytesEqualFloats) {
  std::mt19937 rng(1);
  for (int i = 0; i < 400; ++i) {
    const auto size = [&] { return static_cast<int64_t>(1 + rng() % (i % 4 == 0 ? 3 : 70)); };
    const int64_t height = size(), width = size(), channels = 1 + rng() % 4, out_height = size(), out_width = size();
    HostTensor bytes(DType::kUInt8, {height, width, channels}), floats(DType::kFloat32, {height, width, channels});
    for (int64_t e = 0; e < bytes.num_elements(); ++e) {
      bytes.data<uint8_t>()[e] = static_cast<uint8_t>(rng());
      floats.data<float>()[e] = bytes.data<uint8_t>()[e];
    }
    const auto a = Resize(bytes, out_height, out_width), b = Resize(floats, out_height, out_width);
    ASSERT_TRUE(a.ok() && b.ok());
    const auto of_a = a->values<float>(), of_b = b->values<float>();
    ASSERT_TRUE(std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end()))
        << height << " x " << width << " x " << channels << " to " << out_height << " x " << out_width;
  }
}

TEST(Resize, RoundsToUInt8) {
  const Goldens goldens("resize.safetensors");
  ASSERT_TRUE(goldens.ok());
  int halves = 0;
  for (const SafetensorsEntry& entry : goldens.reader().entries()) {
    const Case c = Parse(entry.name);
    if (c.method.empty()) continue;
    ResizeOptions options = OptionsOf(c.method);
    options.round_to_uint8 = true;
    const auto result = Resize(goldens.Get(c.in), c.height, c.width, options);
    ASSERT_TRUE(result.ok() && result->dtype() == DType::kUInt8) << result.status();
    const HostTensor expected = goldens.Get(entry.name);
    for (int64_t i = 0; i < expected.num_elements(); ++i) {
      const double exact = At(expected, i);
      ASSERT_EQ(At(*result, i), std::clamp(std::nearbyint(exact), 0.0, 255.0)) << entry.name << " " << exact;
      if (exact - std::floor(exact) == 0.5) ++halves;
    }
  }
  EXPECT_GT(halves, 100);
}

TEST(Resize, WrongArguments) {
  const HostTensor image = HostTensor::Zeros(DType::kUInt8, {4, 5, 3});
  ExpectError(Resize(HostTensor(), 2, 2).status(), absl::StatusCode::kInvalidArgument, "the image is an empty tensor");
  const absl::Status type = Resize(HostTensor::Zeros(DType::kInt32, {4, 4, 1}), 2, 2).status();
  ExpectError(type, absl::StatusCode::kInvalidArgument, "resize_test.cc:");
  ExpectError(type, absl::StatusCode::kInvalidArgument, "the image is of type int32; it must be uint8 or float32");
  ExpectError(Resize(HostTensor::Zeros(DType::kUInt8, {4, 5}), 2, 2).status(), absl::StatusCode::kInvalidArgument,
              "shape is [4,5]; it must be [height, width, channels]");
  ExpectError(Resize(HostTensor::Zeros(DType::kUInt8, {4, 0, 3}), 2, 2).status(), absl::StatusCode::kInvalidArgument,
              "[4,0,3]");
  ExpectError(Resize(image, 0, 2).status(), absl::StatusCode::kInvalidArgument, "the size asked for is 0 x 2");
  ExpectError(Resize(image, 2, 65536).status(), absl::StatusCode::kInvalidArgument, "2 x 65536");
  ExpectError(Resize(image, 65535, 65535).status(), absl::StatusCode::kInvalidArgument, "at most 2^33");
}

}  // namespace
}  // namespace tandem
