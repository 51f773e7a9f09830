// The batches of records that tandem-records made of IDX files are those of the IDX files.
#include "samples/record_input.h"

#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "data/test_util.h"
#include "gtest/gtest.h"
#include "tandem/base/env.h"
#include "tandem/data/files/example.h"
#include "tandem/data/files/record_writer.h"

namespace tandem {
namespace {

constexpr int kImages = 50;

// A folder with so many training images and their labels, and records of them, whole and in three parts.
std::string MakeData() {
  const std::string dir = JoinPath(testing::TempDir(), "data");
  EXPECT_TRUE(Env::Default()->CreateDirs(dir).ok());
  std::string images =
      std::string("\0\0\x08\x03\0\0\0", 7) + static_cast<char>(kImages) + std::string("\0\0\0\x1c\0\0\0\x1c", 8);
  std::string labels = std::string("\0\0\x08\x01\0\0\0", 7) + static_cast<char>(kImages);
  for (int i = 0; i < kImages; ++i) {
    for (int p = 0; p < 28 * 28; ++p) images.push_back(static_cast<char>(i * p % 251));
    labels.push_back(static_cast<char>(i * 7 % 10));
  }
  EXPECT_TRUE(Env::Default()->WriteFile(JoinPath(dir, "train-images-idx3-ubyte"), {images}).ok());
  EXPECT_TRUE(Env::Default()->WriteFile(JoinPath(dir, "train-labels-idx1-ubyte"), {labels}).ok());
  const std::string tool = "tools/tandem-records ";
  const std::string write =
      absl::StrCat(tool, "write --compression=gzip --images=", dir, "/train-images-idx3-ubyte --labels=", dir,
                   "/train-labels-idx1-ubyte ", dir, "/whole.gz");
  EXPECT_EQ(std::system(write.c_str()), 0);
  EXPECT_EQ(
      std::system(absl::StrCat(tool, "split --compression=gzip --shards=3 ", dir, "/whole.gz ", dir, "/part").c_str()),
      0);
  return dir;
}

std::vector<Element> Batches(const InputFn& input, int64_t limit = INT64_MAX) {
  const absl::StatusOr<Dataset> dataset = input({});
  EXPECT_TRUE(dataset.ok()) << dataset.status();
  if (!dataset.ok()) return {};
  EXPECT_TRUE(dataset->status().ok()) << dataset->status();
  return Read(*dataset, limit);
}

TEST(RecordInputTest, GivesTheBatchesOfTheIdxFiles) {
  const std::string dir = MakeData();
  for (const bool one_hot : {false, true}) {
    const TrainInputOptions options = {.batch_size = 8, .epochs = 2, .shuffle_buffer = 20, .seed = 3};
    auto idx = std::make_shared<FashionInput>(dir, FashionMnistSplit::kTrain, one_hot);
    const std::vector<Element> expected = Batches(TrainInputFn(idx, options));
    EXPECT_EQ(expected.size(), 13u);
    EXPECT_TRUE(BitEqual(Batches(RecordInputFn(JoinPath(dir, "whole.gz"), one_hot, options)), expected));
  }
  // Of several files, the same images in another order.
  const std::vector<Element> parts =
      Batches(RecordInputFn(JoinPath(dir, "part-*"), /*one_hot=*/false, {.batch_size = kImages}));
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].components[0].shape(), (Shape{kImages, 28, 28, 1}));
  // Three files in turn of one record each, which split dealt in turn.
  const absl::Span<const int32_t> labels = parts[0].components[1].values<int32_t>();
  for (int i = 0; i < 48; ++i) EXPECT_EQ(labels[i], i * 7 % 10) << i;
}

TEST(RecordInputTest, RecordsOfOtherImagesAreNamed) {
  const std::string path = JoinPath(testing::TempDir(), "small.gz");
  auto writer = RecordWriter::Create(path, {.compression = Compression::kGzip});
  ASSERT_TRUE((*writer)->Write(ExampleBuilder().Bytes("image", "abc").Int64("label", 1).Serialize()).ok());
  ASSERT_TRUE((*writer)->Close().ok());
  const absl::StatusOr<Dataset> dataset = RecordInputFn(path, false, {.batch_size = 2})({});
  ASSERT_TRUE(dataset.ok());
  Element e;
  bool end = false;
  const absl::Status status = Make(*dataset)->GetNext(&e, &end);
  EXPECT_TRUE(absl::StrContains(status.message(), "the image in row 0 has 3 bytes, not those of 28 x 28 pixels"))
      << status;
}

}  // namespace
}  // namespace tandem
