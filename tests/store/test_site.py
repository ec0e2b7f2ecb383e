"""The site: static pages of the whole store, written again only where they say something else."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from abistore.errors import AbistoreError, OutputError
from abistore.interface import (
    EditPlan,
    OpenStore,
    ReleaseFacts,
    ReviewPlan,
    SiteBuilt,
    TagPlan,
    build_site,
    changes,
    db_forget,
    open_store,
    release_edit,
    release_tag,
    review,
    ruling,
    verdict,
)
from abistore.model.declarations import Name
from abistore.model.history import IngestRequest
from abistore.service import site as building
from abistore.service.site_folder import MANIFEST
from abistore.store.store import Store
from tests.store.builders import EXPORTED, function, record, snapshot, struct

MARKUP = '"><img src=x onerror=alert(1)>{{ 7*7 }}<script>alert(1)</script>'
HOSTILE = ("../../x", MARKUP, "n" * 300, "libA", "liba", "con", "a b/c\\d", "\u017f", "-", "..")
VOID = {"meta", "input", "link", "br", "img"}


def ingest(where: str | Path, library: str, versions: int, *, first: int = 1) -> None:
    """Releases that each have one function and one field more than the one before."""
    point, norm = record("geo::point<int>"), function("norm")
    with Store.open(where, write=True) as store:
        for number in range(first, first + versions):
            fields = [f"f{index}" for index in range(number)]
            symbols = {norm: EXPORTED} | {function(f"call_{index}"): EXPORTED for index in range(number)}
            layout: dict[Name, object] = {point: struct(*fields), norm: _takes(point)}
            made = snapshot(library=library, symbols=symbols, layout=layout)  # type: ignore[arg-type]
            day = datetime(2020, 1, number, tzinfo=UTC)
            store.ingest(made, IngestRequest(f"1.{number}", released=day))


def _takes(point: Name) -> object:
    from abistore.model.shapes import Function, Named, Pointer, Primitive

    return Function("norm", Primitive("int", 4), (Pointer(Named(point)),))


class Page(HTMLParser):
    """What a page has: its elements, ids, headings, addresses, and tags that do not match."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: Counter[str] = Counter()
        self.headings: list[int] = []
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.wrong: list[str] = []
        self.attributes: set[str] = set()
        self.elements: Counter[str] = Counter()
        self.texts: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.elements[tag] += 1
        self.attributes |= given.keys()
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if "id" in given:
            self.ids[given["id"]] += 1
        if tag == "a":
            self.links.append(given.get("href", ""))
        self.fetched += [given[name] for name in ("src", "data", "poster", "srcset") if name in given]
        self.fetched += [given["href"]] if tag in {"link", "use", "image"} else []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop() if tag not in VOID else None

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


def pages(out: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(out.rglob("*.html"))}


def contents(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def stamps(out: Path) -> dict[str, int]:
    return {str(path.relative_to(out)): path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}


@pytest.fixture(autouse=True)
def few_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference of kinds has hundreds of pages, which one site with all of them shows."""
    monkeypatch.setattr(building, "changes", lambda: changes(impact="risk", element="enums"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of a store in which whatever people name is named to break it; stores of before hold such names."""
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as before:
        before.setattr("abistore.store.ingest.check_name", lambda what, text: None)
        for library in HOSTILE:
            ingest(folder / "store.db", library, 2)
    with open_store(folder / "store.db") as store:
        facts = ReleaseFacts(url="javascript:alert(1)", revision=MARKUP)
        release_edit(f"{MARKUP}@1.2", EditPlan(facts, reason=MARKUP), database=store)
        release_tag(f"{MARKUP}@1.2", "lts", TagPlan(MARKUP), database=store)
        found = verdict(f"{MARKUP}@1.2", database=store).report.changes[0]
        review(found.id, ReviewPlan("intended", MARKUP, MARKUP, MARKUP), database=store)
        build_site(folder / "site", database=store)
    return folder / "site"


def test_every_page_is_well_formed_and_needs_nothing_from_elsewhere(hostile: Path) -> None:
    for path, page in pages(hostile).items():
        assert (page.open, page.wrong) == ([], []), path
        assert not [name for name, count in page.ids.items() if count > 1], path
        assert not {name for name in page.attributes if name.startswith("on")}, path
        for address in page.fetched:
            assert urlsplit(address).scheme == "" and not address.startswith("/"), (path, address)
            if address.startswith("#"):
                assert page.ids[address[1:]] == 1, (path, address)
                continue
            assert (path.parent / address).resolve().is_relative_to(hostile), (path, address)
            assert (path.parent / address).is_file(), (path, address)


def test_every_link_leads_to_a_page_of_the_site_and_to_a_place_on_it(hostile: Path) -> None:
    found = pages(hostile)
    for path, page in found.items():
        for link in page.links:
            to = urlsplit(link)
            assert to.scheme == "", (path, link)
            target = (path.parent / unquote(to.path)).resolve() if to.path else path
            assert target.is_file() and target.is_relative_to(hostile), (path, link)
            assert not to.fragment or to.fragment in found[target].ids or to.fragment == "main", (path, link)


def test_headings_go_down_one_level_at_a_time(hostile: Path) -> None:
    for path, page in pages(hostile).items():
        assert page.headings[0] == 1 and page.headings.count(1) == 1, path
        assert all(below - above <= 1 for above, below in zip(page.headings, page.headings[1:], strict=False)), path


def test_names_of_others_stay_text_and_never_become_paths(hostile: Path) -> None:
    folders = [path.name for path in (hostile / "libraries").iterdir() if path.is_dir()]
    assert len({name.casefold() for name in folders}) == len(HOSTILE)
    assert all(re.fullmatch(r"[a-z0-9-]{1,60}", name) for name in folders)
    assert max(len(path.name) for path in hostile.rglob("*")) < 80
    assert MARKUP in Page(hostile / "index.html").text
    every = pages(hostile)
    assert not any(page.elements["img"] for page in every.values())
    marked = [page for page in every.values() if f"Marked intended by {MARKUP}: {MARKUP}" in page.text]
    assert len(marked) == 1
    assert marked[0].text.count(MARKUP) > 6
    assert not [link for page in every.values() for link in page.links if "javascript" in link]
    assert b"\x1b" not in b"".join(contents(hostile).values())


def test_a_release_page_draws_the_layout_and_leads_to_the_kinds(hostile: Path) -> None:
    page = next(page for page in pages(hostile).values() if "javascript:alert(1)" in page.text)
    assert page.elements["figure"] == 1
    assert "before, 4 bytes" in page.text and "after, 8 bytes" in page.text
    kinds = {link for link in page.links if link.startswith("../../kinds/")} - {"../../kinds/index.html"}
    assert kinds


def test_pages_are_for_people_and_say_what_a_release_was_compared_with(hostile: Path) -> None:
    """Breaking *since* 1.0 would name the last good release; exit codes and engines are nobody's concern here."""
    texts = [page.text for path, page in pages(hostile).items() if "libraries" in path.parts]
    assert any("Breaking compared with 1.1" in text for text in texts)
    assert not [word for word in ("Breaking since", "exit code", "Not allowed", "engine") if word in " ".join(texts)]


def indexed(path: Path) -> list[list[str]]:
    text, _, _ = path.read_text().partition("abistore_shards")
    assert text.startswith("abistore_index(") and text.endswith(");\n") and text.isascii()
    found: list[list[str]] = json.loads(text.removeprefix("abistore_index(").removesuffix(");\n"))
    return found


def test_search_finds_libraries_releases_kinds_and_names_where_they_are(hostile: Path) -> None:
    found = pages(hostile)
    for script in sorted(hostile.rglob("*.js")):
        if script.name in {"search.js", "names.js", "all.js"}:
            for _, _, address in indexed(script):
                to = urlsplit(address)
                target = (script.parent / to.path).resolve()
                assert target in found
                assert not to.fragment or to.fragment in found[target].ids
    told = {text for text, _, _ in indexed(hostile / "search.js")}
    assert {MARKUP, f"{MARKUP} 1.2", "libA", "func_removed"} <= told
    names = {text for path in hostile.rglob("names.js") for text, _, _ in indexed(path)}
    assert names == {text for text, _, _ in indexed(hostile / "names" / "all.js")}
    assert {"call_0", "call_1", "geo::point<int>"} <= names


def test_a_second_build_writes_nothing_and_another_folder_gets_the_same_bytes(address: str, tmp_path: Path) -> None:
    ingest(address, "libgeo", 3)
    first = build_site(tmp_path / "site", database=address)
    before = stamps(tmp_path / "site")
    again = build_site(tmp_path / "site", database=address)
    build_site(tmp_path / "other", database=address)
    assert (first.unchanged, first.removed, first.written) == (0, 0, again.unchanged)
    assert (again.written, again.removed) == (0, 0)
    assert stamps(tmp_path / "site") == before
    assert contents(tmp_path / "site") == contents(tmp_path / "other")


def test_a_release_changes_its_own_page_its_neighbours_and_what_lists_it(tmp_path: Path) -> None:
    database, site = tmp_path / "store.db", tmp_path / "site"
    ingest(database, "libgeo", 4)
    ingest(database, "libother", 2)
    build_site(site, database=database)
    before = stamps(site)
    ingest(database, "libgeo", 1, first=5)
    build_site(site, database=database)
    touched = {name for name, stamp in stamps(site).items() if before.get(name) != stamp}
    assert sum(name.endswith(".html") for name in touched) == 5  # overview, library, matrix, its page, and 1.4's
    assert not {name for name in touched if "libother" in name or name.startswith("kinds")}


def test_a_note_of_people_changes_the_pages_that_show_it(tmp_path: Path) -> None:
    database, site = tmp_path / "store.db", tmp_path / "site"
    ingest(database, "libgeo", 3)
    build_site(site, database=database)
    before = stamps(site)
    release_tag("libgeo@1.3", "lts", TagPlan("until 2030"), database=database)
    build_site(site, database=database)
    touched = [name for name, stamp in stamps(site).items() if before[name] != stamp and name.endswith(".html")]
    assert any("until 2030" in (site / name).read_text() for name in touched)
    assert 2 <= len(touched) <= 5


def test_what_is_over_is_removed_and_files_of_others_stay(tmp_path: Path) -> None:
    database, site = tmp_path / "store.db", tmp_path / "site"
    ingest(database, "libgeo", 2)
    ingest(database, "libgone", 2)
    build_site(site, database=database)
    (gone,) = (site / "libraries").glob("libgone-*")
    notes = [site / "notes.txt", gone / "notes.txt", site / "libraries" / "notes.txt"]
    for path in notes:
        path.write_text("mine")
    for version in ("1.2", "1.1"):
        db_forget(f"libgone@{version}", reason="wrong", database=database)
    built = build_site(site, database=database)
    assert built.removed == 8
    assert [path.read_text() for path in notes] == ["mine"] * 3
    assert sorted(path.name for path in gone.iterdir()) == ["notes.txt"]
    assert "libgone" not in Page(site / "index.html").text


def test_a_folder_of_others_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    database, site = tmp_path / "store.db", tmp_path / "site"
    ingest(database, "libgeo", 1)
    site.mkdir()
    (site / "thesis.html").write_text("mine")
    with pytest.raises(OutputError, match="no build of a site wrote it"):
        build_site(site, database=database)
    assert contents(site) == {"thesis.html": b"mine"}


def test_a_file_of_others_in_the_place_of_a_page_is_refused(tmp_path: Path) -> None:
    database, site = tmp_path / "store.db", tmp_path / "site"
    ingest(database, "libgeo", 1)
    build_site(site, database=database)
    ingest(database, "libnew", 1)
    probe = tmp_path / "probe"
    build_site(probe, database=database)
    (page,) = (probe / "libraries").glob("libnew-*")
    other = site / "libraries" / page.name
    other.mkdir()
    with pytest.raises(OutputError, match="was not written by a build"):
        build_site(site, database=database)
    assert list(other.iterdir()) == []


@pytest.mark.parametrize("name", ["../victim.txt", "/etc/x", "..", "a/b.html"])
def test_a_manifest_that_names_files_elsewhere_is_refused(name: str, tmp_path: Path) -> None:
    database, site = tmp_path / "store.db", tmp_path / "site"
    ingest(database, "libgeo", 1)
    build_site(site, database=database)
    (tmp_path / "victim.txt").write_text("mine")
    manifest = json.loads((site / MANIFEST).read_text())
    manifest["files"][name] = ["", 0, []]
    (site / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(OutputError, match="is not what a build of a site wrote"):
        build_site(site, database=database)
    assert (tmp_path / "victim.txt").read_text() == "mine"


def test_a_folder_that_became_a_link_is_not_written_through(tmp_path: Path) -> None:
    database, site = tmp_path / "store.db", tmp_path / "site"
    ingest(database, "libgeo", 1)
    build_site(site, database=database)
    (tmp_path / "elsewhere").mkdir()
    (site / "kinds").rename(tmp_path / "kept")
    (site / "kinds").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="is a link"):
        build_site(site, database=database)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_an_interrupted_build_is_taken_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from abistore.report import site as rendering

    database, site = tmp_path / "store.db", tmp_path / "site"
    ingest(database, "libgeo", 3)
    whole = rendering.release
    made: list[str] = []

    def stops(title: str, shown: rendering.ReleasePage) -> str:
        made.append(shown.row.release.version)
        if len(made) == 2:
            raise KeyboardInterrupt
        return whole(title, shown)

    monkeypatch.setattr(rendering, "release", stops)
    with pytest.raises(KeyboardInterrupt):
        build_site(site, database=database)
    monkeypatch.setattr(rendering, "release", whole)
    build_site(site, database=database)
    build_site(tmp_path / "other", database=database)
    assert contents(site) == contents(tmp_path / "other")


def test_a_page_that_somebody_changed_in_length_is_written_again(tmp_path: Path) -> None:
    database, site = tmp_path / "store.db", tmp_path / "site"
    ingest(database, "libgeo", 2)
    build_site(site, database=database)
    before = contents(site)
    (page,) = site.glob("libraries/*/1-2-*.html")
    page.write_text("changed")
    assert build_site(site, database=database).written == 1
    assert contents(site) == before


def test_an_empty_store_says_how_to_fill_it(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db", create=True) as store:
        built = build_site(tmp_path / "site", database=store)
    assert (built.libraries, built.releases) == (0, 0)
    assert "No library is stored yet" in Page(tmp_path / "site" / "index.html").text


def test_a_store_that_is_only_read_has_the_same_site(tmp_path: Path) -> None:
    database = tmp_path / "store.db"
    ingest(database, "libgeo", 3)

    def built(store: OpenStore | Path, name: str) -> SiteBuilt:
        return build_site(tmp_path / name, database=store)

    with open_store(database, read_only=True) as store:
        built(store, "read")
    built(database, "written")
    assert contents(tmp_path / "read") == contents(tmp_path / "written")


@pytest.fixture
def two_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every library is worth a process, and the machine has two processors."""
    monkeypatch.setattr(building, "WORTH_A_PROCESS", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


@pytest.mark.usefixtures("two_processes")
def test_several_processes_write_what_one_writes(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(2):
        ingest(address, f"lib{number}", 2)
    (tmp_path / "known.yaml").write_text("suppressions:\n  - symbol_pattern: call_.*\n    reason: private\n")
    by = ruling("sdk_vendor", [str(tmp_path / "known.yaml")])
    many = build_site(tmp_path / "many", database=address, by=by)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    one = build_site(tmp_path / "one", database=address, by=by)
    assert contents(tmp_path / "many") == contents(tmp_path / "one")
    assert (many.libraries, many.releases, many.written, many.unchanged) == (2, 4, one.written, one.unchanged)
    assert "sdk_vendor" in next((tmp_path / "many" / "libraries").glob("lib0-*/1-2-*.html")).read_text()


@pytest.mark.usefixtures("two_processes")
def test_what_a_process_refuses_is_told_as_if_it_were_this_one(tmp_path: Path) -> None:
    database, site = tmp_path / "store.db", tmp_path / "site"
    for number in range(2):
        ingest(database, f"lib{number}", 2)
    build_site(site, database=database)
    folder = next((site / "libraries").glob("lib1-*"))
    (folder / MANIFEST).write_text("{}x")
    with pytest.raises(OutputError, match="is not what a build of a site wrote"):
        build_site(site, database=database)


@pytest.mark.usefixtures("two_processes")
def test_a_process_that_is_killed_is_named_with_the_library_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "store.db"
    for number in range(2):
        ingest(database, f"lib{number}", 2)
    monkeypatch.setattr("abistore.process.send", lambda channel, *_: channel.close())
    with pytest.raises(AbistoreError, match=r"the process that writes the pages of lib\d ended"):
        build_site(tmp_path / "site", database=database)
