#include "client/arguments/permits.hpp"

#include <memory>

#include "client/commands/permits.hpp"

namespace orange::arguments {
namespace {

constexpr const char* k_request = "REQUEST";

void request(CLI::App& app, Text& into) {
    text(app, k_request, into,
         "The request: its task and its number, as orange inbox and orange show print them. Without the number, the "
         "only open request is shown and asked for; default: that of the task of this workspace")
        ->type_name("ID.N");
}

}  // namespace

Action task_allow(CLI::App& app) {
    auto options = std::make_shared<commands::PermitOptions>();
    request(app, options->request);
    app.add_flag("-y,--yes", options->yes, "Allow a long request, which you have seen whole elsewhere, without asking");
    app.footer(
        "Lets the agent's program do what it asks for, once. A request of one line is allowed at once. A longer one is "
        "printed whole, and you are asked. What Orange does not have whole can only be denied, or allowed in the "
        "program's window (orange attach). Programs keep rules about what they may always do themselves "
        "(docs/permits.md).\n\n"
        "Examples:\n"
        "  orange allow 4f2a.2\n"
        "  orange allow 4f2a");
    return [options](Context& context) { return commands::task_allow(context, *options); };
}

Action task_deny(CLI::App& app) {
    auto options = std::make_shared<commands::PermitOptions>();
    request(app, options->request);
    app.add_option("TEXT", options->words,
                   "What the agent is told, as what it should do instead; - reads standard input");
    app.footer(
        "The agent's program does not do what it asks for. The agent gets the text, and goes on.\n\n"
        "Examples:\n"
        "  orange deny 4f2a.2\n"
        "  orange deny 4f2a.2 \"Use the lock file: npm ci\"");
    return [options](Context& context) { return commands::task_deny(context, *options); };
}

void permits(CLI::App& app, Text& into, const char* otherwise) {
    text(app, "--permits", into,
         "Where a program asks that cannot ask in two places, such as codex: window or inbox (orange allow); " +
             std::string(otherwise))
        ->check(CLI::Validator(
            [](std::string& where) {
                const bool is_known = where.empty() || where == "window" || where == "inbox";
                return is_known ? std::string() : "must be window or inbox, not \"" + where + "\"";
            },
            ""))
        ->type_name("window|inbox");
}

std::string task_named(const CLI::App& app, const std::string& word) {
    return app.get_option_no_throw(k_request) == nullptr ? word : commands::permit_name(word).task;
}

}  // namespace orange::arguments
