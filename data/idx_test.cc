#include "data/idx.h"
#include "base/exit_code.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

std::string Bytes(absl::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return out;
}

std::string WriteFile(const std::string& name, const std::string& bytes) {
  std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::ofstream(path, std::ios::binary).write(bytes.data(), bytes.size());
  return path;
}

std::string Gzip(const std::string& bytes) {
  std::string path = absl::StrCat(testing::TempDir(), "/gzip.tmp");
  gzFile f = gzopen(path.c_str(), "wb");
  EXPECT_EQ(gzwrite(f, bytes.data(), bytes.size()), bytes.size());
  EXPECT_EQ(gzclose(f), Z_OK);
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// The reference's example: 2x3 bytes.
const char kGolden[] = "000008020000000200000003010203040506";

void ExpectDamaged(const std::string& bytes, absl::string_view what) {
  std::string path = WriteFile("damaged.idx", bytes);
  absl::Status status = ReadIdx(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), what)) << status << "\nexpected: " << what;
  EXPECT_TRUE(absl::StrContains(status.message(), path)) << status;
}

TEST(IdxTest, GoldenPlainAndCompressed) {
  HostTensor expected = HostTensor::FromVector<uint8_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  for (const std::string& bytes : {Bytes(kGolden), Gzip(Bytes(kGolden))}) {
    absl::StatusOr<HostTensor> t = ReadIdx(WriteFile("golden.idx", bytes));
    ASSERT_TRUE(t.ok()) << t.status();
    EXPECT_TRUE(t->BitEqual(expected));
  }
}

TEST(IdxTest, EveryElementType) {
  auto read = [](const char* hex) { return *ReadIdx(WriteFile("types.idx", Bytes(hex))); };
  EXPECT_TRUE(read("0000090100000002ff7f").BitEqual(HostTensor::FromVector<int32_t>({2}, {-1, 127})));
  EXPECT_TRUE(read("00000b0100000002fffe0102").BitEqual(HostTensor::FromVector<int32_t>({2}, {-2, 258})));
  EXPECT_TRUE(
      read("00000c0100000002fffffffd01020304").BitEqual(HostTensor::FromVector<int32_t>({2}, {-3, 0x01020304})));
  EXPECT_TRUE(read("00000d0100000002bf8000003e800000").BitEqual(HostTensor::FromVector<float>({2}, {-1, 0.25f})));
  EXPECT_TRUE(read("00000e01000000013ff8000000000000").BitEqual(HostTensor::FromVector<double>({1}, {1.5})));
  EXPECT_TRUE(read("0000080007").BitEqual(HostTensor::Scalar<uint8_t>(7)));
}

TEST(IdxTest, EmptyShapes) {
  EXPECT_EQ(ReadIdx(WriteFile("e.idx", Bytes("00000803000000000000001c0000001c")))->shape(), (Shape{0, 28, 28}));
  EXPECT_EQ(ReadIdx(WriteFile("e.idx", Bytes("000008020000000000000000")))->num_elements(), 0);
}

TEST(IdxTest, MissingAndUnreadable) {
  absl::Status status = ReadIdx("/no/such/file.idx").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(status.message(), "/no/such/file.idx")) << status;
  EXPECT_EQ(ReadIdx(testing::TempDir()).status().code(), absl::StatusCode::kInvalidArgument);
  std::string pipe = absl::StrCat(testing::TempDir(), "/pipe.idx");
  unlink(pipe.c_str());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(ReadIdx(pipe).status().code(), absl::StatusCode::kInvalidArgument);  // and does not wait for a writer
  if (geteuid() != 0) {
    std::string secret = WriteFile("secret.idx", Bytes(kGolden));
    ASSERT_EQ(chmod(secret.c_str(), 0), 0);
    EXPECT_EQ(ReadIdx(secret).status().code(), absl::StatusCode::kPermissionDenied);
  }
}

TEST(IdxTest, AReadErrorIsAnIoError) {
  const absl::Status status = ReadIdx("/proc/self/mem").status();  // a regular file whose first bytes give EIO
  EXPECT_EQ(ExitCodeFor(status), kExitIo) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "/proc/self/mem: cannot read: ")) << status;
}

TEST(IdxTest, BadHeaders) {
  ExpectDamaged("", "at byte 0: the file ends within the 4 bytes of the magic number");
  ExpectDamaged(Bytes("0000"), "the file ends within the 4 bytes");
  ExpectDamaged(Bytes("89504e470d0a"), "at byte 0: the magic number is 89504e47");
  ExpectDamaged(Bytes("00000a0100000001ff"), "the magic number is 00000a01");
  ExpectDamaged(Bytes("0000080300000002000000"), "at byte 11: the file ends within the sizes of its 3 dimensions");
}

TEST(IdxTest, HugePromisesAreNotAllocated) {
  ExpectDamaged(Bytes("00000801ffffffff00"), "shape [4294967295], more than the file can hold (at most 9 bytes)");
  ExpectDamaged(Bytes("00000e04ffffffffffffffffffffffffffffffff00"), "more than the file can hold");
  ExpectDamaged(Bytes("0000080400000000ffffffffffffffffffffffff"), "more than the file can hold");
  ExpectDamaged(Gzip(Bytes("00000803ffffffffffffffff0000000100")), "more than the file can hold");
}

// More than is believed without counting: 256 MiB and 16 bytes are promised.
TEST(IdxTest, LargeCompressedFiles) {
  const int64_t size = (256 << 20) + 16;
  for (int64_t present : {size, size - 1}) {
    std::string path = absl::StrCat(testing::TempDir(), "/large.idx");
    gzFile f = gzopen(path.c_str(), "wb1");
    std::string header = Bytes("0000080110000010"), chunk(1 << 20, '\x07');
    ASSERT_EQ(gzwrite(f, header.data(), header.size()), header.size());
    for (int64_t left = present; left > 0; left -= chunk.size()) {
      gzwrite(f, chunk.data(), std::min<int64_t>(left, chunk.size()));
    }
    ASSERT_EQ(gzclose(f), Z_OK);
    absl::StatusOr<HostTensor> t = ReadIdx(path);
    if (present == size) {
      ASSERT_TRUE(t.ok()) << t.status();
      EXPECT_EQ(t->num_elements(), size);
      EXPECT_EQ(t->data<uint8_t>()[0], 7);
      EXPECT_EQ(t->data<uint8_t>()[size - 1], 7);
    } else {
      EXPECT_EQ(t.status().code(), absl::StatusCode::kDataLoss);
      EXPECT_TRUE(absl::StrContains(t.status().message(), "the file ends after 268435471 of 268435472 bytes"))
          << t.status();
    }
  }
}

TEST(IdxTest, TooLittleOrTooMuchData) {
  std::string golden = Bytes(kGolden);
  ExpectDamaged(golden.substr(0, golden.size() - 1), "at byte 17: the file ends after 5 of 6 bytes of data");
  ExpectDamaged(golden + "x", "at byte 18: there is more data than the 6 bytes of shape [2,3]");
  ExpectDamaged(Gzip(golden.substr(0, golden.size() - 1)), "the file ends after 5 of 6 bytes of data");
  ExpectDamaged(Gzip(golden + "x"), "there is more data");
}

TEST(IdxTest, EveryTruncationAndFlippedBitOfAGzipFileIsNoticed) {
  std::string golden = Bytes(kGolden);
  const std::string whole = Gzip(golden);
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_EQ(ReadIdx(WriteFile("cut.gz", whole.substr(0, n))).status().code(), absl::StatusCode::kDataLoss) << n;
  }
  HostTensor expected = HostTensor::FromVector<uint8_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  int harmless = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] ^= 1 << (bit % 8);
    absl::StatusOr<HostTensor> t = ReadIdx(WriteFile("flipped.gz", damaged));
    if (t.ok()) {
      // The time stamp, the operating system, padding between streams: the data is right.
      EXPECT_TRUE(t->BitEqual(expected));
      ++harmless;
    } else {
      EXPECT_EQ(t.status().code(), absl::StatusCode::kDataLoss) << bit;
    }
  }
  EXPECT_LT(harmless, 10 * 8);
}

TEST(IdxTest, MembersOfAGzipFileAreJoinedAndWhatFollowsIsIgnored) {
  const std::string golden = Bytes(kGolden);
  HostTensor expected = HostTensor::FromVector<uint8_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  for (size_t n = 0; n <= golden.size(); ++n) {
    const std::string bytes = absl::StrCat(Gzip(golden.substr(0, n)), Gzip(golden.substr(n)), "rest");
    absl::StatusOr<HostTensor> t = ReadIdx(WriteFile("members.gz", bytes));
    ASSERT_TRUE(t.ok()) << n << ": " << t.status();
    EXPECT_TRUE(t->BitEqual(expected)) << n;
  }
}

// 3000 rows of 1000 bytes that do not compress: more than is read at once, and than a chunk of the file.
std::string ManyRows() {
  std::string bytes = Bytes(
      "00000802"
      "00000bb8"
      "000003e8");
  uint32_t random = 1;
  for (int i = 0; i < 3000 * 1000; ++i)
    bytes.push_back(static_cast<char>((random = random * 1664525 + 1013904223) >> 24));
  return bytes;
}

TEST(IdxReaderTest, RowsAreThereWhenTheyAreAskedFor) {
  const std::string bytes = ManyRows();
  for (const std::string& file : {bytes, Gzip(bytes)}) {
    auto reader = IdxReader::Open(WriteFile("rows.idx", file));
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ((*reader)->rows(), 3000);
    EXPECT_EQ((*reader)->tensor().shape(), (Shape{3000, 1000}));
    const uint8_t* data = (*reader)->tensor().data<uint8_t>();
    // Were the last row read already, this would destroy it.
    const_cast<uint8_t*>(data)[1000 * 2999] ^= 0xff;
    for (int64_t rows : {1, 700, 701, 3000}) {
      ASSERT_TRUE((*reader)->WaitForRows(rows).ok());
      EXPECT_EQ(memcmp(data, bytes.data() + 12, rows * 1000), 0) << rows;
    }
  }
}

TEST(IdxReaderTest, ReadsTheRestInTheBackground) {
  const std::string bytes = ManyRows();
  auto reader = IdxReader::Open(WriteFile("background.idx", Gzip(bytes)));
  ASSERT_TRUE(reader.ok()) << reader.status();
  (*reader)->FinishInBackground();
  for (int64_t rows = 1; rows <= 3000; ++rows) {
    ASSERT_TRUE((*reader)->WaitForRows(rows).ok());
    ASSERT_EQ(
        memcmp((*reader)->tensor().data<uint8_t>() + (rows - 1) * 1000, bytes.data() + 12 + (rows - 1) * 1000, 1000),
        0);
  }
  // One that nobody waits for ends with its reader.
  auto abandoned = IdxReader::Open(WriteFile("background.idx", Gzip(bytes)));
  ASSERT_TRUE(abandoned.ok());
  (*abandoned)->FinishInBackground();
}

TEST(IdxReaderTest, DamageIsReportedOnceItIsFound) {
  std::string compressed = Gzip(ManyRows());
  compressed[compressed.size() - 6] ^= 1;  // the checksum
  auto reader = IdxReader::Open(WriteFile("late.idx", compressed));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_TRUE((*reader)->WaitForRows(100).ok());
  absl::Status status = (*reader)->WaitForRows(3000);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(absl::StrContains(status.message(), "late.idx: at byte 3000012: gzip: incorrect checksum")) << status;
  EXPECT_EQ((*reader)->WaitForRows(1), status);
  EXPECT_EQ(ReadIdx(WriteFile("late.idx", compressed)).status(), status);
  status = ReadIdx(WriteFile("cut.idx", compressed.substr(0, 1000000))).status();
  EXPECT_TRUE(absl::StrContains(status.message(), "the compressed data ends too early")) << status;
}

}  // namespace
}  // namespace tandem
