#include "client/output/doctor.hpp"

#include <algorithm>

#include "common/base/text.hpp"

namespace orange::output {
namespace {

std::size_t count(const std::vector<rpc::Finding>& findings, const char* level) {
    return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(),
                                                  [&](const rpc::Finding& finding) { return finding.level == level; }));
}

std::string finding_text(const rpc::Finding& finding, const Style& style) {
    const auto sign = finding.level == "error" ? style.paint("✗", k_red) : style.paint("!", k_yellow);
    auto text = wrapped(printable(finding.check) + ": " + printable(finding.text), "  ", style.width);
    auto out = sign + text.substr(1);
    if (finding.file) out += wrapped(printable(*finding.file), "    ", style.width);
    // Never wrap a command, so that it can be copied.
    if (finding.command) out += "    " + style.paint("→ " + printable(*finding.command), k_bold) + "\n";
    return out;
}

}  // namespace

std::size_t errors_in(const std::vector<rpc::Finding>& findings) {
    return count(findings, "error");
}

std::string doctor_page(const std::vector<rpc::Finding>& findings, const Style& style) {
    std::string out;
    for (const char* level : {"error", "warning"}) {
        for (const auto& finding : findings) {
            if (finding.level == level) out += finding_text(finding, style);
        }
    }
    const auto errors = errors_in(findings), warnings = count(findings, "warning"), fine = count(findings, "ok");
    if (!out.empty())
        out += "\n" + (errors == 0 ? "no problems" : counted(errors, "problem")) + ", " + counted(warnings, "warning") +
               "\n";
    if (fine > 0) {
        const auto checks = counted(fine, out.empty() ? "check" : "other check");
        out += style.paint("✓", k_green) + " " + checks + " found nothing wrong\n";
    }
    return out;
}

}  // namespace orange::output
