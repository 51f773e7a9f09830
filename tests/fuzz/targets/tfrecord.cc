// A TFRecord file, plain or compressed: records and errors do not depend on how much is read at once, and a record is
// the same when it is looked up by its place.
#include "absl/strings/str_cat.h"
#include "data/files/record_format.h"
#include "data/files/record_reader.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/gzip.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

constexpr size_t kMostRecords = 1000;

std::string RecordOf(absl::string_view bytes) {
  const record_format::Frame frame(bytes);
  return absl::StrCat(absl::string_view(frame.header, sizeof frame.header), bytes,
                      absl::string_view(frame.footer, sizeof frame.footer));
}

// With right checksums of the lengths, as far as the lengths lead, and of every second record.
std::string WithChecksums(std::string file) {
  bool second = false;
  for (size_t at = 0; file.size() - at >= 16;) {
    record_format::StoreLittleEndian(record_format::MaskedCrc(absl::string_view(file).substr(at, 8)), &file[at + 8]);
    const uint64_t length = record_format::LoadLittleEndian<uint64_t>(&file[at]);
    if (length > file.size() - at - 16) break;
    const absl::string_view bytes = absl::string_view(file).substr(at + 12, length);
    if (second) record_format::StoreLittleEndian(record_format::MaskedCrc(bytes), &file[at + 12 + length]);
    second = !second;
    at += 16 + length;
  }
  return file;
}

// What the file gives, and the places of its records.
std::string ReadAll(const std::string& path, Compression compression, int64_t buffer_size, std::vector<int64_t>* places,
                    std::vector<std::string>* records) {
  auto reader =
      RecordReader::Open(path, {.compression = compression, .buffer_size = buffer_size, .max_record_bytes = 1 << 20});
  if (!reader.ok()) return reader.status().ToString();
  std::string text;
  for (size_t i = 0; i < kMostRecords; ++i) {
    Record record;
    bool end = false;
    if (absl::Status status = (*reader)->Next(&record, &end); !status.ok()) return text + status.ToString();
    if (end) return text + "end";
    places->push_back(record.offset);
    records->emplace_back(record.bytes);
    absl::StrAppend(&text, record.offset, ": ", record.bytes, " ", (*reader)->CheckBytes(record).ToString(), "\n");
  }
  return text;
}

void LookUp(const std::string& path, Compression compression, const std::vector<int64_t>& places,
            const std::vector<std::string>& records) {
  auto reader = RecordReader::Open(path, {.compression = compression, .buffer_size = 64});
  for (size_t i = places.size(); i > 0 && i + 4 > places.size(); --i) {
    Record record;
    bool end = false;
    Require((*reader)->Seek(places[i - 1]).ok() && (*reader)->Next(&record, &end).ok() && !end, "a record is found");
    Require(record.bytes == records[i - 1], "it is the same");
  }
}

}  // namespace

std::vector<std::string> Seeds() {
  std::string records;
  for (const int size : {0, 5, 1, 300, 70}) records += RecordOf(std::string(size, static_cast<char>('a' + size % 26)));
  return {RecordOf("hello"), records, Compress(records, /*gzip=*/true, 6), Compress(records, /*gzip=*/false, 0),
          Compress(RecordOf("one"), true, 0) + Compress(RecordOf("two"), true, 1)};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::Compression;
  static tandem::fuzz::MemoryFile file;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const bool gzip = size > 1 && data[0] == 0x1f && data[1] == 0x8b, zlib = size > 1 && data[0] == 0x78;
  const Compression compression = gzip ? Compression::kGzip : zlib ? Compression::kZlib : Compression::kNone;
  // Of an even size: the others show that checksums are compared.
  file.Set(!gzip && !zlib && size % 2 == 0 ? tandem::fuzz::WithChecksums(std::move(bytes)) : bytes);
  std::vector<int64_t> places, same_places;
  std::vector<std::string> records, same_records;
  const std::string all = tandem::fuzz::ReadAll(file.path(), compression, 256 << 10, &places, &records);
  const std::string small = tandem::fuzz::ReadAll(file.path(), compression, 13, &same_places, &same_records);
  tandem::fuzz::RequireEqual(all, small, "what is read does not depend on the size of the buffer");
  tandem::fuzz::LookUp(file.path(), compression, places, records);
  if (!records.empty()) tandem::fuzz::NoteAccepted();
  return 0;
}
