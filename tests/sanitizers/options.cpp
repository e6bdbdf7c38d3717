// What sanitizers do in each of our programs, whatever its environment: most of them are children of children (the
// daemon, the shim in a pane, the client that an agent calls), whose stderr nobody reads. So each reports to a file of
// its own, and the test `sanitizer reports` fails where there is one. Variables (ASAN_OPTIONS, …) come after these and
// win.

#define REPORTS(sanitizer) "log_exe_name=1:log_path=" ORANGE_SANITIZER_REPORTS "/" sanitizer

// The sanitizers' libraries look these up by name.
extern "C" {

const char* __asan_default_options();
const char* __ubsan_default_options();
const char* __tsan_default_options();
const char* __lsan_default_suppressions();

const char* __asan_default_options() {
    return REPORTS("asan") ":detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1";
}

const char* __ubsan_default_options() {
    return REPORTS("ubsan") ":print_stacktrace=1";
}

/// ncurses keeps it where a terminal cannot be opened.
const char* __lsan_default_suppressions() {
    return "leak:new_prescr\n";
}

const char* __tsan_default_options() {
    return REPORTS("tsan") ":second_deadlock_stack=1";
}
}
