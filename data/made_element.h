// MadeElement: an element, or an error, that a stage made while it drew the order. It travels with the element's token
// as a payload, so that it is not made twice.
#ifndef TANDEM_DATA_MADE_ELEMENT_H_
#define TANDEM_DATA_MADE_ELEMENT_H_

#include <utility>

#include "absl/status/status.h"
#include "data/element.h"
#include "data/node.h"

namespace tandem::data_internal {

class MadeElement : public Payload {
 public:
  MadeElement(Element element, absl::Status status) : element(std::move(element)), status(std::move(status)) {}

  // Stores the element in *out, or returns its error. `payload` must be a MadeElement.
  static absl::Status Get(const Payload& payload, Element* out) {
    const auto& made = static_cast<const MadeElement&>(payload);
    if (made.status.ok()) *out = made.element;
    return made.status;
  }

  const Element element;
  const absl::Status status;
};

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_MADE_ELEMENT_H_
