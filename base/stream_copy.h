// StreamCopy: a copy that bypasses the caches, for memory that another core reads next.
#ifndef TANDEM_BASE_STREAM_COPY_H_
#define TANDEM_BASE_STREAM_COPY_H_

#include <cstdint>

namespace tandem {

// Like memcpy, but with non-temporal stores. The copy is in memory before anything that this thread stores afterwards.
// For buffers that two cores use in turns: if the cores share no third-level cache, writing a line that both have
// cached is slow (about 30 ns on Zen 4, in which a core copies 2 KB).
void StreamCopy(void* to, const void* from, int64_t bytes);

}  // namespace tandem

#endif  // TANDEM_BASE_STREAM_COPY_H_
