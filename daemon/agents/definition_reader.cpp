#include "daemon/agents/definition_reader.hpp"

#include <algorithm>
#include <filesystem>

#include "common/base/suggest.hpp"
#include "common/base/text.hpp"

namespace orange::agents {

void DefinitionReader::problem(const Place& place, const std::string& message) {
    problems_.push_back({place, std::string(file_name_) + ":" + std::to_string(place.line) + ":" +
                                    std::to_string(place.column) + ": " + message});
}

Error DefinitionReader::failure() {
    std::stable_sort(problems_.begin(), problems_.end(), [](const auto& a, const auto& b) {
        return std::pair(a.first.line, a.first.column) < std::pair(b.first.line, b.first.column);
    });
    List lines;
    for (const auto& [place, line] : problems_) lines.push_back(line);
    return Error(ErrorCode::invalid_argument, join(lines, "\n"));
}

void DefinitionReader::members(const Node& node, const std::string& what, const Readers& readers) {
    List known;
    for (const auto& reader : readers) known.emplace_back(reader.first);
    for (std::size_t i = 0; i < node.members.size(); ++i) {
        const auto& [key, value] = node.members[i];
        // A new name is needed: clang 14 does not let a lambda capture a structured binding.
        const auto is_for = [&wanted = key](const auto& r) { return r.first == wanted; };
        const auto reader = std::find_if(readers.begin(), readers.end(), is_for);
        if (reader == readers.end()) {
            problem(node.member_places[i],
                    "unknown key \"" + printable(key) + "\" in " + what + suggestion(key, known));
        } else {
            reader->second(value);
        }
    }
}

bool DefinitionReader::text(const Node& node, const std::string& what, std::string& into) {
    if (!node.is_scalar() || node.scalar.empty()) {
        problem(node.place, what + " must be a text that is not empty");
        return false;
    }
    if (node.scalar.find('\0') != std::string::npos) {
        problem(node.place, what + " must not contain a NUL character");
        return false;
    }
    into = node.scalar;
    return true;
}

void DefinitionReader::list(const Node& node, const std::string& what, List& into) {
    if (!node.is_sequence()) return problem(node.place, what + " must be a list of texts");
    for (const auto& item : node.items) {
        std::string value;
        if (text(item, "each item of " + what, value)) into.push_back(std::move(value));
    }
}

void DefinitionReader::yes_or_no(const Node& node, const std::string& what, bool& into) {
    if (node.scalar != "true" && node.scalar != "false") return problem(node.place, what + " must be true or false");
    into = node.scalar == "true";
}

void DefinitionReader::read_name(const Node& node, std::string& into) {
    if (!text(node, "name", into)) return;
    const bool plain = std::all_of(into.begin(), into.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
    if (!plain || into.front() == '-' || into.front() == '_') {
        problem(node.place, "name must be made of a-z, 0-9, \"-\" and \"_\", a letter or digit first");
    }
    const auto stem = std::filesystem::path(file_name_).stem().string();
    if (into != stem) {
        problem(node.place, "name is \"" + into + "\", but the file is called " + stem + "; make them equal");
    }
}

void DefinitionReader::read_install(const Node& node, std::string& into) {
    if (!text(node, "install", into)) return;
    if (printable(into, true) != into || into.find('\n') != std::string::npos)
        problem(node.place, "install must be one line: the command that installs the program");
}

}  // namespace orange::agents
