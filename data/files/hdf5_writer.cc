#include "data/files/hdf5_writer.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/element_count.h"
#include "base/printable.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "data/files/hdf5_format.h"
#include "data/files/hdf5_output.h"
#include "data/files/hdf5_types.h"

namespace tandem {
namespace {

using hdf5::Output;

constexpr uint64_t kSuperblock = 96;      // bytes of the superblock, with which the file begins
constexpr uint64_t kSmallestHeap = 4096;  // least size of a heap of strings, in bytes
// The superblock records these numbers. A leaf of a group's tree has up to 2 * 4 entries, and an inner node up to 2 *
// 16 children.
constexpr uint16_t kHalfOfEntries = 4, kHalfOfChildren = 16;

// A contiguous part of the file: bytes, or the elements of a tensor.
struct Piece {
  std::string bytes;
  HostTensor tensor;

  absl::string_view view() const {
    if (tensor.empty()) return bytes;
    return {static_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.byte_size())};
  }
};

class FileMaker {
 public:
  // Makes all pieces of the file, which refer to the tensors of `root`.
  absl::Status Make(const Hdf5Group& root);
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  struct Encoded {
    uint16_t kind;
    std::string body;
    uint8_t flags = 0;
  };
  static constexpr uint8_t kConstant = 1;  // flag of a message whose contents never change

  // Pads the file to a multiple of 8 and appends `bytes`. Returns the address of the first of them.
  uint64_t Put(std::string bytes);
  uint64_t PutTensor(const HostTensor& tensor);
  uint64_t PutHeader(const std::vector<Encoded>& messages);

  absl::StatusOr<uint64_t> PutGroup(const Hdf5Group& group, const std::string& path, int64_t depth);
  absl::StatusOr<uint64_t> PutDataset(const Hdf5Dataset& dataset, const std::string& path);
  // Writes the B-tree over a group's entries and returns its address. An entry is the offset of the name in the group's
  // heap and the address of the object.
  uint64_t PutTree(const std::vector<std::pair<uint64_t, uint64_t>>& entries);
  absl::Status AppendAttributes(const Hdf5Object& object, const std::string& path, std::vector<Encoded>* messages);
  absl::StatusOr<std::string> EncodeAttribute(const std::string& name, const Hdf5Value& value, const std::string& what);

  // Writes the values of all attributes that are single strings into heaps. This comes before the attributes are
  // written, because they refer to the strings.
  absl::Status PutStrings(const Hdf5Group& group, const std::string& path, int64_t depth);
  absl::Status AddStrings(const Hdf5Object& object, const std::string& path);
  void PutHeap();

  std::vector<Piece> pieces_;
  uint64_t size_ = kSuperblock;
  std::map<const Hdf5Value*, std::string> places_;  // the reference to each single string, as attributes contain it
  Output heap_;                                     // the objects of the heap that is being filled
  // The strings in the heap that is being filled, and their lengths.
  std::vector<std::pair<const Hdf5Value*, uint64_t>> in_heap_;
};

absl::Status CannotWrite(absl::string_view path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("an HDF5 file cannot have ", PrintableLine(path), ": ", why));
}

std::string Below(const std::string& path, absl::string_view name) {
  return absl::StrCat(path == "/" ? "" : path, "/", name);
}

absl::Status CheckName(absl::string_view path, absl::string_view name) {
  const bool slash = absl::StrContains(name, '/');
  if (!name.empty() && name != "." && !slash && !absl::StrContains(name, '\0') && hdf5::IsUtf8(name) &&
      name.size() <= static_cast<size_t>(hdf5::kMaxName)) {
    return absl::OkStatus();
  }
  return CannotWrite(
      path, absl::StrCat("a name is UTF-8 without a slash or a zero, of 1 to ", hdf5::kMaxName, " bytes, and not \".\"",
                         slash ? "; make a group for what is in front of it" : ""));
}

absl::Status CheckText(const std::string& what, absl::string_view text) {
  if (!absl::StrContains(text, '\0') && hdf5::IsUtf8(text)) return absl::OkStatus();
  return CannotWrite(what,
                     absl::StrCat("the text \"", PrintableLine(text.substr(0, 100)), "\" is not UTF-8, or has a zero"));
}

uint64_t FileMaker::Put(std::string bytes) {
  const uint64_t aligned = hdf5::RoundUpTo8(size_);
  std::string& last = pieces_.back().bytes;
  if (pieces_.back().tensor.empty()) {
    last.append(aligned - size_, '\0');
    last += bytes;
  } else {
    pieces_.push_back({std::string(aligned - size_, '\0') + bytes, {}});
  }
  size_ = aligned + bytes.size();
  return aligned;
}

uint64_t FileMaker::PutTensor(const HostTensor& tensor) {
  const uint64_t address = Put("");
  pieces_.push_back({"", tensor});
  size_ += tensor.byte_size();
  return address;
}

uint64_t FileMaker::PutHeader(const std::vector<Encoded>& messages) {
  Output body;
  for (const Encoded& message : messages) {
    body.U16(message.kind).U16(static_cast<uint16_t>(hdf5::RoundUpTo8(message.body.size()))).U8(message.flags).Zeros(3);
    body.Padded(message.body);
  }
  constexpr uint8_t kVersion = 1;
  Output header;
  header.U8(kVersion).U8(0).U16(static_cast<uint16_t>(messages.size())).U32(1).U32(static_cast<uint32_t>(body.size()));
  return Put(header.Zeros(4).Text(body.bytes()).Take());
}

void FileMaker::PutHeap() {
  if (in_heap_.empty()) return;
  constexpr uint64_t kPrefix = 16, kObject = 16;
  const uint64_t used = kPrefix + heap_.size(), size = std::max(kSmallestHeap, used + kObject);
  Output out;
  out.Text("GCOL").U8(1).Zeros(3).U64(size).Text(heap_.bytes());
  // Object 0 describes the free space at the heap's end.
  out.U16(0).U16(0).Zeros(4).U64(size - used).Zeros(size - used - kObject);
  const uint64_t address = Put(out.Take());
  for (size_t i = 0; i < in_heap_.size(); ++i) {
    Output place;
    place.U32(static_cast<uint32_t>(in_heap_[i].second)).U64(address).U32(static_cast<uint32_t>(i + 1));
    places_[in_heap_[i].first] = place.Take();
  }
  heap_ = Output();
  in_heap_.clear();
}

absl::Status FileMaker::AddStrings(const Hdf5Object& object, const std::string& path) {
  for (const auto& [name, value] : object.attributes) {
    const auto* texts = std::get_if<std::vector<std::string>>(&value.elements);
    if (texts == nullptr || !value.shape.empty() || texts->size() != 1) continue;
    const std::string& text = texts->front();
    TD_RETURN_IF_ERROR(CheckText(absl::StrCat(path, ", attribute ", name), text));
    if (text.size() >= UINT32_MAX) return CannotWrite(absl::StrCat(path, ", attribute ", name), "it has 4 GiB");
    const uint64_t needed = 16 + hdf5::RoundUpTo8(text.size() + 1);
    if (16 + heap_.size() + needed + 16 > kSmallestHeap) PutHeap();
    in_heap_.emplace_back(&value, text.size() + 1);
    heap_.U16(static_cast<uint16_t>(in_heap_.size())).U16(1).Zeros(4).U64(text.size() + 1);
    heap_.Padded(text + '\0');
  }
  return absl::OkStatus();
}

absl::Status FileMaker::PutStrings(const Hdf5Group& group, const std::string& path, int64_t depth) {
  if (depth > hdf5::kMaxDepth) {
    return CannotWrite(path, absl::StrCat("it is in more than ", hdf5::kMaxDepth, " groups in each other"));
  }
  TD_RETURN_IF_ERROR(AddStrings(group, path));
  for (const auto& [name, dataset] : group.datasets) TD_RETURN_IF_ERROR(AddStrings(dataset, Below(path, name)));
  for (const auto& [name, child] : group.groups) TD_RETURN_IF_ERROR(PutStrings(*child, Below(path, name), depth + 1));
  return absl::OkStatus();
}

absl::StatusOr<std::string> FileMaker::EncodeAttribute(const std::string& name, const Hdf5Value& value,
                                                       const std::string& what) {
  const size_t count = std::visit([](const auto& elements) { return elements.size(); }, value.elements);
  if (value.shape.size() > hdf5::kMaxRank || CheckedNumElements(value.shape) != static_cast<int64_t>(count)) {
    return CannotWrite(what, absl::StrCat("there are ", count, " elements of the shape ", ShapeString(value.shape)));
  }
  hdf5::Datatype type;
  Output data;
  bool utf8 = false;
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value.elements)) {
    if (value.shape.empty()) {
      type.form = hdf5::Datatype::Form::kVariableString;
      type.size = 16;
      data.Text(places_.at(&value));
    } else {
      type.form = hdf5::Datatype::Form::kFixedString;
      type.size = 1;
      for (const std::string& text : *texts) {
        TD_RETURN_IF_ERROR(CheckText(what, text));
        type.size = std::max(type.size, static_cast<uint32_t>(std::min<size_t>(text.size(), UINT32_MAX)));
      }
      if (type.size * count <= static_cast<size_t>(hdf5::kMaxMessage)) {
        for (const std::string& text : *texts) {
          data.Text(text).Zeros(type.size - text.size());
          utf8 = utf8 || std::any_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
        }
      }
      // An empty list of strings has no width, so it is written as an empty list of float64, as h5py does.
      if (count == 0) type = {.size = 8, .number = {NumberType::Kind::kFloat, 8}};
    }
  } else {
    const bool integers = std::holds_alternative<std::vector<int64_t>>(value.elements);
    type.size = 8;
    type.number = {integers ? NumberType::Kind::kSigned : NumberType::Kind::kFloat, 8};
    std::visit(
        [&](const auto& elements) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(elements)>, std::vector<std::string>>) {
            data.Text({reinterpret_cast<const char*>(elements.data()), 8 * elements.size()});
          }
        },
        value.elements);
  }
  const std::string type_bytes = hdf5::EncodeDatatype(type, utf8), space = hdf5::EncodeDataspace(value.shape);
  const std::string name_bytes = name + '\0';
  Output out;
  out.U8(1).U8(0).U16(static_cast<uint16_t>(name_bytes.size())).U16(static_cast<uint16_t>(type_bytes.size()));
  out.U16(static_cast<uint16_t>(space.size())).Padded(name_bytes).Padded(type_bytes).Padded(space);
  if (out.size() + type.size * count > static_cast<size_t>(hdf5::kMaxMessage)) {
    return CannotWrite(what, absl::StrCat("it has ", type.size * count, " bytes, more than an attribute holds; ",
                                          "SetStringList cuts lists of names"));
  }
  return out.Text(data.bytes()).Take();
}

absl::Status FileMaker::AppendAttributes(const Hdf5Object& object, const std::string& path,
                                         std::vector<Encoded>* messages) {
  for (const auto& [name, value] : object.attributes) {
    const std::string what = absl::StrCat(path, ", attribute ", name);
    if (name.empty() || name.size() > static_cast<size_t>(hdf5::kMaxName)) {
      return CannotWrite(
          what, absl::StrCat("its name has ", name.size(), " bytes, and 1 to ", hdf5::kMaxName, " can be written"));
    }
    TD_RETURN_IF_ERROR(CheckText(what, name));
    TD_ASSIGN_OR_RETURN(std::string body, EncodeAttribute(name, value, what));
    messages->push_back({hdf5::kAttribute, std::move(body)});
  }
  if (messages->size() > UINT16_MAX) return CannotWrite(path, "it has more than 65,000 attributes");
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> FileMaker::PutDataset(const Hdf5Dataset& dataset, const std::string& path) {
  if (dataset.file == nullptr) {
    TD_RETURN_IF_ERROR(dataset.tensor.status());
    if (dataset.tensor.empty()) return CannotWrite(path, "the tensor is empty: it has no type");
  }
  if (dataset.type.kind == NumberType::Kind::kBool) {
    return CannotWrite(path, absl::StrCat("its values are ", Name(dataset.tensor.dtype()),
                                          ", and numbers are written; convert bools to uint8"));
  }
  if (dataset.shape.size() > hdf5::kMaxRank) {
    return CannotWrite(path, absl::StrCat("it has ", dataset.shape.size(), " dimensions, and at most ", hdf5::kMaxRank,
                                          " are written"));
  }
  const int64_t bytes = CheckedNumElements(dataset.shape) * dataset.type.size;
  uint64_t address = hdf5::kNowhere;
  if (bytes > 0 && dataset.file == nullptr) {
    address = PutTensor(dataset.tensor);
  } else if (bytes > 0) {
    TD_ASSIGN_OR_RETURN(std::string copy, dataset.ReadBytes());
    address = Put(std::move(copy));
  }
  hdf5::Datatype type;
  type.size = static_cast<uint32_t>(dataset.type.size);
  type.number = dataset.type;
  if (dataset.type.kind == NumberType::Kind::kBFloat16 && dataset.attributes.count(hdf5::kKerasType) != 0) {
    type.form = hdf5::Datatype::Form::kOpaque;
  }
  // The data set has no fill value. These fields say that space is allocated late, and filled only if the writer has
  // set a value.
  constexpr uint8_t kFillVersion = 2, kLate = 2, kIfSet = 2;
  constexpr uint8_t kLayoutVersion = 3;
  Output layout;
  layout.U8(kLayoutVersion).U8(hdf5::kContiguous).U64(address).U64(static_cast<uint64_t>(bytes));
  std::vector<Encoded> messages = {
      {hdf5::kDataspace, hdf5::EncodeDataspace(dataset.shape)},
      {hdf5::kDatatype, hdf5::EncodeDatatype(type), kConstant},
      {hdf5::kFillValue, Output().U8(kFillVersion).U8(kLate).U8(kIfSet).U8(0).Take(), kConstant},
      {hdf5::kLayout, layout.Take()}};
  TD_RETURN_IF_ERROR(AppendAttributes(dataset, path, &messages));
  return PutHeader(messages);
}

uint64_t FileMaker::PutTree(const std::vector<std::pair<uint64_t, uint64_t>>& entries) {
  constexpr size_t kEntries = 2 * kHalfOfEntries, kChildren = 2 * kHalfOfChildren;
  struct Node {
    uint64_t address, last_name;
  };
  std::vector<Node> nodes;
  for (size_t i = 0; i < std::max<size_t>(entries.size(), 1); i += kEntries) {
    const size_t end = std::min(entries.size(), i + kEntries);
    Output out;
    out.Text("SNOD").U8(1).U8(0).U16(static_cast<uint16_t>(end - i));
    for (size_t j = i; j < end; ++j) out.U64(entries[j].first).U64(entries[j].second).Zeros(24);
    out.Zeros(40 * (kEntries - (end - i)));
    nodes.push_back({Put(out.Take()), entries.empty() ? 0 : entries[end - 1].first});
  }
  constexpr uint64_t kSize = 24 + 8 + 16 * kChildren;
  for (uint8_t level = 0;; ++level) {
    std::vector<Node> above;
    const uint64_t first = hdf5::RoundUpTo8(size_);
    for (size_t i = 0; i < nodes.size(); i += kChildren) {
      const size_t end = std::min(nodes.size(), i + kChildren), number = i / kChildren;
      Output out;
      out.Text("TREE").U8(0).U8(level).U16(static_cast<uint16_t>(entries.empty() ? 0 : end - i));
      out.U64(i == 0 ? hdf5::kNowhere : first + (number - 1) * kSize);
      out.U64(end == nodes.size() ? hdf5::kNowhere : first + (number + 1) * kSize);
      out.U64(i == 0 ? 0 : nodes[i - 1].last_name);
      for (size_t j = i; j < end && !entries.empty(); ++j) out.U64(nodes[j].address).U64(nodes[j].last_name);
      out.Zeros(kSize - out.size());
      above.push_back({Put(out.Take()), nodes[end - 1].last_name});
    }
    nodes = std::move(above);
    if (nodes.size() == 1) return nodes[0].address;
  }
}

absl::StatusOr<uint64_t> FileMaker::PutGroup(const Hdf5Group& group, const std::string& path, int64_t depth) {
  std::map<absl::string_view, uint64_t> objects;
  for (const auto& [name, dataset] : group.datasets) {
    TD_RETURN_IF_ERROR(CheckName(Below(path, name), name));
    TD_ASSIGN_OR_RETURN(objects[name], PutDataset(dataset, Below(path, name)));
  }
  for (const auto& [name, child] : group.groups) {
    TD_RETURN_IF_ERROR(CheckName(Below(path, name), name));
    if (objects.count(name) != 0) return CannotWrite(Below(path, name), "it is a group and a data set");
    TD_ASSIGN_OR_RETURN(objects[name], PutGroup(*child, Below(path, name), depth + 1));
  }
  constexpr uint64_t kFreeBlock = 16, kLastFree = 1;
  Output names;
  names.Zeros(8);  // a group's heap of names begins with the empty name
  std::vector<std::pair<uint64_t, uint64_t>> entries;
  for (const auto& [name, address] : objects) {
    entries.emplace_back(names.size(), address);
    names.Padded(absl::StrCat(name, absl::string_view("\0", 1)));
  }
  const uint64_t free = names.size();
  names.U64(kLastFree).U64(kFreeBlock);
  const uint64_t size = names.size(), data = Put(names.Take());
  const uint64_t heap = Put(Output().Text("HEAP").U8(0).Zeros(3).U64(size).U64(free).U64(data).Take());
  const uint64_t tree = PutTree(entries);
  std::vector<Encoded> messages = {{hdf5::kSymbolTable, Output().U64(tree).U64(heap).Take()}};
  TD_RETURN_IF_ERROR(AppendAttributes(group, path, &messages));
  return PutHeader(messages);
}

absl::Status FileMaker::Make(const Hdf5Group& root) {
  pieces_.push_back({std::string(kSuperblock, '\0'), {}});
  TD_RETURN_IF_ERROR(PutStrings(root, "/", 0));
  PutHeap();
  TD_ASSIGN_OR_RETURN(const uint64_t address, PutGroup(root, "/", 0));
  Put("");  // pads the file's end to a multiple of 8
  constexpr uint8_t kNumberSize = 8;
  Output out;
  out.Text(hdf5::kSignature).Zeros(5).U8(kNumberSize).U8(kNumberSize).U8(0).U16(kHalfOfEntries).U16(kHalfOfChildren);
  out.U32(0).U64(0).U64(hdf5::kNowhere).U64(size_).U64(hdf5::kNowhere);
  out.U64(0).U64(address).Zeros(24);  // the symbol table entry of the root group
  pieces_[0].bytes.replace(0, kSuperblock, out.bytes());
  return absl::OkStatus();
}

absl::Status WritePieces(const std::vector<Piece>& pieces, WritableFile& file) {
  for (const Piece& piece : pieces) TD_RETURN_IF_ERROR(file.Append(piece.view()));
  return file.Sync();
}

}  // namespace

absl::StatusOr<std::string> SerializeHdf5(const Hdf5Group& root) {
  return CatchResourceErrors("making an HDF5 file", [&]() -> absl::StatusOr<std::string> {
    FileMaker maker;
    TD_RETURN_IF_ERROR(maker.Make(root));
    std::string bytes;
    for (const Piece& piece : maker.pieces()) absl::StrAppend(&bytes, piece.view());
    return bytes;
  });
}

absl::Status WriteHdf5(Env* env, const std::string& path, const Hdf5Group& root) {
  return CatchResourceErrors(path, [&]() -> absl::Status {
    FileMaker maker;
    TD_RETURN_IF_ERROR(maker.Make(root));
    TD_ASSIGN_OR_RETURN(const TemporaryFile temporary, env->CreateTemporary(path));
    absl::Status status = WritePieces(maker.pieces(), *temporary.file);
    if (status.ok()) status = env->Rename(temporary.path, path);
    if (!status.ok()) {
      env->DeleteFile(temporary.path).IgnoreError();
      return status;
    }
    return env->SyncDir(DirName(path));
  });
}

}  // namespace tandem
