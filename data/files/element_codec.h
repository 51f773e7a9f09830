// Serialises elements for files that only Tandem reads.
#ifndef TANDEM_DATA_FILES_ELEMENT_CODEC_H_
#define TANDEM_DATA_FILES_ELEMENT_CODEC_H_

#include <string>

#include "absl/strings/string_view.h"
#include "data/element.h"

namespace tandem {

// Appends the number of components, and for each its type (DType), rank, sizes and bytes; for strings their lengths
// before their bytes. Every number is 8 bytes, little endian.
void AppendElement(const Element& element, std::string* out);

// Reads what AppendElement wrote. Returns false, with *out in any state, unless `bytes` are exactly one such element.
bool ParseElement(absl::string_view bytes, Element* out);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_ELEMENT_CODEC_H_
