#include "base/host_tensor.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace tandem {
namespace {

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

}  // namespace
}  // namespace tandem
