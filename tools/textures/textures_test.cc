#include "tools/textures/textures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "data/image/jpeg.h"

namespace tandem {
namespace {

struct Statistics {
  double mean = 0, stddev = 0;
  // Products of the differences to the next pixel but two in a row, in a column, and of both.
  double along_x = 0, along_y = 0, mixed = 0;
};

Statistics StatisticsOf(const HostTensor& image) {
  const int64_t height = image.shape()[0], width = image.shape()[1];
  const uint8_t* p = image.data<uint8_t>();
  Statistics s;
  for (int64_t i = 0; i < height * width; ++i) s.mean += p[i];
  s.mean /= height * width;
  for (int64_t i = 0; i < height * width; ++i) s.stddev += (p[i] - s.mean) * (p[i] - s.mean);
  s.stddev = std::sqrt(s.stddev / (height * width));
  for (int64_t y = 3; y < height - 3; ++y) {
    for (int64_t x = 3; x < width - 3; ++x) {
      const double dx = p[y * width + x + 3] - p[y * width + x - 3],
                   dy = p[(y + 3) * width + x] - p[(y - 3) * width + x];
      s.along_x += dx * dx;
      s.along_y += dy * dy;
      s.mixed += dx * dy;
    }
  }
  return s;
}

TEST(Textures, DifferInDirectionAlone) {
  const TextureOptions options;
  Statistics sums[4];
  const int n = 3;
  for (int c = 0; c < 4; ++c) {
    for (int i = 0; i < n; ++i) {
      const HostTensor image = MakeTexture(options, c, i);
      ASSERT_EQ(image.shape(), (Shape{496, 512, 1}));
      const Statistics s = StatisticsOf(image);
      EXPECT_NEAR(s.mean, 110, 8) << c;
      EXPECT_NEAR(s.stddev, 30, 5) << c;
      sums[c].along_x += s.along_x;
      sums[c].along_y += s.along_y;
      sums[c].mixed += s.mixed;
    }
  }
  const double unit = sums[1].along_x;
  EXPECT_GT(sums[0].along_y, 1.5 * sums[0].along_x);
  EXPECT_GT(sums[1].along_x, 1.5 * sums[1].along_y);
  EXPECT_LT(sums[2].mixed, -0.1 * unit);
  EXPECT_GT(sums[3].mixed, 0.1 * unit);
  EXPECT_LT(std::abs(sums[0].mixed), 0.05 * unit);
  EXPECT_LT(std::abs(sums[1].mixed), 0.05 * unit);
}

TEST(Textures, DependOnSeedClassAndIndex) {
  const TextureOptions options = {.height = 64, .width = 80};
  const HostTensor first = MakeTexture(options, 0, 0);
  EXPECT_TRUE(first.BitEqual(MakeTexture(options, 0, 0)));
  EXPECT_FALSE(first.BitEqual(MakeTexture(options, 1, 0)));
  EXPECT_FALSE(first.BitEqual(MakeTexture(options, 0, 1)));
  EXPECT_FALSE(first.BitEqual(MakeTexture({.height = 64, .width = 80, .seed = 2}, 0, 0)));
}

TEST(Textures, Files) {
  Env* const env = Env::Default();
  const std::string dir = JoinPath(testing::TempDir(), "textures");
  const TextureOptions options = {.height = 64, .width = 80, .per_class = 2};
  const absl::Status written = WriteTextures(env, dir, options);
  ASSERT_TRUE(written.ok()) << written;
  for (int c = 0; c < 4; ++c) {
    const std::string folder = JoinPath(dir, kTextureClasses[c]);
    const auto names = env->ListDir(folder);
    ASSERT_TRUE(names.ok()) << names.status();
    ASSERT_EQ(*names, (std::vector<std::string>{"000000.jpeg", "000001.jpeg"}));
    const auto bytes = env->ReadFile(JoinPath(folder, "000001.jpeg"));
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    const auto image = DecodeJpeg(*bytes);
    ASSERT_TRUE(image.ok()) << image.status();
    const HostTensor original = MakeTexture(options, c, 1);
    ASSERT_EQ(image->shape(), original.shape());
    double difference = 0;
    for (int64_t i = 0; i < original.num_elements(); ++i) {
      difference += std::abs(image->values<uint8_t>()[i] - original.values<uint8_t>()[i]);
    }
    EXPECT_LT(difference / original.num_elements(), 6);  // JPEG's loss
  }
  ASSERT_TRUE(env->DeleteRecursively(dir).ok());
}

TEST(Textures, WrongOptions) {
  const auto message = [](const TextureOptions& options) {
    return std::string(WriteTextures(Env::Default(), "never_made", options).message());
  };
  EXPECT_TRUE(absl::StrContains(message({.height = 10}), "textures of 10 x 512 pixels")) << message({.height = 10});
  EXPECT_TRUE(absl::StrContains(message({.per_class = 0}), "0 textures of each class"));
  EXPECT_TRUE(absl::StrContains(message({.quality = 101}), "quality is 101"));
  EXPECT_FALSE(Env::Default()->Exists("never_made"));
}

}  // namespace
}  // namespace tandem
