// Reads and writes data types and data spaces of HDF5: the type of a value, and the number of values.
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
    kFixedString,     // every string has `size` bytes
    kVariableString,  // the characters are in a global heap
    kOpaque,          // `size` bytes that HDF5 does not interpret
  };
  Form form = Form::kNumber;
  uint32_t size = 0;                                       // bytes of one element
  NumberType number;                                       // set for kNumber
  bool ends_with_nul = false, padded_with_spaces = false;  // set for kFixedString
};

// Reads a message of the kind kDatatype. An enumeration, such as h5py's bool, is read as its integers. Unimplemented
// for types that Datatype::Form lacks.
absl::StatusOr<Datatype> ParseDatatype(const Input& input, Bytes message);
// Writes a type: a number, an opaque type of 2 bytes, a fixed string padded with zeros, or a variable string of UTF-8.
std::string EncodeDatatype(const Datatype& type, bool utf8 = false);

// Reads a message of the kind kDataspace; nullopt if it says that there is no value. DataLoss for more elements than
// fit into 59 bits.
absl::StatusOr<std::optional<Shape>> ParseDataspace(const Input& input, Bytes message);
std::string EncodeDataspace(const Shape& shape);

}  // namespace tandem::hdf5

#endif  // TANDEM_DATA_FILES_HDF5_TYPES_H_
