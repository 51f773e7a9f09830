// Records how much time each stage of a compilation takes.
#ifndef TANDEM_PASSES_BASE_COMPILE_TIMES_H_
#define TANDEM_PASSES_BASE_COMPILE_TIMES_H_

#include <string>
#include <vector>

namespace tandem {

class CompileTimes {
 public:
  // Adds to the time of `name`. Text lists names in the order in which they were first added.
  void Add(const std::string& name, double seconds);
  double total() const;
  // Returns a line for each name that took at least `least` seconds: milliseconds, share of the total, name.
  std::string Text(double least = 1e-3) const;

 private:
  struct Entry {
    std::string name;
    double seconds;
  };
  std::vector<Entry> entries_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_BASE_COMPILE_TIMES_H_
