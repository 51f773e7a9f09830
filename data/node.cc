#include "data/node.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"

namespace tandem::data_internal {

absl::Status Node::MaterializeRows(const int64_t* tokens, int64_t count, SourceLocation location, Element* out) const {
  out->components.clear();
  Element row;
  for (int64_t i = 0; i < count; ++i) {
    TD_RETURN_IF_ERROR(Materialize(tokens + i * token_width(), &row));
    for (size_t c = 0; c < row.components.size(); ++c) {
      const HostTensor& t = row.components[c];
      if (i == 0) {
        Shape shape = t.shape();
        shape.insert(shape.begin(), count);
        out->components.emplace_back(t.dtype(), std::move(shape));
      }
      HostTensor& batch = out->components[c];
      absl::Span<const int64_t> row_shape = absl::MakeConstSpan(batch.shape()).subspan(1);
      if (t.dtype() != batch.dtype() || row_shape != absl::MakeConstSpan(t.shape())) {
        return Annotate(absl::InvalidArgumentError(absl::StrCat("component '", info_.spec[c].name, "' is ",
                                                                Name(t.dtype()), ShapeString(t.shape()), " in row ", i,
                                                                " and ", Name(batch.dtype()), ShapeString(row_shape),
                                                                " in row 0; bring all elements to one shape before")),
                        "Batch", location);
      }
      if (t.byte_size() > 0)
        std::memcpy(static_cast<uint8_t*>(batch.raw()) + i * t.byte_size(), t.raw(), t.byte_size());
    }
  }
  return absl::OkStatus();
}

absl::Status Annotate(const absl::Status& status, absl::string_view op, SourceLocation location) {
  return tandem::Annotate(status, absl::StrCat(location.file, ":", location.line, ": ", op, ": "));
}

}  // namespace tandem::data_internal
