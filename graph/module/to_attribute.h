// Converts attributes of GraphBuilder::Emit to MLIR. Internal to graph/.
#ifndef TANDEM_GRAPH_MODULE_TO_ATTRIBUTE_H_
#define TANDEM_GRAPH_MODULE_TO_ATTRIBUTE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph_builder.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/MLIRContext.h"

namespace tandem::internal {

// Attribute `key` of td.`op`. If td declares an enumeration for it, a string is one of its words. Errors:
// InvalidArgument for another word, which lists the words, and for an empty HostTensor.
absl::StatusOr<mlir::Attribute> ToAttribute(mlir::MLIRContext* context, absl::string_view op, absl::string_view key,
                                            const Attr& value);

}  // namespace tandem::internal

#endif  // TANDEM_GRAPH_MODULE_TO_ATTRIBUTE_H_
