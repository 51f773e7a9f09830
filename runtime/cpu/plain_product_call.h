// Products that plain_product.h computes instead of oneDNN, as library calls.
#ifndef TANDEM_RUNTIME_CPU_PLAIN_PRODUCT_CALL_H_
#define TANDEM_RUNTIME_CPU_PLAIN_PRODUCT_CALL_H_

#include <memory>

#include "runtime/cpu/onednn_primitives.h"
#include "runtime/executable_generated.h"

namespace tandem {

// Whether plain_product.h computes the call.
bool IsPlainProduct(const fb::LibraryCallT& c);
inline constexpr char kPlainProduct[] = "plain_product";
std::unique_ptr<OneDnnPrimitive> MakePlainProduct(const fb::LibraryCallT& c);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_PLAIN_PRODUCT_CALL_H_
