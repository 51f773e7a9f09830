// Random graphs over what GraphBuilder offers, for comparisons of compiled programs with the reference.
#ifndef TANDEM_TESTS_FUZZ_RANDOM_GRAPH_H_
#define TANDEM_TESTS_FUZZ_RANDOM_GRAPH_H_

#include <cstdint>
#include <map>
#include <string>

#include "graph/graph_builder.h"

namespace tandem::fuzz {

// Builds 5 to 40 ops on one or two batched inputs and one to three variables, a loss that is a mean (and sometimes a
// penalty), updates by gradient descent, and some outputs. Equal seeds give equal graphs. Values stay within a small
// multiple of 1, away from poles; comparisons and maxima choose between values that differ almost surely.
// Returns the inputs with their shapes.
std::map<std::string, Shape> BuildRandomGraph(uint32_t seed, GraphBuilder& g);

// The same graph in which every value is off by 2^-23 of itself times the input "noise", which has a number for each
// row, up or down by element. Between -1 and 1 that is the rounding of float32: what it does to an output in double
// precision says how well the output is determined, however its terms cancel.
std::map<std::string, Shape> BuildNoisyGraph(uint32_t seed, GraphBuilder& g);

}  // namespace tandem::fuzz

#endif  // TANDEM_TESTS_FUZZ_RANDOM_GRAPH_H_
