// Symbolisation: addr2line for addresses of this module (it knows inlined calls), the line table of the module itself
// when there is no such tool, names only for other libraries.
#include "symbols.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "line_table.h"
#include "module_image.h"

namespace oprt_emulator {
namespace {

// Run a program and return what it prints; "" when it cannot be run or fails.
std::string output_of(const std::vector<std::string> &command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return "";
    std::vector<char *> arguments;
    for (const std::string &word : command) arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    pid_t child = 0;
    const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string output;
    if (error == 0) {
        char piece[4096];
        for (;;) {
            const ssize_t got = read(ends[0], piece, sizeof piece);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) break;
            output.append(piece, static_cast<std::size_t>(got));
        }
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    }
    close(ends[0]);
    return output;
}

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
        lines.push_back(text.substr(begin, end - begin));
    }
    return lines;
}

// "file:line" or "file:line (discriminator 2)"; unknown ones hold question marks.
void take_position(const std::string &text, code_place &place) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || text.compare(0, 2, "??") == 0) return;
    place.line = std::atoi(text.c_str() + colon + 1);
    if (place.line > 0) place.file = text.substr(0, colon);
}

// One entry for each address of this module: address line, then function and position alternating.
bool ask_addr2line(const std::vector<std::uintptr_t> &addresses, std::vector<std::vector<code_place>> &places) {
    const module_image &image = own_image();
    std::vector<std::string> command = {"addr2line", "-a", "-C", "-f", "-i", "-e", image.path};
    for (std::uintptr_t address : addresses) {
        char text[32];
        std::snprintf(text, sizeof text, "0x%zx", static_cast<std::size_t>(address - image.load_bias));
        command.push_back(text);
    }
    const std::vector<std::string> lines = lines_of(output_of(command));
    std::vector<std::vector<code_place>> found;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].compare(0, 2, "0x") == 0) {
            found.emplace_back();
        } else if (!found.empty() && i + 1 < lines.size()) {
            code_place place;
            if (lines[i] != "??") place.function = lines[i];
            take_position(lines[++i], place);
            found.back().push_back(place);
        }
    }
    if (found.size() != addresses.size()) return false;
    places = std::move(found);
    return true;
}

std::string file_name(const char *path) {
    const char *slash = std::strrchr(path, '/');
    return slash != nullptr ? slash + 1 : path;
}

// Function and library of an address outside this module, or a position from this module's own line table.
code_place place_without_tool(std::uintptr_t address) {
    code_place place;
    const module_image &image = own_image();
    if (is_own_code(address)) {
        if (const code_symbol *symbol = image.function_at(address)) place.function = demangle(symbol->name);
        const source_line line = find_line(image.path, address - image.load_bias);
        place.file = line.file;
        place.line = line.line;
        return place;
    }
    Dl_info info;
    if (dladdr(reinterpret_cast<void *>(address), &info) == 0) return place;
    if (info.dli_sname != nullptr) place.function = demangle(info.dli_sname);
    if (info.dli_fname != nullptr) place.file = file_name(info.dli_fname);
    return place;
}

}  // namespace

std::vector<std::vector<code_place>> places_of(const std::vector<std::uintptr_t> &addresses) {
    std::vector<std::uintptr_t> own;
    for (std::uintptr_t address : addresses) {
        if (is_own_code(address)) own.push_back(address);
    }
    std::vector<std::vector<code_place>> from_tool;
    const bool asked = !own.empty() && ask_addr2line(own, from_tool);
    std::vector<std::vector<code_place>> places;
    std::size_t next = 0;
    for (std::uintptr_t address : addresses) {
        std::vector<code_place> here;
        if (asked && is_own_code(address)) here = from_tool[next++];
        if (here.empty() || here[0].line == 0) here = {place_without_tool(address)};
        places.push_back(here);
    }
    return places;
}

}  // namespace oprt_emulator
