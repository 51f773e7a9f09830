#include "estimator/parameter_server/placement.h"

#include "runtime/format/index.h"

namespace tandem {

std::vector<PlacedPart> PlacementOf(const Executable& program) {
  std::vector<PlacedPart> parts;
  for (const auto& part : program.index().placement) {
    parts.push_back({part.variable, static_cast<int>(part.server), part.first_row, part.rows});
  }
  return parts;
}

}  // namespace tandem
