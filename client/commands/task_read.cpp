// The commands that only read.
#include <set>
#include <utility>

#include "client/commands/everywhere.hpp"
#include "client/commands/task.hpp"
#include "client/output/clashes.hpp"
#include "client/output/format.hpp"
#include "client/output/tasks.hpp"
#include "client/output/tree.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

HostQuery query_of(const rpc::TaskList& params) {
    HostQuery query{"list", {"task", "list"}, params.project};
    const auto add = [&](const char* option, const std::string& value) {
        query.words.push_back(std::string(option) + "=" + value);
        query.is_whole = false;
    };
    if (params.status) add("--status", *params.status);
    if (params.search) add("--search", *params.search);
    if (params.limit > 0) add("--limit", std::to_string(params.limit));
    if (params.all) query.words.emplace_back("--all");
    query.is_whole = query.is_whole && !params.all;
    return query;
}

/// Two projects may have a task of the same id. One of the two is unreadable then.
std::pair<std::string, std::string> task_key(const Json& task) {
    const auto& fields = task.at("fields");
    return {fields.value("project", ""), fields.at("id").get<std::string>()};
}

/// Calls `take` with the list, or, if ended tasks are asked for, with one page of it after the other: there may be
/// thousands. A daemon that knows no pages answers with the whole list. A task of the first page that ends meanwhile
/// may come again in a later page; that page is shown without it.
Result<void> each_page(Context& context, rpc::TaskList params, const std::function<Result<void>(Json)>& take) {
    if (params.limit == 0 && (params.all || params.status)) params.after = "";
    const auto call = [&](const Json& asked) { return context.call_json(params.k_name, asked); };
    std::set<std::pair<std::string, std::string>> first;
    for (bool is_first = true;; is_first = false) {
        TRY(auto page, call_with_caller(call, written(params), {"changes", "after"}));
        const auto next = page.find("next");
        const bool is_last = next == page.end() || !next->is_string();
        if (!is_last) params.after = next->get<std::string>();
        page.erase("next");
        auto& tasks = page["tasks"].get_ref<Json::array_t&>();
        if (!is_first) std::erase_if(tasks, [&](const Json& task) { return first.contains(task_key(task)); });
        for (const auto& task : is_first && !is_last ? tasks : Json::array_t()) first.insert(task_key(task));
        TRY(take(std::move(page)));
        if (is_last || output::reader_is_gone()) return {};
    }
}

/// The pages as one list.
Result<Json> whole_list(Context& context, const rpc::TaskList& params) {
    Json whole;
    const auto add = [&](Json page) -> Result<void> {
        if (whole.is_null()) {
            whole = std::move(page);
        } else {
            for (auto& task : page["tasks"]) whole["tasks"].push_back(std::move(task));
        }
        return {};
    };
    TRY(each_page(context, params, add));
    return whole;
}

/// Prints the pages of a list as they come. In JSON they are one object in one line, which is printed when all pages
/// have come: a page that fails leaves no half of an object.
class PagePrinter {
  public:
    PagePrinter(const Context& context, std::optional<std::string> form, bool searched)
        : context_(context), form_(std::move(form)), searched_(searched) {}

    Result<void> put(Json page) {
        if (context_.json) return put_json(std::move(page)), Result<void>{};
        if (form_) return put_formed(page, *form_), Result<void>{};
        TRY(const auto list, connection::reply_as<rpc::TaskList::Reply>(rpc::TaskList::k_name, page));
        output::put_now(output::task_list_part(list, SystemClock().now(), context_.style, searched_, shape_));
        clashes_.add(list.tasks);
        return {};
    }
    void end() {
        output::put(clashes_.text(context_.style));
        for (const auto& text : texts_) output::put(text);
        if (context_.json) output::put("]}\n");
    }

  private:
    void put_json(Json page) {
        const auto tasks = std::move(page.at("tasks"));
        page.erase("tasks");
        std::string text;
        if (texts_.empty()) {  // the other members are the same in each page
            text = dump(page);
            text.back() = page.empty() ? ' ' : ',';
            text += "\"tasks\":[";
        }
        for (const auto& task : tasks) {
            if (has_task_) text += ',';
            text += dump(task);
            has_task_ = true;
        }
        texts_.push_back(std::move(text));
    }

    const Context& context_;
    std::optional<std::string> form_;
    bool searched_;
    std::vector<std::string> texts_;  ///< the JSON of the pages
    bool has_task_ = false;
    output::Table::Shape shape_;
    output::ClashNotes clashes_;  ///< empty in JSON, and in a form
};

}  // namespace

Status print_tasks(const Context& context, const Result<Json>& reply, const std::optional<std::string>& form,
                   const std::function<std::string(const rpc::TaskList::Reply&)>& page) {
    if (form && !context.json) {
        if (!reply) return reply.error();
        output::print_error(silent_hosts(*reply));
        put_formed(with_host_ids(*reply), *form);
        return 0;
    }
    return print<rpc::TaskList>(context, reply,
                                [&](const rpc::TaskList::Reply& list) { return page(list) + silent_hosts(*reply); });
}

std::string form_problem(const std::string& form, bool shown) {
    return output::form_problem(form, shown ? output::shown_task_form_names() : output::task_form_names());
}

void put_formed(const Json& list, const std::string& form) {
    for (const auto& task : list.value("tasks", Json::array())) output::put(output::formed(form, task));
}

Status task_list(Context& context, rpc::TaskList params, const ListOptions& options) {
    params.changes = !options.form || options.form->find("committed") != std::string::npos;
    complete_with_cwd(context, params, params.project || options.everywhere);
    if (options.watch) return watch_tasks(context, params, options.form);
    if (options.everywhere) {
        const auto reply = with_hosts(context, whole_list(context, params), query_of(params));
        return print_tasks(context, reply, options.form, [&](const rpc::TaskList::Reply& list) {
            return output::task_list_page(list, SystemClock().now(), context.style, params.search.has_value());
        });
    }
    PagePrinter printer(context, options.form, params.search.has_value());
    TRY(each_page(context, params, [&](Json page) { return printer.put(std::move(page)); }));
    printer.end();
    return 0;
}

Status task_tree(Context& context, rpc::TaskList params, bool everywhere, const std::optional<std::string>& about) {
    std::string id;
    if (about) {
        rpc::TaskShow show;
        show.id = about;
        TRY(const auto shown, context.call(show));
        id = shown.task.fields.id.value;
    }
    complete_with_cwd(context, params, params.project || everywhere || about);
    TRY(const auto reply, whole_list(context, params));
    TRY(const auto list, connection::reply_as<rpc::TaskList::Reply>(params.k_name, reply));
    const auto tree = output::tree_of(list.tasks, id);
    if (context.json) return put_json(output::tree_json(tree));
    output::put(output::tree_page(tree, context.style));
    return 0;
}

Status task_show(Context& context, rpc::TaskShow params, const std::optional<std::string>& form) {
    params.changes = true;
    complete_with_cwd(context, params, params.id.has_value());
    if (form && !context.json) {
        TRY(auto reply, context.call_json(params.k_name, written(params)));
        auto task = reply.value("task", Json::object());
        reply.erase("task");
        task.update(reply);
        output::put(output::formed(*form, task));
        return 0;
    }
    return answer(context, params, [&](const rpc::TaskShow::Reply& reply) {
        return output::task_page(reply, SystemClock().now(), context.style);
    });
}

Status task_why(Context& context, rpc::TaskWhy params) {
    complete_with_cwd(context, params, params.id.has_value());
    return answer(context, params, [&](const rpc::TaskWhy::Reply& reply) {
        return context.style.paint(output::why_lines(reply, context.style));
    });
}

Status task_peek(Context& context, rpc::TaskPeek params) {
    complete_with_cwd(context, params, params.id.has_value());
    return answer(context, params, [](const rpc::TaskPeek::Reply& reply) {
        auto text = printable(reply.text, true);
        if (!text.empty() && text.back() != '\n') text += '\n';
        return text;
    });
}

}  // namespace orange::commands
