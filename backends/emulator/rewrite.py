"""Rewrite the CUDA and MACA syntax that is no C++ into C++ for the emulator: python rewrite.py INPUT OUTPUT.

    kernel<<<grid, block, shared, stream>>>(arguments)   a launch
    extern __shared__ float name[];                      dynamic shared memory
    __noinline__                                         cannot be a macro: libstdc++ uses the word

Everything else, comments and strings too, passes unchanged, and every line keeps its number. The functions that
the new text calls are in include/oprt_emulator/launch_syntax.h. What the rewriter cannot make out it refuses with
file and line.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TOKEN = re.compile(
    r"""
      (?P<splice>\\\r?\n)
    | (?P<newline>\r?\n)
    | (?P<space>[ \t\f\v\r]+)
    | (?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?\*/)
    | (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)")
    | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
    | (?P<character>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
    | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
    | (?P<name>[A-Za-z_$]\w*)
    | (?P<open><<<)
    | (?P<close>>>>+)
    | (?P<sign>::|->|.)
    """,
    re.VERBOSE | re.DOTALL,
)
TRIVIA = {"splice", "newline", "space", "comment", "directive"}
BRACKETS = {"(": ")", "[": "]", "{": "}"}
CLOSERS = {closer: opener for opener, closer in BRACKETS.items()}
# Directives whose text is no code. The others (#define above all) are read as code, but hold no braces of the file.
TEXT_DIRECTIVES = {"include", "error", "warning", "pragma", "line", "import"}
# Words after which an expression begins.
STATEMENT_WORDS = {"if", "while", "for", "switch", "return", "else", "do", "case", "throw", "co_return", "co_yield"}
HEAD_WORDS = {"if", "constexpr", "while", "for", "switch", "catch"}  # whose brackets are no operand
CONDITIONALS = {"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"}


class RewriteError(Exception):
    """Text that the rewriter cannot make out, with the line where it stands."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass
class Token:
    """A piece of the source. `text` may be replaced; `before` is put in front of it."""

    kind: str
    text: str
    line: int
    in_directive: bool = False
    before: str = ""


@dataclass
class Source:
    """All tokens of a file, and the positions of those that are code."""

    tokens: list[Token]
    code: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.code = [i for i, token in enumerate(self.tokens) if token.kind not in TRIVIA]

    def at(self, position: int) -> Token:
        """The code token at a position of `code`."""
        return self.tokens[self.code[position]]

    def text(self, first: int, last: int) -> str:
        """The source from one code position to before another, as it now stands."""
        if first >= last:
            return ""
        pieces = self.tokens[self.code[first] : self.code[last - 1] + 1]
        return "".join(piece.before + piece.text for piece in pieces)


def split(text: str) -> list[Token]:
    """Cut the source into tokens; together they are the source."""
    tokens: list[Token] = []
    line = 1
    for match in TOKEN.finditer(text):
        kind = match.lastgroup if match.lastgroup != "delimiter" else "raw"
        assert kind is not None
        if kind == "close" and len(match.group()) > 3:  # the last three close a launch: v<int>>>>
            extra = len(match.group()) - 3
            tokens.extend(Token("sign", ">", line) for _ in range(extra))
            tokens.append(Token("close", ">>>", line))
        else:
            tokens.append(Token(kind, match.group(), line))
        if kind == "sign" and match.group() == "/" and text.startswith("/*", match.start()):
            raise RewriteError(line, "the comment that begins here has no end")
        line += match.group().count("\n")
    mark_directives(tokens)
    return tokens


def mark_directives(tokens: list[Token]) -> None:
    """Mark the tokens of preprocessor lines; those that are text become trivia."""
    at_line_start = True
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if token.kind == "newline":
            at_line_start = True
        elif token.kind not in {"space", "comment", "splice"}:
            if at_line_start and token.text == "#":
                i = mark_directive(tokens, i)
                continue
            at_line_start = False
        i += 1


def mark_directive(tokens: list[Token], start: int) -> int:
    """Mark one directive that begins at start; the index of the newline that ends it."""
    end = start
    while end < len(tokens) and tokens[end].kind != "newline":
        end += 1
    words = [token for token in tokens[start + 1 : end] if token.kind == "name"]
    word = words[0].text if words else ""
    is_text = word in TEXT_DIRECTIVES or word in CONDITIONALS
    for token in tokens[start:end]:
        token.in_directive = True
        if is_text and token.kind not in {"space", "comment", "splice"}:
            token.kind = "directive"
    return end


def conditional_word(tokens: list[Token], index: int) -> str:
    """The word of the conditional directive whose # stands at index, or ""."""
    token = tokens[index]
    if token.kind != "directive" or token.text != "#":
        return ""
    for following in tokens[index + 1 :]:
        if following.kind == "directive":
            return following.text if following.text in CONDITIONALS else ""
    return ""


def matching(source: Source, position: int, step: int) -> int:
    """The code position of the bracket that matches the one at position; step is the direction."""
    pairs = BRACKETS if step > 0 else CLOSERS
    ends = CLOSERS if step > 0 else BRACKETS
    stack: list[str] = []
    first = source.at(position)
    while 0 <= position < len(source.code):
        text = source.at(position).text
        if text in pairs:
            stack.append(pairs[text])
        elif text in ends:
            if not stack or stack.pop() != text:
                break
            if not stack:
                return position
        position += step
    raise RewriteError(first.line, f"the bracket {first.text} has no partner")


def template_start(source: Source, position: int) -> int:
    """The code position of the < that opens the template arguments which end with the > at position."""
    first = source.at(position)
    depth = 0
    while position >= 0:
        token = source.at(position)
        if token.text == ">" or token.kind == "close":
            depth += len(token.text)
        elif token.text == "<":
            depth -= 1
            if depth == 0:
                return position
        elif token.text in CLOSERS:
            position = matching(source, position, -1)
        elif token.text in {";", "{", "("} or token.kind == "open":
            break
        position -= 1
    raise RewriteError(first.line, "cannot find the beginning of the template arguments before <<<")


def is_word(token: Token) -> bool:
    """Whether a token is a name that can be a part of an expression."""
    return token.kind == "name" and token.text not in STATEMENT_WORDS


def ends_operand(source: Source, position: int) -> bool:
    """Whether the token at position can end what is called, indexed or qualified by what follows it."""
    if position < 0:
        return False
    token = source.at(position)
    if token.text == ")":
        opening = matching(source, position, -1)
        return opening == 0 or source.at(opening - 1).text not in HEAD_WORDS
    return token.text in {"]", ">"} or token.kind == "close" or is_word(token)


def kernel_start(source: Source, opening: int) -> int:
    """The code position where the expression before <<< begins: names, ::, ., ->, template arguments, brackets."""
    start = opening
    while start > 0:
        before = source.at(start - 1)
        if before.text in {")", "]"}:
            start = matching(source, start - 1, -1)
            if not ends_operand(source, start - 1):
                break
            continue
        if before.text == ">" or before.kind == "close":
            start = template_start(source, start - 1)
            continue
        if not is_word(before):
            break
        start -= 1
        if start > 0 and source.at(start - 1).text == "template":
            start -= 1
        if start == 0 or source.at(start - 1).text not in {"::", ".", "->"}:
            break
        start -= 1
        if not ends_operand(source, start - 1):
            break
    if start == opening:
        raise RewriteError(source.at(opening).line, "no kernel stands before <<<")
    return start


def closing_chevrons(source: Source, opening: int) -> int:
    """The code position of the >>> that ends the configuration."""
    position = opening + 1
    while position < len(source.code):
        token = source.at(position)
        if token.kind == "close":
            return position
        if token.kind == "open" or token.text == ";" or token.text in CLOSERS:
            break
        if token.text in BRACKETS:
            position = matching(source, position, 1)
        position += 1
    raise RewriteError(source.at(opening).line, "the <<< that begins here has no >>>")


def count_arguments(source: Source, first: int, last: int) -> int:
    """How many arguments stand between two code positions."""
    if first >= last:
        return 0
    count = 1
    position = first
    while position < last:
        token = source.at(position)
        if token.text in BRACKETS:
            position = matching(source, position, 1)
        elif token.text == "<" and position > first and source.at(position - 1).kind == "name":
            position = template_end(source, position, last)
        elif token.text == ",":
            count += 1
        position += 1
    return count


def template_end(source: Source, position: int, last: int) -> int:
    """The position of the > that closes the < at position, or position itself when it is a comparison."""
    depth = 0
    for at in range(position, last):
        text = source.at(at).text
        depth += {"<": 1, ">": -1}.get(text, 0)
        if depth == 0:
            return at
        if text in {"&", "|"}:
            break
    return position


def kernel_templates(source: Source) -> set[str]:
    """Names of the kernel templates that the file defines: a launch without <...> deduces their arguments."""
    names: set[str] = set()
    for position in range(len(source.code)):
        if source.at(position).text != "__global__":
            continue
        head = declaration_start(source, position)
        if source.at(head).text != "template":
            continue
        for at in range(position, len(source.code) - 1):
            if source.at(at).kind == "name" and source.at(at + 1).text == "(":
                if source.at(at).text in {"__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__attribute__"}:
                    continue
                names.add(source.at(at).text)
                break
            if source.at(at).text in {";", "{"}:
                break
    return names


def declaration_start(source: Source, position: int) -> int:
    """The code position after the last ; { or } before position."""
    while position > 0 and source.at(position - 1).text not in {";", "{", "}"}:
        if source.at(position - 1).in_directive != source.at(position).in_directive:
            break
        position -= 1
    return position


def rewrite_launches(source: Source) -> None:
    """Replace every <<< >>>; the tokens keep their order."""
    templates = kernel_templates(source)
    for opening in range(len(source.code)):
        token = source.at(opening)
        if token.kind != "open":
            continue
        closing = closing_chevrons(source, opening)
        configuration = count_arguments(source, opening + 1, closing)
        if not 2 <= configuration <= 4:
            raise RewriteError(
                token.line, f"<<<>>> wants grid, block[, shared bytes[, stream]], but has {configuration} values"
            )
        if closing + 1 >= len(source.code) or source.at(closing + 1).text != "(":
            raise RewriteError(
                source.at(closing).line, "after >>> the arguments of the kernel must follow, in brackets"
            )
        start = kernel_start(source, opening)
        last_name = source.at(opening - 1)
        deduced = last_name.kind == "name" and last_name.text in templates
        first = source.at(start)
        if deduced:
            first.before += "::oprt_emulator::launch_deduced([](auto... oprt_arguments) { "
            token.text = "(oprt_arguments...); }).on("
        else:
            first.before += "::oprt_emulator::launch_of("
            token.text = ").on("
        source.at(closing).text = ")"


def scopes(source: Source) -> Iterator[tuple[int, bool]]:
    """Each code position with whether it lies inside a function. A branch of #if starts where its first one did."""
    stack: list[bool] = []
    saved: list[list[bool]] = []
    position = 0
    for index, token in enumerate(source.tokens):
        word = conditional_word(source.tokens, index)
        if word.startswith("if"):
            saved.append(list(stack))
        elif word.startswith("el") and saved:
            stack = list(saved[-1])
        elif word == "endif" and saved:
            saved.pop()
        if position >= len(source.code) or source.code[position] != index:
            continue
        if not token.in_directive:
            if token.text == "{":
                stack.append(bool(stack and stack[-1]) or opens_function(source, position))
            elif token.text == "}" and stack:
                stack.pop()
        yield position, bool(stack and stack[-1])
        position += 1


def opens_function(source: Source, brace: int) -> bool:
    """Whether the { at namespace or class level begins a function's body."""
    start = declaration_start(source, brace)
    head = [source.at(position) for position in range(start, brace)]
    if any(token.text == "namespace" for token in head):
        return False
    if head and head[0].text == "extern" and head[-1].kind == "string":
        return False
    has_call = any(token.text == "(" for token in head)
    return has_call or not any(token.text in {"struct", "class", "union", "enum"} for token in head)


def rewrite_shared(source: Source) -> None:
    """Replace every declaration of dynamic shared memory."""
    places = dict(scopes(source))
    position = 0
    while position < len(source.code):
        if source.at(position).text == "extern":
            if position > 0 and source.at(position - 1).text == "__shared__":
                position -= 1
            end = position
            while end < len(source.code) and source.at(end).text not in {";", "{", "="}:
                end += 1
            words = [source.at(at) for at in range(position, end)]
            if any(word.text == "__shared__" for word in words):
                if end >= len(source.code) or source.at(end).text != ";":
                    raise RewriteError(source.at(position).line, "the extern __shared__ declaration has no ;")
                rewrite_declaration(source, position, end, places[position])
                position = end
        position += 1


def rewrite_declaration(source: Source, start: int, end: int, in_function: bool) -> None:
    """Replace `extern __shared__ [alignment] T name[][N];` by a pointer, or by an object at namespace scope."""
    line = source.at(start).line
    position = start
    type_first = -1
    dropped: list[int] = []
    while position < end:
        token = source.at(position)
        if token.text in {"extern", "__shared__"}:
            dropped.append(position)
        elif token.text in {"__align__", "alignas", "__attribute__"}:
            close = matching(source, position + 1, 1)
            dropped.extend(range(position, close + 1))
            position = close
        elif type_first < 0:
            type_first = position
        position += 1
        if source.at(position).text == "[" and type_first >= 0:
            break
    name = position - 1
    if source.at(position).text != "[" or source.at(name).kind != "name" or name <= type_first:
        raise RewriteError(line, "expected `extern __shared__ TYPE NAME[];`")
    if source.at(position + 1).text != "]":
        raise RewriteError(line, "dynamic shared memory has an open first extent: write NAME[]")
    bounds_first = position + 2
    if any(source.at(at).text == "," for at in range(bounds_first, end)):
        raise RewriteError(line, "declare one name in each extern __shared__ declaration")
    for at in dropped:
        source.at(at).text = ""
    element = " ".join(source.at(at).text for at in range(type_first, name) if source.at(at).text)
    variable = source.at(name).text
    bounds = source.text(bounds_first, end).strip()
    line_end = "\\\n" if source.at(start).in_directive else "\n"
    newlines = source.text(start, end).count("\n")
    clear(source, start, end)
    source.at(start).text = declaration(element, variable, bounds, in_function) + line_end * newlines


def declaration(element: str, variable: str, bounds: str, in_function: bool) -> str:
    """The new declaration without its semicolon. element and bounds are the type and the fixed extents."""
    if not in_function:
        inner = f"{element} {bounds}".strip()
        return f"[[maybe_unused]] static const ::oprt_emulator::dynamic_shared_array<{inner}> {variable}{{}}"
    plain = element.replace("volatile ", "").replace(" volatile", "")
    target = f"{plain} (*){bounds}" if bounds else f"{plain} *"
    left = f"{element} (*{variable}){bounds}" if bounds else f"{element} *{variable}"
    return f"{left} = reinterpret_cast<{target}>(oprt_emulator_dynamic_shared())"


def clear(source: Source, first: int, last: int) -> None:
    """Remove the text, with comments and newlines, from one code position to before another."""
    for index in range(source.code[first], source.code[last - 1] + 1):
        source.tokens[index].text = ""
        source.tokens[index].before = ""


def rewrite_noinline(source: Source) -> None:
    """Replace __noinline__ except inside an attribute."""
    for position in range(len(source.code)):
        token = source.at(position)
        before = source.at(position - 1).text if position > 0 else ""
        if token.text == "__noinline__" and before not in {"(", ","}:
            token.text = "__attribute__((noinline))"


def rewrite(text: str, name: str) -> str:
    """The C++ text of a source, opened by a #line directive with its name. Raises RewriteError."""
    source = Source(split(text))
    rewrite_launches(source)
    rewrite_shared(source)
    rewrite_noinline(source)
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line 1 "{quoted}"\n' + "".join(token.before + token.text for token in source.tokens)


def main(arguments: list[str]) -> int:
    """Rewrite INPUT to OUTPUT, which keeps its time when nothing changed."""
    if len(arguments) != 2:
        print("usage: python rewrite.py INPUT OUTPUT", file=sys.stderr)
        return 2
    origin, target = arguments[0], Path(arguments[1])
    try:
        text = Path(origin).read_bytes().decode("utf-8-sig", "surrogateescape")
        result = rewrite(text, origin).encode("utf-8", "surrogateescape")
    except RewriteError as error:
        print(f"{origin}:{error.line}: error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{origin}: error: {error.strerror}", file=sys.stderr)
        return 1
    if not target.exists() or target.read_bytes() != result:
        target.write_bytes(result)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
