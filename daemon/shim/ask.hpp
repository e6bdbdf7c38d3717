#pragma once

/// The hook with which an agent's program asks its human before it does something (docs/permits.md).
namespace orange::shim {

/// Adds the event of the request on stdin to the file, passes the request on to the daemon (permit.ask at
/// ORANGE_SOCKET), and prints the answer of its human. Always returns 0. Prints nothing if there is no answer, for
/// whatever reason: then the program asks in its window.
int ask_human(const char* file);

}  // namespace orange::shim
