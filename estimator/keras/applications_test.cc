// The networks of applications: their summaries and weights are those of Keras 2.15.
#include "estimator/keras/applications.h"

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem::keras::applications {
namespace {

std::string Golden(const std::string& name) {
  std::ifstream file("tests/keras/testdata/summary/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string SummaryOf(const Model& model) {
  std::string text;
  const absl::Status status = model.Summary({.print_fn = [&](const std::string& line) { text += line + "\n"; }});
  EXPECT_TRUE(status.ok()) << status;
  return text;
}

// As the golden files list them: layer, weight, shape, whether it is trained.
std::string WeightsOf(const Model& model) {
  std::string text;
  for (const Layer& layer : model.layers()) {
    for (const Weight& weight : layer.weights()) {
      absl::StrAppend(&text, layer.name(), "  ", weight.name(), ":0  [", absl::StrJoin(weight.shape(), ", "), "]  ",
                      weight.trainable() ? "trainable" : "fixed", "\n");
    }
  }
  return text;
}

TEST(ApplicationsTest, Vgg16IsThatOfKeras) {
  ClearSession();
  const Model model = VGG16({.include_top = false});
  EXPECT_EQ(SummaryOf(model), Golden("vgg16.txt"));
  EXPECT_EQ(WeightsOf(model), Golden("vgg16.names.txt"));
  EXPECT_THAT(SummaryOf(VGG16()), testing::HasSubstr("Total params: 138357544 ("));
}

TEST(ApplicationsTest, ResNet50IsThatOfKeras) {
  ClearSession();
  const Model model = ResNet50({.include_top = false});
  EXPECT_EQ(SummaryOf(model), Golden("resnet50.txt"));
  EXPECT_EQ(WeightsOf(model), Golden("resnet50.names.txt"));
  EXPECT_THAT(SummaryOf(ResNet50()), testing::HasSubstr("Total params: 25636712 ("));
}

TEST(ApplicationsTest, EfficientNetLite0HasItsWeights) {
  ClearSession();
  const Model model = EfficientNetLite0();
  ASSERT_TRUE(model.status().ok()) << model.status();
  int64_t numbers = 0;
  for (const Weight& weight : model.weights()) numbers += NumElements(weight.shape());
  EXPECT_EQ(numbers, 4694024);
  EXPECT_EQ(model.weights().size(), 49u + 4 * 49 + 2) << "convolutions, their norms, and the classifier";
}

TEST(ApplicationsTest, WeightsComeFromAFile) {
  const std::string path = ::testing::TempDir() + "/lite0.weights.h5";
  const ApplicationOptions small = {.include_top = false, .input_shape = {32, 32, 3}};
  const Model saved = EfficientNetLite0(small);
  ASSERT_EQ(saved.SaveWeights(path), absl::OkStatus());
  ApplicationOptions from_file = small;
  from_file.weights = path;
  utils::SetRandomSeed(5);  // other first values
  const Model loaded = EfficientNetLite0(from_file);
  utils::SetRandomSeed(0);
  ASSERT_EQ(loaded.status(), absl::OkStatus());
  const std::vector<Weight> a = saved.weights(), b = loaded.weights();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].Value()->BitEqual(*b[i].Value())) << a[i].name();
  from_file.weights = path + ".gone.h5";
  EXPECT_THAT(VGG16(from_file).status().message(), testing::HasSubstr("gone.h5"));
  from_file.weights = path;
  EXPECT_THAT(VGG16(from_file).status().message(),
              testing::AllOf(testing::HasSubstr("applications_test.cc:"), testing::HasSubstr("block1_conv1")));
}

TEST(ApplicationsTest, SaysWhatIsWrong) {
  EXPECT_THAT(VGG16({.include_top = false, .pooling = "sum"}).status().message(), testing::HasSubstr("`pooling`"));
  EXPECT_THAT(ResNet50({.classifier_activation = "softmaks"}).status().message(), testing::HasSubstr("softmaks"));
  EXPECT_FALSE(VGG16({.input_shape = {16, 16, 3}}).status().ok());
}

TEST(ApplicationsTest, PreprocessesAndDecodes) {
  HostTensor pixel = HostTensor::FromVector<float>({1, 1, 1, 3}, {10, 20, 30});
  ASSERT_TRUE(PreprocessInput(&pixel).ok());
  EXPECT_FLOAT_EQ(pixel.data<float>()[0], 30 - 103.939f);
  EXPECT_FLOAT_EQ(pixel.data<float>()[1], 20 - 116.779f);
  EXPECT_FLOAT_EQ(pixel.data<float>()[2], 10 - 123.68f);
  const auto decoded = DecodePredictions(HostTensor::FromVector<float>({1, 3}, {0.2, 0.7, 0.1}), {"a", "b", "c"}, 2);
  ASSERT_TRUE(decoded.ok());
  ASSERT_EQ((*decoded)[0].size(), 2u);
  EXPECT_EQ((*decoded)[0][0].name, "b");
  EXPECT_EQ((*decoded)[0][1].label, 0);
}

}  // namespace
}  // namespace tandem::keras::applications
