// data/image with arguments that it cannot use: every function has a row.
#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "base/host_tensor.h"
#include "data/image/color.h"
#include "data/image/crop.h"
#include "data/image/decode_image.h"
#include "data/image/decode_resize.h"
#include "data/image/flip.h"
#include "data/image/jpeg.h"
#include "data/image/normalize.h"
#include "data/image/png.h"
#include "data/image/random_image.h"
#include "data/image/resize.h"
#include "data/image/rotate.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Row {
  const char* function;
  const char* argument;
  std::function<absl::Status()> call;
};

// Of a function of a picture and more arguments: what every one refuses.
template <typename Fn>
void AddPictures(const char* function, Fn fn, std::vector<Row>* rows) {
  const std::pair<const char*, HostTensor> wrong[] = {
      {"no picture", HostTensor()},
      {"a matrix", HostTensor::Zeros(DType::kUInt8, {4, 4})},
      {"a batch of pictures", HostTensor::Zeros(DType::kUInt8, {2, 4, 4, 3})},
      {"a picture without rows", HostTensor::Zeros(DType::kUInt8, {0, 4, 3})},
      {"strings", HostTensor::FromStrings({1, 1, 1}, std::vector<std::string>{"a"})},
  };
  for (const auto& [what, picture] : wrong) {
    rows->push_back({function, what, [=, picture = picture] { return fn(picture).status(); }});
  }
}

std::vector<Row> Rows() {
  const HostTensor rgb = HostTensor::Zeros(DType::kUInt8, {4, 6, 3}),
                   grey = HostTensor::Zeros(DType::kUInt8, {4, 6, 1});
  const HostTensor ints = HostTensor::Zeros(DType::kInt64, {4, 6, 3});
  const ExampleKey key;
  const std::string jpeg = *EncodeJpeg(rgb);
  std::vector<Row> rows = {
      {"AdjustBrightness", "of integers", [=] { return AdjustBrightness(ints, 0.1f).status(); }},
      {"AdjustContrast", "of integers", [=] { return AdjustContrast(ints, 2).status(); }},
      {"AdjustSaturation", "of grey", [=] { return AdjustSaturation(grey, 2).status(); }},
      {"AdjustSaturation", "a negative factor", [=] { return AdjustSaturation(rgb, -1).status(); }},
      {"AdjustSaturation", "not a number", [=] { return AdjustSaturation(rgb, kNan).status(); }},
      {"AdjustHue", "of grey", [=] { return AdjustHue(grey, 0.1f).status(); }},
      {"AdjustHue", "too much", [=] { return AdjustHue(rgb, 2).status(); }},
      {"AdjustHue", "not a number", [=] { return AdjustHue(rgb, kNan).status(); }},
      {"Crop", "beyond the end", [=] { return Crop(rgb, 1, 1, 4, 2).status(); }},
      {"Crop", "a negative place", [=] { return Crop(rgb, -1, 0, 2, 2).status(); }},
      {"Crop", "an overflow", [=] { return Crop(rgb, kHuge, kHuge, kHuge, kHuge).status(); }},
      {"Crop", "nothing", [=] { return Crop(rgb, 0, 0, 0, 2).status(); }},
      {"CentralCrop", "nothing", [=] { return CentralCrop(rgb, 0).status(); }},
      {"CentralCrop", "more than all", [=] { return CentralCrop(rgb, 1.5).status(); }},
      {"CentralCrop", "not a number", [=] { return CentralCrop(rgb, kNan).status(); }},
      {"Pad", "too small", [=] { return Pad(rgb, 0, 0, 3, 6).status(); }},
      {"Pad", "an overflow", [=] { return Pad(rgb, kHuge, kHuge, kHuge, kHuge).status(); }},
      {"CropOrPad", "a negative size", [=] { return CropOrPad(rgb, -1, 2).status(); }},
      {"CropOrPad", "a huge size", [=] { return CropOrPad(rgb, kHuge, kHuge).status(); }},
      {"DecodeAndResize", "no size", [=] { return DecodeAndResize(jpeg, 0, 4).status(); }},
      {"DecodeAndResize", "a huge size", [=] { return DecodeAndResize(jpeg, kHuge, 4).status(); }},
      {"DecodeAndResizeInto", "no memory", [=] { return DecodeAndResizeInto(jpeg, {}); }},
      {"Resize", "of integers", [=] { return Resize(ints, 2, 2).status(); }},
      {"Resize", "no size", [=] { return Resize(rgb, 0, 2).status(); }},
      {"Resize", "a huge size", [=] { return Resize(rgb, kHuge, 2).status(); }},
      {"Rotate", "not a number", [=] { return Rotate(rgb, kNan).status(); }},
      {"Normalize", "of integers", [=] { return Normalize(ints).status(); }},
      {"Normalize", "two means",
       [=] {
         return Normalize(rgb, {.mean = {0, 1}}).status();
       }},
      {"Normalize", "no deviation", [=] { return Normalize(rgb, {.stddev = {}}).status(); }},
      {"Normalize", "a deviation of 0", [=] { return Normalize(rgb, {.stddev = {0}}).status(); }},
      {"Normalize", "a deviation that is not a number", [=] { return Normalize(rgb, {.stddev = {kNan}}).status(); }},
      {"RandomCrop", "more than there is", [=] { return RandomCrop(rgb, 5, 2, key).status(); }},
      {"RandomCrop", "a negative size", [=] { return RandomCrop(rgb, -1, 2, key).status(); }},
      {"RandomBrightness", "a negative change", [=] { return RandomBrightness(rgb, -1, key).status(); }},
      {"RandomHue", "too much", [=] { return RandomHue(rgb, 1, key).status(); }},
      {"RandomContrast", "an end before its begin", [=] { return RandomContrast(rgb, 2, 1, key).status(); }},
      {"RandomSaturation", "a negative factor", [=] { return RandomSaturation(rgb, -1, 1, key).status(); }},
      {"RandomSaturation", "not a number", [=] { return RandomSaturation(rgb, kNan, kNan, key).status(); }},
      {"RandomRotate", "a negative angle", [=] { return RandomRotate(rgb, -1, key).status(); }},
      {"EncodeJpeg", "quality 0", [=] { return EncodeJpeg(rgb, {.quality = 0}).status(); }},
      {"EncodeJpeg", "of integers", [=] { return EncodeJpeg(ints).status(); }},
      {"EncodePng", "a level of 10", [=] { return EncodePng(rgb, {.compression = 10}).status(); }},
      {"EncodePng", "of 64-bit integers", [=] { return EncodePng(ints).status(); }},
      {"DecodeImage", "nothing", [=] { return DecodeImage("").status(); }},
      {"DecodeImage", "five channels", [=] { return DecodeImage(jpeg, {.channels = 5}).status(); }},
      {"DecodeJpeg", "nothing", [=] { return DecodeJpeg("").status(); }},
      {"DecodeJpeg", "7 bits", [=] { return DecodeJpeg(jpeg, {.bits = 7}).status(); }},
      {"DecodeJpeg", "a negative size", [=] { return DecodeJpeg(jpeg, {.min_height = -1}).status(); }},
      {"DecodePng", "nothing", [=] { return DecodePng("").status(); }},
  };
  AddPictures(
      "AdjustBrightness", [](const HostTensor& p) { return AdjustBrightness(p, 0.1f); }, &rows);
  AddPictures(
      "AdjustContrast", [](const HostTensor& p) { return AdjustContrast(p, 2); }, &rows);
  AddPictures(
      "AdjustSaturation", [](const HostTensor& p) { return AdjustSaturation(p, 2); }, &rows);
  AddPictures(
      "AdjustHue", [](const HostTensor& p) { return AdjustHue(p, 0.1f); }, &rows);
  AddPictures(
      "Crop", [](const HostTensor& p) { return Crop(p, 0, 0, 1, 1); }, &rows);
  AddPictures(
      "CentralCrop", [](const HostTensor& p) { return CentralCrop(p, 0.5); }, &rows);
  AddPictures(
      "Pad", [](const HostTensor& p) { return Pad(p, 0, 0, 8, 8); }, &rows);
  AddPictures(
      "CropOrPad", [](const HostTensor& p) { return CropOrPad(p, 3, 9); }, &rows);
  AddPictures(
      "FlipLeftRight", [](const HostTensor& p) { return FlipLeftRight(p); }, &rows);
  AddPictures(
      "FlipUpDown", [](const HostTensor& p) { return FlipUpDown(p); }, &rows);
  AddPictures(
      "Rotate90", [](const HostTensor& p) { return Rotate90(p, 3); }, &rows);
  AddPictures(
      "Rotate", [](const HostTensor& p) { return Rotate(p, 0.5f); }, &rows);
  AddPictures(
      "Resize", [](const HostTensor& p) { return Resize(p, 2, 2); }, &rows);
  AddPictures(
      "Normalize", [](const HostTensor& p) { return Normalize(p); }, &rows);
  AddPictures(
      "StandardizePerImage", [](const HostTensor& p) { return StandardizePerImage(p); }, &rows);
  AddPictures(
      "RandomFlipLeftRight", [=](const HostTensor& p) { return RandomFlipLeftRight(p, key); }, &rows);
  AddPictures(
      "RandomFlipUpDown", [=](const HostTensor& p) { return RandomFlipUpDown(p, key); }, &rows);
  AddPictures(
      "RandomCrop", [=](const HostTensor& p) { return RandomCrop(p, 1, 1, key); }, &rows);
  AddPictures(
      "RandomBrightness", [=](const HostTensor& p) { return RandomBrightness(p, 0.1f, key); }, &rows);
  AddPictures(
      "RandomHue", [=](const HostTensor& p) { return RandomHue(p, 0.1f, key); }, &rows);
  AddPictures(
      "RandomContrast", [=](const HostTensor& p) { return RandomContrast(p, 1, 2, key); }, &rows);
  AddPictures(
      "RandomSaturation", [=](const HostTensor& p) { return RandomSaturation(p, 1, 2, key); }, &rows);
  AddPictures(
      "RandomRotate", [=](const HostTensor& p) { return RandomRotate(p, 1, key); }, &rows);
  AddPictures(
      "EncodeJpeg", [](const HostTensor& p) { return EncodeJpeg(p); }, &rows);
  AddPictures(
      "EncodePng", [](const HostTensor& p) { return EncodePng(p); }, &rows);
  return rows;
}

TEST(ImageEdgeTest, WhatIsNoPictureIsAnError) {
  for (const Row& row : Rows()) {
    SCOPED_TRACE(std::string(row.function) + ", " + row.argument);
    const absl::Status status = row.call();
    EXPECT_TRUE(status.code() == absl::StatusCode::kInvalidArgument || status.code() == absl::StatusCode::kDataLoss)
        << status;
    // Decoders begin with the name that they were given. Functions that are made of another one name that.
    const std::string function = row.function;
    const bool made = function.starts_with("Random") || function.starts_with("DecodeAndResize");
    EXPECT_TRUE(absl::StrContains(status.message(), function) ||
                (function.starts_with("Decode") && absl::StrContains(status.message(), "picture")) ||
                (made && absl::StrContains(status.message(), "tests/errors/api_edge_image_test.cc:")))
        << status;
  }
}

TEST(ImageEdgeTest, EveryFunctionHasARow) {
  std::set<std::string> with_row = {"IsJpeg", "IsPng", "RandomUniform"};  // of any arguments
  for (const Row& row : Rows()) with_row.insert(row.function);
  const std::regex declaration(R"(^(?:absl::StatusOr<[\w:]+>|absl::Status|bool|float) (\w+)\(.*)");
  for (const char* name : {"color", "crop", "decode_image", "decode_resize", "flip", "jpeg", "normalize", "png",
                           "random_image", "resize", "rotate"}) {
    std::ifstream header(std::string("data/image/") + name + ".h");
    ASSERT_TRUE(header.good()) << name;
    std::smatch match;
    int functions = 0;
    for (std::string line; std::getline(header, line);) {
      if (!std::regex_match(line, match, declaration)) continue;
      ++functions;
      EXPECT_TRUE(with_row.contains(match[1])) << name << ".h: " << match[1] << " has no row in the table";
    }
    EXPECT_GT(functions, 0) << name;
  }
}

}  // namespace
}  // namespace tandem
