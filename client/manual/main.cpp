// orange-manual SOURCE USAGE FOLDER: writes the pages of the manual into FOLDER. The build runs it; it is not
// installed. USAGE is a file with the output of `oranged --help`.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "client/manual/pages.hpp"

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: orange-manual SOURCE USAGE FOLDER\n", stderr);
        return 2;
    }
    std::ostringstream usage;
    usage << std::ifstream(argv[2], std::ios::binary).rdbuf();
    const auto pages = orange::manual::all_pages(argv[1], usage.str());
    if (!pages) {
        std::fprintf(stderr, "orange-manual: %s\n", pages.error().message.c_str());
        return 1;
    }
    for (const auto& page : *pages) {
        const auto file = std::string(argv[3]) + "/" + page.name + "." + std::to_string(page.section);
        std::ofstream out(file, std::ios::binary);
        if (!(out << page.text).flush()) {
            std::fprintf(stderr, "orange-manual: cannot write %s\n", file.c_str());
            return 1;
        }
    }
    return 0;
}
