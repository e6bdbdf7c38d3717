#include "client/arguments/command.hpp"

namespace orange::arguments {

CLI::Option* text(CLI::App& app, const char* name, Text& into, const char* doc) {
    return app
        .add_option_function<std::string>(
            name, [&into](const std::string& value) { into = value; }, doc)
        ->type_name("TEXT");
}

void number(CLI::App& app, const char* name, std::optional<int>& into, const char* doc) {
    app.add_option_function<int>(
           name, [&into](const int& value) { into = value; }, doc)
        ->type_name("N");
}

void id(CLI::App& app, Text& into) {
    text(app, "ID", into, "The task, or the beginning of its id; in a workspace: its own");
}

}  // namespace orange::arguments
