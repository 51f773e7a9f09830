// Compressed files: what InputFile reads does not depend on how much is asked for at once, and GzipFile, which lets
// pass what follows the data, reads the same.
#include "tests/fuzz/gzip.h"
#include "absl/strings/str_cat.h"
#include "data/files/input_file.h"
#include "data/gzip_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

// Of what a small file may be inflated to, so much is read: some of deflate's windows (32 KiB).
constexpr size_t kMostBytes = 1 << 18;
// So much is read in steps of the size asked for, what follows in larger ones.
constexpr size_t kSmallReads = 2048, kLargeStep = 1 << 15;

// Reads `step` bytes at a time. An error's text is stored in *error.
template <typename File>
std::string ReadAll(File& file, size_t step, std::string* error) {
  error->clear();
  std::string bytes;
  while (bytes.size() < kMostBytes) {
    const size_t had = bytes.size();
    const size_t wanted = std::min(had < kSmallReads ? step : kLargeStep, kMostBytes - had);
    bytes.resize(had + wanted);
    const absl::StatusOr<int64_t> got = file.Read(bytes.data() + had, wanted);
    bytes.resize(had + (got.ok() ? *got : 0));
    if (!got.ok()) *error = got.status().ToString();
    if (!got.ok() || *got == 0) break;
  }
  return bytes;
}

// The bytes, then the error if there is one.
std::string InputFileText(const std::string& path, Compression compression, size_t step, std::string* error) {
  InputFile file(path, compression);
  Require(file.Open().ok(), "a file in memory can be opened");
  return ReadAll(file, step, error);
}

}  // namespace

std::vector<std::string> Seeds() {
  const std::string text = "tandem tandem, tandem; and what else there is in 64 bytes of text", zeros(70000, '\0');
  return {Compress(text, /*gzip=*/true, 6),
          Compress(text, /*gzip=*/false, 6),
          Compress(text + zeros + text, true, 9),
          Compress("", true, 6),
          Compress(text, true, 0) + Compress(zeros, true, 1),
          Compress(zeros, false, 1) + std::string(40, '\0')};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::fuzz::RequireEqual;
  static tandem::fuzz::MemoryFile file;
  file.Set({reinterpret_cast<const char*>(data), size});
  const bool gzip = size > 1 && data[0] == 0x1f && data[1] == 0x8b;
  const tandem::Compression compression = gzip ? tandem::Compression::kGzip : tandem::Compression::kZlib;
  std::string error, other;
  const std::string all = tandem::fuzz::InputFileText(file.path(), compression, tandem::fuzz::kLargeStep, &error);
  const size_t step = size % 5 * 40 + 1;
  RequireEqual(all, tandem::fuzz::InputFileText(file.path(), compression, step, &other), "small reads give the same");
  RequireEqual(error, other, "small reads give the same error");
  if (error.empty()) tandem::fuzz::NoteAccepted();
  if (!gzip) return 0;
  tandem::GzipFile guessing(file.path());
  tandem::fuzz::Require(guessing.Open().ok() && guessing.compressed(), "the format is told by the first bytes");
  const std::string guessed = tandem::fuzz::ReadAll(guessing, tandem::fuzz::kLargeStep, &other);
  if (error.empty() || all.size() == tandem::fuzz::kMostBytes) RequireEqual(guessed, all, "both classes read the same");
  return 0;
}
