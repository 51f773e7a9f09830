#include "data/files/write_npz.h"

#include <deque>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "data/files/zip_writer.h"

namespace tandem {
namespace {

// Returns the type code ("descr") that NumPy writes for the type; empty if NumPy does not have it.
absl::string_view Descr(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "<f4";
    case DType::kFloat64:
      return "<f8";
    case DType::kInt32:
      return "<i4";
    case DType::kInt64:
      return "<i8";
    case DType::kUInt8:
      return "|u1";
    case DType::kBool:
      return "|b1";
    case DType::kBFloat16:
    case DType::kString:
    case DType::kInvalid:
      break;
  }
  return "";
}

// Returns the header of a .npy file: all but the elements.
std::string NpyHeader(const HostTensor& array) {
  const std::string shape = absl::StrCat("(", absl::StrJoin(array.shape(), ", "), array.rank() == 1 ? "," : "", ")");
  std::string dictionary =
      absl::StrCat("{'descr': '", Descr(array.dtype()), "', 'fortran_order': False, 'shape': ", shape, ", }");
  // Bytes of the magic number, the version and the length before the header's text; and the alignment of the elements.
  constexpr size_t kBefore = 10, kAlignment = 64;
  dictionary.append(kAlignment - 1 - (kBefore + dictionary.size()) % kAlignment, ' ');
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header.push_back(static_cast<char>(dictionary.size() & 0xff));
  header.push_back(static_cast<char>(dictionary.size() >> 8));
  return header + dictionary;
}

}  // namespace

absl::StatusOr<std::string> SerializeNpz(const std::map<std::string, HostTensor>& arrays) {
  if (arrays.empty()) return absl::InvalidArgumentError("an .npz file needs an array, and there is none");
  std::deque<std::string> headers;
  std::vector<ZipContent> entries;
  for (const auto& [name, array] : arrays) {
    if (Descr(array.dtype()).empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("array \"", PrintableLine(name), "\" is ", Name(array.dtype()), ", which no .npz file holds"));
    }
    headers.push_back(NpyHeader(array));
    // The elements are not copied: the archive reads them from the tensor.
    entries.push_back(
        {absl::StrCat(name, ".npy"),
         {headers.back(), {static_cast<const char*>(array.raw()), static_cast<size_t>(array.byte_size())}}});
  }
  return SerializeZip(entries, "an .npz archive");
}

}  // namespace tandem
