#include "tests/oracle/cover.h"

namespace tandem::oracle {
namespace {

thread_local Covered* recording = nullptr;

}  // namespace

CoverScope::CoverScope(Covered* covered) { recording = covered; }
CoverScope::~CoverScope() { recording = nullptr; }

void Cover(absl::string_view function, absl::string_view arguments) {
  if (recording != nullptr) (*recording)[std::string(function)].insert(std::string(arguments));
}

}  // namespace tandem::oracle
