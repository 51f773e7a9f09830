// The user's file and line, captured by a default argument at the call site.
#ifndef TANDEM_BASE_SOURCE_LOCATION_H_
#define TANDEM_BASE_SOURCE_LOCATION_H_

#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// A line of a source file; functions take it as a defaulted last argument.
struct SourceLocation {
  const char* file = "";
  int line = 0;

  static constexpr SourceLocation Current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace tandem

#endif  // TANDEM_BASE_SOURCE_LOCATION_H_
