// Zip archives, as .keras and .npz files are: what is read of an entry does not depend on how it is asked for, and an
// archive that is read can be written and read again.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "data/files/zip_reader.h"
#include "data/files/zip_writer.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

constexpr int64_t kMostBytes = 1 << 20;  // of an entry

}  // namespace

// Archives of Keras, whose entries are compressed or not, and one of ours.
std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator("tests/keras/testdata")) {
    if (entry.path().extension() != ".keras") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  Require(seeds.size() >= 4, "the archives of tests/keras/testdata are there");
  seeds.push_back(
      SerializeZip({{"config.json", {"{}"}}, {"a/b", {"some", " bytes"}}, {"empty", {""}}}, "a test").value_or(""));
  return seeds;
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::fuzz::Require;
  using tandem::fuzz::RequireEqual;
  static tandem::fuzz::MemoryFile file;
  file.Set({reinterpret_cast<const char*>(data), size});
  const auto archive = tandem::ZipReader::Open(file.path(), "a test");
  if (!archive.ok()) {
    Require(archive.status().message().find(file.path()) != std::string::npos, "an error names the file");
    return 0;
  }
  std::map<std::string, std::string> entries;
  for (int64_t i = 0; i < archive->num_entries(); ++i) {
    auto entry = archive->OpenEntry(i);
    if (!entry.ok()) continue;
    Require(archive->Find(entry->name()) == i, "an entry is found by its name");
    const absl::StatusOr<std::string> bytes = entry->ReadAll(tandem::fuzz::kMostBytes);
    if (!bytes.ok()) continue;
    auto again = archive->OpenEntry(i);
    Require(again.ok(), "an entry can be opened again");
    std::string pieces(bytes->size() + 1, '\0');
    const int64_t first = static_cast<int64_t>(bytes->size() / 3);
    const absl::StatusOr<int64_t> some = again->Read(pieces.data(), first);
    Require(some.ok() && *some == first, "a part of what was read can be read");
    const absl::StatusOr<int64_t> rest =
        again->Read(pieces.data() + first, static_cast<int64_t>(pieces.size()) - first);
    Require(rest.ok() && first + *rest == static_cast<int64_t>(bytes->size()), "and the rest");
    pieces.resize(bytes->size());
    RequireEqual(pieces, *bytes, "pieces are the same bytes");
    entries[entry->name()] = *bytes;
  }
  if (entries.empty()) return 0;
  tandem::fuzz::NoteAccepted();
  std::vector<tandem::ZipContent> contents;
  for (const auto& [name, bytes] : entries) contents.push_back({name, {bytes}});
  const absl::StatusOr<std::string> written = tandem::SerializeZip(contents, "a test");
  if (!written.ok()) return 0;  // a name that is no UTF-8
  file.Set(*written);
  std::vector<std::string> names;
  for (const auto& [name, bytes] : entries) names.push_back(name);
  const auto read = tandem::ReadZipEntries(file.path(), "a test", names);
  Require(read.ok() && *read == entries, "what is written can be read");
  return 0;
}
