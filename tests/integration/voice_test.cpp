#include "tests/integration/voice.hpp"

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

namespace orange::tests {

TEST_CASE("voice of the page A day with Orange") {
    play_page("a-day-with-orange");
}

TEST_CASE("Every command's help is in the voice folder") {
    std::string all;
    for (const auto& entry : std::filesystem::directory_iterator(voice_folder())) all += read_file(entry.path());
    Sandbox sandbox;
    for (const char* group : {"task", "project", "workspace", "workflow", "harness", "service", "daemon"}) {
        const std::string command = std::string("orange ") + group;
        CHECK_THAT(all, Holds("$ " + command + " --help\n"));
        const auto help = sandbox.orange({group, "--help"}).out;
        for (const auto line : split_lines(help)) {
            const auto name = line.starts_with("  ") ? split(line.substr(2), ' ').front() : std::string_view();
            if (!name.empty()) CHECK_THAT(all, Holds("$ " + command + " " + std::string(name) + " --help\n"));
        }
    }
    for (const char* name :
         {"dashboard", "run", "events", "usage", "log", "doctor", "demo", "version", "install", "uninstall"})
        CHECK_THAT(all, Holds("$ orange " + std::string(name) + " --help\n"));
}

}  // namespace orange::tests
