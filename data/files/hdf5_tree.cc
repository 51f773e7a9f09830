#include "data/files/hdf5_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/element_count.h"
#include "base/nearest_name.h"
#include "base/printable.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr int64_t kChunkBytes = 1 << 20;

// Returns the type that a tensor's numbers have in a file.
NumberType TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return {NumberType::Kind::kFloat, 4};
    case DType::kFloat64:
      return {NumberType::Kind::kFloat, 8};
    case DType::kInt32:
      return {NumberType::Kind::kSigned, 4};
    case DType::kInt64:
      return {NumberType::Kind::kSigned, 8};
    case DType::kUInt8:
      return {NumberType::Kind::kUnsigned, 1};
    case DType::kBool:
    case DType::kBFloat16:
    case DType::kString:
    case DType::kInvalid:
      break;
  }
  return {NumberType::Kind::kBool, 1};
}

bool IsFloat(const NumberType& type) {
  return type.kind == NumberType::Kind::kFloat || type.kind == NumberType::Kind::kBFloat16;
}

// Splits a relative path into everything before the last slash and the last name: "a/b/c" into "a/b" and "c".
std::pair<absl::string_view, absl::string_view> SplitPath(absl::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == absl::string_view::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

std::string Quoted(absl::string_view name) { return absl::StrCat("\"", PrintableLine(name), "\""); }

// Returns NotFound, with the text that `group` has no `what` called `name`.
absl::Status Missing(const Hdf5Group& group, absl::string_view what, absl::string_view name) {
  std::vector<std::string> names;
  for (const auto& named : group.groups) names.push_back(named.first);
  for (const auto& named : group.datasets) names.push_back(named.first);
  const std::string near = NearestName(name, names);
  constexpr size_t kShown = 8;
  std::string there = names.empty() ? "it is empty" : "it has ";
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    absl::StrAppend(&there, i == 0 ? "" : ", ", PrintableLine(names[i]));
  }
  if (names.size() > kShown) absl::StrAppend(&there, " and ", names.size() - kShown, " more");
  return absl::NotFoundError(absl::StrCat(group.where, ": the group has no ", what, " ", Quoted(name),
                                          near.empty() ? "" : absl::StrCat("; did you mean ", Quoted(near), "?"), "; ",
                                          there));
}

}  // namespace

Hdf5Value Hdf5Value::String(std::string text) { return {std::vector<std::string>{std::move(text)}, {}}; }

Hdf5Value Hdf5Value::Strings(std::vector<std::string> texts) {
  const int64_t count = static_cast<int64_t>(texts.size());
  return {std::move(texts), {count}};
}

Hdf5Value Hdf5Value::Integer(int64_t number) { return {std::vector<int64_t>{number}, {}}; }

Hdf5Value Hdf5Value::Float(double number) { return {std::vector<double>{number}, {}}; }

absl::StatusOr<std::string> Hdf5Dataset::ReadBytes() const {
  const int64_t bytes = CheckedNumElements(shape) * type.size;
  if (file == nullptr) return std::string(static_cast<const char*>(tensor.raw()), bytes);
  TD_RETURN_IF_ERROR(CheckSize(where, bytes, std::numeric_limits<int64_t>::max()));
  return CatchResourceErrors(where, [&]() -> absl::StatusOr<std::string> {
    std::string result(bytes, '\0');
    TD_RETURN_IF_ERROR(file->ReadAt(offset, bytes, result.data()));
    return result;
  });
}

absl::StatusOr<HostTensor> Hdf5Dataset::Read() const {
  if (file == nullptr) {
    TD_RETURN_IF_ERROR(tensor.status());
    return tensor;
  }
  const DType dtype = TensorType(type);
  if (dtype == DType::kInvalid) {
    return absl::UnimplementedError(absl::StrCat(where,
                                                 ": the numbers are uint64, which no tensor holds; write them as "
                                                 "int64"));
  }
  const int64_t count = CheckedNumElements(shape);
  TD_RETURN_IF_ERROR(CheckSize(where, count * SizeOf(dtype), std::numeric_limits<int64_t>::max()));
  return CatchResourceErrors(where, [&]() -> absl::StatusOr<HostTensor> {
    HostTensor result(dtype, shape);
    TD_RETURN_IF_ERROR(result.status());
    char* to = static_cast<char*>(result.raw());
    if (SizeOf(dtype) == type.size) {
      TD_RETURN_IF_ERROR(file->ReadAt(offset, count * type.size, to));
      if (type.big_endian) ConvertNumbers(type, to, count, to);
      return result;
    }
    std::string chunk(std::min(count * type.size, kChunkBytes), '\0');
    for (int64_t done = 0; done < count;) {
      const int64_t part = std::min<int64_t>(count - done, chunk.size() / type.size);
      TD_RETURN_IF_ERROR(file->ReadAt(offset + done * type.size, part * type.size, chunk.data()));
      ConvertNumbers(type, chunk.data(), part, to + done * SizeOf(dtype));
      done += part;
    }
    return result;
  });
}

absl::StatusOr<HostTensor> Hdf5Dataset::ReadFloat32() const {
  if (!IsFloat(type)) {
    const DType dtype = TensorType(type);
    return absl::InvalidArgumentError(absl::StrCat(where, ": the numbers are ",
                                                   dtype == DType::kInvalid ? "uint64" : Name(dtype),
                                                   ", and floats are needed here; write them as float32"));
  }
  TD_ASSIGN_OR_RETURN(HostTensor wide, Read());
  if (wide.dtype() == DType::kFloat32) return wide;
  return CatchResourceErrors(where, [&]() -> absl::StatusOr<HostTensor> {
    HostTensor result(DType::kFloat32, shape);
    TD_RETURN_IF_ERROR(result.status());
    const double* from = wide.data<double>();
    float* to = result.data<float>();
    for (int64_t i = 0; i < wide.num_elements(); ++i) {
      to[i] = static_cast<float>(from[i]);
      if (std::isinf(to[i]) && !std::isinf(from[i])) {
        return absl::InvalidArgumentError(absl::StrCat(where, ": element ", i, " is ", from[i],
                                                       ", which is beyond float32; scale it before it is written"));
      }
    }
    return result;
  });
}

const Hdf5Group* Hdf5Group::FindGroup(absl::string_view path) const {
  const absl::StatusOr<const Hdf5Group*> found = Group(path);
  return found.ok() ? *found : nullptr;
}

const Hdf5Dataset* Hdf5Group::FindDataset(absl::string_view path) const {
  const absl::StatusOr<const Hdf5Dataset*> found = Dataset(path);
  return found.ok() ? *found : nullptr;
}

absl::StatusOr<const Hdf5Group*> Hdf5Group::Group(absl::string_view path) const {
  const Hdf5Group* group = this;
  if (path.empty()) return group;
  for (absl::string_view name : absl::StrSplit(path, '/')) {
    const auto found = group->groups.find(name);
    if (found == group->groups.end()) {
      if (group->datasets.count(name) == 0) return Missing(*group, "group", name);
      return absl::InvalidArgumentError(
          absl::StrCat(group->where, ": ", Quoted(name), " is a data set, and a group is needed here"));
    }
    group = found->second.get();
  }
  return group;
}

absl::StatusOr<const Hdf5Dataset*> Hdf5Group::Dataset(absl::string_view path) const {
  const auto [above, name] = SplitPath(path);
  TD_ASSIGN_OR_RETURN(const Hdf5Group* group, Group(above));
  const auto found = group->datasets.find(name);
  if (found != group->datasets.end()) return &found->second;
  if (group->groups.count(name) == 0) return Missing(*group, "data set", name);
  return absl::InvalidArgumentError(
      absl::StrCat(group->where, ": ", Quoted(name), " is a group, and a data set is needed here"));
}

Hdf5Group& Hdf5Group::MakeGroup(absl::string_view path) {
  Hdf5Group* group = this;
  if (path.empty()) return *group;
  for (absl::string_view name : absl::StrSplit(path, '/')) {
    std::unique_ptr<Hdf5Group>& child = group->groups[std::string(name)];
    if (child == nullptr) child = std::make_unique<Hdf5Group>();
    group = child.get();
  }
  return *group;
}

Hdf5Dataset& Hdf5Group::MakeDataset(absl::string_view path, HostTensor values) {
  const auto [above, name] = SplitPath(path);
  Hdf5Dataset& dataset = MakeGroup(above).datasets[std::string(name)];
  dataset = Hdf5Dataset();
  dataset.type = TypeOf(values.dtype());
  dataset.shape = values.shape();
  dataset.tensor = std::move(values);
  return dataset;
}

}  // namespace tandem
