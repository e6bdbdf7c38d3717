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
    const bool fine = finding.level == "ok";
    const bool wrong = finding.level == "error";
    const auto sign = fine    ? style.paint("✓", Ink::green)
                      : wrong ? style.paint("✗", Ink::red)
                              : style.paint("!", Ink::yellow);
    auto text = wrapped(printable(finding.check) + ": " + printable(finding.text), "  ", style.width);
    auto out = sign + text.substr(1);
    if (finding.file) out += wrapped(printable(*finding.file), "    ", style.width);
    // Never broken: it is there to be copied.
    if (finding.command) out += "    " + style.paint("→ " + printable(*finding.command), Ink::bold) + "\n";
    return out;
}

}  // namespace

std::size_t errors_in(const std::vector<rpc::Finding>& findings) {
    return count(findings, "error");
}

std::string doctor_page(const std::vector<rpc::Finding>& findings, const Style& style) {
    std::string out;
    for (const auto& finding : findings) out += finding_text(finding, style);
    const auto errors = errors_in(findings);
    const auto warnings = count(findings, "warning");
    out += "\n";
    out += errors == 0 ? std::string("no problems") : counted(errors, "problem");
    if (warnings > 0) out += ", " + counted(warnings, "warning");
    return out + "\n";
}

}  // namespace orange::output
