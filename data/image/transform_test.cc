// Crops, flips, rotations, colours and normalisation against TensorFlow.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "data/image/color.h"
#include "data/image/crop.h"
#include "data/image/flip.h"
#include "data/image/normalize.h"
#include "data/image/rotate.h"
#include "data/image/test_util.h"

namespace tandem {
namespace {

double At(const HostTensor& t, int64_t i) {
  return t.dtype() == DType::kUInt8 ? t.values<uint8_t>()[i] : t.values<float>()[i];
}

absl::StatusOr<HostTensor> Apply(const std::string& f, const std::vector<double>& a, const HostTensor& image) {
  if (f == "crop") return Crop(image, a[0], a[1], a[2], a[3]);
  if (f == "pad") return Pad(image, a[0], a[1], a[2], a[3]);
  if (f == "central_crop") return CentralCrop(image, a[0]);
  if (f == "crop_or_pad") return CropOrPad(image, a[0], a[1]);
  if (f == "flip_left_right") return FlipLeftRight(image);
  if (f == "flip_up_down") return FlipUpDown(image);
  if (f == "rot90") return Rotate90(image, a[0]);
  if (f == "rotate") return Rotate(image, a[0], {.fill = 7});
  if (f == "rotate_nearest") return Rotate(image, a[0], {.bilinear = false, .fill = 7});
  if (f == "brightness") return AdjustBrightness(image, a[0]);
  if (f == "contrast") return AdjustContrast(image, a[0]);
  if (f == "saturation") return AdjustSaturation(image, a[0]);
  if (f == "hue") return AdjustHue(image, a[0]);
  if (f == "standardize") return StandardizePerImage(image);
  return absl::NotFoundError(f);
}

TEST(Transforms, EqualTensorFlow) {
  const Goldens goldens("transform.safetensors");
  ASSERT_TRUE(goldens.ok());
  std::map<std::string, int> compared;
  for (const SafetensorsEntry& entry : goldens.reader().entries()) {
    const std::vector<std::string> words = absl::StrSplit(entry.name, ' ');
    if (words.size() < 2) continue;
    std::vector<double> arguments;
    for (size_t i = 2; i < words.size(); ++i) {
      arguments.push_back(0);
      ASSERT_TRUE(absl::SimpleAtod(words[i], &arguments.back()));
    }
    const auto result = Apply(words[1], arguments, goldens.Get(words[0]));
    ASSERT_TRUE(result.ok()) << entry.name << ": " << result.status();
    const HostTensor expected = goldens.Get(entry.name);
    ASSERT_EQ(result->shape(), expected.shape()) << entry.name;
    ASSERT_EQ(result->dtype(), expected.dtype()) << entry.name;
    const bool bytes = expected.dtype() == DType::kUInt8;
    int different = 0;
    for (int64_t i = 0; i < expected.num_elements(); ++i) {
      const double difference = std::abs(At(*result, i) - At(expected, i));
      // A fraction is cut off of what may be a little less than a whole number.
      EXPECT_LE(difference, bytes ? 1 : 1e-5) << entry.name << " at " << i;
      different += difference > 1e-5;
    }
    EXPECT_LE(different, expected.num_elements() / 50) << entry.name;
    ++compared[words[1]];
  }
  EXPECT_EQ(compared.size(), 14u);
}

TEST(Normalize, Formula) {
  const HostTensor image = HostTensor::FromVector<uint8_t>({1, 2, 2}, {0, 51, 255, 102});
  const auto result = Normalize(image, {.mean = {0.5f, 0.2f}, .stddev = {0.25f, 2.0f}});
  ASSERT_TRUE(result.ok()) << result.status();
  const double expected[] = {(0 - 0.5) / 0.25, 0, (1 - 0.5) / 0.25, (0.4 - 0.2) / 2};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(At(*result, i), expected[i], 1e-6);
  const auto one = Normalize(image, {.scale = 1, .mean = {1}, .stddev = {2}});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(At(*one, 1), 25);
}

TEST(Transforms, WrongArguments) {
  const absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  const HostTensor image = HostTensor::Zeros(DType::kUInt8, {4, 5, 3});
  const HostTensor grey = HostTensor::Zeros(DType::kUInt8, {4, 5, 1});
  const HostTensor wide = HostTensor::Zeros(DType::kInt32, {4, 5, 3});
  ExpectError(Crop(image, 1, 0, 4, 5).status(), code, "transform_test.cc:");
  ExpectError(Crop(image, 1, 0, 4, 5).status(), code,
              "the rectangle of 4 x 5 pixels at (1, 0) is not within the image, which is [4,5,3]");
  ExpectError(Crop(image, INT64_MAX, 0, 1, 1).status(), code, "not within");
  ExpectError(Crop(image, 0, 0, 0, 1).status(), code, "not within");
  ExpectError(Pad(image, 0, 1, 4, 5).status(), code, "does not fit at (0, 1) into 4 x 5 pixels");
  ExpectError(Pad(image, 0, 0, 4, 100000).status(), code, "at most 65535 each");
  ExpectError(CentralCrop(image, 0).status(), code, "fraction is 0; it must be in (0, 1]");
  ExpectError(CentralCrop(image, NAN).status(), code, "fraction is nan");
  ExpectError(CropOrPad(image, 0, 3).status(), code, "the size asked for is 0 x 3");
  ExpectError(FlipLeftRight(HostTensor()).status(), code, "FlipLeftRight at ");
  ExpectError(FlipUpDown(HostTensor::Zeros(DType::kUInt8, {4, 5})).status(), code, "shape is [4,5]; it must be");
  ExpectError(Rotate90(HostTensor::Zeros(DType::kUInt8, {4, 0, 1})).status(), code, "[4,0,1]");
  const HostTensor strings = HostTensor::FromStrings({1, 2, 1}, std::vector<std::string>{"a", "b"});
  for (const auto& [function, result] :
       {std::pair("FlipLeftRight", FlipLeftRight(strings)), std::pair("FlipUpDown", FlipUpDown(strings)),
        std::pair("Rotate90", Rotate90(strings)), std::pair("Crop", Crop(strings, 0, 0, 1, 1)),
        std::pair("CentralCrop", CentralCrop(strings, 0.5)), std::pair("Pad", Pad(strings, 0, 0, 4, 4)),
        std::pair("CropOrPad", CropOrPad(strings, 3, 3))}) {
    ExpectError(result.status(), code, absl::StrCat(function, " at data/image/transform_test.cc:"));
    ExpectError(result.status(), code, "the image is of type string; it must be of numbers: decode its file first");
  }
  ExpectError(Rotate(image, INFINITY).status(), code, "the angle is inf");
  ExpectError(Rotate(image, 1, {.fill = -1}).status(), code, "fill is -1");
  ExpectError(Rotate(wide, 1).status(), code, "of type int32; it must be uint8 or float32");
  ExpectError(AdjustBrightness(image, NAN).status(), code, "delta is nan; it must be finite");
  ExpectError(AdjustContrast(wide, 1).status(), code, "of type int32");
  ExpectError(AdjustSaturation(grey, 1).status(), code, "must have 3 channels");
  ExpectError(AdjustSaturation(image, -1).status(), code, "factor is -1; it must be finite and >= 0");
  ExpectError(AdjustHue(image, 1.5).status(), code, "delta is 1.5; it must be finite and >= -1 and <= 1");
  ExpectError(Normalize(image, {.mean = {1, 2}}).status(), code, "there are 2 means for an image of 3 channels");
  ExpectError(Normalize(image, {.stddev = {1, 0, 1}}).status(), code, "a standard deviation is 0");
  ExpectError(StandardizePerImage(wide).status(), code, "of type int32");
}

}  // namespace
}  // namespace tandem
