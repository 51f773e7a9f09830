// Lets allocations fail where pictures are decoded, changed and encoded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "data/dataset.h"
#include "data/image/decode_image.h"
#include "data/image/decode_resize.h"
#include "data/image/jpeg.h"
#include "data/image/png.h"
#include "data/image/random_image.h"
#include "data/image/resize.h"
#include "tests/allocation/allocation_failure.h"

namespace tandem {
namespace {

using test::Armed;

constexpr int64_t kSide = 20;

// A picture of one colour, which JPEG keeps but for rounding, at every size.
HostTensor Plain(uint8_t red, uint8_t green, uint8_t blue) {
  std::vector<uint8_t> pixels;
  for (int64_t i = 0; i < kSide * kSide; ++i) pixels.insert(pixels.end(), {red, green, blue});
  return HostTensor::FromVector({kSide, kSide, 3}, pixels);
}

constexpr uint8_t kColors[2][3] = {{200, 100, 50}, {40, 80, 160}};

// InternalError unless all pixels of `image` are of color number `i` up to `tolerance`.
absl::Status CheckColor(const HostTensor& image, int i, int64_t pixels, double tolerance) {
  if (image.num_elements() != 3 * pixels) return absl::InternalError(absl::StrCat(image.num_elements(), " values"));
  for (int64_t k = 0; k < image.num_elements(); ++k) {
    const double value = image.dtype() == DType::kUInt8 ? image.data<uint8_t>()[k] : image.data<float>()[k];
    if (std::abs(value - kColors[i][k % 3]) > tolerance) {
      return absl::InternalError(absl::StrCat("pixel ", k / 3, " of picture ", i, " is ", value));
    }
  }
  return absl::OkStatus();
}

class PictureAllocationTest : public test::AllocationFailure {
 protected:
  PictureAllocationTest() {
    for (const auto& color : kColors) {
      const HostTensor image = Plain(color[0], color[1], color[2]);
      for (const auto& bytes : {EncodeJpeg(image), EncodeJpeg(image, {.progressive = true}), EncodePng(image)}) {
        EXPECT_TRUE(bytes.ok()) << bytes.status();
        encoded_.push_back(bytes.value_or(""));
      }
    }
  }

  // Of encoded_[3 * i] to encoded_[3 * i + 2] color number i.
  void TryPictures(const std::string& what, const std::function<Dataset(const Dataset&)>& decoded, int64_t side) {
    TryAll(what, [&](const Armed& armed) {
      return armed([&] {
        return CatchResourceErrors("", [&]() -> absl::Status {
          const Dataset files = Dataset::FromTensorSlices(
              {{"bytes", HostTensor::FromStrings({static_cast<int64_t>(encoded_.size())}, encoded_)}});
          TD_ASSIGN_OR_RETURN(const auto iterator, decoded(files).Batch(3).Prefetch(1).MakeIterator());
          for (int i = 0;; ++i) {
            Element batch;
            bool end = false;
            TD_RETURN_IF_ERROR(iterator->GetNext(&batch, &end));
            if (end) return i == 2 ? absl::OkStatus() : absl::InternalError(absl::StrCat(i, " batches"));
            TD_RETURN_IF_ERROR(CheckColor(batch.components[0], i, 3 * side * side, 3));
          }
        });
      });
    });
  }

  std::vector<std::string> encoded_;
};

TEST_F(PictureAllocationTest, DecodeAndChange) {
  TryPictures(
      "decode and change",
      [](const Dataset& files) {
        return files.Map(
            [](const Element& e) -> absl::StatusOr<Element> {
              TD_ASSIGN_OR_RETURN(HostTensor image, DecodeImage(e.components[0].string(), {.channels = 3}));
              const ExampleKey key{.seed = 1, .example = 2};
              TD_ASSIGN_OR_RETURN(image, RandomFlipLeftRight(image, key));
              TD_ASSIGN_OR_RETURN(image, RandomCrop(image, 16, 16, key));
              TD_ASSIGN_OR_RETURN(image, Resize(image, 9, 9, {.antialias = true, .round_to_uint8 = true}));
              return Element{{image}};
            },
            {.num_parallel_calls = 2, .spec = {{"image", DType::kUInt8, {9, 9, 3}}}});
      },
      9);
}

TEST_F(PictureAllocationTest, DecodeIntoTheBatch) {
  TryPictures(
      "decode into the batch",
      [](const Dataset& files) {
        return files.MapInto(
            [](const Element& e, absl::Span<const ComponentBuffer> out) {
              return DecodeAndResizeInto(e.components[0].string(), out[0], {.channels = 3});
            },
            {.num_parallel_calls = 2, .spec = {{"image", DType::kFloat32, {7, 7, 3}}}});
      },
      7);
}

TEST_F(PictureAllocationTest, Encode) {
  for (const bool png : {false, true}) {
    TryAll(png ? "encode PNG" : "encode JPEG", [&](const Armed& armed) -> absl::Status {
      std::string bytes;
      TD_RETURN_IF_ERROR(armed([&] {
        return CatchResourceErrors("", [&]() -> absl::Status {
          const HostTensor image = Plain(kColors[0][0], kColors[0][1], kColors[0][2]);
          TD_ASSIGN_OR_RETURN(bytes, png ? EncodePng(image) : EncodeJpeg(image, {.progressive = true}));
          return absl::OkStatus();
        });
      }));
      TD_ASSIGN_OR_RETURN(const HostTensor image, DecodeImage(bytes));
      return CheckColor(image, 0, kSide * kSide, png ? 0 : 3);
    });
  }
}

}  // namespace
}  // namespace tandem
