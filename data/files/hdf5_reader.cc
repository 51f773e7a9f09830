#include "data/files/hdf5_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/element_count.h"
#include "base/printable.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "data/files/hdf5_format.h"
#include "data/files/hdf5_header.h"
#include "data/files/hdf5_heap.h"
#include "data/files/hdf5_input.h"
#include "data/files/hdf5_types.h"

namespace tandem {
namespace {

using hdf5::Bytes;
using hdf5::Datatype;
using hdf5::Header;
using hdf5::Message;

constexpr absl::string_view kRepack = "h5repack -l CONTI -f NONE FILE NEW_FILE writes one that can be read";
constexpr absl::string_view kCopy = "copy the values themselves into a file with h5py";
constexpr absl::string_view kEarliest = "write the file with h5py's libver=\"earliest\", which is the default";

// Makes a string in memory readable through the file interface.
class BytesAsFile : public RandomAccessFile {
 public:
  BytesAsFile(std::string bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {}

  const std::string& path() const override { return name_; }
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  absl::Status ReadAt(int64_t offset, size_t n, char* out) const override {
    if (offset < 0 || offset > size() || n > bytes_.size() - offset) {
      return absl::DataLossError(absl::StrCat(name_, ": it ends at byte ", size(), ": it is truncated"));
    }
    if (n > 0) std::memcpy(out, bytes_.data() + offset, n);
    return absl::OkStatus();
  }
  absl::Status CheckTrusted() const override {
    return absl::PermissionDeniedError(absl::StrCat(name_, ": nobody answers for bytes in memory"));
  }

 private:
  const std::string bytes_, name_;
};

// An entry of a group, which names another group or a data set.
struct Link {
  std::string name;
  uint64_t address;  // address of the object's header in the file
  uint64_t offset;   // offset of the entry in the file, for messages
};

class Reader {
 public:
  explicit Reader(std::shared_ptr<const RandomAccessFile> file) : input_(std::move(file)) {}

  absl::StatusOr<Hdf5Group> Read();

 private:
  absl::StatusOr<uint64_t> RootAddress();
  absl::Status ReadGroup(const Header& header, int64_t depth, Hdf5Group* group);
  absl::Status ReadDataset(const Header& header, Hdf5Dataset* dataset);
  absl::Status ReadAttributes(const Header& header, Hdf5Object* object);
  absl::Status ReadAttribute(Bytes message, Hdf5Object* object);
  absl::StatusOr<Hdf5Value> ReadValue(const Datatype& type, const std::optional<Shape>& shape, Bytes data);
  absl::StatusOr<std::vector<std::string>> ReadStrings(const Datatype& type, int64_t count, Bytes data);
  absl::Status AppendSymbols(Bytes message, std::vector<Link>* links);
  absl::Status AppendSymbolNode(Bytes node, const std::string& names, std::vector<Link>* links);
  absl::StatusOr<std::string> ReadNames(uint64_t heap);
  absl::Status AppendLink(Bytes message, std::vector<Link>* links);
  absl::Status CheckName(const Link& link, const Hdf5Group& group) const;
  // Reads the header of an object that a group names at offset `named_at`. DataLoss if the object is a group that
  // contains that group, which would be a cycle.
  absl::StatusOr<Header> Open(uint64_t address, uint64_t named_at, int64_t depth);

  hdf5::Input input_;
  hdf5::GlobalHeaps heaps_;
  int64_t objects_ = 0;
  // The addresses of the headers of the groups that are being read, from the root to the current one.
  std::vector<uint64_t> open_;
};

absl::StatusOr<uint64_t> Reader::RootAddress() {
  constexpr uint64_t kOldest = 96;  // size of a superblock of version 0, with its entry for the root group, in bytes
  constexpr uint8_t kNumberSize = 8;
  if (input_.size() < hdf5::kSignature.size()) {
    return absl::DataLossError(absl::StrCat(input_.file()->path(), ": it has ", input_.size(),
                                            " bytes: it is no HDF5 file; take another copy, or another file"));
  }
  TD_ASSIGN_OR_RETURN(const std::string begin, input_.Take(0, std::min(input_.size(), kOldest + 4), "the superblock"));
  if (!absl::StartsWith(begin, hdf5::kSignature)) {
    const bool zip = absl::StartsWith(begin, "PK");
    return absl::DataLossError(absl::StrCat(
        input_.file()->path(), ": offset 0: it does not begin as HDF5 files do",
        zip ? ": it is a zip archive, as .keras files are; give it that name" : ": it is another kind of file"));
  }
  Bytes bytes(begin, 0);
  const uint8_t version = bytes.U8(8);
  if (version > 3) {
    return input_.Refused(8, absl::StrCat("a superblock of version ", version, ", which is not known"), kEarliest);
  }
  const bool old = version < 2;
  const uint64_t sizes_at = old ? 13 : 9, base_at = old ? 24 + (version == 1 ? 4 : 0) : 12;
  const uint64_t end_at = base_at + 16, root_at = old ? base_at + 40 : 36;
  const uint64_t base = bytes.U64(base_at), end = bytes.U64(end_at), root = bytes.U64(root_at);
  if (!bytes.ok()) return input_.Damaged(0, "the superblock ends too early");
  if (bytes.U8(sizes_at) != kNumberSize || bytes.U8(sizes_at + 1) != kNumberSize) {
    return input_.Refused(sizes_at, "addresses or sizes that do not have 8 bytes", kRepack);
  }
  if (base != 0) return input_.Refused(base_at, absl::StrCat("a file within a file (its base is ", base, ")"), kRepack);
  if (end > input_.size()) {
    return input_.Damaged(end_at, absl::StrCat("it says that it has ", end, " bytes, and it has ", input_.size()));
  }
  return root;
}

absl::StatusOr<Header> Reader::Open(uint64_t address, uint64_t named_at, int64_t depth) {
  if (++objects_ > hdf5::kMaxObjects) {
    return input_.Damaged(named_at, absl::StrCat("there are more than ", hdf5::kMaxObjects, " objects"));
  }
  if (depth > hdf5::kMaxDepth) {
    return input_.Damaged(named_at, absl::StrCat("groups are nested more than ", hdf5::kMaxDepth, " times"));
  }
  if (std::find(open_.begin(), open_.end(), address) != open_.end()) {
    return input_.Damaged(named_at, "a group is within itself");
  }
  return hdf5::ReadHeader(input_, address);
}

absl::StatusOr<Hdf5Group> Reader::Read() {
  TD_ASSIGN_OR_RETURN(const uint64_t root, RootAddress());
  TD_ASSIGN_OR_RETURN(const Header header, Open(root, 0, 0));
  Hdf5Group group;
  open_.push_back(root);
  TD_RETURN_IF_ERROR(ReadGroup(header, 0, &group));
  return group;
}

absl::Status Reader::ReadGroup(const Header& header, int64_t depth, Hdf5Group* group) {
  group->where = input_.where();
  TD_RETURN_IF_ERROR(ReadAttributes(header, group));
  TD_ASSIGN_OR_RETURN(const Message* symbols, hdf5::FindMessage(input_, header, hdf5::kSymbolTable));
  TD_ASSIGN_OR_RETURN(const Message* info, hdf5::FindMessage(input_, header, hdf5::kLinkInfo));
  if (symbols == nullptr && info == nullptr) {
    TD_ASSIGN_OR_RETURN(const Message* type, hdf5::FindMessage(input_, header, hdf5::kDatatype));
    if (type != nullptr) return input_.Refused(type->body.offset(), "a named data type", kCopy);
    return input_.Damaged(header.messages.empty() ? open_.back() : header.messages[0].body.offset(),
                          "this is neither a group nor a data set");
  }
  std::vector<Link> links;
  if (symbols != nullptr) TD_RETURN_IF_ERROR(AppendSymbols(symbols->body, &links));
  if (info != nullptr) {
    Bytes body = info->body;
    const uint64_t index = body.U64(body.U8(1) & 1 ? 10 : 2);
    if (!body.ok()) return input_.Damaged(body.offset(), "a group's description ends too early");
    if (index != hdf5::kNowhere) {
      return input_.Refused(body.offset(), "a group with so many links that they have an index of their own",
                            kEarliest);
    }
  }
  for (const Message& message : header.messages) {
    if (message.kind == hdf5::kLink) TD_RETURN_IF_ERROR(AppendLink(message.body, &links));
  }
  const std::string path = input_.path();
  for (const Link& link : links) {
    TD_RETURN_IF_ERROR(CheckName(link, *group));
    input_.set_path(absl::StrCat(path, path == "/" ? "" : "/", link.name));
    // Each object stores a copy of its path, which counts against the budget of bytes.
    TD_RETURN_IF_ERROR(input_.Spend(link.offset, input_.path().size()));
    TD_ASSIGN_OR_RETURN(const Header child, Open(link.address, link.offset, depth + 1));
    TD_ASSIGN_OR_RETURN(const Message* layout, hdf5::FindMessage(input_, child, hdf5::kLayout));
    if (layout != nullptr) {
      TD_RETURN_IF_ERROR(ReadDataset(child, &group->datasets[link.name]));
    } else {
      open_.push_back(link.address);
      group->groups[link.name] = std::make_unique<Hdf5Group>();
      TD_RETURN_IF_ERROR(ReadGroup(child, depth + 1, group->groups[link.name].get()));
      open_.pop_back();
    }
  }
  input_.set_path(path);
  return absl::OkStatus();
}

absl::Status Reader::CheckName(const Link& link, const Hdf5Group& group) const {
  if (link.name.empty() || link.name == "." || absl::StrContains(link.name, '/') || !hdf5::IsUtf8(link.name)) {
    return input_.Damaged(link.offset, absl::StrCat("\"", PrintableLine(link.name), "\" is no name"));
  }
  if (group.groups.count(link.name) != 0 || group.datasets.count(link.name) != 0) {
    return input_.Damaged(link.offset,
                          absl::StrCat("the name \"", PrintableLine(link.name), "\" is twice in its group"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Reader::ReadNames(uint64_t heap) {
  constexpr uint64_t kPrefix = 32;
  TD_ASSIGN_OR_RETURN(const std::string prefix, input_.Take(heap, kPrefix, "a group's heap of names"));
  if (!absl::StartsWith(prefix, "HEAP")) return input_.Damaged(heap, "there should be a group's heap of names here");
  Bytes bytes(prefix, heap);
  return input_.Take(bytes.U64(24), bytes.U64(8), "a group's names");
}

absl::Status Reader::AppendSymbols(Bytes message, std::vector<Link>* links) {
  struct Node {
    uint64_t address;
    int level;  // height in the tree; -1: a leaf, which has entries instead of children
  };
  constexpr uint64_t kPrefix = 24, kChild = 16, kNodePrefix = 8, kEntry = 40;
  constexpr int kAnyLevel = 256;
  const uint64_t tree = message.U64(0), heap = message.U64(8);
  if (!message.ok()) return input_.Damaged(message.offset(), "a group's description ends too early");
  TD_ASSIGN_OR_RETURN(const std::string names, ReadNames(heap));
  std::vector<Node> todo = {{tree, kAnyLevel}};
  while (!todo.empty()) {
    const Node node = todo.back();
    todo.pop_back();
    if (node.level == -1) {
      TD_ASSIGN_OR_RETURN(const std::string prefix, input_.Take(node.address, kNodePrefix, "a part of a group"));
      if (!absl::StartsWith(prefix, "SNOD"))
        return input_.Damaged(node.address, "there should be a part of a group here");
      const uint64_t size = Bytes(prefix, node.address).U16(6) * kEntry;
      TD_ASSIGN_OR_RETURN(const std::string entries,
                          input_.Take(node.address + kNodePrefix, size, "a part of a group"));
      TD_RETURN_IF_ERROR(AppendSymbolNode(Bytes(entries, node.address + kNodePrefix), names, links));
      continue;
    }
    TD_ASSIGN_OR_RETURN(const std::string prefix, input_.Take(node.address, kPrefix, "a group's tree"));
    Bytes bytes(prefix, node.address);
    const int level = bytes.U8(5);
    if (!absl::StartsWith(prefix, "TREE") || bytes.U8(4) != 0 || (node.level != kAnyLevel && level != node.level)) {
      return input_.Damaged(node.address, "there should be a group's tree here");
    }
    const uint64_t children = bytes.U16(6);
    TD_ASSIGN_OR_RETURN(const std::string text,
                        input_.Take(node.address + kPrefix, children * kChild, "a group's tree"));
    Bytes body(text, node.address + kPrefix);
    for (uint64_t i = children; i-- > 0;) todo.push_back({body.U64(i * kChild + 8), level - 1});
  }
  return absl::OkStatus();
}

absl::Status Reader::AppendSymbolNode(Bytes node, const std::string& names, std::vector<Link>* links) {
  constexpr uint64_t kEntry = 40;
  constexpr uint32_t kSoftLink = 2;
  for (uint64_t at = 0; at < node.size(); at += kEntry) {
    const uint64_t name_at = node.U64(at), address = node.U64(at + 8);
    if (name_at >= names.size()) return input_.Damaged(node.offset(at), "a name lies outside of its group's names");
    const absl::string_view name = absl::string_view(names).substr(name_at, hdf5::kMaxName + 1);
    const size_t end = name.find('\0');
    if (end == absl::string_view::npos) {
      return input_.Damaged(node.offset(at),
                            absl::StrCat("a name has no end, or more than ", hdf5::kMaxName, " bytes"));
    }
    TD_RETURN_IF_ERROR(input_.Spend(node.offset(at), end));
    if (node.U32(at + 16) == kSoftLink) {
      return input_.Refused(node.offset(at),
                            absl::StrCat("\"", PrintableLine(name.substr(0, end)), "\" is a link to another place"),
                            kCopy);
    }
    links->push_back({std::string(name.substr(0, end)), address, node.offset(at)});
  }
  return absl::OkStatus();
}

absl::Status Reader::AppendLink(Bytes message, std::vector<Link>* links) {
  constexpr uint8_t kWidth = 3, kOrder = 4, kKind = 8, kCharacters = 16;
  const uint8_t flags = message.U8(1);
  uint64_t at = 2;
  const uint8_t kind = flags & kKind ? message.U8(at++) : 0;
  at += (flags & kOrder ? 8 : 0) + (flags & kCharacters ? 1 : 0);
  const uint64_t width = uint64_t{1} << (flags & kWidth);
  const uint64_t length = message.Number(at, width);
  const absl::string_view name = message.Text(at + width, length);
  if (!message.ok()) return input_.Damaged(message.offset(), "a link ends too early");
  if (length > static_cast<uint64_t>(hdf5::kMaxName)) {
    return input_.Damaged(message.offset(), absl::StrCat("a name has ", length, " bytes"));
  }
  if (kind != 0) {
    return input_.Refused(message.offset(),
                          absl::StrCat("\"", PrintableLine(name), "\" is a link to another place or file"), kCopy);
  }
  const uint64_t address = message.U64(at + width + length);
  if (!message.ok()) return input_.Damaged(message.offset(), "a link ends too early");
  links->push_back({std::string(name), address, message.offset()});
  return absl::OkStatus();
}

absl::Status Reader::ReadAttributes(const Header& header, Hdf5Object* object) {
  for (const Message& message : header.messages) {
    Bytes body = message.body;
    if (message.kind == hdf5::kAttributeInfo) {
      const uint64_t index = body.U64(body.U8(1) & 1 ? 4 : 2);
      if (!body.ok()) return input_.Damaged(body.offset(), "the attributes' description ends too early");
      if (index != hdf5::kNowhere) {
        return input_.Refused(body.offset(), "so many attributes that they have an index of their own", kEarliest);
      }
    }
    if (message.kind == hdf5::kAttribute) TD_RETURN_IF_ERROR(ReadAttribute(body, object));
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadAttribute(Bytes message, Hdf5Object* object) {
  const uint8_t version = message.U8(0);
  if (version < 1 || version > 3) {
    return input_.Damaged(message.offset(), absl::StrCat("an attribute of version ", version));
  }
  if (version > 1 && message.U8(1) != 0) {
    return input_.Refused(message.offset(), "an attribute of a named data type", kCopy);
  }
  const auto padded = [&](uint64_t size) { return version == 1 ? hdf5::RoundUpTo8(size) : size; };
  const uint64_t name_size = message.U16(2), type_size = message.U16(4), space_size = message.U16(6);
  const uint64_t name_at = version == 3 ? 9 : 8, type_at = name_at + padded(name_size);
  const uint64_t space_at = type_at + padded(type_size), data_at = space_at + padded(space_size);
  absl::string_view name = message.Text(name_at, name_size);
  name = name.substr(0, name.find('\0'));
  Bytes type_bytes = message.Part(type_at, type_size), space_bytes = message.Part(space_at, space_size);
  Bytes data = message.Part(data_at);
  if (!data.ok()) return input_.Damaged(message.offset(), "an attribute ends too early");
  if (name.empty() || !hdf5::IsUtf8(name)) {
    return input_.Damaged(message.offset(), absl::StrCat("\"", PrintableLine(name), "\" is no attribute's name"));
  }
  const std::string path = input_.path();
  TD_RETURN_IF_ERROR(input_.Spend(message.offset(), path.size() + name.size()));
  input_.set_path(absl::StrCat(path, ", attribute ", name));
  TD_ASSIGN_OR_RETURN(const Datatype type, hdf5::ParseDatatype(input_, type_bytes));
  TD_ASSIGN_OR_RETURN(const std::optional<Shape> shape, hdf5::ParseDataspace(input_, space_bytes));
  TD_ASSIGN_OR_RETURN(Hdf5Value value, ReadValue(type, shape, data));
  if (!object->attributes.emplace(name, std::move(value)).second) {
    return input_.Damaged(message.offset(), "the attribute is there twice");
  }
  input_.set_path(path);
  return absl::OkStatus();
}

absl::StatusOr<Hdf5Value> Reader::ReadValue(const Datatype& type, const std::optional<Shape>& shape, Bytes data) {
  Hdf5Value value;
  value.shape = shape.value_or(Shape{0});
  const int64_t count = CheckedNumElements(value.shape);
  if (static_cast<uint64_t>(count) > data.size() / type.size) {
    return input_.Damaged(data.offset(), absl::StrCat(count, " elements of ", type.size, " bytes, and ", data.size(),
                                                      " bytes are there"));
  }
  if (type.form == Datatype::Form::kOpaque) {
    return input_.Refused(data.offset(), "bytes of an opaque type", "write numbers or strings");
  }
  if (type.form != Datatype::Form::kNumber) {
    TD_ASSIGN_OR_RETURN(value.elements, ReadStrings(type, count, data));
    return value;
  }
  // Integers of every size are converted to 64 bits.
  std::string text(data.Text(0, count * type.size));
  const bool is_unsigned_64 = type.number.kind == NumberType::Kind::kUnsigned && type.size == 8;
  NumberType number = type.number;
  if (is_unsigned_64) number.kind = NumberType::Kind::kSigned;
  HostTensor numbers(TensorType(number), {count});
  TD_RETURN_IF_ERROR(numbers.status());
  ConvertNumbers(number, text.data(), count, numbers.raw());
  const auto keep = [&](const auto* from, auto of_kind) {
    value.elements = std::vector<decltype(of_kind)>(from, from + count);
  };
  switch (numbers.dtype()) {
    case DType::kFloat32:
      keep(numbers.data<float>(), double{});
      break;
    case DType::kFloat64:
      keep(numbers.data<double>(), double{});
      break;
    case DType::kInt32:
      keep(numbers.data<int32_t>(), int64_t{});
      break;
    case DType::kUInt8:
      keep(numbers.data<uint8_t>(), int64_t{});
      break;
    default:
      keep(numbers.data<int64_t>(), int64_t{});
      if (!is_unsigned_64) break;
      for (int64_t number : std::get<std::vector<int64_t>>(value.elements)) {
        if (number < 0) return input_.Refused(data.offset(), "an integer of 64 bits", "write one below 2^63");
      }
  }
  return value;
}

absl::StatusOr<std::vector<std::string>> Reader::ReadStrings(const Datatype& type, int64_t count, Bytes data) {
  std::vector<std::string> strings;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t at = static_cast<uint64_t>(i) * type.size;
    if (type.form == Datatype::Form::kVariableString) {
      TD_ASSIGN_OR_RETURN(std::string text, heaps_.ReadString(input_, data, at));
      strings.push_back(std::move(text));
      continue;
    }
    absl::string_view text = data.Text(at, type.size);
    if (type.ends_with_nul) text = text.substr(0, text.find('\0'));
    const char filler = type.padded_with_spaces ? ' ' : '\0';
    while (!text.empty() && text.back() == filler) text.remove_suffix(1);
    if (!hdf5::IsUtf8(text)) return input_.Damaged(data.offset(at), "a string is not UTF-8");
    strings.emplace_back(text);
  }
  return strings;
}

absl::Status Reader::ReadDataset(const Header& header, Hdf5Dataset* dataset) {
  dataset->where = input_.where();
  TD_RETURN_IF_ERROR(ReadAttributes(header, dataset));
  const Message* messages[3];
  const uint16_t kinds[3] = {hdf5::kDatatype, hdf5::kDataspace, hdf5::kLayout};
  for (int i = 0; i < 3; ++i) {
    TD_ASSIGN_OR_RETURN(messages[i], hdf5::FindMessage(input_, header, kinds[i]));
    if (messages[i] == nullptr) {
      return input_.Damaged(header.messages[0].body.offset(), "the data set has no type, no shape or no place");
    }
  }
  Bytes layout = messages[2]->body;
  for (const Message& message : header.messages) {
    if (message.kind == hdf5::kExternalFiles) {
      return input_.Refused(message.body.offset(), "the data is in another file", kCopy);
    }
    if (message.kind == hdf5::kFilters) {
      return input_.Refused(message.body.offset(), "the data is compressed, or goes through another filter", kRepack);
    }
  }
  const uint8_t version = layout.U8(0), kind = layout.U8(1);
  if (version != 3 && version != 4) {
    return input_.Refused(layout.offset(), absl::StrCat("a data layout of version ", version), kRepack);
  }
  if (kind == hdf5::kChunked) return input_.Refused(layout.offset(), "the data is in chunks", kRepack);
  if (kind == hdf5::kVirtual) return input_.Refused(layout.offset(), "the data is virtual: it is elsewhere", kCopy);
  if (kind != hdf5::kCompact && kind != hdf5::kContiguous) {
    return input_.Damaged(layout.offset(), absl::StrCat("a data layout of kind ", kind));
  }
  TD_ASSIGN_OR_RETURN(const Datatype type, hdf5::ParseDatatype(input_, messages[0]->body));
  TD_ASSIGN_OR_RETURN(const std::optional<Shape> shape, hdf5::ParseDataspace(input_, messages[1]->body));
  dataset->type = type.number;
  if (type.form == Datatype::Form::kOpaque && type.size == 2) {
    const auto keras_type = dataset->attributes.find(hdf5::kKerasType);
    if (keras_type == dataset->attributes.end() ||
        keras_type->second != Hdf5Value::String(std::string(hdf5::kKerasBFloat16))) {
      return input_.Refused(messages[0]->body.offset(), "2 bytes of an opaque type, without the attribute dtype",
                            "set it to \"bfloat16\" if that is what they are");
    }
    dataset->type = {NumberType::Kind::kBFloat16, 2};
  } else if (type.form != Datatype::Form::kNumber) {
    return input_.Refused(messages[0]->body.offset(), "the data is not of numbers", "keep texts in attributes");
  }
  if (!shape.has_value()) {
    return input_.Refused(messages[1]->body.offset(), "a data set without a value", "write a value, or leave it out");
  }
  dataset->shape = *shape;
  const uint64_t count = static_cast<uint64_t>(CheckedNumElements(*shape));
  if (count > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / type.size) {
    return input_.Damaged(messages[1]->body.offset(), absl::StrCat("the shape ", ShapeString(*shape), " cannot be"));
  }
  const uint64_t bytes = count * type.size;
  const bool compact = kind == hdf5::kCompact;
  const uint64_t stored = compact ? layout.U16(2) : layout.U64(10);
  const uint64_t offset = compact ? layout.offset(4) : layout.U64(2);
  if (compact) layout.Text(4, stored);
  if (!layout.ok()) return input_.Damaged(layout.offset(), "a data layout ends too early");
  if (bytes == 0) {
    dataset->file = input_.file();
    return absl::OkStatus();
  }
  if (offset == hdf5::kNowhere) {
    return input_.Damaged(layout.offset(), "the data set has no values: they were never written");
  }
  if (stored < bytes) {
    return input_.Damaged(layout.offset(), absl::StrCat("data of the shape ", ShapeString(*shape), " has ", bytes,
                                                        " bytes, and ", stored, " are there"));
  }
  TD_RETURN_IF_ERROR(input_.CheckRange(offset, bytes, "the data"));
  dataset->file = input_.file();
  dataset->offset = static_cast<int64_t>(offset);
  return absl::OkStatus();
}

absl::StatusOr<Hdf5Group> ReadFile(std::shared_ptr<const RandomAccessFile> file) {
  const std::string name = file->path();
  return CatchResourceErrors(name, [&] { return Reader(std::move(file)).Read(); });
}

}  // namespace

absl::StatusOr<Hdf5Group> ReadHdf5(Env* env, const std::string& path) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file, env->OpenForRead(path));
  return ReadFile(std::move(file));
}

absl::StatusOr<Hdf5Group> ParseHdf5(std::string bytes, const std::string& name) {
  return ReadFile(std::make_shared<BytesAsFile>(std::move(bytes), name));
}

}  // namespace tandem
