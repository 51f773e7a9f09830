// MadeElement: the payload of a stage that makes elements while it draws the order.
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

  // Stores the element of a payload of this type, or returns its error.
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
