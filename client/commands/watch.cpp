#include "client/commands/watch.hpp"

#include "client/commands/follow.hpp"
#include "client/output/tasks.hpp"
#include "client/output/watch.hpp"
#include "common/base/text.hpp"

namespace orange::commands {
namespace {

void remark(const std::string& sentence) {
    output::complain("orange: " + sentence + "\n");
}

void put_event(const Context& context, const rpc::EventNotification& event) {
    if (context.json) {
        output::put_now(dump(written(event)) + "\n");
    } else {
        output::put_now(output::event_line(event, context.style));
    }
}

/// Hands over events as they come until the reader of standard output has gone.
int follow_for_reader(const Context& context, EventStream& stream, Follower::OnEvent event) {
    Follower follower;
    follower.event = std::move(event);
    follower.enough = [&](EventStream::What came) -> Result<bool> {
        if (came == EventStream::What::resync && context.json) output::put_now("{\"resync\":true}\n");
        return output::reader_is_gone();
    };
    const auto over = follow(stream, std::move(follower));
    return over ? 0 : fail(context, over.error());
}

}  // namespace

int events(Context& context, rpc::EventsList params, bool follow_on) {
    rpc::EventsSubscribe filter;
    static_cast<rpc::EventSelector&>(filter) = params;
    auto daemon = context.daemon();
    if (!daemon) return fail(context, daemon.error());
    if (!follow_on || !params.since) {
        auto recent = (*daemon)->call(params);
        if (!recent) return fail(context, recent.error());
        if (recent->resync) remark("nobody knows that cursor any more; these are the last events");
        if (!follow_on && recent->events.empty() && !context.json) output::put("Nothing has happened yet.\n");
        for (const auto& event : recent->events) put_event(context, event);
        if (!follow_on) return 0;
        filter.since = recent->cursor;
    } else {
        filter.since = params.since;
    }
    EventStream stream(context.paths, filter);
    auto opened = stream.open();
    if (!opened) return fail(context, opened.error());
    if (*opened) remark("nobody knows that cursor any more; from now on");
    return follow_for_reader(context, stream, [&](const rpc::EventNotification& event) { put_event(context, event); });
}

int task_history(Context& context, rpc::TaskHistory params, bool follow_on) {
    complete_with_cwd(context, params, params.id.has_value());
    if (!follow_on) {
        return answer(context, params, [&](const rpc::TaskHistory::Reply& reply) {
            const std::string older = "Older events are in history.jsonl in the task's folder.\n";
            return (reply.left_out ? older : "") + output::history_page(reply.events, context.style);
        });
    }
    rpc::TaskShow show;
    show.id = params.id;
    show.cwd = params.cwd;
    auto daemon = context.daemon();
    if (!daemon) return fail(context, daemon.error());
    auto shown = (*daemon)->call(show);
    if (!shown) return fail(context, shown.error());
    rpc::EventsSubscribe filter;
    filter.task = shown->task.fields.id.value;
    // The stream first: what happens between the two comes in both, and is told by its time.
    EventStream stream(context.paths, filter);
    if (auto opened = stream.open(); !opened) return fail(context, opened.error());
    auto history = (*daemon)->call(params);
    if (!history) return fail(context, history.error());
    std::string last;
    const auto put = [&](const Json& event) {
        last = event.value("timestamp", std::string());
        output::put_now(context.json ? dump(event) + "\n" : output::history_line(event, context.style));
    };
    for (const auto& event : history->events) put(event);
    return follow_for_reader(context, stream, [&](const rpc::EventNotification& event) {
        if (event.event.value("timestamp", std::string()) > last) put(event.event);
    });
}

int task_wait(Context& context, rpc::TaskWait params) {
    complete_with_cwd(context, params, params.id.has_value());
    Follower follower;
    if (params.timeout) follower.until = std::chrono::steady_clock::now() + std::chrono::seconds(*params.timeout);
    EventStream stream(context.paths, rpc::EventsSubscribe{});
    if (auto opened = stream.open(); !opened) return fail(context, opened.error());
    rpc::TaskWait::Reply reply;
    const auto over = follow_task(stream, params, std::move(follower), reply);
    if (!over) return fail(context, over.error());
    if (!*over) {
        const auto& status = reply.task.fields.status;
        reply.timed_out = true;
        reply.why = "after " + std::to_string(*params.timeout) + " s " +
                    (status.empty() ? std::string("no daemon has said how the task is") : "the task is " + status);
    }
    if (context.json) {
        put_json(written(reply));
    } else if (reply.reached) {
        output::put(printable(reply.task.fields.status) + "\n");
    }
    if (!reply.reached && !context.json) remark(printable(reply.why));
    if (reply.task.alarm && !context.json) remark(printable(*reply.task.alarm));
    return reply.reached ? 0 : reply.timed_out ? k_timed_out : 1;
}

int task_log(Context& context, rpc::TaskLog params) {
    complete_with_cwd(context, params, params.id.has_value());
    return answer(context, params, [&](const rpc::TaskLog::Reply& reply) {
        if (params.list) return output::windows_page(reply, SystemClock().now(), context.style);
        auto text = printable(reply.text, true);
        while (text.ends_with("\n\n")) text.pop_back();
        if (!text.empty() && text.back() != '\n') text += '\n';
        if (text.empty() || text == "\n") return std::string("That window showed nothing.\n");
        return text;
    });
}

}  // namespace orange::commands
