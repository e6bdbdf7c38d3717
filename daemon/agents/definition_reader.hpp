#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/yaml/node.hpp"

namespace orange::agents {

/// Reads the values of a definition file, and collects all problems, so that a user can fix them at once. A base class
/// for the readers of harnesses and of executors.
class DefinitionReader {
  protected:
    using Node = yaml::Node;
    using Place = yaml::Place;
    using List = std::vector<std::string>;
    using Readers = std::vector<std::pair<std::string_view, std::function<void(const Node&)>>>;

    explicit DefinitionReader(std::string_view file_name) : file_name_(file_name) {}

    void problem(const Place& place, const std::string& message);
    bool has_problems() const { return !problems_.empty(); }
    /// Returns all problems as one Error: a line for each, in the order of the file.
    Error failure();

    /// Passes each member to its reader; adds a problem for a member without one.
    void members(const Node& node, const std::string& what, const Readers& readers);
    bool text(const Node& node, const std::string& what, std::string& into);
    void list(const Node& node, const std::string& what, List& into);
    void yes_or_no(const Node& node, const std::string& what, bool& into);
    /// Reads the definition's name, which has to be the name of its file.
    void read_name(const Node& node, std::string& into);
    /// Reads a command of one line, which is shown to people so that they can copy it.
    void read_install(const Node& node, std::string& into);

  private:
    std::string_view file_name_;
    std::vector<std::pair<Place, std::string>> problems_;
};

}  // namespace orange::agents
