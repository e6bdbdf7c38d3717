#include "client/output/families.hpp"

#include <map>

namespace orange::output {

std::vector<Member> families(const std::vector<rpc::TaskView>& tasks) {
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < tasks.size(); ++i) places.emplace(tasks[i].fields.id.value, i);
    std::vector<std::vector<std::size_t>> below(tasks.size());
    std::vector<std::size_t> tops;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const auto parent = places.find(tasks[i].fields.parent.value);
        const bool follows = parent != places.end() && parent->second != i && tasks[i].needs.kind == Need::nothing;
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
