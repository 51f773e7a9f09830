// Converts the index of an executable to and from a FlatBuffer, as files store it. generate.py writes the conversions.
#ifndef TANDEM_RUNTIME_FORMAT_FLATBUFFER_H_
#define TANDEM_RUNTIME_FORMAT_FLATBUFFER_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/format/index.h"

namespace tandem::format {

// Returns the index as a FlatBuffer. Equal tables give equal bytes.
std::string ToFlatBuffer(const Index& index);
// Returns nothing for bytes that are not the FlatBuffer of an index. The numbers in it are not checked; enumerations
// may have values that have no name. `bytes` must be aligned to 8.
std::optional<Index> IndexFromFlatBuffer(absl::string_view bytes);

// Returns the call as a FlatBuffer. Equal calls give equal bytes.
std::string ToFlatBuffer(const LibraryCall& call);

}  // namespace tandem::format

#endif  // TANDEM_RUNTIME_FORMAT_FLATBUFFER_H_
