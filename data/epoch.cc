#include "data/epoch.h"

#include "base/status_macros.h"
#include "data/dataset.h"
#include "data/node.h"
#include "data/stages.h"

namespace tandem {

absl::StatusOr<EpochLength> EpochOf(const Dataset& dataset) {
  TD_RETURN_IF_ERROR(dataset.status());
  const data_internal::NodeInfo& info = data_internal::DatasetAccess::Node(dataset)->info();
  const EpochLength epoch = info.epoch.elements != 0 ? info.epoch : EpochLength{.elements = info.cardinality};
  if (epoch.elements > 0) return epoch;
  return absl::InvalidArgumentError(
      epoch.elements == 0 ? "an epoch has no elements"
                          : "how long an epoch is cannot be known before the data are read: they come from files or a "
                            "generator, or go through a Filter, FlatMap or the like");
}

}  // namespace tandem
