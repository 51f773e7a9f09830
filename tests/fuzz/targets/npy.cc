// NumPy's files: one array, and an archive of them.
#include "data/files/npy.h"

#include <zlib.h>

#include "absl/strings/str_cat.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

std::string Npy(absl::string_view descr, absl::string_view order, absl::string_view shape, absl::string_view data) {
  std::string header = absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", order, ", 'shape': ", shape, ", }");
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  const char length[] = {static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  return absl::StrCat(absl::string_view("\x93NUMPY\x01\0", 8), absl::string_view(length, 2), header, data);
}

std::string LittleEndian(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}

// An archive of one stored array.
std::string Npz(absl::string_view name, absl::string_view array) {
  const uint32_t crc = crc32(0, reinterpret_cast<const Bytef*>(array.data()), static_cast<uInt>(array.size()));
  const std::string sizes = LittleEndian(crc, 4) + LittleEndian(array.size(), 4) + LittleEndian(array.size(), 4);
  const std::string common = absl::StrCat(LittleEndian(20, 2), std::string(8, '\0'), sizes);
  const std::string names = LittleEndian(name.size(), 2);
  const std::string local = absl::StrCat("PK\3\4", common, names, LittleEndian(0, 2), name, array);
  const std::string central = absl::StrCat("PK\1\2", LittleEndian(20, 2), common, names, std::string(16, '\0'), name);
  return absl::StrCat(local, central, "PK\5\6", std::string(4, '\0'), LittleEndian(1, 2), LittleEndian(1, 2),
                      LittleEndian(central.size(), 4), LittleEndian(local.size(), 4), std::string(2, '\0'));
}

}  // namespace

std::vector<std::string> Seeds() {
  const std::string bytes(24, '\1');
  std::vector<std::string> seeds = {Npy("<f4", "False", "(2, 3)", bytes), Npy(">i2", "True", "(3, 2, 2)", bytes),
                                    Npy("|b1", "False", "()", "\1"), Npy("<f2", "False", "(12,)", bytes),
                                    Npy("|u1", "False", "(0, 4)", "")};
  for (size_t i = 0; i < 3; ++i) seeds.push_back(Npz("x.npy", seeds[i]));
  return seeds;
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tandem::fuzz::MemoryFile file;
  const tandem::NpyOptions options = {.max_bytes = 1 << 20};
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  file.Set(bytes);
  if (size >= 2 && bytes.substr(0, 2) == "PK") {
    if (tandem::ReadNpz(file.path(), options).ok()) tandem::fuzz::NoteAccepted();
    return 0;
  }
  const auto array = tandem::ReadNpy(file.path(), options);
  if (!array.ok()) return 0;
  tandem::fuzz::NoteAccepted();
  file.Set(tandem::fuzz::Npz("a.npy", bytes));
  const auto arrays = tandem::ReadNpz(file.path(), options);
  using tandem::fuzz::Require;
  Require(arrays.ok() && arrays->size() == 1 && arrays->front().first == "a", "an archive of an array can be read");
  const tandem::HostTensor& same = arrays->front().second;
  Require(same.shape() == array->shape() && same.byte_size() == array->byte_size() &&
              std::string(static_cast<const char*>(same.raw()), same.byte_size()) ==
                  std::string(static_cast<const char*>(array->raw()), array->byte_size()),
          "it is the same");
  return 0;
}
