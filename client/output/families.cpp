#include "client/output/families.hpp"

#include <map>
#include <string_view>

namespace orange::output {

std::vector<Member> families(const std::vector<const Row*>& tasks) {
    std::map<std::string_view, std::size_t> parents;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (tasks[i]->children > 0) parents.emplace(tasks[i]->id, i);
    }
    std::vector<std::vector<std::size_t>> below(tasks.size());
    std::vector<std::size_t> tops;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const auto parent = parents.find(tasks[i]->parent);
        const bool follows = parent != parents.end() && parent->second != i && tasks[i]->needs == Need::nothing;
        (follows ? below[parent->second] : tops).push_back(i);
    }
    std::vector<Member> all;
    for (const auto top : tops) {
        std::vector<Member> open = {{top, 0}};
        while (!open.empty()) {
            const auto member = open.back();
            open.pop_back();
            all.push_back(member);
            const auto& children = below[member.at];
            for (auto child = children.rbegin(); child != children.rend(); ++child) {
                open.push_back({*child, member.depth + 1});
            }
        }
    }
    return all;
}

std::string children_count(const rpc::TaskView& task) {
    if (task.children.empty()) return {};
    return std::to_string(task.children_done) + "/" + std::to_string(task.children.size());
}

}  // namespace orange::output
