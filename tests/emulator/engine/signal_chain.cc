// Signals that are not the engine's stay with the handlers that were there before it, and with those that come later.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "engine_test.h"

static void crash(int *pointer) { *pointer = 1; }
static void good(int *output) { output[0] = 1; }

static void kernel_faults_are_ours() {
    launch(crash, dim3(1), dim3(1), 0, nullptr, static_cast<int *>(nullptr));
    CHECK(last_code == fault_code::illegal_address);
    buffer<int> output(1, 0);
    run(good, dim3(1), dim3(1), 0, output);
    CHECK(output[0] == 1);
}

static volatile sig_atomic_t handled = 0;
static void simple_handler(int) { std::_Exit(handled ? 43 : 42); }
static void informed_handler(int, siginfo_t *info, void *) {
    std::_Exit(info->si_addr == reinterpret_cast<void *>(64) ? 44 : 45);
}
static void raising_handler(int signal) {
    // What Python's faulthandler does: hand over to the handler before it and raise again.
    struct sigaction before = {};
    before.sa_handler = SIG_DFL;
    sigaction(signal, &before, nullptr);
    raise(signal);
}
// Raises again without taking itself away: must end in the default action, not in a circle.
static void stubborn_handler(int signal) { raise(signal); }

static void set_handler(int signal, void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_NODEFER;
    sigaction(signal, &action, nullptr);
}

static void host_crash() { *reinterpret_cast<volatile int *>(64) = 1; }

static int child_of(const std::function<void()> &body) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        body();
        std::_Exit(1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return status;
}

static bool exited_with(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
static bool died_of(int status, int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }

int main(int argc, char **argv) {
    return run_parts(argc, argv,
                     {
                         {"default_action",
                          [] {
                              CHECK(died_of(child_of([] {
                                                kernel_faults_are_ours();
                                                host_crash();
                                            }),
                                            SIGSEGV));
                              CHECK(died_of(child_of([] {
                                                kernel_faults_are_ours();
                                                std::abort();
                                            }),
                                            SIGABRT));
                              CHECK(died_of(child_of([] {
                                                kernel_faults_are_ours();
                                                raise(SIGFPE);
                                            }),
                                            SIGFPE));
                              CHECK(died_of(child_of([] {
                                                kernel_faults_are_ours();
                                                kill(getpid(), SIGBUS);
                                            }),
                                            SIGBUS));
                              CHECK(exited_with(child_of([] {
                                                    kernel_faults_are_ours();
                                                    raise(SIGURG);
                                                    std::_Exit(7);
                                                }),
                                                7));
                          }},
                         {"handler_before",
                          [] {
                              CHECK(exited_with(child_of([] {
                                                    set_handler(SIGSEGV, simple_handler);
                                                    kernel_faults_are_ours();
                                                    host_crash();
                                                }),
                                                42));
                              CHECK(exited_with(child_of([] {
                                                    struct sigaction action = {};
                                                    action.sa_sigaction = informed_handler;
                                                    action.sa_flags = SA_SIGINFO;
                                                    sigaction(SIGSEGV, &action, nullptr);
                                                    kernel_faults_are_ours();
                                                    host_crash();
                                                }),
                                                44));
                          }},
                         {"handler_after",
                          [] {
                              // The next launch puts the engine's handler on top again; the host's crash still finds
                              // the newer one.
                              CHECK(exited_with(child_of([] {
                                                    kernel_faults_are_ours();
                                                    set_handler(SIGSEGV, simple_handler);
                                                    kernel_faults_are_ours();
                                                    handled = 1;
                                                    host_crash();
                                                }),
                                                43));
                          }},
                         {"handler_raises",
                          [] {
                              CHECK(died_of(child_of([] {
                                                set_handler(SIGSEGV, raising_handler);
                                                kernel_faults_are_ours();
                                                host_crash();
                                            }),
                                            SIGSEGV));
                              CHECK(died_of(child_of([] {
                                                set_handler(SIGSEGV, stubborn_handler);
                                                kernel_faults_are_ours();
                                                host_crash();
                                            }),
                                            SIGSEGV));
                          }},
                     });
}
