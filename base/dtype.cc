#include "base/dtype.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tandem {

int64_t SizeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kInt32:
      return 4;
    case DType::kFloat64:
    case DType::kInt64:
      return 8;
    case DType::kBFloat16:
      return 2;
    case DType::kUInt8:
    case DType::kBool:
      return 1;
    case DType::kString:
    case DType::kInvalid:
      return 0;
  }
  return 0;
}

absl::string_view Name(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float32";
    case DType::kFloat64:
      return "float64";
    case DType::kInt32:
      return "int32";
    case DType::kInt64:
      return "int64";
    case DType::kUInt8:
      return "uint8";
    case DType::kBool:
      return "bool";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kString:
      return "string";
    case DType::kInvalid:
      return "invalid";
  }
  return "invalid";
}

absl::string_view CppName(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kInt32:
      return "int32_t";
    case DType::kInt64:
      return "int64_t";
    case DType::kUInt8:
      return "uint8_t";
    case DType::kString:
      return "std::string";
    default:
      return Name(dtype);
  }
}

DType DTypeFromName(absl::string_view name) {
  for (DType t : {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUInt8, DType::kBool,
                  DType::kBFloat16}) {
    if (Name(t) == name) return t;
  }
  return DType::kInvalid;
}

int64_t NumElements(absl::Span<const int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

std::string ShapeString(absl::Span<const int64_t> shape) {
  auto append = [](std::string* out, int64_t d) {
    if (d == kBatch) {
      out->append("b");
    } else {
      absl::StrAppend(out, d);
    }
  };
  return absl::StrCat("[", absl::StrJoin(shape, ",", append), "]");
}

}  // namespace tandem
