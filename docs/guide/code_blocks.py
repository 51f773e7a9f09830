"""code_blocks.py PAGE: prints the C++ blocks of a Markdown page as functions, so that a test compiles and calls them.

Block i becomes `absl::Status Block<i>(const std::string& folder)`; kBlocks is the list of all.
"""
import re
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as page:
        blocks = re.findall(r"^```cpp\n(.*?)^```$", page.read(), re.M | re.S)
    for i, block in enumerate(blocks):
        print("absl::Status Block%d(const std::string& folder) {\n%s  return absl::OkStatus();\n}\n" % (i, block))
    names = ", ".join("Block%d" % i for i in range(len(blocks)))
    print("constexpr absl::Status (*kBlocks[])(const std::string& folder) = {%s};" % names)


if __name__ == "__main__":
    main()
