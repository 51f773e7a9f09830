// Reads and writes attributes as Keras does: strings, and lists of names that may be split into several attributes.
#ifndef TANDEM_DATA_FILES_HDF5_ATTRIBUTES_H_
#define TANDEM_DATA_FILES_HDF5_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/files/hdf5_tree.h"

namespace tandem {

// Returns a single string. NotFound if there is no such attribute, InvalidArgument if it is something else.
absl::StatusOr<std::string> GetString(const Hdf5Object& object, absl::string_view name);

// Returns a list of strings: the attribute `name`, or the attributes `name`0, `name`1 and so on joined, into which a
// list of more than 64,512 bytes is split. An empty list may be of any type. Errors as for GetString.
absl::StatusOr<std::vector<std::string>> GetStringList(const Hdf5Object& object, absl::string_view name);

// Sets the list for GetStringList, split into as few parts as possible; removes parts of an earlier list. A list is
// split if its strings, all padded to the longest one's length, take more than 64,512 bytes; the parts have equal
// numbers of strings, except that the first ones may have one more. InvalidArgument if a single string is longer than
// that.
absl::Status SetStringList(Hdf5Object* object, absl::string_view name, const std::vector<std::string>& strings);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_HDF5_ATTRIBUTES_H_
