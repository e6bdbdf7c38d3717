// What each target of CMake links, compared with what its sources include. A linker that takes the libraries in any
// order finds a symbol without it; one that is strict, or another program of the same library, does not.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace {

namespace files = std::filesystem;

struct Target {
    bool is_library = false;  ///< a program, or the tests of a folder, may leave a link to a library of its own
    std::vector<std::string> sources;  ///< from the root; what the build writes is not among them
    std::set<std::string> links;
};
using Targets = std::map<std::string, Target>;

/// Reads build/<preset>/tests/links.txt.
Targets all_targets() {
    std::ifstream list(files::path(ORANGE_BINARY_DIR) / "tests/links.txt");
    Targets all;
    std::string kind, name, last;
    while (list >> kind >> std::ws && std::getline(list, name)) {
        if (kind == "source") {
            const auto path = files::path(name).lexically_relative(ORANGE_SOURCE_DIR).string();
            const bool is_ours = !path.starts_with("../") && !path.starts_with("build/") && path.ends_with(".cpp");
            if (is_ours) all[last].sources.push_back(path);
        } else if (kind == "link") {
            all[last].links.insert(name);
        } else {
            last = name;
            all[last].is_library = kind == "STATIC_LIBRARY";
        }
    }
    return all;
}

std::string stem_of(const std::string& path) {
    return path.substr(0, path.rfind('.'));
}

/// Which library a header belongs to: the one that compiles the file of its name, or else that of its folder.
struct Owners {
    explicit Owners(const Targets& targets) {
        for (const auto& [name, target] : targets) {
            if (!target.is_library) continue;
            for (const auto& source : target.sources) {
                const auto folder = files::path(source).parent_path();
                all[stem_of(source)] = name;
                all[folder.string()] = name;
                // Headers beside the rooms of daemon/runner have no source in their own folder.
                if (source.starts_with("daemon/")) all.emplace(folder.parent_path().string(), name);
            }
        }
    }
    std::string of(const std::string& header) const {
        for (const auto& key : {stem_of(header), files::path(header).parent_path().string()}) {
            if (const auto found = all.find(key); found != all.end()) return found->second;
        }
        return {};
    }
    std::map<std::string, std::string> all;
};

/// The library of another project that an include with angle brackets needs.
std::string foreign(const std::string& header) {
    static const std::map<std::string, std::string> libraries = {
        {"asio", "orange_asio"},         {"asio.hpp", "orange_asio"}, {"nlohmann", "nlohmann_json::nlohmann_json"},
        {"yaml-cpp", "orange_yaml_cpp"}, {"CLI", "CLI11::CLI11"},     {"spdlog", "orange_spdlog"},
        {"catch2", "Catch2::Catch2"}};
    const auto found = libraries.find(header.substr(0, header.find('/')));
    return found == libraries.end() ? std::string() : found->second;
}

/// Each library that `name` uses, and the file that includes it. Its own headers are read, those of others are not.
std::map<std::string, std::string> used_by(const std::string& name, const Target& target, const Owners& owners) {
    static const std::regex include(R"re((^|\n)#include (?:"([^"]+)"|<([^>]+)>))re");
    std::set<std::string> own;
    for (const auto& source : target.sources) own.insert(stem_of(source));
    std::map<std::string, std::string> used;
    std::set<std::string> seen;
    auto todo = target.sources;
    while (!todo.empty()) {
        const auto path = todo.back();
        todo.pop_back();
        if (!seen.insert(path).second) continue;
        std::ostringstream read;
        read << std::ifstream(files::path(ORANGE_SOURCE_DIR) / path).rdbuf();
        const auto text = read.str();
        for (std::sregex_iterator at(text.begin(), text.end(), include), end; at != end; ++at) {
            const auto header = (*at)[2].str();
            const auto library = header.empty() ? foreign((*at)[3]) : owners.of(header);
            if (!header.empty() && (library.empty() || library == name || own.contains(stem_of(header)))) {
                todo.push_back(header);
            } else if (!library.empty()) {
                used.emplace(library, path);
            }
        }
    }
    return used;
}

/// Adds what the libraries link that `links` has.
void close(std::set<std::string>& links, const Targets& targets) {
    std::vector<std::string> todo(links.begin(), links.end());
    while (!todo.empty()) {
        const auto found = targets.find(todo.back());
        todo.pop_back();
        if (found == targets.end()) continue;
        for (const auto& link : found->second.links) {
            if (links.insert(link).second) todo.push_back(link);
        }
    }
}

}  // namespace

TEST_CASE("Every library links what it includes, and programs and tests link it or a library that does") {
    const auto targets = all_targets();
    REQUIRE(targets.size() > 50);
    const Owners owners(targets);
    CHECK(owners.of("daemon/async/awaitable.hpp") == "orange_async");
    CHECK(used_by("orange_agents", targets.at("orange_agents"), owners).contains("orange_engine"));
    for (const auto& [name, target] : targets) {
        auto links = target.links;
        if (!target.is_library) close(links, targets);
        for (const auto& [library, path] : used_by(name, target, owners)) {
            if (!links.contains(library))
                FAIL_CHECK(name + " does not link " + library + ", which " + path + " includes");
        }
    }
}
