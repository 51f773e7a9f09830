#include "estimator/checkpoint/safetensors.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/printable.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/json_text.h"

namespace tandem {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are written as they lie in memory");

constexpr int64_t kMaxHeader = 100'000'000;  // bytes; the reference implementation's limit
constexpr int64_t kPrefix = 8;

// A type's name in the file, and its place: tensors of a type with a larger `order` are written first, as by the
// reference implementation.
struct WrittenType {
  const char* name;
  int order;
};

WrittenType TypeInFile(DType dtype) {
  switch (dtype) {
    case DType::kInt64:
      return {"I64", 6};
    case DType::kFloat64:
      return {"F64", 5};
    case DType::kFloat32:
      return {"F32", 4};
    case DType::kInt32:
      return {"I32", 3};
    case DType::kUInt8:
      return {"U8", 2};
    case DType::kBool:
      return {"BOOL", 1};
    case DType::kBFloat16:  // no values outside of compiled programs have this type
    case DType::kString:    // compiled programs have no values of this type
    case DType::kInvalid:
      break;
  }
  return {"", 0};
}

}  // namespace

absl::StatusOr<std::unique_ptr<SafetensorsReader>> SafetensorsReader::Open(Env* env, const std::string& path) {
  std::unique_ptr<SafetensorsReader> reader(new SafetensorsReader);
  TD_ASSIGN_OR_RETURN(reader->file_, env->OpenForRead(path));
  int64_t size = reader->file_->size();
  if (size < kPrefix) {
    return absl::DataLossError(absl::StrCat(path, ": has ", size, " bytes, a safetensors file has at least 10"));
  }
  unsigned char prefix[kPrefix];
  TD_RETURN_IF_ERROR(reader->file_->ReadAt(0, kPrefix, reinterpret_cast<char*>(prefix)));
  uint64_t header_size = 0;
  for (int i = kPrefix - 1; i >= 0; --i) header_size = header_size << 8 | prefix[i];
  if (header_size > kMaxHeader || static_cast<int64_t>(header_size) > size - kPrefix) {
    return absl::DataLossError(absl::StrCat(path, ": offset 0: the header's size is given as ", header_size,
                                            " bytes, but ", size - kPrefix, " follow and ", kMaxHeader,
                                            " are allowed: not a safetensors file, or truncated"));
  }
  std::string json(header_size, '\0');
  TD_RETURN_IF_ERROR(reader->file_->ReadAt(kPrefix, header_size, json.data()));
  reader->data_begin_ = kPrefix + header_size;
  TD_ASSIGN_OR_RETURN(reader->header_, ParseSafetensorsHeader(json, size - reader->data_begin_, path));
  for (size_t i = 0; i < reader->entries().size(); ++i) reader->index_[reader->entries()[i].name] = i;
  return reader;
}

const SafetensorsEntry* SafetensorsReader::Find(const std::string& name) const {
  auto it = index_.find(name);
  return it == index_.end() ? nullptr : &entries()[it->second];
}

absl::StatusOr<HostTensor> SafetensorsReader::Read(const std::string& name) const {
  const SafetensorsEntry* entry = Find(name);
  if (entry == nullptr)
    return absl::NotFoundError(absl::StrCat(path(), ": has no tensor \"", PrintableLine(name), "\""));
  if (entry->dtype == DType::kInvalid) {
    return absl::UnimplementedError(
        absl::StrCat(path(), ": tensor \"", PrintableLine(name), "\" has elements of type ", entry->file_dtype,
                     ", which Tandem cannot load; convert the file to F32, F64, I32, I64, U8 or BOOL"));
  }
  TD_RETURN_IF_ERROR(CheckSize(absl::StrCat(path(), ": tensor \"", PrintableLine(name), "\""),
                               entry->end - entry->begin, std::numeric_limits<int64_t>::max()));
  HostTensor tensor;
  const absl::Status made = CatchResourceErrors(PrintableLine(name), [&] {
    tensor = HostTensor(entry->dtype, entry->shape);
    return absl::OkStatus();
  });
  if (!made.ok()) return Annotate(made, absl::StrCat(path(), ": tensor "));
  TD_RETURN_IF_ERROR(file_->ReadAt(data_begin_ + entry->begin, tensor.byte_size(), static_cast<char*>(tensor.raw())));
  if (entry->dtype == DType::kBool) {
    // not read as bool: other values than 0 and 1 would be undefined
    const auto* bytes = static_cast<const uint8_t*>(tensor.raw());
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      if (bytes[i] > 1) {
        return absl::DataLossError(absl::StrCat(path(), ": offset ", data_begin_ + entry->begin + i, ": tensor \"",
                                                PrintableLine(name), "\" holds the byte ", bytes[i],
                                                " where a bool must be 0 or 1"));
      }
    }
  }
  return tensor;
}

std::vector<absl::string_view> SafetensorsImage::Pieces() const {
  std::vector<absl::string_view> pieces = {header};
  pieces.insert(pieces.end(), tensors.begin(), tensors.end());
  return pieces;
}

absl::StatusOr<SafetensorsImage> SerializeSafetensors(const TensorMap& tensors, const MetadataMap& metadata) {
  std::vector<const TensorMap::value_type*> order;
  for (const auto& named : tensors) {
    if (named.second.empty()) return absl::InvalidArgumentError(absl::StrCat("tensor \"", named.first, "\" is empty"));
    if (TypeInFile(named.second.dtype()).order == 0) {
      return absl::InvalidArgumentError(absl::StrCat("tensor \"", named.first, "\" is ", Name(named.second.dtype()),
                                                     ", which no .safetensors file holds"));
    }
    if (named.first == "__metadata__") return absl::InvalidArgumentError("a tensor cannot be called __metadata__");
    order.push_back(&named);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return TypeInFile(a->second.dtype()).order > TypeInFile(b->second.dtype()).order;
  });

  std::vector<std::string> members;
  if (!metadata.empty()) {
    std::vector<std::string> texts;
    for (const auto& [key, value] : metadata) {
      TD_ASSIGN_OR_RETURN(std::string key_text, JsonText(key));
      TD_ASSIGN_OR_RETURN(std::string value_text, JsonText(value));
      texts.push_back(absl::StrCat(key_text, ":", value_text));
    }
    members.push_back(absl::StrCat("\"__metadata__\":{", absl::StrJoin(texts, ","), "}"));
  }
  SafetensorsImage image;
  int64_t offset = 0;
  for (const auto* named : order) {
    const HostTensor& tensor = named->second;
    TD_ASSIGN_OR_RETURN(std::string name_text, JsonText(named->first));
    members.push_back(absl::StrCat(name_text, ":{\"dtype\":\"", TypeInFile(tensor.dtype()).name, "\",\"shape\":[",
                                   absl::StrJoin(tensor.shape(), ","), "],\"data_offsets\":[", offset, ",",
                                   offset + tensor.byte_size(), "]}"));
    offset += tensor.byte_size();
    image.tensors.push_back({static_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.byte_size())});
  }
  std::string json = absl::StrCat("{", absl::StrJoin(members, ","), "}");
  json.append((kPrefix - json.size() % kPrefix) % kPrefix, ' ');
  if (json.size() > kMaxHeader) {
    return absl::InvalidArgumentError(absl::StrCat(tensors.size(), " tensors need a header of ", json.size(),
                                                   " bytes, the format allows ", kMaxHeader));
  }
  for (int i = 0; i < kPrefix; ++i) image.header.push_back(static_cast<char>(json.size() >> (8 * i) & 0xff));
  image.header += json;
  return image;
}

absl::Status WriteSafetensors(Env* env, const std::string& path, const TensorMap& tensors,
                              const MetadataMap& metadata) {
  TD_ASSIGN_OR_RETURN(SafetensorsImage image, SerializeSafetensors(tensors, metadata));
  return env->WriteFile(path, image.Pieces());
}

absl::StatusOr<TensorMap> ReadSafetensors(Env* env, const std::string& path) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<SafetensorsReader> reader, SafetensorsReader::Open(env, path));
  TensorMap tensors;
  for (const SafetensorsEntry& entry : reader->entries()) {
    TD_ASSIGN_OR_RETURN(tensors[entry.name], reader->Read(entry.name));
  }
  return tensors;
}

}  // namespace tandem
