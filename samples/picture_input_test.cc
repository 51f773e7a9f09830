#include "samples/picture_input.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "data/image/jpeg.h"
#include "data/test_util.h"
#include "gtest/gtest.h"
#include "tandem/base/env.h"
#include "tools/textures/textures.h"

namespace tandem {
namespace {

std::string Folder(const std::string& name) { return JoinPath(testing::TempDir(), name); }

// A picture whose pixels are all `value`.
void WritePicture(const std::string& path, uint8_t value) {
  HostTensor image(DType::kUInt8, {40, 50, 3});
  std::fill_n(image.data<uint8_t>(), image.num_elements(), value);
  ASSERT_TRUE(Env::Default()->CreateDirs(path.substr(0, path.rfind('/'))).ok());
  ASSERT_TRUE(Env::Default()->WriteFile(path, {*EncodeJpeg(image)}).ok());
}

TEST(PictureInputTest, HoldsOutEveryTenthOfAClass) {
  const std::string dir = Folder("undivided");
  ASSERT_TRUE(WriteTextures(Env::Default(), dir, {.height = 64, .width = 64, .per_class = 25}).ok());
  const auto found = FindPictures(dir);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->classes, (std::vector<std::string>{"falling", "horizontal", "rising", "vertical"}));
  EXPECT_EQ(found->train.files.size(), 92u);
  EXPECT_EQ(found->test.files.size(), 8u);
  std::set<std::string> all(found->train.files.begin(), found->train.files.end());
  all.insert(found->test.files.begin(), found->test.files.end());
  EXPECT_EQ(all.size(), 100u);
  for (size_t i = 0; i < found->train.files.size(); ++i) {
    EXPECT_TRUE(absl::StrContains(found->train.files[i], found->classes[found->train.labels[i]]));
  }
}

TEST(PictureInputTest, TakesFoldersForTrainingAndTesting) {
  const std::string dir = Folder("divided");
  WritePicture(dir + "/train/b/1.jpg", 1);
  WritePicture(dir + "/train/a/2.jpeg", 2);
  WritePicture(dir + "/train/a/1.jpeg", 3);
  WritePicture(dir + "/test/b/3.jpeg", 4);
  auto found = FindPictures(dir);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->train.files,
            (std::vector<std::string>{dir + "/train/a/1.jpeg", dir + "/train/a/2.jpeg", dir + "/train/b/1.jpg"}));
  EXPECT_EQ(found->train.labels, (std::vector<int32_t>{0, 0, 1}));
  EXPECT_EQ(found->test.labels, (std::vector<int32_t>{1}));
  WritePicture(dir + "/test/c/3.jpeg", 4);
  found = FindPictures(dir);
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(found.status().message(), "there is no class \"c\"")) << found.status();
}

TEST(PictureInputTest, SaysWhatIsMissing) {
  EXPECT_EQ(FindPictures(Folder("nowhere")).status().code(), absl::StatusCode::kNotFound);
  WritePicture(Folder("one") + "/only/1.jpeg", 1);
  EXPECT_TRUE(absl::StrContains(FindPictures(Folder("nowhere")).status().message(), "there is no such folder"));
  const std::string few = Folder("few");
  WritePicture(few + "/a/1.jpeg", 1);
  WritePicture(few + "/b/1.JPG", 1);
  EXPECT_TRUE(absl::StrContains(FindPictures(few).status().message(), "no class has ten")) << "and both are found";
  WritePicture(few + "/train/a/1.jpeg", 1);
  WritePicture(few + "/train/b/1.jpeg", 1);
  EXPECT_TRUE(absl::StrContains(FindPictures(few).status().message(), "none with the name test")) << few;
  ASSERT_TRUE(Env::Default()->CreateDirs(Folder("bare") + "/a").ok());
  EXPECT_TRUE(absl::StrContains(FindPictures(Folder("bare")).status().message(), "no folder in it has pictures"));
  const auto one = FindPictures(Folder("one"));
  EXPECT_EQ(one.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(one.status().message(), "\"only\"")) << one.status();
}

TEST(PictureInputTest, ReadsEveryPictureAndShuffles) {
  const std::string dir = Folder("pixels");
  std::vector<std::string> files;
  for (int i = 0; i < 12; ++i) {
    files.push_back(dir + "/x/" + std::to_string(i) + ".jpeg");
    WritePicture(files.back(), 20 * i);
  }
  PictureFiles pictures{files, {}};
  for (int i = 0; i < 12; ++i) pictures.labels.push_back(i);
  PictureInputOptions options{.size = 32, .batch_size = 5};
  const auto labels = [&](int64_t batches) {
    const auto dataset = PictureInputFn(pictures, options)({});
    EXPECT_TRUE(dataset.ok()) << dataset.status();
    std::vector<int> found;
    for (const Element& batch : Read(*dataset, batches)) {
      for (int64_t row = 0; row < batch.components[0].shape()[0]; ++row) {
        const int label = batch.components[1].values<int32_t>()[row];
        const float first = batch.components[0].values<float>()[row * 32 * 32 * 3];
        const float expected =
            options.pixels == PicturePixels::kCentred ? 20 * label / 127.5f - 1 : 20 * label - 103.939f;
        EXPECT_NEAR(first, expected, options.pixels == PicturePixels::kCentred ? 0.02 : 2.5) << label;
        found.push_back(label);
      }
    }
    return found;
  };
  std::vector<int> in_order(12);
  for (int i = 0; i < 12; ++i) in_order[i] = i;
  EXPECT_EQ(labels(100), in_order);
  options.pixels = PicturePixels::kCaffe;
  EXPECT_EQ(labels(100), in_order);
  options.training = true;
  const std::vector<int> shuffled = labels(12);
  ASSERT_EQ(shuffled.size(), 60u);
  std::vector<int> first(shuffled.begin(), shuffled.begin() + 12), second(shuffled.begin() + 12, shuffled.begin() + 24);
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, in_order);
  EXPECT_EQ(labels(12), shuffled);
  options.seed = 1;
  EXPECT_NE(labels(12), shuffled);
}

}  // namespace
}  // namespace tandem
