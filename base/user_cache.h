// Where compiled programs of models without a directory of their own are kept.
#ifndef TANDEM_BASE_USER_CACHE_H_
#define TANDEM_BASE_USER_CACHE_H_

#include <cstdint>
#include <string>

namespace tandem {

// At the start of a process not more than so many bytes are kept there.
inline constexpr int64_t kUserCacheBytes = int64_t{1} << 30;

// $XDG_CACHE_HOME/tandem/compiled, or without an absolute path there $HOME/.cache/tandem/compiled, which is made where
// it is missing, for this user alone; several processes may use it. Empty where the environment names neither, and,
// with a warning, where it cannot be written or is not this user's alone.
std::string UserProgramCache();

// Deletes programs (*.tdx) and kernels (kernels/*.tdk) in `dir`, those that were used longest ago, until not more than
// `max_bytes` are left. Other files stay. A program that another process loads meanwhile is loaded, or compiled again.
void TrimProgramCache(const std::string& dir, int64_t max_bytes);

}  // namespace tandem

#endif  // TANDEM_BASE_USER_CACHE_H_
