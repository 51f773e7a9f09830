#include "estimator/checkpoint/safetensors.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "base/exit_code.h"
#include "base/philox.h"
#include "base/sanitizers.h"
#include "estimator/checkpoint/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

std::string Bytes(const TensorMap& tensors, const MetadataMap& metadata = {}) {
  auto image = SerializeSafetensors(tensors, metadata);
  EXPECT_TRUE(image.ok()) << image.status();
  std::string bytes;
  for (absl::string_view piece : image->Pieces()) bytes.append(piece.data(), piece.size());
  return bytes;
}

// A file with this header and so many bytes of data.
std::string FileWith(std::string json, size_t data_size) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(json.size() >> (8 * i)));
  return bytes + json + std::string(data_size, '\0');
}

absl::Status OpenBytes(const std::string& bytes) {
  std::string path = JoinPath(testing::TempDir(), "x.safetensors");
  Overwrite(path, bytes);
  return SafetensorsReader::Open(Env::Default(), path).status();
}

TEST(SafetensorsTest, GoldenBytes) {
  TensorMap tensors = {{"w", HostTensor::FromVector<float>({2}, {1, 2})}};
  EXPECT_EQ(Bytes(tensors), std::string("\x38\0\0\0\0\0\0\0"
                                        "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}  "
                                        "\0\0\x80\x3f\0\0\0\x40",
                                        72));
}

TEST(SafetensorsTest, CanonicalOrderIsByTypeThenName) {
  TensorMap tensors = {
      {"a", HostTensor::FromVector<uint8_t>({1}, {7})},
      {"b", HostTensor::FromVector<float>({1}, {1})},
      {"c", HostTensor::Scalar<int64_t>(-2)},
      {"d", HostTensor::Scalar<double>(0.5)},
      {"e", HostTensor::FromVector<int32_t>({1}, {-1})},
      {"f", HostTensor::Scalar<bool>(true)},
      {"B", HostTensor::FromVector<float>({0, 3}, {})},
  };
  std::string bytes = Bytes(tensors, {{"z", "1"}, {"format", "p\"t\n\xc3\xa9"}});
  std::string header = bytes.substr(8, bytes.find_last_of('}') - 7);
  EXPECT_EQ(header,
            "{\"__metadata__\":{\"format\":\"p\\\"t\\n\xc3\xa9\",\"z\":\"1\"},"
            "\"c\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},"
            "\"d\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[8,16]},"
            "\"B\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[16,16]},"
            "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[16,20]},"
            "\"e\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[20,24]},"
            "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[24,25]},"
            "\"f\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[25,26]}}");
  EXPECT_EQ(static_cast<unsigned char>(bytes[0]) % 8, 0);

  std::string path = JoinPath(testing::TempDir(), "all.safetensors");
  Overwrite(path, bytes);
  auto reader = SafetensorsReader::Open(Env::Default(), path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->metadata().at("format"), "p\"t\n\xc3\xa9");
  ASSERT_EQ((*reader)->entries().size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    auto read = (*reader)->Read(name);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(read->BitEqual(tensor)) << name;
  }
  EXPECT_TRUE(absl::IsNotFound((*reader)->Read("absent").status()));
}

TEST(SafetensorsTest, EmptyMapAndFileRoundTrip) {
  EXPECT_EQ(Bytes({}), std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  std::string path = JoinPath(testing::TempDir(), "empty.safetensors");
  ASSERT_TRUE(WriteSafetensors(Env::Default(), path, {}).ok());
  EXPECT_EQ(ReadSafetensors(Env::Default(), path)->size(), 0u);
}

TEST(SafetensorsTest, WhatCannotBeWrittenIsRefused) {
  HostTensor t = HostTensor::Scalar<float>(1);
  EXPECT_TRUE(absl::IsInvalidArgument(SerializeSafetensors({{"x", HostTensor()}}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(SerializeSafetensors({{"__metadata__", t}}).status()));
  absl::Status status = SerializeSafetensors({{"bad\xff", t}}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(status.message(), "\"bad\\xff\" is not UTF-8 text");
}

struct BadHeader {
  const char* json;
  size_t data_size;
  const char* message;
};

TEST(SafetensorsTest, EveryRuleIsChecked) {
  const BadHeader kCases[] = {
      {"", 0, "does not begin with '{'"},
      {" {}", 0, "does not begin with '{'"},
      {"[1]", 0, "does not begin with '{'"},
      {"{\"a\":", 0, "offset 13: the header is not valid JSON"},
      {"{} x", 0, "not valid JSON"},
      {"{\"a\xff\":1}", 0, "not valid JSON"},
      {"{\"a\":null}", 0, "tensor \"a\": null where an object is needed"},
      {"{\"a\":3}", 0, "a number where an object"},
      {"{\"a\":[]}", 0, "an array"},
      {"{\"a\":{}}", 0, "tensor \"a\": no \"dtype\""},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, "no \"data_offsets\""},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}", 8, "unknown key \"x\""},
      {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
       "\"dtype\" is there twice"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
       "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
       8, "tensor \"a\": it is there twice"},
      {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "\"__metadata__\": it is there twice"},
      {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0, "key \"a\" is there twice"},
      {"{\"__metadata__\":{\"a\":1}}", 0, "a number does not belong at \"a\""},
      {"{\"__metadata__\":{\"a\":{}}}", 0, "an object does not belong"},
      {"{\"a\":{\"dtype\":3,\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "a number does not belong at \"dtype\""},
      {"{\"a\":{\"dtype\":\"F31\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "unknown dtype \"F31\""},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", 8, "a number does not belong at \"shape\""},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[[2]],\"data_offsets\":[0,8]}}", 8, "an array does not belong"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8, "a negative number"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}", 8, "no integer"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[true],\"data_offsets\":[0,8]}}", 8, "a boolean"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,8]}}", 8, "does not fit"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[18446744073709551615],\"data_offsets\":[0,8]}}", 8, "is too large"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0, "is too large"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0, "is too large"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9223372036854775807,9223372036854775807,0],\"data_offsets\":[0,0]}}", 0,
       "is too large"},
      {"{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}}", 1, "does not fill whole bytes"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}}", 8, "needs two numbers"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4,8]}}", 8, "needs two numbers"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8, "end before they begin"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", 8, "hold 8 bytes, but F32[3] needs 12"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 7, "it is truncated"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 9, "something was appended"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, "after a hole"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
       "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]}}",
       12, "tensor \"b\": begins at byte 8 of the data, after a hole"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
       "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
       8, "inside the tensor before it"},
  };
  for (const BadHeader& bad : kCases) {
    absl::Status status = OpenBytes(FileWith(bad.json, bad.data_size));
    EXPECT_EQ(ExitCodeFor(status), kExitBadData) << bad.json;
    EXPECT_NE(status.message().find(bad.message), absl::string_view::npos) << bad.json << "\n" << status;
    EXPECT_NE(status.message().find("x.safetensors: "), absl::string_view::npos) << status;
  }
  EXPECT_EQ(ExitCodeFor(OpenBytes(FileWith(std::string("{}\0{}", 5), 0))), kExitBadData);
  // Sizes that cannot be: nothing may be allocated by them.
  EXPECT_EQ(ExitCodeFor(OpenBytes("")), kExitBadData);
  EXPECT_EQ(ExitCodeFor(OpenBytes("1234567")), kExitBadData);
  EXPECT_EQ(ExitCodeFor(OpenBytes(std::string(8, '\xff') + "{}")), kExitBadData);
  EXPECT_EQ(ExitCodeFor(OpenBytes(std::string("\x03\0\0\0\0\0\0\0{}", 10))), kExitBadData);
}

TEST(SafetensorsTest, LegalOdditiesAreAccepted) {
  EXPECT_TRUE(OpenBytes(FileWith("{}", 0)).ok());
  EXPECT_TRUE(OpenBytes(FileWith("{}     ", 0)).ok());
  EXPECT_TRUE(OpenBytes(FileWith("{ \"a\" : { \"data_offsets\":[0,4], \"shape\":[],\"dtype\":\"F32\"} }", 4)).ok());
  EXPECT_TRUE(OpenBytes(FileWith("{\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[4,4]},"
                                 "\"b\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}",
                                 4))
                  .ok());
}

TEST(SafetensorsTest, OtherTypesAreListedButNotLoaded) {
  std::string path = JoinPath(testing::TempDir(), "bf16.safetensors");
  Overwrite(path, FileWith("{\"a\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4));
  auto reader = SafetensorsReader::Open(Env::Default(), path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->entries()[0].file_dtype, "BF16");
  absl::Status status = (*reader)->Read("a").status();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_NE(status.message().find("BF16"), absl::string_view::npos);
}

TEST(SafetensorsTest, ABoolIsZeroOrOne) {
  std::string path = JoinPath(testing::TempDir(), "bool.safetensors");
  std::string bytes = FileWith("{\"a\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2);
  bytes.back() = 2;
  Overwrite(path, bytes);
  auto tensors = ReadSafetensors(Env::Default(), path);
  EXPECT_TRUE(absl::IsDataLoss(tensors.status())) << tensors.status();
}

// Random damage must end in an error or in well-formed tensors; sanitizers look for the rest.
TEST(SafetensorsTest, RandomDamageIsHarmless) {
  const std::string good = Bytes({{"a", HostTensor::FromVector<float>({2, 3}, {1, 2, 3, 4, 5, 6})},
                                  {"b", HostTensor::FromVector<int64_t>({2}, {1, 2})}},
                                 {{"k", "v"}});
  std::string path = JoinPath(testing::TempDir(), "fuzz.safetensors");
  int refused = 0;
  for (uint32_t i = 0; i < 2000; ++i) {
    PhiloxCounter r = Philox4x32({i, 0, 0, 0}, {1, 2});
    std::string bytes = good;
    for (uint32_t k = 0; k <= r[0] % 3; ++k) bytes[r[1 + k] % bytes.size()] = static_cast<char>(r[3 - k] >> 24);
    if (r[0] % 5 == 0) bytes.resize(r[2] % bytes.size());
    Overwrite(path, bytes);
    auto tensors = ReadSafetensors(Env::Default(), path);
    if (!tensors.ok()) {
      ++refused;
      EXPECT_TRUE(absl::IsDataLoss(tensors.status()) || absl::IsUnimplemented(tensors.status())) << tensors.status();
      continue;
    }
    int64_t total = 0;
    for (const auto& [name, tensor] : *tensors) total += tensor.byte_size();
    EXPECT_LE(total, static_cast<int64_t>(bytes.size()));
  }
  EXPECT_GT(refused, 500);
}

// A sparse file takes no place on the disk; nobody has memory for what it holds.
TEST(SafetensorsTest, ATensorWithoutMemoryForItIsAStatus) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "the sanitizer's malloc ends the process";
  constexpr int64_t kBytes = int64_t{8} << 40;
  const std::string header =
      absl::StrCat("{\"huge\":{\"dtype\":\"U8\",\"shape\":[", kBytes, "],\"data_offsets\":[0,", kBytes, "]}}");
  const std::string path = JoinPath(testing::TempDir(), "huge.safetensors"), begin = FileWith(header, 0);
  Overwrite(path, begin);
  std::error_code error;
  std::filesystem::resize_file(path, begin.size() + kBytes, error);
  if (error) GTEST_SKIP() << "this file system has no files of 8 TiB: " << error.message();
  auto reader = SafetensorsReader::Open(Env::Default(), path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const absl::Status status = (*reader)->Read("huge").status();
  EXPECT_TRUE(absl::StartsWith(status.message(),
                               absl::StrCat(path, ": tensor \"huge\": has 8796093022208 bytes, and at most ")))
      << status;
  EXPECT_EQ(ExitCodeFor(status), kExitBadData);
}

}  // namespace
}  // namespace tandem
