#include "estimator/keras/console.h"

#include <chrono>
#include <cstdio>
#include <utility>

namespace tandem::keras {
namespace {

Console& CurrentConsole() {
  static auto& console = *new Console();
  return console;
}

}  // namespace

ScopedConsole::ScopedConsole(Console console) : outer_(std::exchange(CurrentConsole(), std::move(console))) {}

ScopedConsole::~ScopedConsole() { CurrentConsole() = outer_; }

double ConsoleSeconds() {
  if (CurrentConsole().clock != nullptr) return CurrentConsole().clock();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void WriteToConsole(absl::string_view text) {
  if (CurrentConsole().write != nullptr) return CurrentConsole().write(text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace tandem::keras
