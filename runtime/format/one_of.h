// A value of one of several types, or of none.
#ifndef TANDEM_RUNTIME_FORMAT_ONE_OF_H_
#define TANDEM_RUNTIME_FORMAT_ONE_OF_H_

#include <utility>
#include <variant>

namespace tandem::format {

template <typename... Types>
class OneOf : public std::variant<std::monostate, Types...> {
 public:
  using Variant = std::variant<std::monostate, Types...>;
  using Variant::Variant;
  using Variant::operator=;

  bool empty() const { return std::holds_alternative<std::monostate>(*this); }
  // Returns null when the value is of another type.
  template <typename T>
  const T* As() const {
    return std::get_if<T>(static_cast<const Variant*>(this));
  }
  template <typename T>
  T* As() {
    return std::get_if<T>(static_cast<Variant*>(this));
  }
  // Returns visit(value); when there is no value, a default value of the type that visit returns.
  template <typename Visit>
  auto Visited(const Visit& visit) const {
    using Result = decltype(visit(std::get<1>(std::declval<const Variant&>())));
    return std::visit(
        [&](const auto& value) -> Result {
          if constexpr (std::is_same_v<decltype(value), const std::monostate&>) {
            return Result();
          } else {
            return visit(value);
          }
        },
        static_cast<const Variant&>(*this));
  }
  bool operator==(const OneOf&) const = default;
};

}  // namespace tandem::format

#endif  // TANDEM_RUNTIME_FORMAT_ONE_OF_H_
