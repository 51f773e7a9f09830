#include "data/image/decode_resize.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "data/image/decode_image.h"
#include "data/image/test_util.h"

namespace tandem {
namespace {

// All kinds of pictures, methods and numbers of channels.
TEST(DecodeAndResize, GivesTheBitsOfDecodingAndThenResizing) {
  const Goldens goldens("decode.safetensors");
  ASSERT_TRUE(goldens.ok());
  int compared = 0, grey = 0;
  for (const SafetensorsEntry& entry : goldens.reader().entries()) {
    const std::vector<std::string> parts = absl::StrSplit(entry.name, '/');
    if (parts[1] != "file") continue;
    const std::string bytes = goldens.Bytes(entry.name);
    for (const int channels : {0, 1, 2, 3, 4}) {
      const DecodeImageOptions decode = {.name = entry.name, .channels = channels};
      for (const ResizeOptions& resize :
           {ResizeOptions{}, ResizeOptions{.antialias = true}, ResizeOptions{.method = ResizeMethod::kArea},
            ResizeOptions{.method = ResizeMethod::kNearest, .round_to_uint8 = true},
            ResizeOptions{.round_to_uint8 = true}}) {
        const auto image = DecodeImage(bytes, decode);
        const auto both = DecodeAndResize(bytes, 21, 34, decode, resize);
        ASSERT_EQ(both.ok(), image.ok()) << entry.name << both.status();
        if (!image.ok()) continue;
        const auto resized = Resize(*image, 21, 34, resize);
        ASSERT_TRUE(resized.ok()) << entry.name << resized.status();
        EXPECT_TRUE(both->BitEqual(*resized)) << entry.name << " with " << channels << " channels";
        if (channels != 0) {
          HostTensor into = HostTensor::Zeros(resized->dtype(), resized->shape());
          EXPECT_EQ(DecodeAndResizeInto(bytes, ComponentBuffer::Of(into), {.name = entry.name}, resize),
                    absl::OkStatus());
          EXPECT_TRUE(into.BitEqual(*resized)) << entry.name << " into " << channels << " channels";
        }
        ++compared;
        grey += channels == 3 && DecodeImage(bytes, {})->shape()[2] == 1;
      }
    }
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(grey, 10);
}

TEST(DecodeAndResize, SaysWhereItCannotWrite) {
  HostTensor tensor(DType::kFloat32, {4, 5, 3});
  const ComponentBuffer right = ComponentBuffer::Of(tensor);
  for (const auto& [out, what] :
       std::vector<std::pair<ComponentBuffer, std::string>>{{{DType::kInt32, {4, 5, 3}, tensor.raw()}, "int32[4,5,3]"},
                                                            {{DType::kFloat32, {4, 15}, tensor.raw()}, "float32[4,15]"},
                                                            {{DType::kFloat32, {4, 5, 5}, tensor.raw()}, "5 channels"},
                                                            {{DType::kFloat32, {0, 5, 3}, tensor.raw()}, "0 x 5"},
                                                            {{DType::kFloat32, {4, 5, 3}, nullptr}, "null"}}) {
    ExpectError(DecodeAndResizeInto("", out), absl::StatusCode::kInvalidArgument, "decode_resize_test.cc");
    ExpectError(DecodeAndResizeInto("", out), absl::StatusCode::kInvalidArgument, what);
  }
  ExpectError(DecodeAndResizeInto("no picture", right, {.name = "a.jpg"}), absl::StatusCode::kDataLoss, "a.jpg: ");
}

TEST(DecodeAndResize, ErrorsAreThoseOfTheParts) {
  ExpectError(DecodeAndResize("no picture", 2, 2, {.name = "a.jpg", .channels = 3}).status(),
              absl::StatusCode::kDataLoss, "a.jpg: ");
  const Goldens goldens("decode.safetensors");
  for (const SafetensorsEntry& entry : goldens.reader().entries()) {
    if (entry.name.find("/file") == std::string::npos) continue;
    ExpectError(DecodeAndResize(goldens.Bytes(entry.name), 0, 2).status(), absl::StatusCode::kInvalidArgument,
                "decode_resize_test.cc");
    break;
  }
}

}  // namespace
}  // namespace tandem
