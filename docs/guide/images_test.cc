// Compiles and runs the code blocks of images.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tandem/base/env.h"
#include "tandem/base/status_macros.h"
#include "tandem/data/dataset.h"
#include "tandem/data/image/decode_image.h"
#include "tandem/data/image/decode_resize.h"
#include "tandem/data/image/normalize.h"
#include "tandem/data/image/random_image.h"
#include "tandem/data/image/resize.h"
#include "tools/textures/textures.h"

namespace tandem {
namespace {

#include "docs/guide/images_test_blocks.inc"

std::vector<std::string> Files() {
  const std::string dir = JoinPath(testing::TempDir(), "pictures");
  EXPECT_TRUE(WriteTextures(Env::Default(), dir, {.height = 150, .width = 200, .per_class = 2}).ok());
  std::vector<std::string> files;
  for (const absl::string_view name : kTextureClasses) {
    for (const char* file : {"000000.jpeg", "000001.jpeg"}) files.push_back(JoinPath(JoinPath(dir, name), file));
  }
  return files;
}

TEST(ImagesGuide, BatchesHaveThePicturesOfTheFiles) {
  const std::vector<std::string> files = Files();
  auto batches = PictureBatches(files, 3).MakeIterator();
  ASSERT_TRUE(batches.ok()) << batches.status();
  size_t seen = 0;
  for (;;) {
    Element batch;
    bool end = false;
    ASSERT_EQ((*batches)->GetNext(&batch, &end), absl::OkStatus());
    if (end) break;
    for (int64_t row = 0; row < batch.components[0].shape()[0]; ++row, ++seen) {
      const auto image = LoadPicture(files[seen]);
      ASSERT_TRUE(image.ok()) << image.status();
      const auto pixels = image->values<float>();
      EXPECT_TRUE(
          std::equal(pixels.begin(), pixels.end(), batch.components[0].values<float>().data() + row * pixels.size()));
    }
  }
  EXPECT_EQ(seen, files.size());
}

TEST(ImagesGuide, ScaledPicturesAreNearlyTheSame) {
  const std::string file = Files()[0];
  const auto image = LoadPicture(file), scaled = LoadScaledPicture(file);
  ASSERT_TRUE(image.ok() && scaled.ok()) << image.status() << scaled.status();
  ASSERT_EQ(image->shape(), (Shape{kPictureSize, kPictureSize, 3}));
  ASSERT_EQ(scaled->shape(), image->shape());
  double difference = 0;
  for (int64_t i = 0; i < image->num_elements(); ++i) {
    difference += std::abs(image->values<float>()[i] - scaled->values<float>()[i]);
  }
  EXPECT_GT(difference, 0);
  EXPECT_LT(difference / image->num_elements(), 8);
}

TEST(ImagesGuide, PipelineComesAgain) {
  const Dataset dataset = Pictures(Files(), 2);
  std::vector<std::vector<HostTensor>> runs(2);
  for (std::vector<HostTensor>& batches : runs) {
    auto iterator = dataset.MakeIterator();
    ASSERT_TRUE(iterator.ok()) << iterator.status();
    for (bool end = false; !end;) {
      Element batch;
      const absl::Status status = (*iterator)->GetNext(&batch, &end);
      ASSERT_TRUE(status.ok()) << status;
      if (!end) batches.push_back(batch.components[0]);
    }
  }
  ASSERT_EQ(runs[0].size(), 4u);
  ASSERT_EQ(runs[1].size(), 4u);
  for (int b = 0; b < 4; ++b) {
    EXPECT_EQ(runs[0][b].shape(), (Shape{4, kPictureSize - 8, kPictureSize - 8, 3}));
    EXPECT_TRUE(runs[0][b].BitEqual(runs[1][b]));
  }
  // The second epoch's pictures of the same files are others.
  EXPECT_FALSE(runs[0][0].BitEqual(runs[0][2]));
}

}  // namespace
}  // namespace tandem
