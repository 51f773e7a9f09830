// Propagation of absl::Status: return early on an error, or unwrap a StatusOr into a variable.
#ifndef TANDEM_BASE_STATUS_MACROS_H_
#define TANDEM_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// TD_RETURN_IF_ERROR(F()): returns from the function with the status of F(), if that is an error.
#define TD_RETURN_IF_ERROR(expr)                                            \
  do {                                                                      \
    if (absl::Status td_status = (expr); !td_status.ok()) return td_status; \
  } while (false)

#define TD_STATUS_CONCAT_INNER_(a, b) a##b
#define TD_STATUS_CONCAT_(a, b) TD_STATUS_CONCAT_INNER_(a, b)

// TD_ASSIGN_OR_RETURN(auto x, F()): sets x to the value of F(), or returns F's error.
#define TD_ASSIGN_OR_RETURN(lhs, expr) TD_ASSIGN_OR_RETURN_(TD_STATUS_CONCAT_(td_statusor_, __LINE__), lhs, expr)
#define TD_ASSIGN_OR_RETURN_(var, lhs, expr) \
  auto var = (expr);                         \
  if (!var.ok()) return var.status();        \
  lhs = *std::move(var)

#endif  // TANDEM_BASE_STATUS_MACROS_H_
