// HDF5 files: the tree and every data set, and the same tree written and read again.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/element_count.h"
#include "data/files/hdf5_attributes.h"
#include "data/files/hdf5_reader.h"
#include "data/files/hdf5_writer.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

constexpr size_t kSizeOfOldest = 48;  // what a superblock 0 takes up to the end of the file's size

// What data sets and attributes there are, with the names and bytes of all of them.
std::string Content(const Hdf5Group& group) {
  std::string content;
  const auto add_attributes = [&](const Hdf5Object& object) {
    for (const auto& [name, value] : object.attributes) {
      content += name + ShapeString(value.shape);
      if (const auto* texts = std::get_if<std::vector<std::string>>(&value.elements)) {
        for (const std::string& text : *texts) content += text + '\n';
      } else if (const auto* integers = std::get_if<std::vector<int64_t>>(&value.elements)) {
        content.append(reinterpret_cast<const char*>(integers->data()), integers->size() * sizeof(int64_t));
      } else {
        const auto& numbers = std::get<std::vector<double>>(value.elements);
        content.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
      }
    }
  };
  add_attributes(group);
  for (const auto& [name, dataset] : group.datasets) {
    content += name + ShapeString(dataset.shape);
    add_attributes(dataset);
    const absl::StatusOr<std::string> bytes = dataset.ReadBytes();
    Require(bytes.ok(), "the data of a file that was read is there");
    content += *bytes;
    const bool uint64 = dataset.type.kind == NumberType::Kind::kUnsigned && dataset.type.size == 8;
    Require(dataset.Read().ok() != uint64, "all data can be read but that of uint64");
    dataset.ReadFloat32().IgnoreError();
  }
  for (const auto& [name, child] : group.groups) content += name + "{" + Content(*child) + "}";
  return content;
}

// The most bytes that the data sets of a file may have together: several may share the bytes of a file.
int64_t BytesOf(const Hdf5Group& group) {
  int64_t bytes = 0;
  for (const auto& [name, dataset] : group.datasets) bytes += CheckedNumElements(dataset.shape) * dataset.type.size;
  for (const auto& [name, child] : group.groups) bytes += BytesOf(*child);
  return bytes;
}

}  // namespace

// The files of Keras that are read and refused.
std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const char* folder : {"", "optimizers", "hostile", "refused"}) {
    const std::filesystem::path path = std::filesystem::path("tests/keras/testdata") / folder;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() != ".h5" || std::filesystem::file_size(entry.path()) > 60000) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  Require(seeds.size() > 30, "the files of tests/keras/testdata are there");
  Hdf5Group tree;
  tree.attributes["n"] = {std::vector<int64_t>{1, 2}, {2}};
  tree.attributes["s"] = Hdf5Value::String("text");
  SetStringList(&tree, "names", {"a", "b"}).IgnoreError();
  tree.MakeDataset("g/v", HostTensor::FromVector({2}, std::vector<double>{1, 2}));
  seeds.push_back(SerializeHdf5(tree).value_or(""));
  return seeds;
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::fuzz::Require;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  // A changed size of the file is not what is wrong with most of them.
  if (size >= tandem::fuzz::kSizeOfOldest && bytes[8] == 0) {
    for (int i = 0; i < 8; ++i) bytes[40 + i] = static_cast<char>(static_cast<uint64_t>(size) >> (8 * i));
  }
  const absl::StatusOr<tandem::Hdf5Group> root = tandem::ParseHdf5(bytes, "f.h5");
  if (!root.ok()) {
    Require(root.status().message().substr(0, 6) == "f.h5: ", "an error names the file");
    return 0;
  }
  tandem::fuzz::NoteAccepted();
  tandem::GetStringList(*root, "weight_names").IgnoreError();
  tandem::GetString(*root, "keras_version").IgnoreError();
  if (tandem::fuzz::BytesOf(*root) > int64_t{1} << 22) return 0;
  const std::string content = tandem::fuzz::Content(*root);
  const absl::StatusOr<std::string> written = tandem::SerializeHdf5(*root);
  // What the writer refuses of what is read: lists that are longer when all strings are as long as the longest.
  if (!written.ok()) return 0;
  const absl::StatusOr<tandem::Hdf5Group> again = tandem::ParseHdf5(*written, "again.h5");
  Require(again.ok(), "what is written can be read");
  tandem::fuzz::RequireEqual(content, tandem::fuzz::Content(*again), "it is the same");
  return 0;
}
