// TFRecord files: the format's own bytes, compression, positions and damage.
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/fault_injecting_env.h"
#include "data/files/record_reader.h"
#include "data/files/record_writer.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

std::string TempPath(const std::string& name) { return JoinPath(testing::TempDir(), name); }

std::string WriteBytes(const std::string& name, absl::string_view bytes) {
  const std::string path = TempPath(name);
  std::ofstream(path, std::ios::binary) << bytes;  // without a sync, which is slow
  return path;
}

std::string ReadBytes(const std::string& path) { return *Env::Default()->ReadFile(path); }

std::string WriteRecords(const std::string& name, const std::vector<std::string>& records,
                         const RecordWriterOptions& options = {}) {
  const std::string path = TempPath(name);
  auto writer = RecordWriter::Create(path, options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  for (const std::string& record : records) EXPECT_TRUE((*writer)->Write(record).ok());
  EXPECT_TRUE((*writer)->Close().ok());
  return path;
}

// All records up to the end, or up to the first error.
absl::StatusOr<std::vector<std::string>> ReadRecords(const std::string& path, const RecordOptions& options = {}) {
  auto reader = RecordReader::Open(path, options);
  if (!reader.ok()) return reader.status();
  std::vector<std::string> records;
  for (;;) {
    Record record;
    bool end = false;
    absl::Status status = (*reader)->Next(&record, &end);
    if (!status.ok()) return status;
    if (end) return records;
    status = (*reader)->CheckBytes(record);
    if (!status.ok()) return status;
    records.emplace_back(record.bytes);
  }
}

std::vector<std::string> SomeRecords() {
  std::vector<std::string> records = {"hello", "", std::string("\0\xff\n", 3)};
  std::string longer;
  for (int i = 0; i < 3000; ++i) absl::StrAppend(&longer, i * i, ",");
  records.push_back(longer);
  records.push_back("last");
  return records;
}

std::string Gzip(absl::string_view bytes) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()) + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = bytes.size();
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = out.size();
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Made by TensorFlow's record writer.
constexpr char kHello[] = "0500000000000000eab2043e68656c6c6fbb1f1c19";
constexpr char kEmpty[] = "000000000000000029039807d8ea82a2";

TEST(RecordsTest, WritesTheBytesThatTensorFlowWrites) {
  const std::string path = WriteRecords("golden", {"hello", ""});
  EXPECT_EQ(absl::BytesToHexString(ReadBytes(path)), absl::StrCat(kHello, kEmpty));
}

TEST(RecordsTest, ReadsWhatItWrites) {
  for (Compression compression : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    const std::string path = WriteRecords("round", SomeRecords(), {.compression = compression});
    for (int64_t buffer_size : {1, 7, 100, 1 << 18}) {
      auto records = ReadRecords(path, {.compression = compression, .buffer_size = buffer_size});
      ASSERT_TRUE(records.ok()) << Name(compression) << " " << buffer_size << ": " << records.status();
      EXPECT_EQ(*records, SomeRecords());
    }
  }
}

TEST(RecordsTest, JoinsTheMembersOfAGzipFile) {
  const std::string plain = ReadBytes(WriteRecords("plain", SomeRecords()));
  // Cut within a record, an empty member among them, and padded with zeros.
  const std::string joined =
      absl::StrCat(Gzip(plain.substr(0, 30)), Gzip(""), Gzip(plain.substr(30)), absl::string_view("\0\0\0\0", 4));
  auto records = ReadRecords(WriteBytes("members", joined), {.compression = Compression::kGzip});
  ASSERT_TRUE(records.ok()) << records.status();
  EXPECT_EQ(*records, SomeRecords());
  auto garbage =
      ReadRecords(WriteBytes("members", absl::StrCat(Gzip(plain), "garbage")), {.compression = Compression::kGzip});
  EXPECT_EQ(garbage.status().code(), absl::StatusCode::kDataLoss);
}

TEST(RecordsTest, SeeksToAnyRecord) {
  for (Compression compression : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    const std::string path = WriteRecords("seek", SomeRecords(), {.compression = compression});
    auto reader = *RecordReader::Open(path, {.compression = compression});
    std::vector<int64_t> offsets;
    for (size_t i = 0; i <= SomeRecords().size(); ++i) {
      offsets.push_back(reader->offset());
      Record record;
      bool end = false;
      ASSERT_TRUE(reader->Next(&record, &end).ok());
      EXPECT_EQ(end, i == SomeRecords().size());
    }
    Record kept;
    for (size_t i : {3, 1, 4, 0, 2}) {
      ASSERT_TRUE(reader->Seek(offsets[i]).ok());
      Record record;
      bool end = false;
      ASSERT_TRUE(reader->Next(&record, &end).ok());
      EXPECT_EQ(record.bytes, SomeRecords()[i]);
      EXPECT_EQ(record.offset, offsets[i]);
      if (i == 3) kept = record;
    }
    EXPECT_EQ(kept.bytes, SomeRecords()[3]);  // its block is its own
    ASSERT_TRUE(reader->Seek(offsets.back()).ok());
    EXPECT_EQ(reader->Seek(offsets.back() + 1).code(), absl::StatusCode::kDataLoss);
  }
}

// Every byte that is changed is noticed, or does not matter (gzip's time stamp).
TEST(RecordsTest, EveryDamagedByteIsNoticed) {
  const std::vector<std::string> records = {"hello", "", "a third record, somewhat longer than the others"};
  for (Compression compression : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    const std::string path = WriteRecords("damage", records, {.compression = compression});
    const std::string good = ReadBytes(path);
    int harmless = 0;
    for (size_t i = 0; i < good.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string bad = good;
        bad[i] ^= 1 << bit;
        auto read = ReadRecords(WriteBytes("damaged", bad), {.compression = compression});
        if (read.ok()) {
          EXPECT_EQ(*read, records) << Name(compression) << " byte " << i;
          ++harmless;
          continue;
        }
        EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << read.status();
        EXPECT_TRUE(absl::StrContains(read.status().message(), "damaged: at byte ")) << read.status();
      }
    }
    EXPECT_LE(harmless, compression == Compression::kGzip ? 8 * 10 : compression == Compression::kZlib ? 8 * 2 : 0);
  }
}

TEST(RecordsTest, EveryCutIsNoticed) {
  const std::vector<std::string> records = {"hello", "", "third"};
  for (Compression compression : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    const std::string good = ReadBytes(WriteRecords("cut", records, {.compression = compression}));
    for (size_t size = 0; size < good.size(); ++size) {
      auto read = ReadRecords(WriteBytes("cut", good.substr(0, size)), {.compression = compression});
      const bool between_records = compression == Compression::kNone && (size == 0 || size == 21 || size == 37);
      EXPECT_EQ(read.ok(), between_records) << Name(compression) << " " << size;
      if (!read.ok()) {
        EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss);
      }
    }
  }
}

// A record of `length` bytes is announced, rightly checksummed, and `follows` come.
std::string Announce(uint64_t length, absl::string_view follows) {
  std::string header(8, '\0');
  for (int i = 0; i < 8; ++i) header[i] = static_cast<char>(length >> (8 * i));
  // The footer of a record with these eight bytes has their checksum.
  const std::string eight = ReadBytes(WriteRecords("announce", {header}));
  return absl::StrCat(header, eight.substr(20, 4), follows);
}

TEST(RecordsTest, ALengthIsCheckedBeforeMemoryIsTaken) {
  for (uint64_t length : {uint64_t{1} << 32, uint64_t{1} << 62, UINT64_MAX, UINT64_MAX - 3, uint64_t{100}}) {
    auto read = ReadRecords(WriteBytes("long", Announce(length, "few bytes")));
    EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_TRUE(absl::StrContains(read.status().message(), absl::StrCat("have ", length, " bytes"))) << read.status();
    // Of compressed data the rest is not known: memory grows with what is there.
    auto unzipped = ReadRecords(WriteBytes("long.gz", Gzip(Announce(length, std::string(1000, 'x')))),
                                {.compression = Compression::kGzip, .max_record_bytes = INT64_MAX});
    EXPECT_EQ(unzipped.ok(), false);
    EXPECT_EQ(unzipped.status().code(), absl::StatusCode::kDataLoss) << unzipped.status();
  }
  auto limit = ReadRecords(WriteRecords("limit", {"hello"}), {.max_record_bytes = 4});
  EXPECT_TRUE(absl::StrContains(limit.status().message(), "raise max_record_bytes")) << limit.status();
  EXPECT_TRUE(ReadRecords(WriteRecords("limit", {"hello"}), {.max_record_bytes = 5}).ok());
}

TEST(RecordsTest, ErrorsSayWhatToDo) {
  EXPECT_EQ(ReadRecords(TempPath("absent")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadRecords(testing::TempDir()).status().code(), absl::StatusCode::kInvalidArgument);
  const std::string gzip = WriteRecords("a.gz", {"hello"}, {.compression = Compression::kGzip});
  EXPECT_TRUE(absl::StrContains(ReadRecords(gzip).status().message(), "gzip: set the compression"));
  const std::string zlib = WriteRecords("a.z", {"hello"}, {.compression = Compression::kZlib});
  EXPECT_TRUE(absl::StrContains(ReadRecords(zlib).status().message(), "zlib: set the compression"));
  EXPECT_FALSE(ReadRecords(gzip, {.compression = Compression::kZlib}).ok());
  EXPECT_FALSE(ReadRecords(WriteRecords("plain", {"hello"}), {.compression = Compression::kGzip}).ok());
  EXPECT_FALSE(ReadRecords(gzip, {.buffer_size = 0}).ok());
  EXPECT_FALSE(RecordWriter::Create(TempPath("x"), {.compression_level = 10}).ok());
  auto writer = *RecordWriter::Create(TempPath("closed"));
  ASSERT_TRUE(writer->Close().ok());
  EXPECT_EQ(writer->Write("late").code(), absl::StatusCode::kFailedPrecondition);
}

TEST(RecordsTest, AFullDiskIsAnErrorThatStays) {
  FaultInjectingEnv env(Env::Default());
  env.FailNth(FileOp::kWrite, 1, ENOSPC);
  auto writer = RecordWriter::Create(TempPath("full"), {}, &env);
  ASSERT_TRUE(writer.ok());
  absl::Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) status = (*writer)->Write(std::string(10000, 'x'));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(absl::StrContains(status.message(), TempPath("full"))) << status;
  EXPECT_EQ((*writer)->Write("x"), status);
  EXPECT_EQ((*writer)->Close(), status);
}

}  // namespace
}  // namespace tandem
