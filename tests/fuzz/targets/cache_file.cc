// The file of a cache, behind right checksums, and elements as bytes: what was read is written the same.
#include "data/files/cache_file.h"

#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "data/files/element_codec.h"
#include "data/files/record_format.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

constexpr int64_t kTokenWidth = 2;
constexpr size_t kHeaderBytes = 24, kFooterBytes = 40;

CacheIdentity Identity() { return {"range(3)", "data"}; }

Element Sample(int64_t i) {
  return {{HostTensor::Scalar<int64_t>(i), HostTensor::FromVector<float>({2, 1}, {1.5f, -2}),
           HostTensor::FromStrings({2}, std::vector<std::string>{"a", std::string(i, 'b')})}};
}

// A file as CacheFileWriter makes it, of three elements, of which the second is an error.
std::string Whole() {
  char dir[] = "/tmp/fuzz-cache-XXXXXX";
  Require(mkdtemp(dir) != nullptr, "a directory can be made");
  const std::string path = JoinPath(dir, "cache");
  {
    auto writer = CacheFileWriter::Create(path, Identity(), kTokenWidth);
    for (const int64_t i : {2, 0}) {
      std::string bytes;
      AppendElement(Sample(i), &bytes);
      Require((*writer)->Write(i, bytes).ok(), "an entry can be written");
    }
    Require((*writer)->Finish(3, {0, 1, 2, 3, 4, 5}).ok(), "a cache can be finished");
  }
  const std::string bytes = *Env::Default()->ReadFile(path);
  (void)Env::Default()->DeleteRecursively(dir);
  return bytes;
}

void Seal(size_t begin, size_t end, size_t at, std::string* file) {
  if (begin > end || end > file->size() || at + 4 > file->size()) return;
  const uint32_t crc = record_format::MaskedCrc(absl::string_view(*file).substr(begin, end - begin));
  std::memcpy(&(*file)[at], &crc, sizeof crc);
}

// With right checksums of header and index.
std::string Sealed(std::string file) {
  if (file.size() < kHeaderBytes + kFooterBytes) return file;
  const size_t footer = file.size() - kFooterBytes;
  const uint64_t pipeline = record_format::LoadLittleEndian<uint64_t>(&file[8]);
  const uint64_t data = record_format::LoadLittleEndian<uint64_t>(&file[16]);
  const uint64_t index = record_format::LoadLittleEndian<uint64_t>(&file[footer]);
  if (pipeline < file.size() && data < file.size()) {
    Seal(0, kHeaderBytes + pipeline + data, footer + 28, &file);
  }
  if (index < file.size()) Seal(index, footer + 24, footer + 24, &file);
  return file;
}

}  // namespace

std::vector<std::string> Seeds() {
  std::string element;
  AppendElement(Sample(3), &element);
  return {Whole(), element};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::fuzz::Require;
  static tandem::fuzz::MemoryFile file;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  tandem::Element element;
  if (tandem::ParseElement(bytes, &element)) {
    std::string again;
    tandem::AppendElement(element, &again);
    tandem::fuzz::RequireEqual(again, bytes, "an element that was read is written the same");
    tandem::fuzz::NoteAccepted();
  }
  file.Set(tandem::fuzz::Sealed(bytes));
  const auto cache = tandem::CacheFile::Open(file.path(), tandem::fuzz::Identity(), tandem::fuzz::kTokenWidth);
  if (!cache.ok()) return 0;
  tandem::fuzz::NoteAccepted();
  Require((*cache)->tokens().size() == 2 * (*cache)->entries(), "each entry has its token");
  for (int64_t i = 0; i < (*cache)->entries(); ++i) {
    std::string entry;
    const absl::StatusOr<bool> found = (*cache)->Read(i, &entry);
    if (found.ok() && *found) (void)tandem::ParseElement(entry, &element);
  }
  return 0;
}
