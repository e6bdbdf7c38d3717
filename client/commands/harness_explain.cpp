#include <algorithm>

#include "client/commands/files.hpp"
#include "client/commands/harness.hpp"
#include "client/output/harnesses.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

/// The prefix of the first line of a saved screen if the window had a title.
constexpr std::string_view k_title = "title: ";

Result<void> read_screen(rpc::HarnessExplain& params, const std::string& file) {
    TRY(auto text, named_text(file));
    if (!is_valid_utf8(text)) return {ErrorCode::invalid_argument, printable(file) + " is not UTF-8"};
    if (text.starts_with(k_title)) {
        const auto end = std::min(text.find('\n'), text.size());
        if (!params.title) params.title = text.substr(k_title.size(), end - k_title.size());
        text.erase(0, end == text.size() ? end : end + 1);
    }
    params.screen = std::move(text);
    return {};
}

Result<rpc::HarnessExplain::Reply> ask(Context& context, HarnessExplainOptions& options) {
    if (options.params.harness && options.what) {
        TRY(read_screen(options.params, *options.what));
    } else {
        options.params.id = options.what;
    }
    TRY(auto reply, context.call(options.params));
    if (!options.save) return reply;
    const auto title = reply.title.empty() ? std::string() : std::string(k_title) + reply.title + "\n";
    TRY(write_new_file(*options.save, title + reply.screen + "\n"));
    return reply;
}

}  // namespace

Status harness_explain(Context& context, HarnessExplainOptions options) {
    complete_with_cwd(context, options.params, options.what.has_value());
    TRY(auto reply, ask(context, options));
    if (context.json) {
        put_json(written(reply));
    } else {
        output::put(output::explanation_page(reply, context.style));
    }
    return 0;
}

}  // namespace orange::commands
