#include "data/file_shard.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "data/dataset.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

// Five text files, "shard_0.txt" to "shard_4.txt", of two lines each: "0a", "0b" and so on.
std::vector<std::string> TextFiles() {
  std::vector<std::string> files;
  for (int i = 0; i < 5; ++i) {
    files.push_back(JoinPath(testing::TempDir(), absl::StrCat("shard_", i, ".txt")));
    EXPECT_TRUE(Env::Default()->WriteFile(files.back(), {absl::StrCat(i, "a\n", i, "b\n")}).ok());
  }
  return files;
}

std::vector<std::string> Lines(const Dataset& dataset) {
  EXPECT_TRUE(dataset.status().ok()) << dataset.status();
  std::vector<std::string> lines;
  for (const Element& e : Read(dataset)) lines.emplace_back(e.components[0].string());
  return lines;
}

absl::StatusOr<Dataset> LinesOf(const Element& file) {
  return Dataset::TextLine({std::string(file.components[0].string())});
}

using Strings = std::vector<std::string>;

TEST(FileShardTest, EveryFileIsReadByOneWorker) {
  const Strings files = TextFiles();
  EXPECT_EQ(Lines(Dataset::TextLine(files)).size(), 10u);
  for (const bool listed : {false, true}) {
    Strings all;
    for (int worker = 0; worker < 2; ++worker) {
      FileShardScope scope(2, worker);
      const Dataset dataset = listed
                                  ? Dataset::ListFiles({JoinPath(testing::TempDir(), "shard_?.txt")}).FlatMap(LinesOf)
                                  : Dataset::TextLine(files);
      EXPECT_EQ(scope.datasets(), 1) << "files of FlatMap's function are dealt out already";
      const Strings lines = Lines(dataset);
      EXPECT_EQ(lines, worker == 0 ? (Strings{"0a", "0b", "2a", "2b", "4a", "4b"}) : (Strings{"1a", "1b", "3a", "3b"}));
      all.insert(all.end(), lines.begin(), lines.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, Lines(Dataset::TextLine(files)));
  }
}

// Every worker has the cache of its own files, which it finds again.
TEST(FileShardTest, CachesAreApart) {
  const Strings files = TextFiles();
  const std::string cache = JoinPath(testing::TempDir(), "lines.cache");
  for (int pass = 0; pass < 2; ++pass) {
    for (int worker = 0; worker < 2; ++worker) {
      FileShardScope scope(2, worker);
      EXPECT_EQ(Lines(Dataset::TextLine(files).Cache({.file = cache})).size(), worker == 0 ? 6u : 4u);
      EXPECT_TRUE(Env::Default()->Exists(absl::StrCat(cache, "-", worker, "-of-2")));
    }
  }
  EXPECT_FALSE(Env::Default()->Exists(cache));
}

TEST(FileShardTest, TheScopeEnds) {
  const Strings files = TextFiles();
  { FileShardScope scope(5, 4); }
  EXPECT_EQ(Lines(Dataset::TextLine(files)).size(), 10u);
}

TEST(FileShardTest, TooFewFilesAreAnError) {
  const Strings files = TextFiles();
  FileShardScope scope(6, 0);
  const Dataset dataset = Dataset::TextLine(files);
  EXPECT_EQ(dataset.status().code(), absl::StatusCode::kInvalidArgument);
  for (const char* part : {"file_shard_test.cc:", "TextLine: 5 files for 6 workers", "AutoShard::kBatch"}) {
    EXPECT_TRUE(absl::StrContains(dataset.status().message(), part)) << dataset.status();
  }
  EXPECT_EQ(Dataset::ListFiles({JoinPath(testing::TempDir(), "shard_?.txt")}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(FileShardTest, NamesASourceThatWasNotDealtOut) {
  const Strings files = TextFiles();
  const Dataset before = Dataset::TextLine(files, {}, {"before.cc", 1});
  FileShardScope scope(2, 0);
  const Dataset inside = Dataset::TextLine(files);
  EXPECT_EQ(scope.SourceNotDealt(inside.Shuffle(3).Repeat(2).Batch(4)), "");
  EXPECT_EQ(scope.SourceNotDealt(
                Dataset::ListFiles({JoinPath(testing::TempDir(), "shard_?.txt")}, {.shuffle = true}).FlatMap(LinesOf)),
            "");
  EXPECT_EQ(scope.SourceNotDealt(inside.Concatenate(inside.Take(1)).Enumerate()), "");
  EXPECT_EQ(scope.SourceNotDealt(inside.Batch(0)), "");  // an error of its own
  EXPECT_EQ(scope.SourceNotDealt(before.Batch(2)), "TextLine (before.cc:1)");
  EXPECT_EQ(scope.SourceNotDealt(Dataset::Range(3, {"input.cc", 7})), "Range (input.cc:7)");
  // A part of a dataset.
  EXPECT_EQ(scope.SourceNotDealt(before.Concatenate(inside).Batch(2)), "TextLine (before.cc:1)");
  EXPECT_EQ(scope.SourceNotDealt(inside.Concatenate(before).Batch(2)), "TextLine (before.cc:1)");
  EXPECT_EQ(scope.SourceNotDealt(Dataset::Zip({inside, Dataset::Range(3, {"input.cc", 7})})), "Range (input.cc:7)");
  EXPECT_EQ(scope.SourceNotDealt(Dataset::Range(1, {"input.cc", 7}).FlatMap([&](const Element&) { return inside; })),
            "Range (input.cc:7)");
}

// Of 5 and 3 files a worker would have 0, 2, 4 and 0, 2: the third pair would be of lines that are none.
TEST(FileShardTest, ZippedDatasetsHaveAsManyFiles) {
  const Strings files = TextFiles();
  const auto lines = [](const Strings& files, int line) { return Dataset::TextLine(files, {}, {"input.cc", line}); };
  const auto labels = [&](const Strings& files, int line) {
    return lines(files, line).Map([](const Element& e) -> absl::StatusOr<Element> { return e; }, {.names = {"label"}});
  };
  const Strings three(files.begin(), files.begin() + 3);
  EXPECT_TRUE(Dataset::Zip({lines(files, 1), labels(three, 2)}).status().ok());
  FileShardScope scope(2, 1);
  EXPECT_TRUE(Dataset::Zip({lines(files, 1), labels(files, 2)}).status().ok());
  EXPECT_TRUE(
      Dataset::Zip({lines(files, 1).Concatenate(lines(three, 3)), labels(files, 2).Concatenate(labels(three, 4))})
          .status()
          .ok());
  const absl::Status status = Dataset::Zip({lines(files, 1), labels(three, 2)}, {"input.cc", 3}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  for (const char* part : {"input.cc:3: Zip: ", "TextLine (input.cc:1) has 5 files",
                           "TextLine (input.cc:2) has 3 files", "AutoShard::kBatch"}) {
    EXPECT_TRUE(absl::StrContains(status.message(), part)) << status;
  }
}

TEST(FileShardTest, WhatReadsNoFilesIsLeftAlone) {
  FileShardScope scope(3, 1);
  EXPECT_EQ(Read(Dataset::Range(7)).size(), 7u);
  EXPECT_EQ(scope.datasets(), 0);
}

}  // namespace
}  // namespace tandem
