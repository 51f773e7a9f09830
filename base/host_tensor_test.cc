#include "base/host_tensor.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "base/user_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

// Elements. Pages of the first two are kept when a tensor is gone; those of the last are too many.
constexpr int64_t kSizes[] = {int64_t{1} << 20, (int64_t{1} << 20) + 4, int64_t{5} << 20};

HostTensor Filled(int64_t elements, int32_t value) {
  HostTensor t(DType::kInt32, {elements});
  std::fill(t.data<int32_t>(), t.data<int32_t>() + elements, value);
  return t;
}

bool HasOnly(const HostTensor& t, int32_t value) {
  const int32_t* data = t.data<int32_t>();
  return std::all_of(data, data + t.num_elements(), [&](int32_t v) { return v == value; });
}

TEST(HostTensorTest, LargeTensorsThatLiveTogetherShareNoMemory) {
  for (int64_t elements : kSizes) {
    for (int round = 0; round < 3; ++round) {
      std::vector<HostTensor> tensors;
      for (int32_t i = 0; i < 5; ++i) tensors.push_back(Filled(elements, i));
      std::set<const void*> places;
      for (int32_t i = 0; i < 5; ++i) {
        EXPECT_TRUE(HasOnly(tensors[i], i)) << elements << " " << round;
        places.insert(tensors[i].raw());
      }
      EXPECT_EQ(places.size(), 5u);
    }
  }
}

TEST(HostTensorTest, ZerosAreZeroInMemoryThatHeldATensor) {
  for (int64_t elements : kSizes) {
    EXPECT_TRUE(HasOnly(Filled(elements, 7), 7));
    EXPECT_TRUE(HasOnly(HostTensor::Zeros(DType::kInt32, {elements}), 0));
  }
}

TEST(HostTensorTest, ATensorMadeAgainHasItsPages) {
  HostTensor first = Filled(kSizes[0], 1);
  const void* place = first.raw();
  first = HostTensor();
  EXPECT_EQ(Filled(kSizes[0], 2).raw(), place);
}

TEST(HostTensorTest, LargeTensorsAreMadeAndFreedByAnyThread) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &wrong] {
      HostTensor before = Filled(kSizes[0], -1 - t);
      for (int32_t i = 0; i < 20; ++i) {
        HostTensor next = Filled(kSizes[i % 2], 4 * i + t);
        wrong[t] += !HasOnly(before, i == 0 ? -1 - t : 4 * (i - 1) + t);
        before = std::move(next);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

// The message of a tensor that could not be made, without the path of this file; "" for one that could.
std::string Problem(const HostTensor& t) {
  const std::string text(t.status().message());
  const size_t at = text.find("host_tensor_test.cc:");
  EXPECT_EQ(t.empty(), !t.status().ok());
  return at == std::string::npos ? text : text.substr(text.find(": ", at) + 2);
}

TEST(HostTensorTest, AVectorOfAnotherLengthMakesNoTensor) {
  const std::vector<float> four = {1, 2, 3, 4};
  EXPECT_EQ(Problem(HostTensor::FromVector<float>({2, 2}, four)), "");
  EXPECT_EQ(Problem(HostTensor::FromVector<float>({2, 3}, four)),
            "HostTensor::FromVector: the shape [2,3] has 6 elements, but 4 values are given");
  EXPECT_EQ(Problem(HostTensor::FromVector<float>({3}, four)),
            "HostTensor::FromVector: the shape [3] has 3 elements, but 4 values are given");
  EXPECT_EQ(Problem(HostTensor::FromVector<int64_t>({}, {1, 2})),
            "HostTensor::FromVector: the shape [] has 1 elements, but 2 values are given");
  EXPECT_EQ(Problem(HostTensor::FromVector<bool>({2}, {true, false})), "");
}

TEST(HostTensorTest, ShapesThatCannotBeMakeNoTensor) {
  const char kWhy[] = ": sizes must be >= 0, and all elements fit into memory";
  const std::string what = "HostTensor: a tensor cannot have the shape ";
  EXPECT_EQ(Problem(HostTensor(DType::kFloat32, {2, -1})), what + "[2,-1]" + kWhy);
  EXPECT_EQ(Problem(HostTensor(DType::kFloat32, {0, -1})), what + "[0,-1]" + kWhy);
  EXPECT_EQ(Problem(HostTensor::Zeros(DType::kInt64, {int64_t{1} << 40, int64_t{1} << 40})),
            what + "[1099511627776,1099511627776]" + kWhy);
  EXPECT_EQ(Problem(HostTensor(DType::kFloat32, {0, int64_t{1} << 62, int64_t{1} << 62})), "");
  EXPECT_EQ(Problem(HostTensor(DType::kInvalid, {2})), "HostTensor: a tensor needs an element type");
  EXPECT_EQ(Problem(HostTensor::Zeros(DType::kFloat32, {2, 3}).Reshaped({6})), "");
  EXPECT_EQ(Problem(HostTensor::Zeros(DType::kFloat32, {2, 3}).Reshaped({5})),
            "HostTensor::Reshaped: a tensor of shape [2,3] cannot have the shape [5]: the numbers of elements differ");
}

TEST(HostTensorTest, AnErrorStaysWithCopies) {
  const HostTensor bad = HostTensor::FromVector<float>({2}, {1});
  EXPECT_EQ(bad.Clone().status(), bad.status());
  EXPECT_EQ(bad.Reshaped({1}).status(), bad.status());
  EXPECT_EQ(bad.raw(), nullptr);
  EXPECT_EQ(bad.num_elements(), 0);
  EXPECT_TRUE(HostTensor().status().ok());
  EXPECT_TRUE(HostTensor().BitEqual(HostTensor()));
}

TEST(HostTensorTest, ThereIsNoPointerToElementsOfAnotherType) {
  HostTensor t = HostTensor::FromVector<int32_t>({2}, {5, 6});
  {
    LogCapture log;
    EXPECT_EQ(t.data<float>()[1], 0);
    EXPECT_THAT(log.Text(LogSeverity::kError),
                MatchesRegex(".*host_tensor_test.cc:[0-9]+: HostTensor::data<float>: the tensor is int32 \\[2\\]; "
                             "ask for data<int32_t>\\(\\)\n"));
  }
  // In a function of a user it is that function's error, and the numbers stay what they are.
  LogCapture log;
  const absl::Status status = CallUserCode([&] {
    t.data<double>()[1] = 7;
    EXPECT_EQ(t.values<int64_t>().size(), 2u);
  });
  EXPECT_THAT(status.message(), HasSubstr("HostTensor::data<double>: the tensor is int32 [2]"));
  EXPECT_EQ(log.Text(LogSeverity::kError), "");
  EXPECT_EQ(t.values<int32_t>()[1], 6);
  EXPECT_EQ(HostTensor::FromVector<bool>({2}, {true, false}).data<uint8_t>()[0], 1);
}

TEST(HostTensorTest, AnErrorIsTheErrorOfWhoReadsIt) {
  const HostTensor bad = HostTensor::FromVector<float>({2}, {1});
  EXPECT_EQ(CallUserCode([&] { EXPECT_EQ(bad.data<float>()[1], 0); }), bad.status());
  EXPECT_EQ(CallUserCode([&] { EXPECT_EQ(bad.values<float>().size(), 0u); }), bad.status());
}

TEST(HostTensorTest, HoldsStrings) {
  const std::vector<std::string> strings = {"a", "", std::string("b\0c", 3),
                                            "a longer one that fits into no small buffer"};
  HostTensor t = HostTensor::FromStrings({2, 2}, strings);
  ASSERT_TRUE(t.status().ok()) << t.status();
  EXPECT_EQ(t.dtype(), DType::kString);
  EXPECT_EQ(t.shape(), (Shape{2, 2}));
  for (size_t i = 0; i < strings.size(); ++i) EXPECT_EQ(t.string(i), strings[i]);
  EXPECT_EQ(t.string(4), "");
  EXPECT_EQ(t.string(-1), "");
  HostTensor copy = t.Clone();
  EXPECT_NE(copy.raw(), t.raw());
  EXPECT_TRUE(copy.BitEqual(t));
  EXPECT_EQ(copy.string(3), strings[3]);
  EXPECT_EQ(t.Reshaped({4}).string(2), strings[2]);
  EXPECT_FALSE(t.BitEqual(HostTensor::FromStrings({2, 2}, std::vector<std::string>{"a", "", "b", "c"})));
  // The same bytes, divided differently.
  EXPECT_FALSE(HostTensor::FromStrings({2}, std::vector<std::string>{"ab", "c"})
                   .BitEqual(HostTensor::FromStrings({2}, std::vector<std::string>{"a", "bc"})));
  EXPECT_EQ(HostTensor::String("x").string(), "x");
  EXPECT_EQ(HostTensor(DType::kString, {3}).string(2), "");
  EXPECT_TRUE(HostTensor::Zeros(DType::kString, {3}).BitEqual(HostTensor(DType::kString, {3})));
  EXPECT_EQ(HostTensor(DType::kString, {0}).num_elements(), 0);
  EXPECT_THAT(CallUserCode([&] { t.data<uint8_t>(); }).message(), HasSubstr("ask for string()"));
  EXPECT_EQ(HostTensor::Scalar<int64_t>(3).string(), "");
  EXPECT_FALSE(HostTensor::FromStrings({3}, strings).status().ok());
  EXPECT_FALSE(HostTensor(DType::kString, {-1}).status().ok());
  EXPECT_FALSE(HostTensor(DType::kString, {int64_t{1} << 40, int64_t{1} << 40}).status().ok());
}

}  // namespace
}  // namespace tandem
