// The lines of a text file, plain or compressed: they do not depend on how much is read at once.
#include "absl/strings/str_cat.h"
#include "data/files/line_reader.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/gzip.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

constexpr size_t kMostLines = 5000;

std::string ReadAll(const std::string& path, const LineOptions& options, int64_t* lines) {
  auto reader = LineReader::Open(path, options);
  if (!reader.ok()) return reader.status().ToString();
  std::string text;
  for (size_t i = 0; i < kMostLines; ++i) {
    Line line;
    bool end = false;
    if (absl::Status status = (*reader)->Next(&line, &end); !status.ok()) return text + status.ToString();
    if (end) return text + "end";
    ++*lines;
    absl::StrAppend(&text, line.number, " at ", line.offset, ": ", line.bytes, "\n");
  }
  return text;
}

}  // namespace

std::vector<std::string> Seeds() {
  const std::string text = "one\ntwo\r\n\n\"three\n, \"\"three\",\"x\"\nand the last", line(300, 'y');
  return {text,
          line + "\n" + line,
          "\r\n\r\n\n",
          "\xef\xbb\xbf" + text,
          "\xff\xfe" + text,
          Compress(text + line, /*gzip=*/true, 6),
          Compress(text, /*gzip=*/false, 0),
          Compress(text, true, 1) + Compress("four\n", true, 9) + std::string(5, '\0')};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::Compression;
  static tandem::fuzz::MemoryFile file;
  file.Set({reinterpret_cast<const char*>(data), size});
  const bool gzip = size > 1 && data[0] == 0x1f && data[1] == 0x8b, zlib = size > 1 && data[0] == 0x78;
  int64_t lines = 0;
  for (const bool quoted : {false, true}) {
    tandem::LineOptions options = {.max_line_bytes = 1000, .quoted = quoted};
    options.compression = gzip ? Compression::kGzip : zlib ? Compression::kZlib : Compression::kNone;
    const std::string all = tandem::fuzz::ReadAll(file.path(), options, &lines);
    options.buffer_size = 7;
    tandem::fuzz::RequireEqual(all, tandem::fuzz::ReadAll(file.path(), options, &lines),
                               "lines do not depend on the size of the buffer");
  }
  if (lines > 0) tandem::fuzz::NoteAccepted();
  return 0;
}
