// `orange try`: runs a task's work in its worktree, and waits until it can be opened.
#include <algorithm>

#include "client/commands/task.hpp"
#include "client/connection/child.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

using Tried = rpc::PreviewReply;

constexpr int k_https_port = 443, k_http_port = 80;

/// Returns the port of a URL that the daemon has made or checked.
std::string port_in(const std::string& url) {
    const auto path = url.find_first_of("/?#", url.find("//") + 2);
    const auto host = url.substr(0, path);
    const auto colon = host.rfind(':');
    const auto number = whole_number(host.substr(colon + 1));
    if (number) return std::to_string(*number);
    return std::to_string(url.starts_with("https:") ? k_https_port : k_http_port);
}

/// Opens the URL in a browser, and does not wait for it. Returns false if this machine has no program for that.
bool open_in_browser(const std::string& url) {
    connection::ChildOptions options;
    options.new_session = true;
    for (const char* program : {"xdg-open", "open"}) {
        if (connection::start_child({program, url}, options)) return true;
    }
    return false;
}

std::string output_page(const Tried& tried) {
    std::string out;
    for (const auto line : split_lines(tried.output)) out += "    " + printable(line) + "\n";
    return out;
}

std::string ended_page(const Tried& tried, const output::Style& style) {
    if (tried.state == "none") return "  It has ended, as its task has, or with its worktree\n";
    const auto how = tried.why.empty() ? std::string("has ended") : tried.why;
    return output::wrapped("`" + printable(tried.command) + "` " + printable(how), "  ", style.width);
}

/// Returns where the work can be opened, and opens it.
std::string ready_page(const Tried& tried, const TryOptions& options, const output::Style& style) {
    const auto url = printable(tried.url);
    auto page = "  " + style.paint(url, output::k_bold) + "\n";
    if (!options.tunnel.empty()) {
        const auto port = port_in(tried.url);
        return page + "  The port is open on " + printable(options.tunnel) + " only. To bring it to your machine:\n" +
               "  ssh -L " + port + ":localhost:" + port + " " + shell_word(options.tunnel) + "\n" +
               (options.open ? "  --open has opened nothing: open it here once the port is at your machine\n" : "");
    }
    if (options.open && !open_in_browser(tried.url)) {
        page += "  It was not opened: there is neither xdg-open nor open on this machine\n";
    }
    return page;
}

int status_after(const Tried& tried) {
    const bool has_ended = tried.state == "ended" || tried.state == "none";
    return has_ended && tried.exit_status.value_or(1) != 0 ? 1 : 0;
}

/// Prints the output as it comes, until the command has ended.
Status follow_output(Context& context, rpc::TaskPreview look) {
    look.after = 0;
    for (;;) {
        TRY(const auto json, context.call_json(rpc::TaskPreview::k_name, written(look)));
        TRY(const auto tried, connection::reply_as<Tried>(rpc::TaskPreview::k_name, json));
        if (context.json) {
            put_json(json);
        } else {
            for (const auto line : split_lines(tried.output)) output::put_now(printable(line) + "\n");
        }
        look.after = tried.printed;
        if (output::reader_is_gone()) return 0;
        if (tried.state != "starting" && tried.state != "running") {
            if (!context.json) output::put(ended_page(tried, context.style));
            return status_after(tried);
        }
    }
}

}  // namespace

Status task_try(Context& context, rpc::TaskTry params, const TryOptions& options) {
    complete_with_cwd(context, params, params.id.has_value());
    TRY(auto json, context.call_json(rpc::TaskTry::k_name, written(params)));
    TRY(auto tried, connection::reply_as<Tried>(rpc::TaskTry::k_name, json));
    rpc::TaskPreview look;
    look.id = tried.task.fields.id.value;
    look.wait = true;
    look.lines = params.lines;
    const bool waits = !params.stop && !options.no_wait && tried.state == "starting";
    if (!context.json) {
        output::put_now(output::task_line(tried.task, context.style) + output::notes_text(tried.notes, context.style));
        if (waits && output::is_interactive()) {
            output::print_error("orange: waiting until it can be opened; after Ctrl-C it still runs\n");
        }
    }
    if (waits) {
        TRY(json, context.call_json(rpc::TaskPreview::k_name, written(look)));
        TRY(tried, connection::reply_as<Tried>(rpc::TaskPreview::k_name, json));
    }
    const bool follows = options.follow && !params.stop;
    if (context.json && !follows) {
        put_json(json);
        return params.stop ? 0 : status_after(tried);
    }
    if (!context.json && tried.state == "running") output::put_now(ready_page(tried, options, context.style));
    if (follows) return follow_output(context, look);
    if (params.stop || tried.state == "starting" || tried.state == "running") return 0;
    output::put(output_page(tried) + ended_page(tried, context.style));
    return status_after(tried);
}

}  // namespace orange::commands
