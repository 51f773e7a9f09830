// An IDX file, plain or compressed.
#include "data/idx.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() {
  using std::string_literals::operator""s;
  return {"\0\0\x08\x01\0\0\0\x05"s + "12345", "\0\0\x08\x03\0\0\0\x02\0\0\0\x03\0\0\0\x02"s + std::string(12, 'x'),
          "\0\0\x0d\x01\0\0\0\x01"s + "\x3f\x80\0\0"s};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tandem::fuzz::MemoryFile file;
  file.Set({reinterpret_cast<const char*>(data), size});
  if (tandem::ReadIdx(file.path()).ok()) tandem::fuzz::NoteAccepted();
  return 0;
}
