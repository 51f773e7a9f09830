#include "base/owned_process.h"

#include <atomic>

namespace tandem {
namespace {

std::atomic<bool> process_is_owned{false};

}  // namespace

bool OwnsProcess() { return process_is_owned.load(std::memory_order_relaxed); }

void OwnProcess() { process_is_owned.store(true, std::memory_order_relaxed); }

}  // namespace tandem
