#include "data/fashion_mnist.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "data/dataset.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

const FashionMnist& Data() {
  static const FashionMnist* const data = [] {
    absl::StatusOr<FashionMnist> d = LoadFashionMnist();
    EXPECT_TRUE(d.ok()) << d.status();
    return new FashionMnist(d.ok() ? *d : FashionMnist());
  }();
  return *data;
}

TEST(FashionMnistTest, TheRealFiles) {
  EXPECT_EQ(Data().train.images.shape(), (Shape{60000, 28, 28}));
  EXPECT_EQ(Data().train.labels.shape(), (Shape{60000}));
  EXPECT_EQ(Data().test.images.shape(), (Shape{10000, 28, 28}));
  EXPECT_EQ(Data().test.labels.shape(), (Shape{10000}));
  // An ankle boot comes first, and every class is there equally often.
  EXPECT_EQ(Data().train.labels.data<uint8_t>()[0], 9);
  std::vector<int> counts(10);
  for (uint8_t label : Data().train.labels.values<uint8_t>()) ++counts[label];
  EXPECT_EQ(counts, std::vector<int>(10, 6000));
  // The mean pixel of the training set, 72.94, is known widely as 0.2860 of 255.
  double sum = 0;
  for (uint8_t pixel : Data().train.images.values<uint8_t>()) sum += pixel;
  EXPECT_NEAR(sum / Data().train.images.num_elements() / 255, 0.2860, 0.0001);
}

TEST(FashionMnistTest, Conversions) {
  HostTensor images = Data().test.images;
  absl::StatusOr<HostTensor> scaled = ScaledImages(images);
  ASSERT_TRUE(scaled.ok());
  EXPECT_EQ(scaled->shape(), (Shape{10000, 28, 28, 1}));
  EXPECT_EQ(scaled->dtype(), DType::kFloat32);
  int64_t wrong = 0;
  for (int64_t i = 0; i < images.num_elements(); ++i) {
    wrong += scaled->data<float>()[i] != static_cast<float>(images.data<uint8_t>()[i]) / 255.0f;
  }
  EXPECT_EQ(wrong, 0);

  HostTensor labels = HostTensor::FromVector<uint8_t>({3}, {2, 0, 1});
  EXPECT_TRUE(Int32Labels(labels)->BitEqual(HostTensor::FromVector<int32_t>({3}, {2, 0, 1})));
  EXPECT_TRUE(OneHotLabels(labels, 3)->BitEqual(HostTensor::FromVector<float>({3, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0})));
  absl::Status status = OneHotLabels(labels, 2).status();
  EXPECT_EQ(status, absl::OutOfRangeError("label 0 is 2, not in 0..1"));
  EXPECT_EQ(OneHotLabels(labels, 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OneHotLabels(images).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Int32Labels(*scaled).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ScaledImages(labels).status().code(), absl::StatusCode::kInvalidArgument);
}

// A directory with plain IDX files of `images` images and these labels.
std::string WriteSet(const std::string& name, uint8_t images, std::vector<uint8_t> labels, uint8_t width = 28) {
  std::string dir = absl::StrCat(testing::TempDir(), "/fashion_mnist_", name);
  std::filesystem::remove_all(dir);
  std::filesystem::create_directory(dir);
  auto write = [&dir](const char* file, std::vector<uint8_t> header, const std::vector<uint8_t>& data) {
    header.insert(header.end(), data.begin(), data.end());
    std::ofstream(absl::StrCat(dir, "/", file), std::ios::binary)
        .write(reinterpret_cast<const char*>(header.data()), header.size());
  };
  write("t10k-images-idx3-ubyte", {0, 0, 8, 3, 0, 0, 0, images, 0, 0, 0, 28, 0, 0, 0, width},
        std::vector<uint8_t>(images * 28 * width, 255));
  write("t10k-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, static_cast<uint8_t>(labels.size())}, labels);
  return dir;
}

TEST(FashionMnistTest, PlainFilesAreReadToo) {
  absl::StatusOr<LabelledImages> data =
      LoadFashionMnistSplit(FashionMnistSplit::kTest, WriteSet("plain", 3, {1, 9, 0}));
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->images.shape(), (Shape{3, 28, 28}));
  EXPECT_EQ(data->labels.data<uint8_t>()[1], 9);
}

TEST(FashionMnistTest, BadSets) {
  auto expect = [](const std::string& dir, absl::StatusCode code, absl::string_view what) {
    absl::Status status = LoadFashionMnistSplit(FashionMnistSplit::kTest, dir).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), what)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), dir)) << status;
  };
  expect(WriteSet("labels", 3, {1, 9, 10}), absl::StatusCode::kDataLoss,
         "t10k-labels-idx1-ubyte: label 2 is 10, not in 0..9");
  expect(WriteSet("counts", 3, {1, 9}), absl::StatusCode::kDataLoss, "has 3 images, but");
  expect(WriteSet("shape", 2, {1, 9}, 27), absl::StatusCode::kDataLoss, "shape [2,28,27] where [n,28,28] is expected");
  std::string swapped = WriteSet("swapped", 2, {1, 9});
  std::filesystem::copy_file(swapped + "/t10k-labels-idx1-ubyte", swapped + "/t10k-images-idx3-ubyte",
                             std::filesystem::copy_options::overwrite_existing);
  expect(swapped, absl::StatusCode::kDataLoss, "uint8 of shape [2] where uint8 of rank 3 is expected");
  std::string missing = WriteSet("missing", 2, {1, 9});
  std::filesystem::remove(missing + "/t10k-labels-idx1-ubyte");
  expect(missing, absl::StatusCode::kNotFound, "t10k-labels-idx1-ubyte.gz");
  EXPECT_EQ(LoadFashionMnist(missing).status().code(), absl::StatusCode::kNotFound);
}

// S0's pipeline on the real data: every image exactly once an epoch, with its own label, and an exact resume.
TEST(FashionMnistTest, ThroughThePipeline) {
  const LabelledImages& test = Data().test;
  std::vector<int64_t> index(10000);
  for (int64_t i = 0; i < 10000; ++i) index[i] = i;
  Dataset d = Dataset::FromTensorSlices({{"index", HostTensor::FromVector<int64_t>({10000}, index)},
                                         {"image", *ScaledImages(test.images)},
                                         {"label", *Int32Labels(test.labels)}})
                  .Shuffle(5000, {.seed = 1})
                  .Repeat(2)
                  .Batch(512)
                  .Prefetch(2);
  EXPECT_EQ(SpecString(d.spec()), "index:int64[b], image:float32[b,28,28,1], label:int32[b]");
  EXPECT_EQ(d.cardinality(), 40);
  std::unique_ptr<Iterator> it = Make(d);
  std::vector<Element> batches = Read(*it, 15);
  std::string state = *it->SaveState();
  std::vector<Element> tail = Read(*it);
  std::unique_ptr<Iterator> resumed = Make(d);
  ASSERT_TRUE(resumed->RestoreState(state).ok());
  EXPECT_TRUE(BitEqual(Read(*resumed), tail));
  batches.insert(batches.end(), tail.begin(), tail.end());
  ASSERT_EQ(batches.size(), 40u);
  std::vector<int> seen(10000);
  int64_t wrong = 0;
  for (const Element& batch : batches) {
    for (int64_t r = 0; r < batch.components[0].num_elements(); ++r) {
      int64_t i = batch.components[0].data<int64_t>()[r];
      ++seen[i];
      wrong += batch.components[2].data<int32_t>()[r] != test.labels.data<uint8_t>()[i];
      const float* image = batch.components[1].data<float>() + r * 784;
      const uint8_t* source = test.images.data<uint8_t>() + i * 784;
      for (int p = 0; p < 784; ++p) wrong += image[p] != source[p] / 255.0f;
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 2), 10000);
}

}  // namespace
}  // namespace tandem
