#include "estimator/parameter_server/rows.h"

#include <grpcpp/grpcpp.h>

#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"
#include "estimator/parameter_server/messages.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

constexpr int64_t kRows = 100, kColumns = 64;
const RowLayout kLayout = RowLayoutOf(DType::kFloat32, {kRows, kColumns});

// What UnpackRows makes of bytes.
absl::Status Unpack(const std::string& packed, int64_t count, std::vector<float>* tensor, RowNumbers* numbers) {
  parameters::Request head;
  const grpc::ByteBuffer frame = FrameWithCopies(head, {{packed.data(), packed.size()}});
  FrameReader reader;
  EXPECT_TRUE(reader.Open(frame, &head).ok());
  EXPECT_EQ(reader.left(), kLayout.packed_bytes(count));
  return UnpackRows(reader, kLayout, count, tensor->data(), numbers);
}

TEST(Rows, LargeMatricesHaveThem) {
  EXPECT_EQ(kLayout.rows, kRows);
  EXPECT_EQ(kLayout.row_bytes, kColumns * 4);
  EXPECT_EQ(RowLayoutOf(DType::kInt64, {10, 30, 40}).row_bytes, 30 * 40 * 8);
  for (const Shape& shape :
       std::vector<Shape>{{}, {100000}, {4, 4}, {1, 100000}, {100000, 2}, {0, 100000}, {5000000000, 8}}) {
    EXPECT_EQ(RowLayoutOf(DType::kFloat32, shape).rows, 0) << ShapeString(shape);
    EXPECT_EQ(NonZeroRows(nullptr, RowLayoutOf(DType::kFloat32, shape)), std::nullopt);
  }
}

TEST(Rows, ZerosStayAwayUnlessTheyAreFew) {
  std::vector<float> tensor(kRows * kColumns, 0);
  EXPECT_THAT(NonZeroRows(tensor.data(), kLayout), Optional(ElementsAre()));
  tensor[3 * kColumns] = 1;
  tensor[99 * kColumns + 63] = -0.f;  // a bit that is not zero
  EXPECT_THAT(NonZeroRows(tensor.data(), kLayout), Optional(ElementsAre(3, 99)));
  for (int64_t row = 0; row < 73; ++row) tensor[row * kColumns + 7] = 1;
  EXPECT_EQ(NonZeroRows(tensor.data(), kLayout), std::nullopt) << "74 rows with numbers are over three quarters";
}

TEST(Rows, ArriveWhereTheyWere) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> tensor(kRows * kColumns, 0);
    for (uint64_t n = random() % 60; n > 0; --n) tensor[random() % tensor.size()] = static_cast<float>(random());
    const std::optional<RowNumbers> rows = NonZeroRows(tensor.data(), kLayout);
    ASSERT_TRUE(rows.has_value());
    const std::string packed = PackRows(tensor.data(), kLayout, *rows);
    std::vector<float> arrived(tensor.size(), 0);
    RowNumbers numbers;
    ASSERT_TRUE(Unpack(packed, static_cast<int64_t>(rows->size()), &arrived, &numbers).ok());
    EXPECT_EQ(arrived, tensor);
    EXPECT_EQ(numbers, *rows);
  }
}

TEST(Rows, DamagedNumbersWriteNothing) {
  const std::vector<float> ones(kRows * kColumns, 1);
  for (const RowNumbers& bad : std::vector<RowNumbers>{{5, 5}, {6, 5}, {0, 100}, {4294967295u, 1}}) {
    const std::string packed = PackRows(ones.data(), kLayout, {1, 2});
    std::string damaged = packed;
    std::memcpy(damaged.data(), bad.data(), bad.size() * sizeof(uint32_t));
    std::vector<float> arrived(ones.size(), 0);
    RowNumbers numbers;
    const absl::Status status = Unpack(damaged, 2, &arrived, &numbers);
    EXPECT_THAT(std::string(status.message()), HasSubstr("of a tensor of 100 rows"));
    EXPECT_THAT(arrived, ::testing::Each(0));
  }
}

TEST(Rows, ChangesAreThoseSinceAVersion) {
  std::vector<float> tensor(kRows * kColumns, 1);
  RowVersions versions(tensor.data(), kLayout, 10);
  EXPECT_THAT(versions.ChangedAfter(10), Optional(ElementsAre()));
  EXPECT_EQ(versions.ChangedAfter(9), std::nullopt) << "all rows, as far as is known";
  tensor[5 * kColumns + 1] = 2;
  tensor[7 * kColumns] = -1;
  versions.Update(tensor.data(), 11);
  tensor[7 * kColumns] = 1;  // back to what it was: a change
  tensor[9 * kColumns + 63] = 3;
  versions.Update(tensor.data(), 12);
  versions.Update(tensor.data(), 13);
  EXPECT_THAT(versions.ChangedAfter(10), Optional(ElementsAre(5, 7, 9)));
  EXPECT_THAT(versions.ChangedAfter(11), Optional(ElementsAre(7, 9)));
  EXPECT_THAT(versions.ChangedAfter(12), Optional(ElementsAre()));
}

}  // namespace
}  // namespace tandem
