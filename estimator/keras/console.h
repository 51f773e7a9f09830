// The output of Fit, Evaluate and callbacks for the user, and the clock that measures their times. Internal to
// estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_CONSOLE_H_
#define TANDEM_ESTIMATOR_KERAS_CONSOLE_H_

#include <functional>

#include "absl/strings/string_view.h"

namespace tandem::keras {

struct Console {
  std::function<double()> clock = nullptr;                 // returns seconds; null: the steady clock
  std::function<void(absl::string_view)> write = nullptr;  // writes text; null: to standard output
};

// While this object exists, output goes to `console`, and times come from its clock. For tests. Only one may exist at a
// time.
class ScopedConsole {
 public:
  explicit ScopedConsole(Console console);
  ~ScopedConsole();
  ScopedConsole(const ScopedConsole&) = delete;
  ScopedConsole& operator=(const ScopedConsole&) = delete;

 private:
  const Console outer_;
};

double ConsoleSeconds();
void WriteToConsole(absl::string_view text);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_CONSOLE_H_
