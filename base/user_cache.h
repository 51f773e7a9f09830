// The cache for compiled programs of models without their own directory.
#ifndef TANDEM_BASE_USER_CACHE_H_
#define TANDEM_BASE_USER_CACHE_H_

#include <cstdint>
#include <string>

namespace tandem {

// The most bytes that are kept in the cache when a process starts.
inline constexpr int64_t kUserCacheBytes = int64_t{1} << 30;

// Returns $XDG_CACHE_HOME/tandem/compiled, or, if that variable is no absolute path, $HOME/.cache/tandem/compiled.
// Creates the folder if it does not exist, for this user alone, and trims it to kUserCacheBytes; several processes may
// use it. Empty if the environment has neither variable, and, with a warning, if the folder cannot be written, belongs
// to another user, or can be written by other users.
std::string UserProgramCache();

// Deletes the least recently used programs (*.tdx) and kernels (kernels/*.tdk) in `dir` until at most `max_bytes` are
// left. Other files stay. If another process is loading a deleted program, it still loads it, or compiles it again.
void TrimProgramCache(const std::string& dir, int64_t max_bytes);

}  // namespace tandem

#endif  // TANDEM_BASE_USER_CACHE_H_
