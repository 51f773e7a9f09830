#include "data/files/write_npz.h"

#include <gtest/gtest.h>

#include "base/env.h"
#include "data/files/npy.h"

namespace tandem {
namespace {

absl::Status Write(const std::string& path, const std::map<std::string, HostTensor>& arrays) {
  const auto bytes = SerializeNpz(arrays);
  return bytes.ok() ? Env::Default()->WriteFileAtomically(path, *bytes) : bytes.status();
}

TEST(WriteNpzTest, IsReadBack) {
  const std::string path = ::testing::TempDir() + "/written.npz";
  std::map<std::string, HostTensor> arrays = {
      {"scalar", HostTensor::Scalar<int64_t>(-5)},
      {"vector", HostTensor::FromVector<float>({3}, {1.5, -2, 1e30})},
      {"matrix", HostTensor::FromVector<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6})},
      {"bytes", HostTensor::FromVector<uint8_t>({2, 1, 2}, {0, 255, 7, 8})},
      {"double", HostTensor::FromVector<double>({1}, {1.0 / 3})},
      {"no rows", HostTensor(DType::kFloat32, {0, 4})},
      {"truth", HostTensor::Zeros(DType::kBool, {2})},
  };
  for (int i = 0; i < 2; ++i) {  // the second time over the first
    ASSERT_TRUE(Write(path, arrays).ok());
    const auto read = ReadNpz(path);
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_EQ(read->size(), arrays.size());
    for (const auto& [name, value] : *read) EXPECT_TRUE(value.BitEqual(arrays.at(name))) << name;
    arrays["more"] = HostTensor::Scalar<float>(1);
  }
}

// The format's description: a header that ends with a newline at a multiple of 64, then the elements.
TEST(WriteNpzTest, HeadersAreNumPys) {
  const std::string path = ::testing::TempDir() + "/header.npz";
  ASSERT_TRUE(Write(path, {{"x", HostTensor::FromVector<float>({1, 2}, {1, 2})}}).ok());
  const std::string bytes = *Env::Default()->ReadFile(path);
  const size_t at = bytes.find("\x93NUMPY");
  ASSERT_NE(at, std::string::npos);
  const std::string header = bytes.substr(at, 128);
  EXPECT_EQ(header.substr(6, 4), std::string("\x01\x00\x76\x00", 4));
  EXPECT_EQ(header.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }");
  EXPECT_EQ(header.back(), '\n');
  EXPECT_EQ(bytes.substr(at + 128, 8), std::string("\0\0\x80\x3f\0\0\0\x40", 8));
}

TEST(WriteNpzTest, WhatCannotBeWritten) {
  EXPECT_EQ(SerializeNpz({{"s", HostTensor::String("text")}}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tandem
