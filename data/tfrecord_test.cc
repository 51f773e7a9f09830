// Records of files as a dataset.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "data/dataset.h"
#include "data/files/record_writer.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

std::string TempPath(const std::string& name) { return JoinPath(testing::TempDir(), name); }

std::string WriteRecords(const std::string& name, const std::vector<std::string>& records,
                         Compression compression = Compression::kNone) {
  const std::string path = TempPath(name);
  auto writer = RecordWriter::Create(path, {.compression = compression});
  EXPECT_TRUE(writer.ok()) << writer.status();
  for (const std::string& record : records) EXPECT_TRUE((*writer)->Write(record).ok());
  EXPECT_TRUE((*writer)->Close().ok());
  return path;
}

// `count` records of different lengths, of which the file is a part.
std::vector<std::string> Numbered(absl::string_view file, int count) {
  std::vector<std::string> records;
  for (int i = 0; i < count; ++i) records.push_back(absl::StrCat(file, i, ":", std::string(i * 7 % 50, 'x')));
  return records;
}

// The strings of all elements, in one row; of an error "error: message".
std::vector<std::string> Strings(Iterator& it) {
  std::vector<std::string> strings;
  for (;;) {
    Element element;
    bool end = false;
    absl::Status status = it.GetNext(&element, &end);
    if (end) return strings;
    if (!status.ok()) {
      strings.push_back(absl::StrCat("error: ", status.message()));
      continue;
    }
    const HostTensor& t = element.components[0];
    for (int64_t i = 0; i < t.num_elements(); ++i) strings.emplace_back(t.string(i));
  }
}

std::vector<std::string> Strings(const Dataset& dataset) { return Strings(*Make(dataset)); }

std::vector<std::string> Joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(TFRecordTest, ReadsFilesInOrder) {
  for (Compression compression : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    const std::string a = WriteRecords("a", Numbered("a", 40), compression);
    const std::string none = WriteRecords("none", {}, compression);
    const std::string b = WriteRecords("b", Numbered("b", 30), compression);
    const std::vector<std::string> all = Joined(Numbered("a", 40), Numbered("b", 30));
    const Dataset d = Dataset::TFRecord({a, none, b}, {.compression = compression, .buffer_size = 100});
    ASSERT_TRUE(d.status().ok()) << d.status();
    EXPECT_EQ(d.cardinality(), kUnknownCardinality);
    EXPECT_EQ(SpecString(d.spec()), "record:string[]");
    EXPECT_EQ(Strings(d), all);
    EXPECT_EQ(Strings(d.Batch(7)), all);
    EXPECT_EQ(Strings(d.Batch(8).Prefetch(3)), all);
    EXPECT_EQ(Strings(d.Repeat(2)), Joined(all, all));
    EXPECT_EQ(Strings(d.Skip(69)), std::vector<std::string>{all[69]});
    std::vector<std::string> shuffled = Strings(d.Shuffle(100, {.seed = 5}));
    EXPECT_NE(shuffled, all);
    std::sort(shuffled.begin(), shuffled.end());
    std::vector<std::string> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(shuffled, sorted);
  }
}

TEST(TFRecordTest, ThreadsChangeNothing) {
  const std::string path = WriteRecords("threads", Numbered("r", 500), Compression::kGzip);
  const auto copy = [](const Element& e) -> absl::StatusOr<Element> { return e; };
  const Dataset d = Dataset::TFRecord({path, path}, {.compression = Compression::kGzip}).Shuffle(64, {.seed = 3});
  EXPECT_EQ(Strings(d.Map(copy, {.num_parallel_calls = 4, .spec = d.spec()}).Prefetch(7)), Strings(d));
}

// Damage in the middle of compressed data takes away what is behind it and nothing in front, and the same records
// wherever reading begins: a restored position does not know how the file was divided into blocks before.
TEST(TFRecordTest, DamagedCompressedDataGivesTheSameRecordsFromAnyPosition) {
  std::mt19937 rng(5);
  std::vector<std::string> records(400, std::string(1000, ' '));
  for (std::string& record : records) {
    for (char& c : record) c = static_cast<char>(rng());
  }
  for (Compression compression : {Compression::kGzip, Compression::kZlib}) {
    const std::string path = WriteRecords("damaged", records, compression);
    std::string bytes = *Env::Default()->ReadFile(path);
    // Cut off: random bytes are not compressed, so two thirds of the file are two thirds of the records.
    ASSERT_TRUE(Env::Default()->WriteFile(path, {bytes.substr(0, bytes.size() * 2 / 3)}).ok());
    for (int64_t buffer_size : {int64_t{1}, int64_t{1} << 18}) {
      const Dataset d = Dataset::TFRecord({path}, {.compression = compression, .buffer_size = buffer_size});
      const std::vector<std::string> all = Strings(d);
      ASSERT_GT(all.size(), 262u);
      ASSERT_LT(all.size(), 270u);
      EXPECT_TRUE(absl::StrContains(all.back(), "the compressed data ends too early")) << all.back();
      EXPECT_TRUE(std::equal(all.begin(), all.end() - 1, records.begin()));
      for (size_t k = 0; k < all.size(); k += 37) {
        std::unique_ptr<Iterator> first = Make(d), second = Make(d);
        Read(*first, k);
        ASSERT_TRUE(second->RestoreState(*first->SaveState()).ok());
        EXPECT_EQ(Strings(*second), std::vector<std::string>(all.begin() + k, all.end())) << k;
      }
    }
  }
}

// A state at any place, saved and restored with and without threads, goes on with the same records.
TEST(TFRecordTest, AnyPositionIsRestored) {
  for (Compression compression : {Compression::kNone, Compression::kGzip}) {
    const std::string a = WriteRecords("a", Numbered("a", 90), compression);
    const std::string b = WriteRecords("b", Numbered("b", 60), compression);
    for (int shuffle : {0, 20}) {
      Dataset plain = Dataset::TFRecord({a, b}, {.compression = compression});
      if (shuffle > 0) plain = plain.Shuffle(shuffle, {.seed = 1});
      plain = plain.Repeat(2);
      const Dataset threaded = plain.Prefetch(5);
      const std::vector<Element> all = Read(plain);
      ASSERT_EQ(all.size(), 300u);
      for (size_t k : {0, 1, 63, 64, 65, 89, 90, 91, 149, 150, 151, 200, 300}) {
        std::unique_ptr<Iterator> first = Make(plain), ahead = Make(threaded), second = Make(threaded);
        Read(*first, k);
        Read(*ahead, k);
        const std::string state = *first->SaveState();
        EXPECT_EQ(state, *ahead->SaveState()) << k;
        ASSERT_TRUE(second->RestoreState(state).ok());
        EXPECT_EQ(state, *second->SaveState()) << k;
        EXPECT_TRUE(BitEqual(Read(*second), {all.begin() + k, all.end()})) << k;
        ASSERT_TRUE(first->RestoreState(*ahead->SaveState()).ok());
        EXPECT_TRUE(BitEqual(Read(*first, 30), {all.begin() + k, all.begin() + std::min<size_t>(k + 30, 300)}));
      }
    }
  }
}

// A shuffle buffer keeps some records, and knows larger ones, and those behind the first 64 MiB, by their places.
TEST(TFRecordTest, ShufflesMoreThanABufferKeeps) {
  std::vector<std::string> records;
  for (int i = 0; i < 4500; ++i) records.push_back(absl::StrCat(i, ":", std::string(i % 9 == 0 ? 17000 : 16000, 'x')));
  for (Compression compression : {Compression::kNone, Compression::kGzip}) {
    const std::string path = WriteRecords("large", records, compression);
    std::vector<std::string> read = Strings(Dataset::TFRecord({path}, {.compression = compression}).Shuffle(1 << 20));
    EXPECT_FALSE(std::is_sorted(read.begin(), read.end()));
    std::sort(read.begin(), read.end());
    std::vector<std::string> sorted = records;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_TRUE(read == sorted) << Name(compression);
    records.resize(500);  // compressed files are read in order, and slowly
  }
}

TEST(TFRecordTest, ADamagedRecordIsAnErrorAndTheNextOneFollows) {
  const std::string a = WriteRecords("a", Numbered("a", 5));
  const std::string b = WriteRecords("b", Numbered("b", 2));
  std::string bytes = *Env::Default()->ReadFile(a);
  const int64_t third = 16 + 3 + 0 + 16 + 3 + 7;  // behind two records
  bytes[third + 12] ^= 1;
  ASSERT_TRUE(Env::Default()->WriteFile(a, {bytes}).ok());
  const Dataset d = Dataset::TFRecord({a, b});
  std::vector<std::string> read = Strings(d);
  ASSERT_EQ(read.size(), 7u);
  EXPECT_TRUE(absl::StrContains(read[2], absl::StrCat("error: ", a, ": at byte ", third, ": the checksum"))) << read[2];
  EXPECT_EQ(read[3], Numbered("a", 5)[3]);
  // Without payloads, after a restore, it is the same.
  const Dataset shuffled = d.Shuffle(10, {.seed = 2});
  std::vector<std::string> order = Strings(shuffled);
  std::sort(order.begin(), order.end());
  std::sort(read.begin(), read.end());
  EXPECT_EQ(order, read);
  // Of a length, nothing follows in this file.
  bytes[third + 12] ^= 1;
  bytes[third] ^= 1;
  ASSERT_TRUE(Env::Default()->WriteFile(a, {bytes}).ok());
  read = Strings(d);
  ASSERT_EQ(read.size(), 5u);
  EXPECT_TRUE(absl::StrContains(read[2], "the record's length")) << read[2];
  EXPECT_EQ(read[3], Numbered("b", 2)[0]);
}

// Whatever byte of a file is changed: each element is an error with file and offset, or a record of the file.
TEST(TFRecordTest, EveryDamagedByteIsAnErrorOfItsElement) {
  const std::vector<std::string> records = {"one", "", "three, which is longer", "4"};
  const std::string path = WriteRecords("every", records);
  const std::string good = *Env::Default()->ReadFile(path);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 0x40;
    ASSERT_TRUE(Env::Default()->WriteFile(path, {bad}).ok());
    for (const Dataset& d : {Dataset::TFRecord({path}), Dataset::TFRecord({path}).Prefetch(2)}) {
      int errors = 0;
      size_t next = 0;
      for (const std::string& s : Strings(d)) {
        if (absl::StartsWith(s, "error: ")) {
          ++errors;
          EXPECT_TRUE(absl::StrContains(s, absl::StrCat(path, ": at byte "))) << s;
          ++next;
        } else {
          ASSERT_LT(next, records.size());
          EXPECT_EQ(s, records[next++]);
        }
      }
      EXPECT_EQ(errors, 1) << i;
    }
  }
}

TEST(TFRecordTest, BadArgumentsAreNamed) {
  EXPECT_TRUE(absl::StrContains(Dataset::TFRecord({}).status().message(), "at least one"));
  const absl::Status absent = Dataset::TFRecord({TempPath("absent")}).status();
  EXPECT_EQ(absent.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(absent.message(), "tfrecord_test.cc:")) << absent;
  EXPECT_TRUE(absl::StrContains(absent.message(), TempPath("absent"))) << absent;
  EXPECT_TRUE(absl::StrContains(Dataset::TFRecord({testing::TempDir()}).status().message(), "is a directory"));
  const std::string path = WriteRecords("args", {"x"});
  EXPECT_FALSE(Dataset::TFRecord({path}, {.buffer_size = 0}).status().ok());
  EXPECT_FALSE(Dataset::TFRecord({path}, {.max_record_bytes = -1}).status().ok());
}

TEST(TFRecordTest, FilesThatAreGoneOrShorterAreErrors) {
  const std::string a = WriteRecords("gone", Numbered("a", 4)), b = WriteRecords("stays", {"b"});
  const Dataset d = Dataset::TFRecord({a, b});
  std::unique_ptr<Iterator> it = Make(d.Shuffle(3));
  Read(*it, 1);
  const std::string state = *it->SaveState();
  ASSERT_TRUE(Env::Default()->WriteFile(a, {""}).ok());
  std::unique_ptr<Iterator> again = Make(d.Shuffle(3));
  ASSERT_TRUE(again->RestoreState(state).ok());
  Element element;
  bool end = false;
  EXPECT_EQ(again->GetNext(&element, &end).code(), absl::StatusCode::kDataLoss);
  ASSERT_TRUE(Env::Default()->DeleteFile(a).ok());
  const std::vector<std::string> read = Strings(d);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_TRUE(absl::StrContains(read[0], "cannot open")) << read[0];
  EXPECT_EQ(read[1], "b");
}

TEST(TFRecordTest, FingerprintTellsFilesApart) {
  const std::string path = WriteRecords("print", {"one"});
  const Dataset d = Dataset::TFRecord({path});
  const std::string first = d.Fingerprint();
  EXPECT_NE(first, "");
  EXPECT_EQ(d.Shuffle(4).Fingerprint(), first);
  WriteRecords("print", {"two"});
  EXPECT_NE(d.Fingerprint(), first);
  EXPECT_EQ(Dataset::TFRecord({WriteRecords("gone", {})}).Fingerprint().empty(), false);
}

TEST(TFRecordTest, StatesOfOtherFilesAreRefused) {
  const std::string a = WriteRecords("a", {"x"}), b = WriteRecords("b", {"x"});
  const std::string state = *Make(Dataset::TFRecord({a}))->SaveState();
  EXPECT_EQ(Make(Dataset::TFRecord({b}))->RestoreState(state).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Make(Dataset::TFRecord({a, b}))->RestoreState(state).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Make(Dataset::TFRecord({a}))->RestoreState(state).ok());
}

}  // namespace
}  // namespace tandem
