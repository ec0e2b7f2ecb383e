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

pytestmark = pytest.mark.full

FOLDER = Path(__file__).parents[2] / "examples" / "ci"
SCHEMAS = Path(__file__).parent / "schemas"
ACTION, TEMPLATE = FOLDER / "github" / "action.yml", FOLDER / "gitlab" / "abistore.gitlab-ci.yml"
WORKFLOW = FOLDER / "github" / "workflow.yml"
PAGES, GITLAB_PAGES = FOLDER / "github" / "pages.yml", FOLDER / "gitlab" / "pages.gitlab-ci.yml"
HOOKS = FOLDER / "pre-commit-config.yaml"

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


def test_the_action_stores_a_release_judges_a_change_and_refuses_a_break(job: Run, tmp_path: Path) -> None:
    script, given = step("Store", files=built(OLD), version="1.0.0", store="release")
    first = job(script, **given)
    assert (first.returncode, "not judged: no baseline precedes it" in first.stdout) == (0, True)
    script, given = step("Judge", files=f"\n{built(MORE)}\n", version="1.1.0")
    assert job(script, **given).returncode == 0
    script, given = step("Judge", files=built(GONE), version="1.1.0")
    done = job(script, **given)
    assert (done.returncode, "::error" in done.stdout) == (4, True)
    assert "BREAKING" in (tmp_path / "summary.md").read_text()
    assert "1.1.0" not in job("abistore list libfoo").stdout
    script, given = step("Store", files=built(MORE), version="1.1.0", store="release")
    assert job(script, **given).returncode == 0
    assert "1.1.0" in job("abistore db baseline list libfoo").stdout
    assert job(script, **given | {"STORE": "all"}).returncode == 64


def test_files_with_spaces_and_hostile_inputs_of_the_action_are_words_and_no_code(job: Run, tmp_path: Path) -> None:
    spaced = tmp_path / "a library.so"
    spaced.write_bytes(Path(built(OLD)).read_bytes())
    hostile = "1.0.0$(touch stolen)"
    script, given = step("Store", files=str(spaced), version=hostile, store="commit")
    job(script, **given)
    assert job("test -e stolen").returncode == 1


def scripts(name: str) -> str:
    return "set -e\n" + "\n".join(read(TEMPLATE)[name]["script"])


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


def test_the_hook_refuses_a_suppression_without_a_reason(job: Run, tmp_path: Path) -> None:
    ((hook,),) = (each["hooks"] for each in read(HOOKS)["repos"])
    assert re.search(hook["files"], "abi/abi-suppressions.yaml")
    file = tmp_path / "abi-suppressions.yaml"
    assert hook["language"] == "system"
    entry = f"{hook['entry']} {shlex.quote(str(file))}"
    file.write_text("suppressions:\n  - name: one\n")
    assert job(entry).returncode == 64


def test_the_workflow_gives_the_action_inputs_that_it_has_and_writes_one_after_the_other() -> None:
    workflow, inputs = read(WORKFLOW), read(ACTION)["inputs"]
    steps = workflow["jobs"]["abi"]["steps"]
    (used,) = [each for each in steps if each.get("uses", "").startswith("./")]
    assert set(used["with"]) <= set(inputs)
    assert "pull_request" in workflow["concurrency"]["group"]
    (saving,) = [each for each in steps if "cache/save" in each.get("uses", "")]
    assert "github.event_name != 'pull_request'" in saving["if"]
    # without tags `git describe` has no label
    assert steps[0]["with"]["fetch-depth"] == 0


def test_a_job_without_the_database_that_others_saved_is_red(job: Run) -> None:
    script, given = step("Judge", files=built(OLD), version="1.1.0")
    lost = job(script, **given)
    assert (lost.returncode, "no such database" in lost.stderr) == (74, True)


def test_jobs_that_write_the_file_of_the_database_wait_for_each_other() -> None:
    template = read(TEMPLATE)
    assert {name: template[name].get("resource_group") for name in ("abi-gate", "abi-commit", "abi-release")} == {
        "abi-gate": None, "abi-commit": "abistore", "abi-release": "abistore",
    }  # fmt: skip
    assert template["abi-gate"]["cache"]["policy"] == "pull"
