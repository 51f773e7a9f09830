// NumPy's files: the values that NumPy wrote, and damage.
#include "data/files/npy.h"

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "data/testdata/golden.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

std::string Write(const std::string& name, absl::string_view bytes) {
  const std::string path = JoinPath(testing::TempDir(), name);
  std::ofstream(path, std::ios::binary) << bytes;  // without a sync, which is slow
  return path;
}

// Of expected values a bool is a byte.
bool Equal(const HostTensor& a, const HostTensor& expected) {
  if (a.dtype() != DType::kBool) return a.BitEqual(expected);
  return expected.dtype() == DType::kUInt8 && a.shape() == expected.shape() &&
         std::memcmp(a.raw(), expected.raw(), a.byte_size()) == 0;
}

TEST(NpyTest, ReadsWhatNumPyWrites) {
  std::map<std::string, HostTensor> expected = ReadGolden("arrays.expected");
  for (const char* file : {"arrays.npz", "deflated.npz"}) {
    auto arrays = ReadNpz(GoldenPath(file));
    ASSERT_TRUE(arrays.ok()) << arrays.status();
    EXPECT_EQ(arrays->size(), expected.size());
    for (const auto& [name, array] : *arrays) {
      EXPECT_TRUE(Equal(array, expected[name])) << file << " " << name << " " << ShapeString(array.shape());
    }
    EXPECT_EQ((*arrays)[0].first, "f4");
  }
  for (auto [file, name] : {std::pair("fortran.npy", "fortran"), {"large_header.npy", "f4"}}) {
    auto array = ReadNpy(GoldenPath(file));
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_TRUE(array->BitEqual(expected[name])) << file;
  }
}

TEST(NpyTest, RefusesWhatItCannotRead) {
  const auto objects = ReadNpy(GoldenPath("objects.npy"));
  EXPECT_TRUE(absl::StrContains(objects.status().message(), "objects.npy: the array is of Python objects"))
      << objects.status();
  const auto numbers = ReadNpy(GoldenPath("complex.npy"));
  EXPECT_TRUE(absl::StrContains(numbers.status().message(), "'<c16' cannot be read")) << numbers.status();
  EXPECT_EQ(ReadNpy("absent.npy").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadNpz("absent.npz").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadNpz(GoldenPath("fortran.npy")).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReadNpy(GoldenPath("arrays.npz")).status().code(), absl::StatusCode::kDataLoss);
  const auto large = ReadNpy(GoldenPath("fortran.npy"), {.max_bytes = 100});
  EXPECT_TRUE(absl::StrContains(large.status().message(), "raise max_bytes")) << large.status();
}

TEST(NpyTest, SizesAreCheckedBeforeMemoryIsTaken) {
  const auto with_shape = [](absl::string_view shape) {
    std::string header = absl::StrCat("{'descr': '<f4', 'fortran_order': False, 'shape': ", shape, ", }");
    header.resize(117, ' ');
    header += '\n';
    return ReadNpy(Write("shape.npy", absl::StrCat(absl::string_view("\x93NUMPY\x01\x00\x76\x00", 10), header, "1234")))
        .status();
  };
  EXPECT_TRUE(with_shape("(1,)").ok()) << with_shape("(1,)");
  for (const char* shape : {"(2,)", "(1000000000000,)", "(4611686018427387904, 4)", "(9223372036854775807,)", "(-1,)",
                            "(1", "1", "(x,)", "(99999999999999999999,)", "(0,)"}) {
    EXPECT_EQ(with_shape(shape).code(), absl::StatusCode::kDataLoss) << shape;
  }
}

// A third of the bytes of a stored and a deflated archive are changed: an error with the file's name, or the right
// content.
TEST(NpyTest, DamageIsAnErrorOrTheRightContent) {
  std::map<std::string, HostTensor> expected = ReadGolden("arrays.expected");
  for (const char* file : {"arrays.npz", "deflated.npz"}) {
    const std::string good = *Env::Default()->ReadFile(GoldenPath(file));
    int errors = 0, harmless = 0;
    for (size_t i = 0; i < good.size(); i += 3) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
      const auto arrays = ReadNpz(Write("bad.npz", bad));
      if (!arrays.ok()) {
        ++errors;
        EXPECT_TRUE(absl::StrContains(arrays.status().message(), "bad.npz")) << arrays.status();
        continue;
      }
      ++harmless;
      EXPECT_EQ(arrays->size(), expected.size()) << i;
      for (const auto& [name, array] : *arrays) {
        ASSERT_EQ(expected.count(name), 1u) << i << " " << name;
        EXPECT_TRUE(Equal(array, expected[name])) << file << " byte " << i << " " << name;
      }
    }
    EXPECT_GT(errors, harmless);
    for (size_t size = 0; size < good.size(); size += 31) {
      EXPECT_FALSE(ReadNpz(Write("bad.npz", good.substr(0, size))).ok()) << size;
    }
  }
}

}  // namespace
}  // namespace tandem
