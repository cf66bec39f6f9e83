"""The session `docs`: every link in README.md and docs/ leads somewhere, and every nox session named there exists.

Links to other sites are not followed.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path

from .project import BACKENDS, ROOT, Failure

if typing.TYPE_CHECKING:
    import nox

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SESSIONS = re.compile(
    r"\bnox (?:--no-venv )?-s ((?:[a-z]+(?:-(?:[a-z]+|X|<backend>))*(?= |$|`|;|,|\.|:) ?)+)", re.MULTILINE
)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def check(session: nox.Session, sessions: Iterable[str]) -> None:
    pages = pages_of(ROOT)
    problems = [problem for page in pages for problem in problems_of(page, ROOT, set(sessions))]
    for problem in problems:
        session.log(problem)
    if problems:
        raise Failure(f"{len(problems)} broken links or session names in {len(pages)} pages")
    session.log(f"{len(pages)} pages: all links and session names are right")


def pages_of(root: Path) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def problems_of(page: Path, root: Path, sessions: set[str]) -> Iterator[str]:
    text = page.read_text()
    name = page.relative_to(root)
    for link in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        goal = (page.parent / path).resolve() if path else page
        if not goal.exists():
            yield f"{name}: {link} does not exist"
        elif anchor and goal.suffix == ".md" and anchor not in anchors(goal.read_text()):
            yield f"{name}: {link}: there is no such heading"
    for named in SESSIONS.findall(text):
        for word in named.split():
            expanded = {word.replace("<backend>", backend).replace("X", backend) for backend in BACKENDS}
            if not expanded <= sessions:
                yield f"{name}: nox has no session {word}"


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ +(.+?) *$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
