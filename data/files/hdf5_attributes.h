// Attributes as Keras writes them: texts, and lists of names that may be cut into several attributes.
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

// A single string. NotFound where there is no such attribute, InvalidArgument where it is something else.
absl::StatusOr<std::string> GetString(const Hdf5Object& object, absl::string_view name);

// A list of strings: the attribute `name`, or `name`0, `name`1 and so on behind one another, as a list of more than
// 64,512 bytes is written. A list of nothing may be of any type. Errors as GetString's.
absl::StatusOr<std::vector<std::string>> GetStringList(const Hdf5Object& object, absl::string_view name);

// Sets what GetStringList gives, in as few parts as hold it; parts of an earlier list are taken away. Where strings of
// the longest one's length take more than 64,512 bytes, the parts have equal numbers of them, the first ones one more.
// InvalidArgument where one string alone is longer.
absl::Status SetStringList(Hdf5Object* object, absl::string_view name, const std::vector<std::string>& strings);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_HDF5_ATTRIBUTES_H_
