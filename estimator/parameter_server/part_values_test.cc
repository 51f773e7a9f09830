// Where values of parameter servers arrive in a worker's store, and answers that are not as they should be.
#include "estimator/parameter_server/part_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/host_tensor.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kRows = 128, kColumns = 64;  // of each half: 32 KiB
constexpr size_t kRowBytes = kColumns * 4, kHalf = kRows * kRowBytes;

class PartValuesTest : public ::testing::Test {
 protected:
  PartValuesTest() : store_(/*num_devices=*/2) {
    EXPECT_TRUE(store_.Create({.name = "bias", .dtype = DType::kFloat32, .shape = {2}}).ok());
    EXPECT_TRUE(store_.Create({.name = "table", .dtype = DType::kFloat32, .shape = {2 * kRows, kColumns}}).ok());
  }

  absl::Status Write(const parameters::Reply& head, const std::string& bytes) {
    const grpc::ByteBuffer frame = FrameWithCopies(head, {{bytes.data(), bytes.size()}});
    FrameReader tensors;
    parameters::Reply reply;
    EXPECT_TRUE(tensors.Open(frame, &reply).ok());
    return WriteParts(parts_, reply.rows(), tensors, store_);
  }
  void ExpectRefused(const parameters::Reply& head, const std::string& bytes, const std::string& text) {
    const std::string before = BytesOf("table", 0);
    const absl::Status status = Write(head, bytes);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
    EXPECT_EQ(BytesOf("table", 0), before);
    EXPECT_EQ(BytesOf("bias", 0), std::string(8, '\0'));
  }
  std::string BytesOf(const std::string& variable, int device) const {
    const size_t size = variable == "bias" ? 8 : 2 * kHalf;
    return std::string(static_cast<const char*>(store_.Buffer(variable, device)), size);
  }
  static parameters::Reply WithRows(int64_t tensor, int64_t count) {
    parameters::Reply reply;
    reply.add_rows()->set_tensor(tensor);
    reply.mutable_rows(0)->set_count(count);
    return reply;
  }

  VariableStore store_;
  // The second half of the table, and the bias.
  const std::vector<PlacedPart> parts_ = {{.variable = "table", .server = 1, .first_row = kRows, .rows = kRows},
                                          {.variable = "bias", .server = 1}};
};

TEST_F(PartValuesTest, WholeValuesGoToAllCopies) {
  ASSERT_TRUE(Write({}, std::string(kHalf, 't') + "12345678").ok());
  for (int device : {0, 1}) {
    EXPECT_EQ(BytesOf("table", device), std::string(kHalf, '\0') + std::string(kHalf, 't'));
    EXPECT_EQ(BytesOf("bias", device), "12345678");
  }
}

TEST_F(PartValuesTest, RowsGoToTheirPlacesAndOthersStay) {
  ASSERT_TRUE(Write({}, std::string(kHalf, 't') + "12345678").ok());
  const uint32_t numbers[] = {1, kRows - 1};
  const std::string packed(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  ASSERT_TRUE(Write(WithRows(0, 2), packed + std::string(2 * kRowBytes, 'r') + "abcdefgh").ok());
  std::string table(2 * kHalf, '\0');
  table.replace(kHalf, kHalf, kHalf, 't');
  table.replace(kHalf + kRowBytes, kRowBytes, kRowBytes, 'r');
  table.replace(2 * kHalf - kRowBytes, kRowBytes, kRowBytes, 'r');
  for (int device : {0, 1}) {
    EXPECT_EQ(BytesOf("table", device), table);
    EXPECT_EQ(BytesOf("bias", device), "abcdefgh");
  }
}

TEST_F(PartValuesTest, AnswersOfAnotherLengthAreRefused) {
  ExpectRefused({}, std::string(kHalf, 't'), "a server sent 32768 bytes of values in place of 32776");
  ExpectRefused({}, std::string(kHalf + 9, 't'), "a server sent 32777 bytes of values in place of 32776");
  ExpectRefused(WithRows(0, 2), std::string(kHalf + 8, 't'), "a server sent 32776 bytes of values in place of 528");
}

TEST_F(PartValuesTest, RowsThatAPartDoesNotHaveAreRefused) {
  const std::string whole(kHalf + 8, 't');
  ExpectRefused(WithRows(2, 1), whole, "a server sent rows of its value 2, and there are 2");
  ExpectRefused(WithRows(-1, 1), whole, "a server sent rows of its value -1, and there are 2");
  ExpectRefused(WithRows(0, kRows + 1), whole, "a server sent 129 rows of table[128:256]");
  ExpectRefused(WithRows(0, -1), whole, "a server sent -1 rows of table[128:256]");
  ExpectRefused(WithRows(1, 1), whole, "a server sent 1 rows of bias");
  parameters::Reply twice = WithRows(0, 1);
  *twice.add_rows() = twice.rows(0);
  ExpectRefused(twice, whole, "a server sent 1 rows of table[128:256] a second time");
}

TEST_F(PartValuesTest, RowsThatDoNotAscendAreRefused) {
  const uint32_t numbers[] = {7, 7};
  const std::string packed(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  const absl::Status status = Write(WithRows(0, 2), packed + std::string(2 * kRowBytes, 'r') + "abcdefgh");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("row 7 behind row 7"));
}

TEST_F(PartValuesTest, APartThatIsNotInTheStoreIsAnError) {
  const absl::Status status =
      MemoryOf({.variable = "table", .server = 0, .first_row = kRows, .rows = kRows + 1}, store_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("there is no table[128:257] of [256,64]"));
}

}  // namespace
}  // namespace tandem
