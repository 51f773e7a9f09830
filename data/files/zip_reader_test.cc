// Archives: entries by name, sizes that are not true, and damage.
#include "data/files/zip_reader.h"

#include <zip.h>

#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

std::string PathOf(const std::string& name) { return JoinPath(testing::TempDir(), absl::StrCat("zip_reader_", name)); }

// Writes an archive of these entries.
std::string MakeArchive(const std::string& name, const std::map<std::string, std::string>& entries,
                        zip_int32_t method = ZIP_CM_STORE) {
  const std::string path = PathOf(name);
  int error = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
  EXPECT_NE(archive, nullptr) << error;
  for (const auto& [entry, bytes] : entries) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, entry.c_str(), source, 0);
    EXPECT_GE(index, 0) << entry;
    EXPECT_EQ(zip_set_file_compression(archive, index, method, 0), 0);
  }
  EXPECT_EQ(zip_close(archive), 0);
  return path;
}

std::string Rewritten(const std::string& name, const std::string& bytes) {
  const std::string path = PathOf(name);
  std::ofstream(path, std::ios::binary) << bytes;  // without a sync, which is slow
  return path;
}

const std::map<std::string, std::string>& Entries() {
  static const auto* entries = new std::map<std::string, std::string>{
      {"config.json", "{}"}, {"empty", ""}, {"model.weights.h5", std::string(3000000, 'w')}};
  return *entries;
}

TEST(ZipReaderTest, EntriesByName) {
  for (zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const std::string path = MakeArchive("good.keras", Entries(), method);
    const auto read = ReadZipEntries(path, "a .keras file", {"model.weights.h5", "config.json", "empty"});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, Entries());
  }
}

TEST(ZipReaderTest, NamesThatAreNotThereOrTwice) {
  const std::string path = MakeArchive("names.keras", {{"config.json", "{}"}, {"config.jsom", "[]"}});
  const absl::Status absent = ReadZipEntries(path, "a .keras file", {"config.json", "metadata.json"}).status();
  EXPECT_EQ(absent.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(absent.message(), absl::StrCat(path,
                                           ": it has no entry called \"metadata.json\"; a .keras file has "
                                           "config.json, metadata.json"));
  std::string bytes = *Env::Default()->ReadFile(path);
  for (size_t at = 0; (at = bytes.find("config.jsom", at)) != std::string::npos;) bytes.replace(at, 11, "config.json");
  const absl::Status twice = ReadZipEntries(Rewritten("twice.keras", bytes), "a .keras file", {"config.json"}).status();
  EXPECT_TRUE(absl::StrContains(twice.message(), "it is not a .keras file or damaged: File already exists")) << twice;
}

TEST(ZipReaderTest, OtherFiles) {
  EXPECT_EQ(ReadZipEntries(PathOf("absent"), "a .keras file", {"x"}).status().code(), absl::StatusCode::kNotFound);
  const std::string path = Rewritten("other.keras", "no archive");
  const absl::Status other = ReadZipEntries(path, "a .keras file", {"x"}).status();
  EXPECT_EQ(other.code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(absl::StartsWith(other.message(), absl::StrCat(path, ": it is not a .keras file or damaged"))) << other;
}

TEST(ZipReaderTest, LimitsComeBeforeMemory) {
  const std::string path = MakeArchive("large.keras", Entries(), ZIP_CM_DEFLATE);
  const absl::Status large = ReadZipEntries(path, "a .keras file", {"model.weights.h5"}, 1000000).status();
  EXPECT_EQ(large.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(large.message(), "says that it has 3000000 bytes, and at most 1000000")) << large;
  EXPECT_TRUE(ReadZipEntries(path, "a .keras file", {"model.weights.h5"}, 3000000).ok());
}

// An error with the file's name, or the right content.
TEST(ZipReaderTest, DamageIsAnErrorOrTheRightContent) {
  const std::map<std::string, std::string> entries = {{"a", "some bytes of a file"}, {"b", std::string(300, 'b')}};
  for (zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const std::string good = *Env::Default()->ReadFile(MakeArchive("damaged.zip", entries, method));
    int errors = 0;
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
      const auto read = ReadZipEntries(Rewritten("damaged.zip", bad), "an archive", {"a", "b"});
      if (read.ok()) {
        EXPECT_EQ(*read, entries) << i;
        continue;
      }
      ++errors;
      EXPECT_TRUE(absl::StrContains(read.status().message(), "damaged.zip")) << read.status();
    }
    EXPECT_GT(errors, 100);
    for (size_t size = 0; size < good.size(); size += 7) {
      const std::string path = Rewritten("damaged.zip", good.substr(0, size));
      EXPECT_FALSE(ReadZipEntries(path, "an archive", {"a", "b"}).ok()) << size;
    }
  }
}

}  // namespace
}  // namespace tandem
