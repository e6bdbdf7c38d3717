#include "client/commands/search.hpp"

#include "client/output/search.hpp"
#include "common/base/try.hpp"

namespace orange::commands {

Status task_search(Context& context, rpc::TaskSearch params) {
    std::string last;
    do {
        TRY(const auto json, context.call_json_again(params.k_name, written(params)));
        TRY(auto reply, connection::reply_as<rpc::TaskSearch::Reply>(params.k_name, json));
        if (context.json) {
            for (const auto& hit : json.at("hits")) output::put_now(dump(hit) + "\n");
        } else {
            output::put_now(output::search_lines(reply.hits, last, SystemClock().now(), context.style));
        }
        if (!reply.hits.empty()) last = reply.hits.back().task;
        params.after = reply.next;
    } while (params.after && !output::reader_is_gone());
    if (last.empty() && !context.json) output::print_error("orange: no task has this text\n");
    return 0;
}

}  // namespace orange::commands
