#include "client/commands/watch.hpp"

#include <algorithm>
#include <map>

#include "client/commands/follow.hpp"
#include "client/commands/interrupts.hpp"
#include "client/commands/task.hpp"
#include "client/connection/autostart.hpp"
#include "client/output/tasks.hpp"
#include "client/output/usage.hpp"
#include "client/output/watch.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

void remark(const std::string& sentence) {
    output::print_error("orange: " + sentence + "\n");
}

/// Returns true if the event only says how many tokens an agent has used. Such events come as long as an agent works.
bool is_usage(const rpc::EventNotification& event) {
    return event.event.is_object() && event.event.value("type", Json()) == Json("agent.usage");
}

void put_event(const Context& context, const rpc::EventNotification& event) {
    if (context.json) {
        output::put_now(dump(written(event)) + "\n");
    } else {
        output::put_now(output::event_line(event, context.style));
    }
}

/// Prints events as they come, until the reader of standard output has gone.
Status follow_for_reader(const Context& context, EventStream& stream, Follower::OnEvent event) {
    Follower follower;
    follower.event = std::move(event);
    follower.enough = [&](const EventStream::Next& came) -> Result<bool> {
        if (came.what == EventStream::What::resync && context.json) output::put_now("{\"resync\":true}\n");
        return output::reader_is_gone();
    };
    TRY(follow(stream, std::move(follower)));
    return 0;
}

}  // namespace

Status events(Context& context, rpc::EventsList params, bool follow_on) {
    rpc::EventsSubscribe filter;
    static_cast<rpc::EventSelector&>(filter) = params;
    if (!follow_on || !params.since) {
        TRY(auto recent, context.call(params));
        if (recent.resync) remark("the --since cursor is too old or unknown; showing the last events");
        if (!follow_on && recent.events.empty() && !context.json) output::put("No events.\n");
        for (const auto& event : recent.events) put_event(context, event);
        if (!follow_on) return 0;
        filter.since = recent.cursor;
    } else {
        filter.since = params.since;
    }
    EventStream stream(context.paths, filter);
    TRY(auto opened, stream.open());
    if (opened) remark("the --since cursor is too old or unknown; showing only new events");
    return follow_for_reader(context, stream, [&](const rpc::EventNotification& event) { put_event(context, event); });
}

Status task_history(Context& context, rpc::TaskHistory params, bool follow_on) {
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
    TRY(auto shown, context.call(show));
    rpc::EventsSubscribe filter;
    filter.task = shown.task.fields.id.value;
    // Open the stream first. Events in between are then in both the stream and the history, and are recognized there.
    EventStream stream(context.paths, filter);
    TRY(stream.open());
    TRY(auto history, context.call(params));
    output::TokenSteps steps;
    const auto put = [&](const Json& event) {
        const auto used = steps.next(event);
        output::put_now(context.json ? dump(event) + "\n"
                                     : context.style.paint(output::history_lines(event, context.style, used)));
    };
    for (const auto& event : history.events) put(event);
    return follow_for_reader(context, stream, [&](const rpc::EventNotification& event) {
        const bool is_line = context.json || !is_usage(event);
        if (is_line && std::ranges::find(history.events, event.event) == history.events.end()) put(event.event);
    });
}

Status verify_history(Context& context, const rpc::TaskHistory& selected) {
    rpc::TaskVerify params;
    static_cast<rpc::TaskSelector&>(params) = selected;
    complete_with_cwd(context, params, params.id.has_value());
    TRY(const auto report, context.call(params));
    if (context.json) {
        put_json(written(report));
    } else {
        output::put(output::chain_page(report, context.style));
    }
    return report.holds ? 0 : 1;
}

namespace {

/// Rings the terminal's bell when a task begins to need its human, or needs more, and says in the terminal's title how
/// many do. The title that the terminal had comes back at the end.
class Attention {
  public:
    explicit Attention(bool rings) : rings_(rings) {
        if (output::has_title()) output::put_now(output::k_keep_title);
    }
    ~Attention() {
        if (output::has_title()) output::put_now(output::k_restore_title);
    }
    Attention(const Attention&) = delete;
    Attention& operator=(const Attention&) = delete;

    void tell(const std::vector<rpc::TaskView>& tasks) {
        std::map<std::string, Need> needs;
        bool is_news = false;
        for (const auto& task : tasks) {
            const auto& id = task.fields.id.value;
            const auto before = needs_.find(id);
            needs[id] = task.needs.kind;
            is_news = is_news || more_urgent(task.needs.kind, before == needs_.end() ? Need::start : before->second);
        }
        if (is_news && rings_ && !first_ && output::is_screen()) output::put_now("\a");
        if (output::has_title()) output::put_now(output::titled(output::needs_title(tasks.size())));
        first_ = false;
        needs_ = std::move(needs);
    }

  private:
    bool rings_;
    bool first_ = true;
    std::map<std::string, Need> needs_;
};

}  // namespace

Status watch_tasks(Context& context, const rpc::TaskList& params, const std::optional<std::string>& form, bool rings) {
    EventStream stream(context.paths, {});
    std::optional<Attention> attention;
    if (params.needs && !context.json) attention.emplace(rings);
    catch_interrupts();
    TRY(stream.open());
    Json shown;
    const auto show = [&]() -> Result<void> {
        TRY(const auto reply, stream.call(params));
        auto now = written(reply);
        if (now == shown) return {};
        const bool first = shown.is_null();
        shown = std::move(now);
        if (context.json) {
            put_json(shown);
        } else {
            if (output::is_screen()) {
                output::clear_screen();
            } else if (!first && !form) {
                output::put("\n");
            }
            if (form) {
                put_formed(shown, *form);
            } else {
                const auto time = SystemClock().now();
                output::put(params.needs
                                ? output::inbox_page(reply, time, context.style)
                                : output::task_list_page(reply, time, context.style, params.search.has_value()));
            }
        }
        if (attention) attention->tell(reply.tasks);
        output::put_now("");
        return {};
    };
    Follower follower;
    follower.enough = [&](const EventStream::Next& came) -> Result<bool> {
        using What = EventStream::What;
        if (output::reader_is_gone()) return true;
        const bool redraws = !params.needs && output::is_screen();
        if (came.what == What::event && is_usage(came.event) && !redraws) return false;
        if (came.what == What::lost || (came.what == What::nothing && !shown.is_null())) return false;
        const auto done = show();
        if (!done && done.error().code != ErrorCode::unavailable) return done.error();
        return false;
    };
    TRY(follow(stream, std::move(follower)));
    return 0;
}

Status task_wait(Context& context, rpc::TaskWait params) {
    complete_with_cwd(context, params, params.id.has_value());
    rpc::EventsSubscribe filter;
    filter.task = params.id;
    EventStream stream(context.paths, filter);
    TRY(stream.open());
    rpc::TaskShow show;
    show.id = params.id;
    show.cwd = params.cwd;
    rpc::TaskWait::Reply reply;
    auto shown = stream.call(show);
    if (!shown && shown.error().code != ErrorCode::unavailable) return shown.error();
    if (shown) {  // otherwise the daemon has just ended, and the next one is asked
        reply.task = std::move(shown->task);
        params.id = reply.task.fields.id.value;
    }
    Follower follower;
    follower.patience = k_daemon_patience;
    follower.has_reader = [] { return !output::reader_is_gone(); };  // it is lost with the link of another machine
    TRY(const auto over, follow_task(stream, params, std::move(follower), reply));
    if (!over) {
        reply.timed_out = true;
        reply.why = "timed out, and the daemon does not answer";
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

Status task_log(Context& context, rpc::TaskLog params) {
    complete_with_cwd(context, params, params.id.has_value());
    return answer(context, params, [&](const rpc::TaskLog::Reply& reply) {
        if (params.list) return output::windows_page(reply, SystemClock().now(), context.style);
        auto text = printable(reply.text, true);
        while (text.ends_with("\n\n")) text.pop_back();
        if (!text.empty() && text.back() != '\n') text += '\n';
        if (text.empty() || text == "\n") return std::string("The window is empty.\n");
        return text;
    });
}

}  // namespace orange::commands
