// Sums of rows by index against tables per lane that the reduction tree combines.
#include "runtime/cpu/kernels/scatter_add.h"

#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/collectives/reduction_tree.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

constexpr int64_t kRows = 7, kWidth = 5;

struct Data {
  std::vector<float> updates;
  std::vector<int32_t> indices;
};

// Indices from -1 to kRows: some rows get many updates, some none, and some updates belong to no row.
Data MakeData(int64_t count) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::uniform_int_distribution<int32_t> index(-1, kRows);
  Data data;
  for (int64_t i = 0; i < count; ++i) {
    int32_t k = index(random);
    data.indices.push_back(k == 3 ? 2 : k);
    for (int64_t c = 0; c < kWidth; ++c) data.updates.push_back(uniform(random));
  }
  return data;
}

// One table per lane; a lane without positions is absent.
std::vector<float> TablesPerLane(const Data& data, int64_t lane_count, int64_t lanes) {
  const int64_t count = static_cast<int64_t>(data.indices.size());
  std::vector<std::vector<float>> tables(lanes, std::vector<float>(kRows * kWidth));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = data.indices[i];
    if (k < 0 || k >= kRows) continue;
    for (int64_t c = 0; c < kWidth; ++c) tables[i / lane_count][k * kWidth + c] += data.updates[i * kWidth + c];
  }
  std::vector<const void*> leaves;
  for (int64_t l = 0; l < lanes; ++l) leaves.push_back(l * lane_count < count ? tables[l].data() : nullptr);
  std::vector<float> out(kRows * kWidth);
  TreeReduce(format::ReduceKind::kSum, DType::kFloat32, leaves, out.data(), static_cast<int64_t>(out.size()));
  return out;
}

ScatterSource SourceOf(const Data& data) {
  ScatterSource source;
  source.updates = data.updates.data();
  source.indices = data.indices.data();
  source.count = static_cast<int64_t>(data.indices.size());
  source.width = kWidth;
  return source;
}

TEST(ScatterAdd, HasTheBitsOfTablesPerLane) {
  for (int64_t lanes : {1, 2, 3, 4, 8}) {
    for (int64_t count : {1, 13, 64}) {
      Data data = MakeData(count);
      ScatterSource source = SourceOf(data);
      source.lane_count = (64 + lanes - 1) / lanes;
      source.lanes = lanes;
      const std::vector<float> want = TablesPerLane(data, source.lane_count, lanes);
      std::vector<float> got(kRows * kWidth, -99);
      // In pieces of any size.
      ScatterAddRows(source, 0, 2, got.data());
      ScatterAddRows(source, 2, 6, got.data());
      ScatterAddRows(source, 6, kRows, got.data());
      EXPECT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(float)), 0)
          << lanes << " lanes, " << count << " rows";
    }
  }
}

TEST(ScatterAdd, OtherTypes) {
  const std::vector<double> updates = {1, 2, 4, 8};
  const std::vector<int64_t> indices = {1, 0, 1, int64_t{1} << 40};
  ScatterSource source;
  source.updates = updates.data();
  source.indices = indices.data();
  source.dtype = DType::kFloat64;
  source.index_dtype = DType::kInt64;
  source.count = 4;
  source.width = 1;
  std::vector<double> got(2, -1);
  ScatterAddRows(source, 0, 2, got.data());
  EXPECT_EQ(got, (std::vector<double>{2, 5}));
}

}  // namespace
}  // namespace tandem
