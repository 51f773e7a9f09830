// Filter gradients of convolutions of few taps, walked on the CPU, against the reference semantics of their ops.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

// Height, width and channels.
struct Image {
  int64_t height, width, channels;
};

std::string Type(const Image& image, const char* element = "f32") {
  return absl::StrCat("tensor<?x", image.height, "x", image.width, "x", image.channels, "x", element, ">");
}

struct Case {
  const char* name;
  Image in;
  int64_t window[2];
  int64_t strides[2];
  bool same;  // padding
  int64_t channels;
};

// What padding adds to an axis in front, behind, and the size of the output.
struct Axis {
  int64_t low = 0, high = 0, out = 0;
};

Axis AxisOf(int64_t in, int64_t window, int64_t stride, bool same) {
  if (!same) return {0, 0, (in - window) / stride + 1};
  const int64_t out = (in + stride - 1) / stride, padding = std::max<int64_t>(0, (out - 1) * stride + window - in);
  return {padding / 2, padding - padding / 2, out};
}

// The kernel's text: `body` with the types DY, X, DK and B (of a bias) and the convolution's attributes in place.
std::string Text(const Case& c, const std::string& body) {
  const Axis y = AxisOf(c.in.height, c.window[0], c.strides[0], c.same);
  const Axis x = AxisOf(c.in.width, c.window[1], c.strides[1], c.same);
  const Image out = {y.out, x.out, c.channels};
  const std::string kernel =
      absl::StrCat("tensor<", c.window[0], "x", c.window[1], "x", c.in.channels, "x", c.channels, "xf32>");
  const std::string attributes =
      absl::StrCat("size [", c.window[0], ", ", c.window[1], "] strides [", c.strides[0], ", ", c.strides[1], "] low [",
                   y.low, ", ", x.low, "] high [", y.high, ", ", x.high, "]");
  return absl::StrReplaceAll(body, {{"$DY16", Type(out, "bf16")},
                                    {"$X16", Type(c.in, "bf16")},
                                    {"$DY", Type(out)},
                                    {"$X", Type(c.in)},
                                    {"$DK", kernel},
                                    {"$B", absl::StrCat("tensor<", c.channels, "xf32>")},
                                    {"$CONVOLUTION", attributes}});
}

const char kAlone[] = R"(
  func.func private @k(%dy: $DY, %x: $X) -> $DK attributes {exec.kernel = #exec.kernel_kind<col>} {
    %dk = exec.contraction conv2d_filter_grad %dy, %x by few_taps $CONVOLUTION : ($DY, $X) -> $DK
    return %dk : $DK
  })";

// With relu's gradient, the bias's, what follows from that, and dy itself.
const char kWithBias[] = R"(
  func.func private @k(%dy: $DY, %y: $DY, %x: $X, %n: tensor<f32>) -> ($B, $DK, $DY, $B)
      attributes {exec.kernel = #exec.kernel_kind<col>} {
    %r = td.relu %y : $DY
    %d = td.mul %dy, %r : $DY
    %db = td.reduce sum, %d axes [0, 1, 2] : $DY -> $B
    %dk = exec.contraction conv2d_filter_grad %d, %x by few_taps $CONVOLUTION : ($DY, $X) -> $DK
    %nb = td.broadcast %n dims [] : tensor<f32> -> $B
    %m = td.mul %db, %nb : $B
    return %db, %dk, %d, %m : $B, $DK, $DY, $B
  })";

const char kOfBFloat16[] = R"(
  func.func private @k(%dy: $DY16, %x: $X16) -> $DK attributes {exec.kernel = #exec.kernel_kind<col>} {
    %d = td.cast %dy : $DY16 -> $DY
    %f = td.cast %x : $X16 -> $X
    %dk = exec.contraction conv2d_filter_grad %d, %f by few_taps $CONVOLUTION : ($DY, $X) -> $DK
    return %dk : $DK
  })";

class TapSumsTest : public testing::TestWithParam<Case> {
 protected:
  // Full batches and shorter ones, for which some blocks have no rows. Sums are float32, whatever they are of: of some
  // thousand products around 1, which are near 100 on their way. That the order of blocks does not matter is checked
  // with each.
  static void ExpectReference(const std::string& text) {
    SCOPED_TRACE(text);
    auto kernel = TestKernel::Create(text, "gpu");
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    std::mt19937 random(11);
    for (int64_t batch : {int64_t{1}, int64_t{5}, TestKernel::kGpuRows}) {
      auto error = (*kernel)->Error((*kernel)->RandomOperands(batch, random), batch);
      ASSERT_TRUE(error.ok()) << error.status();
      EXPECT_LE(*error, 1e-5) << "batch " << batch;
    }
  }
};

TEST_P(TapSumsTest, MatchReference) { ExpectReference(Text(GetParam(), kAlone)); }
TEST_P(TapSumsTest, WithTheBiasMatchReference) { ExpectReference(Text(GetParam(), kWithBias)); }
TEST_P(TapSumsTest, OfBFloat16MatchReference) { ExpectReference(Text(GetParam(), kOfBFloat16)); }

// Threads have four columns, two or one, by the sums of a column; tiles of columns are more than one with 160 and 256
// of them, and with 40 where a thread has one.
INSTANTIATE_TEST_SUITE_P(Convolutions, TapSumsTest,
                         testing::Values(Case{"S0", {12, 12, 1}, {3, 3}, {1, 1}, false, 32},
                                         Case{"Same", {9, 7, 1}, {3, 3}, {1, 1}, true, 32},
                                         Case{"Strided", {11, 8, 2}, {3, 3}, {2, 2}, true, 12},
                                         Case{"OddStrides", {13, 10, 1}, {2, 3}, {3, 2}, false, 8},
                                         Case{"OneTap", {6, 9, 1}, {1, 1}, {1, 1}, false, 16},
                                         Case{"Channels", {7, 6, 3}, {1, 1}, {2, 1}, false, 10},
                                         Case{"Picture", {8, 8, 3}, {3, 3}, {1, 1}, true, 24},
                                         Case{"FourChannels", {8, 7, 4}, {2, 3}, {1, 1}, true, 33},
                                         Case{"FiveByFive", {9, 9, 1}, {5, 5}, {1, 1}, true, 32},
                                         Case{"SevenBySeven", {10, 9, 1}, {7, 7}, {2, 2}, true, 40},
                                         Case{"OddColumns", {8, 8, 1}, {3, 3}, {1, 1}, false, 7},
                                         Case{"Tiles", {7, 8, 1}, {3, 3}, {1, 1}, false, 160},
                                         Case{"WholeTiles", {6, 6, 2}, {2, 2}, {1, 1}, true, 256},
                                         Case{"OnePlace", {3, 3, 2}, {3, 3}, {1, 1}, false, 48}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tandem
