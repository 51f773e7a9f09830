// Data types and data spaces of HDF5: what a value is made of, and how many there are.
#ifndef TANDEM_DATA_FILES_HDF5_TYPES_H_
#define TANDEM_DATA_FILES_HDF5_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/dtype.h"
#include "data/files/hdf5_format.h"
#include "data/files/hdf5_input.h"
#include "data/files/number_type.h"

namespace tandem::hdf5 {

struct Datatype {
  enum class Form {
    kNumber,
    kFixedString,     // `size` bytes each
    kVariableString,  // its bytes are in a global heap
    kOpaque,          // `size` bytes without a meaning
  };
  Form form = Form::kNumber;
  uint32_t size = 0;                                       // of one element in bytes
  NumberType number;                                       // of kNumber
  bool ends_with_nul = false, padded_with_spaces = false;  // of kFixedString
};

// Reads a message of the kind kDatatype. An enumeration, such as h5py's bool, is its numbers. Unimplemented for other
// types than those above.
absl::StatusOr<Datatype> ParseDatatype(const Input& input, Bytes message);
// Writes one; numbers and opaque types of 2 bytes, fixed strings padded with zeros, variable ones of UTF-8.
std::string EncodeDatatype(const Datatype& type, bool utf8 = false);

// Reads a message of the kind kDataspace. Nothing where it says that there is no value. DataLoss where there are more
// elements than 59 bits count.
absl::StatusOr<std::optional<Shape>> ParseDataspace(const Input& input, Bytes message);
std::string EncodeDataspace(const Shape& shape);

}  // namespace tandem::hdf5

#endif  // TANDEM_DATA_FILES_HDF5_TYPES_H_
