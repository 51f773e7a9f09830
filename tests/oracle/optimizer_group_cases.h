// What optimizers can be made of another one: with groups of variables, another factor of gradients, moving averages.
#ifndef TANDEM_TESTS_ORACLE_OPTIMIZER_GROUP_CASES_H_
#define TANDEM_TESTS_ORACLE_OPTIMIZER_GROUP_CASES_H_

#include <vector>

#include "tests/oracle/optimizer_cases.h"

namespace tandem::oracle {

std::vector<OptimizerCase> GroupCases();
std::vector<OptimizerCase> FactorCases();
std::vector<OptimizerCase> AverageCases();

}  // namespace tandem::oracle

#endif  // TANDEM_TESTS_ORACLE_OPTIMIZER_GROUP_CASES_H_
