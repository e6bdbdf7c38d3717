#include "client/commands/interrupts.hpp"

#include <csignal>

namespace orange::commands {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

void on_interrupt(int) {
    g_interrupted = 1;
}

}  // namespace

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = on_interrupt;  // without SA_RESTART, so that it interrupts the wait for an event
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    struct sigaction hangup {};
    const bool ignored = ::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN;  // nohup
    if (!ignored) ::sigaction(SIGHUP, &action, nullptr);
}

bool interrupted() {
    return g_interrupted != 0;
}

}  // namespace orange::commands
