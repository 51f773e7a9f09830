// A vocabulary of a warm start, a token a line, against another one.
#include "estimator/warm_start/vocabulary.h"
#include "data/files/vocabulary_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() { return {"a\nb\r\nc", "the\nof\n\nand\n", "x\ny\nz\n"}; }

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::fuzz::Require;
  static tandem::fuzz::MemoryFile file;
  file.Set({reinterpret_cast<const char*>(data), size});
  const std::vector<std::string> other = {"z", "the", "b", ""};
  for (int64_t count : {0, 3, 1000000}) {
    const auto tokens = tandem::ReadVocabulary(tandem::Env::Default(), file.path(), count);
    if (!tokens.ok()) continue;
    Require(static_cast<int64_t>(tokens->size()) == count, "there are so many tokens");
    if (count > 0) tandem::fuzz::NoteAccepted();
    for (const tandem::MatchedRow& row : tandem::MatchRows(*tokens, other)) {
      Require((*tokens)[row.from] == other[row.to], "matched rows have one token");
    }
  }
  return 0;
}
