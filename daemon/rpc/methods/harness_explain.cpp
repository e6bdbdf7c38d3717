// harness.explain: which texts of a definition are on a screen, and what Orange concludes from them.
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/harness_methods.hpp"
#include "daemon/agents/explanation.hpp"
#include "daemon/agents/news.hpp"
#include "daemon/rpc/methods/picked_run.hpp"
#include "daemon/rpc/methods/usage_reading.hpp"

namespace orange::rpc {
namespace {

HarnessExplain::Reply explained(const agents::Harness& harness, PaneView view, const agents::Reading& reading,
                                Timestamp now) {
    HarnessExplain::Reply reply;
    reply.harness = harness.name;
    if (!harness.measured.empty()) reply.measured = harness.measured;
    reply.reading.activity = reading.activity;
    reply.reading.since = now;
    reply.reading.source = reading.source;
    reply.reading.text = reading.text;
    for (auto& each : agents::looked_for(harness, view.screen, view.title, reading, view.styled, view.cursor)) {
        HarnessExplain::Text text;
        text.key = std::move(each.key);
        text.text = std::move(each.text);
        if (!each.line.empty()) text.line = std::move(each.line);
        text.decides = each.decides;
        reply.texts.push_back(std::move(text));
    }
    if (reading.activity == Activity::idle) {
        for (auto& each : agents::news_on(harness, view.screen, view.title)) {
            reply.news.push_back({std::move(each.key), std::move(each.text), each.is_seen});
        }
    }
    reply.screen = std::move(view.screen);
    reply.title = std::move(view.title);
    return reply;
}

Awaitable<Result<HarnessExplain::Reply>> explain(Api& api, HarnessExplain params, Call call) {
    auto& world = api.world();
    if (params.screen) {
        if (!params.harness) {
            co_return Error(ErrorCode::invalid_argument, "a saved screen needs the name of a harness: --harness NAME");
        }
        CO_TRY(const auto entry, world.harnesses.find(*params.harness));
        PaneView saved;
        saved.title = params.title.value_or("");
        saved.screen = std::move(*params.screen);
        const auto reading = agents::reading_of(entry.harness, Activity::unknown, saved.screen, saved.title);
        co_return explained(entry.harness, std::move(saved), reading, world.clock.now());
    }
    CO_TRY(const auto id, api.select(params, call));
    CO_TRY(const auto run, pick_run(api, id, params.role));
    CO_TRY(const auto entry, world.harnesses.find(params.harness.value_or(run.harness)));
    auto pane = run.pane_id;
    CO_TRY(auto view, co_await world.tmux.view_pane(std::move(pane)));
    agents::Reading reading = agents::reading_of(entry.harness, Activity::unknown, view.screen, view.title);
    auto record = world.tasks.awake(id);
    if (record && !params.harness) {
        const auto now = *record;  // the store may change while tmux answers
        reading = co_await api.runner().activities.read(now, run.role);
    }
    auto reply = explained(entry.harness, std::move(view), reading, world.clock.now());
    record = world.tasks.awake(id);
    if (record) reply.told = api.runner().activities.of(*record, run.role);
    if (record && entry.harness.usage.are_told()) {
        const auto& tokens = api.runner().tokens;
        const auto* reader = tokens.reader_of(*record, run);
        const auto* usage = tokens.usage_of(*record, run);
        reply.usage =
            usage_reading(reader ? reader->files() : std::vector<agents::UsageFile>(), usage ? *usage : RunUsage{});
    }
    co_return reply;
}

}  // namespace

void add_harness_explain(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<HarnessExplain>(Access::read,
                              "Says which texts of a definition are on an agent's screen, and what follows from them.",
                              {not_found, invalid_argument, unavailable}, api, explain);
}

}  // namespace orange::rpc
