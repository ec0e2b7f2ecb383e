"""The files of ``examples/ci``: their YAML fits its schemas, and the scripts in it do what they say.

``schemas/`` has those of the package check-jsonschema 0.39.0 (Apache-2.0), which keeps copies of those that
www.schemastore.org (github-action, github-workflow) and gitlab.com (gitlab-ci) publish.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.build import build_library
from tests.forge import READER, TOKEN, Forge, forge

pytestmark = pytest.mark.full
assert forge  # a fixture

FOLDER = Path(__file__).parents[2] / "examples" / "ci"
SCHEMAS = Path(__file__).parent / "schemas"
ACTION, TEMPLATE = FOLDER / "github" / "action" / "action.yml", FOLDER / "gitlab" / "abistore.gitlab-ci.yml"
WORKFLOW = FOLDER / "github" / "workflow.yml"
PAGES, GITLAB_PAGES = FOLDER / "github" / "pages.yml", FOLDER / "gitlab" / "pages.gitlab-ci.yml"
HOOKS = FOLDER.parents[1] / ".pre-commit-hooks.yaml"

OLD = "int one(void) { return 1; }\nint two(void) { return 2; }\n"
MORE = OLD + "int three(void) { return 3; }\n"
GONE = "int one(void) { return 1; }\n"

Run = Callable[..., subprocess.CompletedProcess[str]]


def read(path: Path) -> Any:
    """The file as its platform reads it: by YAML 1.2, in which ``on`` is a word and no truth."""
    value = yaml.safe_load(path.read_text())
    return {("on" if key is True else key): each for key, each in value.items()}


@pytest.mark.parametrize(
    ("file", "schema", "part"),
    [
        (ACTION, "github-action.json", "runs"),
        (WORKFLOW, "github-workflow.json", "jobs"),
        (PAGES, "github-workflow.json", "jobs"),
        (TEMPLATE, "gitlab-ci.json", "abi-gate"),
        (GITLAB_PAGES, "gitlab-ci.json", "pages"),
    ],
)
def test_the_yaml_fits_the_schema_of_its_platform(file: Path, schema: str, part: str) -> None:
    jsonschema.Draft7Validator(json.loads((SCHEMAS / schema).read_text())).validate(read(file))
    broken = read(file) | {part: {"using": 7, "script": 7}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(json.loads((SCHEMAS / schema).read_text())).validate(broken)


@pytest.fixture
def job(tmp_path: Path) -> Run:
    """Runs a script in a repository of which 1.0.0 is tagged, as a job of a pipeline does."""
    folder = tmp_path / "project"
    (folder / "include").mkdir(parents=True)
    (folder / "include" / "foo.h").write_text("int one(void);\nint two(void);\nint three(void);\nint four(void);\n")
    shutil.copy(FOLDER / "abistore.toml", folder)
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "ABISTORE_DB": "abi.db",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }

    def run(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", script], cwd=folder, env=environment | variables, capture_output=True, text=True, check=False
        )

    author = "-c user.name=ana -c user.email=ana@example.org -c commit.gpgsign=false"
    made = run(f"git init -q -b main && git {author} commit -q --allow-empty -m Begin && git tag 1.0.0")
    assert made.returncode == 0, made.stderr
    return run


def step(name: str, **inputs: str) -> tuple[str, dict[str, str]]:
    """The script of the action's step, and its environment, as the runner makes it of the inputs."""
    action = read(ACTION)
    given = {key: str(each.get("default", "")) for key, each in action["inputs"].items()} | inputs
    (found,) = [each for each in action["runs"]["steps"] if each["name"] == name]
    filled = {
        key: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: given[match[1]], value)
        for key, value in found["env"].items()
    }
    filled |= {key: inputs.get(key.lower(), "") for key, value in filled.items() if "${{ github." in value}
    assert "${{" not in found["run"], "an input in a script is code of whoever wrote the input"
    return found["run"], filled


def built(source: str, name: str = "libfoo") -> str:
    return str(build_library(source, soname=f"{name}.so.1"))


def test_both_platforms_publish_a_site_with_whole_addresses(job: Run, tmp_path: Path) -> None:
    words = ("ingest", built(OLD), "--version", "1.0.0", "--revision", "abc123")
    assert job(f"abistore {' '.join(words)}").returncode == 0
    (github,) = [each["run"] for each in read(PAGES)["jobs"]["site"]["steps"] if each.get("name") == "Build"]
    (gitlab,) = read(GITLAB_PAGES)["pages"]["script"]
    where, project = "https://org.example.org/foo", "https://git.example.org/org/foo"
    for script, between in ((github, ""), (gitlab, "-/")):
        said = {"SITE_URL": where, "PROJECT_URL": project, "CI_PAGES_URL": where, "CI_PROJECT_URL": project}
        done = job(f"rm -rf public; {script}", **said)
        assert done.returncode == 0, done.stderr
        site = tmp_path / "project" / "public"
        assert f'href="{where}/libraries/' in (site / "feed.xml").read_text()
        assert f'href="{project}/{between}commit/abc123"' in next(site.glob("libraries/*/index.html")).read_text()
        assert re.search(r'"\d{4}-\d\d-\d\dT', (site / "built.js").read_text())


def workflow_of(event: str) -> dict[str, str]:
    """The variables of a run of GitHub's: ``pull_request`` of ``change`` for ``main``, ``push`` of ``main``."""
    ref = "refs/pull/7/merge" if event == "pull_request" else "refs/heads/main"
    return {"GITHUB_EVENT_NAME": event, "GITHUB_REF": ref, "DEFAULT_BRANCH": "main"}


class Repository:
    """A project on a forge, and its pipelines: the scripts of the action, or the jobs of the template."""

    build = "mkdir -p build && gcc -g -shared -fPIC -Wl,-soname,libfoo.so.1 -Iinclude foo.c -o build/libfoo.so"

    def __init__(self, folder: Path, forge: Forge) -> None:
        self.folder, self.room, self.forge = folder / "project", folder, forge
        self.environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            **{f"GIT_{who}_{what}": "ana@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
            "ABISTORE_DB": "abi.db",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
        }
        (self.folder / "include").mkdir(parents=True)
        shutil.copy(FOLDER / "abistore.toml", self.folder)
        self.bash("git init -q -b main && printf 'build/\\n*.db\\n' > .gitignore")
        self.commit(OLD, "1.0.0")

    def bash(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", script], cwd=self.folder, env=self.environment | variables,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def commit(self, source: str, tag: str = "") -> str:
        """Commit a library; the revision."""
        (self.folder / "foo.c").write_text(source)
        (self.folder / "include" / "foo.h").write_text(re.sub(r" \{.*\}", ";", source))
        done = self.bash(f"git add -A && git commit -q --allow-empty -m Change && {f'git tag {tag}' if tag else ':'}")
        assert done.returncode == 0, done.stderr
        return self.bash("git rev-parse HEAD").stdout.strip()

    def action(self, event: str, token: str = TOKEN, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run the action's scripts as the runner does: the comment whatever the gate says."""
        for name in ("summary.md", "output", "path"):
            (self.room / name).write_text("")
        variables = {
            **self.forge.github(self.room, token), **workflow_of(event),
            "RUNNER_TEMP": str(self.room), "GITHUB_ACTION_PATH": str(ACTION.parent),
            "GITHUB_STEP_SUMMARY": str(self.room / "summary.md"), "GITHUB_OUTPUT": str(self.room / "output"),
        }  # fmt: skip
        given = {"library": "build/libfoo.so", "build": self.build} | inputs
        script, words = step("Judge", **given)
        judged = self.bash(script, **words | variables)
        if event == "pull_request":
            script, _ = step("Comment")
            judged.stderr += self.bash(script, **variables).stdout
        return judged

    def template(
        self, name: str, revision: str = "", token: str = TOKEN, database: str = "abi.db"
    ) -> subprocess.CompletedProcess[str]:
        """Run a job of GitLab's template as its runner does: one script, which ends at the first error."""
        variables = {
            **self.forge.gitlab(token), "ABI_FILES": "build/libfoo.so", "ABI_BUILD": self.build,
            "CI_COMMIT_SHA": revision, "CI_MERGE_REQUEST_DIFF_BASE_SHA": revision or "0000000",
            "ABISTORE_DB": database,
            "CI_PIPELINE_SOURCE": "merge_request_event" if name == "abi-gate" else "push",
        }  # fmt: skip
        assert self.bash(self.build).returncode == 0
        return self.bash(scripts(name), **variables)

    def summary(self) -> str:
        return (self.room / "summary.md").read_text()


@pytest.fixture
def project(tmp_path: Path, forge: Forge) -> Repository:
    return Repository(tmp_path, forge)


APPROVALS = """\
project: libfoo
approvals:
  - finding: {finding}
    library: libfoo
    target: elf-x86_64-64-little
    reason: nobody outside this repository calls it
    approver: ana
    until: "2.0"
"""


def test_the_comment_of_the_action_follows_a_change_from_its_break_to_its_end(project: Repository) -> None:
    project.commit(MORE)
    first = project.action("pull_request")
    assert (first.returncode, project.forge.comments) == (0, []), first.stdout + first.stderr
    assert "Set up: the baseline is 1.0.0, built from its tag." in project.summary()

    base = project.commit(MORE)
    pushed = project.action("push")
    assert (pushed.returncode, "1.0.0-2-g" in project.bash("abistore list libfoo").stdout) == (0, True)

    project.commit(GONE)
    broken = project.action("pull_request", merge_base=base)
    assert (broken.returncode, "::error file=include/foo.h" in broken.stdout) == (4, True), broken.stdout
    (comment,) = project.forge.own()
    assert "BREAKING" in comment and "`two`" in comment and "abistore approve" in comment

    project.commit(GONE.replace("return 1", "return 7"))
    assert project.action("pull_request").returncode == 4
    (again,) = project.forge.own()
    assert again != comment, "the label of the build is another one"

    finding = re.findall(r"abistore approve ([0-9a-f]{20})", broken.stdout)[0]
    (project.folder / "abi-approvals.yaml").write_text(APPROVALS.format(finding=finding))
    waived = project.action("pull_request")
    assert waived.returncode == 0, waived.stdout
    (comment,) = project.forge.own()
    assert "PASS: 1 finding approved by ana" in comment

    (project.folder / "abi-approvals.yaml").unlink()
    project.commit(MORE)
    well = project.action("pull_request")
    assert (well.returncode, project.forge.comments) == (0, []), well.stdout
    assert project.forge.writes() == ["POST", "PATCH", "PATCH", "DELETE"]


def test_the_gate_decides_where_the_comment_cannot_be_written(project: Repository) -> None:
    project.commit(GONE)
    fork = project.action("pull_request", READER)
    assert (fork.returncode, project.forge.comments) == (4, [])
    assert "::warning::no comment on the pull request" in fork.stderr
    project.commit(MORE)
    project.forge.url = "http://127.0.0.1:9"
    well = project.action("pull_request")
    assert (well.returncode, "::warning" in well.stderr) == (0, True)


def test_a_project_without_a_tag_passes_and_stores_nothing(project: Repository) -> None:
    project.bash("git tag -d 1.0.0")
    for event in ("pull_request", "push"):
        done = project.action(event)
        assert (done.returncode, "No release is tagged yet" in project.summary()) == (0, True), done.stderr
    assert not (project.folder / "abi.db").exists()


def test_the_first_release_of_a_project_is_its_baseline(project: Repository) -> None:
    done = project.action("workflow_dispatch")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the baseline is 1.0.0, the first release" in project.summary()
    project.commit(GONE, "1.1.0")
    assert project.action("workflow_dispatch").returncode == 4
    project.commit(MORE, "1.1.1")
    assert project.action("workflow_dispatch").returncode == 0
    assert "1.1.1" in project.bash("abistore db baseline list libfoo").stdout


def test_a_label_that_no_tag_has_is_noticed_before_it_is_stored(project: Repository) -> None:
    project.commit(MORE)
    for store in ("release", "commit"):
        done = project.action("workflow_dispatch", version="1.1.1", store=store)
        assert (done.returncode, "::error::1.1.1: no" in done.stdout) == (64, True), done.stdout
    assert not (project.folder / "abi.db").exists()
    assert project.action("push", store="all").returncode == 64


def test_a_baseline_that_was_cleared_stays_cleared(project: Repository) -> None:
    project.commit(MORE)
    assert project.action("push").returncode == 0
    assert project.bash("abistore db baseline clear libfoo --reason tested").returncode == 0
    project.commit(GONE)
    done = project.action("pull_request")
    assert (done.returncode, "Set up" in project.summary()) == (67, False), done.stdout
    done = project.template("abi-gate")
    assert (done.returncode, "Set up" in done.stdout) == (67, False), done.stdout


def test_a_request_for_review_writes_nothing_into_a_database_that_others_share(project: Repository) -> None:
    shared = str(project.room / "shared.db")
    assert project.bash("abistore db init", ABISTORE_DB=shared).returncode == 0
    project.commit(GONE)
    for _ in range(2):
        done = project.action("pull_request", database=shared)
        assert (done.returncode, "Set up: the baseline is 1.0.0" in project.summary()) == (4, True), done.stdout
    merged = project.template("abi-gate", database=shared)
    assert (merged.returncode, "Set up: the baseline is 1.0.0" in merged.stdout) == (4, True), merged.stderr
    assert "libfoo" not in project.bash("abistore list", ABISTORE_DB=shared).stdout
    project.commit(MORE)
    assert project.action("push", database=shared).returncode == 0
    assert "1.0.0" in project.bash("abistore db baseline list libfoo", ABISTORE_DB=shared).stdout


def test_a_tag_that_does_not_build_is_an_error_and_no_pass(project: Repository) -> None:
    project.commit(MORE)
    done = project.action("pull_request", build=f"git describe --tags --exact-match && exit 3; {Repository.build}")
    assert (done.returncode, "::error::the build of the tag 1.0.0 failed" in done.stdout) == (67, True), done.stdout


def test_hostile_inputs_of_the_action_are_words_and_no_code(project: Repository) -> None:
    hostile = "1.0.0$(touch stolen)"
    for inputs in ({"version": hostile}, {"library": f"build/libfoo.so\n{hostile}"}, {"headers": hostile}):
        assert project.action("pull_request", **inputs).returncode != 0
    assert not (project.folder / "stolen").exists()
    assert not list(project.folder.rglob("stolen"))


def test_an_action_without_its_clone_uses_what_is_installed_and_installs_nothing_by_name(
    project: Repository, tmp_path: Path
) -> None:
    """No index has the name, so whoever registers it would run code in every pipeline."""
    alone = shutil.copytree(ACTION.parent, tmp_path / "a" / "b" / "c" / "action")
    assert project.bash(f"{alone}/install.sh", INSTALL="", RUNNER_TEMP=str(tmp_path)).returncode == 0
    bare = project.bash(f"{alone}/install.sh", INSTALL="", RUNNER_TEMP=str(tmp_path), PATH="/usr/bin:/bin")
    assert (bare.returncode, "::error::abistore is not installed" in bare.stdout) == (64, True), bare.stderr
    assert not (tmp_path / "abistore-venv").exists()


def test_findings_are_written_for_code_scanning(project: Repository) -> None:
    project.commit(GONE)
    assert project.action("pull_request", sarif="true").returncode == 4
    name, _, where = (project.room / "output").read_text().strip().partition("=")
    assert (name, json.loads(Path(where).read_text())["version"]) == ("sarif", "2.1.0")


def scripts(name: str) -> str:
    return "\n".join(
        ["set -eo pipefail", *read(TEMPLATE)[".abistore"]["before_script"], *read(TEMPLATE)[name]["script"]]
    )


def test_the_jobs_of_the_template_judge_changes_and_store_commits_and_releases(job: Run) -> None:
    revision = job("git rev-parse HEAD").stdout.strip()
    said = {"CI_COMMIT_SHA": revision, "CI_MERGE_REQUEST_DIFF_BASE_SHA": revision, "CI_COMMIT_TAG": "1.1.0"}
    assert job(f"abistore ingest {built(OLD)} --version 1.0.0 --set-baseline").returncode == 0
    assert job(scripts("abi-commit"), ABI_FILES=built(MORE), **said).returncode == 68  # the label of the release
    author = "-c user.name=ana -c user.email=ana@example.org -c commit.gpgsign=false"
    assert job(f"git {author} commit -q --allow-empty -m More").returncode == 0
    said["CI_COMMIT_SHA"] = job("git rev-parse HEAD").stdout.strip()
    said["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = said["CI_COMMIT_SHA"]
    assert job(scripts("abi-commit"), ABI_FILES=built(MORE), **said).returncode == 0
    red = job(scripts("abi-gate"), ABI_FILES=built(GONE), **said)
    assert (red.returncode, red.stdout.partition(":")[0]) == (4, "FAIL")
    assert "abistore approve" in red.stdout
    assert "blocker" in job("cat gl-code-quality.json").stdout
    assert "<failure" in job("cat abi.xml").stdout
    assert job(scripts("abi-release"), ABI_FILES=built(GONE), **said).returncode == 4
    released = job(scripts("abi-release"), ABI_FILES=built(MORE + "int four(void) { return 4; }\n"), **said)
    assert released.returncode == 0, released.stderr
    assert "1.1.0" in job("abistore db baseline list libfoo").stdout


def test_the_note_of_the_template_follows_a_change_from_its_break_to_its_end(project: Repository) -> None:
    base = project.commit(MORE)
    first = project.template("abi-gate", base)
    assert (first.returncode, project.forge.comments) == (0, []), first.stdout + first.stderr
    assert "Set up: the baseline is 1.0.0, built from its tag." in first.stdout
    stored = project.template("abi-commit", base)
    assert stored.returncode == 0, stored.stderr
    project.commit(GONE)
    broken = project.template("abi-gate", base)
    assert (broken.returncode, len(project.forge.own())) == (4, 1), broken.stderr
    finding = re.findall(r"abistore approve ([0-9a-f]{20})", project.forge.own()[0])[0]
    (project.folder / "abi-approvals.yaml").write_text(APPROVALS.format(finding=finding))
    waived = project.template("abi-gate", base)
    assert (waived.returncode, "PASS: 1 finding approved by ana" in project.forge.own()[0]) == (0, True), waived.stderr
    (project.folder / "abi-approvals.yaml").unlink()
    project.commit(MORE)
    well = project.template("abi-gate", base)
    assert (well.returncode, project.forge.comments) == (0, []), well.stdout
    assert project.forge.writes() == ["POST", "PUT", "DELETE"]


def test_the_template_decides_without_a_token_and_passes_without_a_tag(project: Repository) -> None:
    project.commit(GONE)
    fork = project.template("abi-gate", token="")
    assert (fork.returncode, "no note on the merge request" in fork.stdout) == (4, True), fork.stderr
    project.bash("git tag -d 1.0.0")
    bare = project.template("abi-gate")
    assert (bare.returncode, "No release is tagged yet" in bare.stdout) == (0, True)


def test_the_hooks_refuse_a_suppression_without_a_reason_and_an_unknown_key(job: Run, tmp_path: Path) -> None:
    suppressions, config = yaml.safe_load(HOOKS.read_text())
    assert {suppressions["language"], config["language"]} == {"python"}, "pre-commit installs abistore"
    assert re.search(suppressions["files"], "abi/abi-suppressions.yaml")
    file = tmp_path / "abi-suppressions.yaml"
    for text, code in (
        ("suppressions:\n  - symbol: one\n", 64),
        ("suppressions:\n  - symbol: one\n    reason: nobody calls it\n", 0),
    ):
        file.write_text(text)
        assert job(f"{suppressions['entry']} {shlex.quote(str(file))}").returncode == code
    assert re.search(config["files"], "abistore.toml")
    assert job(config["entry"]).returncode == 0
    assert job("echo 'librari = 7' > abistore.toml").returncode == 0
    assert job(config["entry"]).returncode == 64


def test_the_workflow_gives_the_action_inputs_that_it_has_and_writes_one_after_the_other() -> None:
    workflow, action = read(WORKFLOW), read(ACTION)
    (used,) = [each for each in workflow["jobs"]["abi"]["steps"] if "/action@" in each["uses"]]
    assert set(used["with"]) <= set(action["inputs"])
    assert "pull_request" in workflow["concurrency"]["group"]
    (saving,) = [each for each in action["runs"]["steps"] if "cache/save" in each.get("uses", "")]
    assert "!startsWith(github.event_name, 'pull_request')" in saving["if"]


def test_jobs_that_write_the_file_of_the_database_wait_for_each_other() -> None:
    template = read(TEMPLATE)
    assert {name: template[name].get("resource_group") for name in ("abi-gate", "abi-commit", "abi-release")} == {
        "abi-gate": None, "abi-commit": "abistore", "abi-release": "abistore",
    }  # fmt: skip
    assert template["abi-gate"]["cache"]["policy"] == "pull"
