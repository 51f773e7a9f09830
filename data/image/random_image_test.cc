#include "data/image/random_image.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "data/image/color.h"
#include "data/image/flip.h"
#include "data/image/test_util.h"

namespace tandem {
namespace {

// Every pixel has another value.
HostTensor Picture() {
  HostTensor image(DType::kFloat32, {5, 6, 3});
  for (int64_t i = 0; i < image.num_elements(); ++i) image.data<float>()[i] = i / 100.0f;
  return image;
}

using Change = absl::StatusOr<HostTensor> (*)(const HostTensor&, const ExampleKey&);

const std::map<std::string, Change>& Changes() {
  static const auto* changes = new std::map<std::string, Change>{
      {"flip left right", [](const HostTensor& t, const ExampleKey& k) { return RandomFlipLeftRight(t, k); }},
      {"flip up down", [](const HostTensor& t, const ExampleKey& k) { return RandomFlipUpDown(t, k); }},
      {"crop", [](const HostTensor& t, const ExampleKey& k) { return RandomCrop(t, 2, 2, k); }},
      {"brightness", [](const HostTensor& t, const ExampleKey& k) { return RandomBrightness(t, 0.3f, k); }},
      {"hue", [](const HostTensor& t, const ExampleKey& k) { return RandomHue(t, 0.3f, k); }},
      {"contrast", [](const HostTensor& t, const ExampleKey& k) { return RandomContrast(t, 0.5f, 1.5f, k); }},
      {"saturation", [](const HostTensor& t, const ExampleKey& k) { return RandomSaturation(t, 0.5f, 1.5f, k); }},
      {"rotate", [](const HostTensor& t, const ExampleKey& k) { return RandomRotate(t, 0.5f, k); }}};
  return *changes;
}

TEST(RandomImage, DependsOnEachPartOfTheKeyAndOnNothingElse) {
  const HostTensor image = Picture();
  for (const auto& [name, change] : Changes()) {
    const auto first = change(image, {});
    ASSERT_TRUE(first.ok()) << first.status();
    // For each part of the key, some of 64 values give another result.
    std::vector<int> different(5);
    for (int i = 1; i <= 64; ++i) {
      const ExampleKey keys[] = {{.seed = static_cast<uint64_t>(i)},
                                 {.epoch = i},
                                 {.example = i},
                                 {.example = int64_t{i} << 32},
                                 {.stream = static_cast<uint32_t>(i)}};
      for (int k = 0; k < 5; ++k) {
        const auto once = change(image, keys[k]), again = change(image, keys[k]);
        ASSERT_TRUE(once.ok() && again.ok()) << name;
        EXPECT_TRUE(once->BitEqual(*again)) << name;
        different[k] += !once->BitEqual(*first);
      }
    }
    for (int k = 0; k < 5; ++k) EXPECT_GT(different[k], 15) << name << " " << k;
  }
}

// The values that a training has drawn stay those of later versions.
TEST(RandomImage, DrawsStay) {
  // testdata/draws.py
  EXPECT_EQ(RandomUniform({}, 0, 1), 0xe95d99.0p-24f);
  EXPECT_EQ(RandomUniform({.seed = 1, .epoch = 2, .example = 3}, 0, 1), 0x5570d9.0p-24f);
  EXPECT_EQ(RandomUniform({uint64_t{1} << 40, 5, int64_t{1} << 33, 7}, 0, 1), 0x477dfc.0p-24f);
}

TEST(RandomImage, Uniform) {
  // Mean and variance of 100,000 draws of [2, 5): 3.5 and 0.75, to five standard errors.
  double sum = 0, squares = 0;
  const int n = 100000;
  for (int i = 0; i < n; ++i) {
    const float v = RandomUniform({.seed = 7, .example = i}, 2, 5);
    ASSERT_TRUE(v >= 2 && v < 5) << v;
    sum += v;
    squares += (v - 3.5) * (v - 3.5);
  }
  EXPECT_NEAR(sum / n, 3.5, 5 * std::sqrt(0.75 / n));
  EXPECT_NEAR(squares / n, 0.75, 5 * std::sqrt(0.45 / n));
}

TEST(RandomImage, FlipsHalfOfThemIndependently) {
  const HostTensor image = Picture();
  const auto flipped = FlipLeftRight(image);
  ASSERT_TRUE(flipped.ok());
  int left_right = 0, both = 0;
  const int n = 4000;
  for (int i = 0; i < n; ++i) {
    const auto a = RandomFlipLeftRight(image, {.example = i}), b = RandomFlipUpDown(image, {.example = i});
    ASSERT_TRUE(a.ok() && b.ok());
    const bool changed = !a->BitEqual(image);
    if (changed) {
      EXPECT_TRUE(a->BitEqual(*flipped));
    }
    left_right += changed;
    both += changed && !b->BitEqual(image);
  }
  // Five standard deviations.
  EXPECT_NEAR(left_right, n / 2, 5 * std::sqrt(n / 4.0));
  EXPECT_NEAR(both, n / 4, 5 * std::sqrt(n * 3 / 16.0));
}

TEST(RandomImage, CropsAreEverywhere) {
  const HostTensor image = Picture();
  std::map<float, int> corners;
  const int n = 4000;
  for (int i = 0; i < n; ++i) {
    const auto part = RandomCrop(image, 3, 4, {.example = i});
    ASSERT_TRUE(part.ok());
    ASSERT_EQ(part->shape(), (Shape{3, 4, 3}));
    ++corners[part->values<float>()[0]];
  }
  ASSERT_EQ(corners.size(), 9u);  // 3 x 3 places
  for (const auto& [value, count] : corners) EXPECT_NEAR(count, n / 9.0, 5 * std::sqrt(n / 9.0)) << value;
}

// The change is that of the function that is named, by an amount within the range.
TEST(RandomImage, AmountsAreWithinTheirRange) {
  const HostTensor image = Picture();
  for (int i = 0; i < 200; ++i) {
    const auto bright = RandomBrightness(image, 0.25f, {.example = i});
    ASSERT_TRUE(bright.ok());
    const float delta = bright->values<float>()[0];  // of a pixel of value 0
    EXPECT_TRUE(delta >= -0.25f && delta < 0.25f) << delta;
    EXPECT_TRUE(bright->BitEqual(*AdjustBrightness(image, delta)));
  }
}

TEST(RandomImage, WrongArguments) {
  const absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  const HostTensor image = Picture();
  ExpectError(RandomCrop(image, 6, 1, {}).status(), code, "random_image_test.cc:");
  ExpectError(RandomCrop(image, 6, 1, {}).status(), code, "a part of 6 x 1 pixels of an image of shape [5,6,3]");
  ExpectError(RandomBrightness(image, -1, {}).status(), code, "max_delta is -1; it must be finite and >= 0");
  ExpectError(RandomHue(image, 0.6f, {}).status(), code, "and <= 0.5");
  ExpectError(RandomContrast(image, 2, 1, {}).status(), code, "the range is [2, 1)");
  ExpectError(RandomSaturation(image, -1, 1, {}).status(), code, "the range is [-1, 1)");
  ExpectError(RandomRotate(image, NAN, {}).status(), code, "max_radians is nan");
  ExpectError(RandomFlipLeftRight(HostTensor(), {}).status(), code, "RandomFlipLeftRight at ");
}

}  // namespace
}  // namespace tandem
