// Records which public functions a model of the oracle calls, and which of their options it sets.
#ifndef TANDEM_TESTS_ORACLE_COVER_H_
#define TANDEM_TESTS_ORACLE_COVER_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tandem::oracle {

// By function ("layers::Conv2D"): the texts of the arguments it was called with.
using Covered = std::map<std::string, std::set<std::string>>;

// While one lives, calls are recorded in it (per thread).
class CoverScope {
 public:
  explicit CoverScope(Covered* covered);
  ~CoverScope();
  CoverScope(const CoverScope&) = delete;
  CoverScope& operator=(const CoverScope&) = delete;
};

void Cover(absl::string_view function, absl::string_view arguments);

}  // namespace tandem::oracle

// Calls `function` with the arguments and records the call as it is written.
#define TD_COVER(function, ...) (::tandem::oracle::Cover(#function, #__VA_ARGS__), function(__VA_ARGS__))

// The same for a method of `object`, which is recorded as "Class::method".
#define TD_COVER_METHOD(object, Class, method, ...) \
  (::tandem::oracle::Cover(#Class "::" #method, #__VA_ARGS__), (object).method(__VA_ARGS__))

#endif  // TANDEM_TESTS_ORACLE_COVER_H_
