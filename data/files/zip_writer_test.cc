#include "data/files/zip_writer.h"

#include <string>

#include "base/env.h"
#include "data/files/zip_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(ZipWriterTest, IsReadBack) {
  const std::string path = ::testing::TempDir() + "/written.zip";
  const absl::StatusOr<std::string> bytes =
      SerializeZip({{"a.json", {"{", "", "}"}}, {"dir/b", {std::string("x\0y", 3)}}, {"empty", {""}}}, "an archive");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  ASSERT_TRUE(Env::Default()->WriteFileAtomically(path, *bytes).ok());
  const auto read = ReadZipEntries(path, "an archive", {"a.json", "dir/b", "empty"});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->at("a.json"), "{}");
  EXPECT_EQ(read->at("dir/b"), std::string("x\0y", 3));
  EXPECT_EQ(read->at("empty"), "");
}

TEST(ZipWriterTest, RefusesNames) {
  for (const std::string& name :
       {std::string("a\0b", 3), std::string("\xff"), std::string(70000, 'x'), std::string("twice")}) {
    const absl::StatusOr<std::string> bytes = SerializeZip({{"twice", {"1"}}, {name, {"2"}}}, "an archive");
    EXPECT_EQ(bytes.status().code(), absl::StatusCode::kInvalidArgument) << name.substr(0, 10);
    EXPECT_THAT(bytes.status().message(), testing::HasSubstr("an archive cannot have an entry called"));
  }
}

}  // namespace
}  // namespace tandem
