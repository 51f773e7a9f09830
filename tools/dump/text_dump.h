// An executable as text for people.
#ifndef TANDEM_TOOLS_DUMP_TEXT_DUMP_H_
#define TANDEM_TOOLS_DUMP_TEXT_DUMP_H_

#include <nlohmann/json.hpp>
#include <string>

namespace tandem {

// The text form of what DumpJson returned.
std::string DumpText(const nlohmann::ordered_json& dump);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_TEXT_DUMP_H_
