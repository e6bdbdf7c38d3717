// Writes the command lines of a definition for tests/real-harnesses: a file for each, one argument a line, the
// environment before them; and "control", with a flag that no program knows.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "daemon/agents/harness.hpp"

using namespace orange;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const agents::Launch& made, const std::string& extra = {}) {
    std::ofstream out(file);
    for (const auto& [name, value] : made.env) out << name << '=' << value << '\n';
    out << made.argv.front() << '\n';
    if (!extra.empty()) out << extra << '\n';
    for (auto word = made.argv.begin() + 1; word != made.argv.end(); ++word) out << *word << '\n';
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    const fs::path definition = argv[1], work = argv[3], lines = argv[4];
    std::ifstream in(definition);
    auto harness = agents::load_harness(std::string(std::istreambuf_iterator<char>(in), {}), definition.string());
    if (!harness) {
        std::cerr << harness.error().message << '\n';
        return 1;
    }
    fs::create_directories(lines);
    agents::LaunchRequest asked;
    asked.prompt = "say hello";
    asked.task_dir = (work / "task").string();
    asked.worktree = asked.repo = (work / "repo").string();
    asked.git_dir = asked.git_common = (work / "repo" / ".git").string();
    asked.role = "worker";
    asked.shipped = definition.parent_path().string();
    asked.summary = "hello";
    asked.trusted = true;
    for (const auto mode : {agents::Mode::persistent, agents::Mode::oneshot}) {
        harness->mode = mode;
        for (const std::string permissions : {"full", "reduced", "review"}) {
            asked.permissions = permissions;
            std::vector<std::string> efforts = {""};
            if (!harness->effort_values.empty()) efforts.push_back(harness->effort_values.back());
            for (const auto& effort : efforts) {
                asked.effort = effort.empty() ? std::nullopt : std::optional(effort);
                const auto made = agents::launch(*harness, argv[2], asked);
                if (!made) {
                    std::cerr << made.error().message << '\n';
                    return 1;
                }
                const auto name = agents::argv_name(*harness, permissions);
                write(lines / (permissions + "-" + name + (effort.empty() ? "" : "-" + effort)), *made);
                if (permissions == "full" && effort.empty()) write(lines / "control", *made, "--no-such-flag");
            }
        }
    }
    return 0;
}
