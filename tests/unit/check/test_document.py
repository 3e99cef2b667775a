"""What is read: YAML as Kubernetes reads it, each field's line, and every odd input as one clear finding."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra.document import Document, parse_documents, read_documents
from dra.finding import Checked, Verdict
from dra.kubernetes_yaml import MAX_ALIASED_VALUES, MAX_DEPTH, parse, scalar

CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu}
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu.nvidia.com
        count: 2
"""


def documents(text: str) -> list[Document]:
    read = list(parse_documents("file.yaml", text))
    assert all(isinstance(each, Document) for each in read), read
    return [each for each in read if isinstance(each, Document)]


def unreadable(text: str) -> Checked:
    found = [each for each in parse_documents("file.yaml", text) if isinstance(each, Checked)]
    assert len(found) == 1
    assert found[0].verdict is Verdict.UNREADABLE
    return found[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("On", True),
        ("n", False),
        ("OFF", False),
        ("~", None),
        ("Null", None),
        ("010", 8),
        ("0o17", 15),
        ("0x1F", 31),
        ("-0b11", -3),
        ("1_000", 1000),
        ("+1", 1),
        ("08", 8),
        ("1.0", 1),
        ("1e3", 1000),
        (".5", 0.5),
        ("1e400", "1e400"),
        ("1:30", "1:30"),
        ("2026-01-01", "2026-01-01"),
        ("18446744073709551615", 2**64 - 1),
        ("Yess", "Yess"),
        ("0x", "0x"),
        ("=", "="),
    ],
)
def test_an_unquoted_scalar_is_what_kubectl_makes_of_it(text: str, value: object) -> None:
    assert scalar(text) == value
    assert type(scalar(text)) is type(value)


def test_quotes_and_tags_make_a_string() -> None:
    assert parse("a: '1'\nb: \"yes\"\nc: !!str 1\nd: !!int '3'\ne: !custom 1\nf: |\n  1\n").value == {
        "a": "1",
        "b": "yes",
        "c": "1",
        "d": 3,
        "e": "1",
        "f": "1\n",
    }


def test_keys_are_strings() -> None:
    assert parse("1: a\ntrue: b\n1.5: c\n").value == {"1": "a", "true": "b", "1.5": "c"}


def test_merges_and_aliases_are_written_out() -> None:
    text = "base: &x {a: 1, b: 1}\nmore: &z {b: 2, c: 2}\nboth:\n  <<: [*x, *z]\n  c: 3\nagain: *x\n"
    assert parse(text).value["both"] == {"a": 1, "b": 1, "c": 3}
    assert parse(text).value["again"] == {"a": 1, "b": 1}
    assert parse(text).duplicates == []


def test_a_quoted_merge_key_is_a_key() -> None:
    assert parse('"<<": 1').value == {"<<": 1}


def test_a_key_given_twice_is_a_finding_with_its_line() -> None:
    (document,) = documents(CLAIM + "        count: 4\n")
    (finding,) = document.findings
    assert (finding.code, finding.path, finding.line) == (
        "DRA002",
        "spec.devices.requests[0].exactly.count",
        11,
    )


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("", 1),
        ("spec", 4),
        ("spec.devices.requests[0]", 7),
        ("spec.devices.requests[0].exactly.count", 10),
        ("spec.devices.requests[0].exactly.selectors[0].cel", 8),
        ("spec.devices.requests[1]", 6),
        ("metadata.labels[app.kubernetes.io/name]", 3),
        ("nothing", 1),
    ],
)
def test_a_field_that_is_not_there_has_the_line_of_what_is_around_it(path: str, line: int) -> None:
    (document,) = documents(CLAIM)
    assert document.line_of(path) == line
    second = documents("# first\n---\n" + CLAIM)[0]
    # The first field of a document is its first line; the separator is not.
    assert second.line_of(path) == line + 2


def test_a_map_key_in_brackets_has_its_line() -> None:
    (document,) = documents("spec:\n  attributes:\n    a.b/c: {int: 1}\n")
    assert document.line_of("spec.attributes[a.b/c]") == 3
    assert document.lines["spec.attributes.a.b/c.int"] == 3


def test_a_list_is_its_items_with_their_lines() -> None:
    text = (
        "apiVersion: v1\nkind: List\nitems:\n- kind: A\n  metadata: {name: a}\n- kind: B\n  spec:\n    x: 1\n"
    )
    first, second = documents(text)
    assert (first.value["kind"], first.line) == ("A", 4)
    assert (second.value["kind"], second.line, second.line_of("spec.x")) == ("B", 6, 8)
    assert set(second.lines) == {"", "kind", "spec", "spec.x"} - {""}


def test_the_items_of_a_typed_list_are_of_its_kind() -> None:
    (item,) = documents(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimList\nitems: [{metadata: {name: a}}]\n"
    )
    assert (item.value["apiVersion"], item.value["kind"]) == ("resource.k8s.io/v1", "ResourceClaim")


def test_a_broken_document_does_not_hide_the_others() -> None:
    read = list(parse_documents("file.yaml", "a: 1\n---\nb: [\n--- # three\nc: 3\n"))
    assert [type(each) for each in read] == [Document, Checked, Document]
    assert [each.line for each in read] == [1, 3, 5]


def test_empty_documents_and_comments_are_nothing() -> None:
    assert documents("") == []
    assert documents("# a comment\n---\n---\n# another\n--- \n%YAML 1.1\n---\n") == []


def test_a_stream_of_json_objects_is_its_objects_with_their_lines() -> None:
    one = '{\n "kind": "A",\n "text": "}{ \\" }\\n{"\n}\n'
    read = documents(f"{one}{one}\n{{}}\n{{}}")
    assert [each.value for each in read] == [{"kind": "A", "text": '}{ " }\n{'}] * 2 + [{}, {}]
    assert [(each.line, each.line_of("text")) for each in read[:2]] == [(1, 3), (5, 7)]
    assert unreadable('{"a": 1}\n{"b": }}\n').findings[0].line == 2
    assert unreadable('{"a": 1} {"b": 1}').findings[0].line == 1


def test_json_is_read_as_yaml() -> None:
    value: dict[str, object] = {
        "kind": "A",
        "text": 'a "b" \\ \n é',
        "list": [1, 2.5, None, True],
        "empty": {},
    }
    pair = json.dumps({"text": "\U0001f600 \\ud83d\\ude00"})
    assert documents(pair)[0].value["text"] == "\U0001f600 \\ud83d\\ude00"
    for indent in (None, 2):
        assert documents(json.dumps(value, indent=indent, ensure_ascii=False))[0].value == value


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (BOMB, 6, f"stand for more than {MAX_ALIASED_VALUES} values"),
        ("a: &a [*a]", 1, "contains itself"),
        ("a: *b", 1, "not defined"),
        ("- " * 5000 + "x", 1, f"more than {MAX_DEPTH} levels"),
        ("[" * 5000, 1, "nesting"),
        ("a: 1\nb: 'x\nc: 2\n", 2, "quoted scalar"),
        ("a:\n\tb: 1\n", 2, "a tab"),
        ("a: @x", 1, "'@'"),
        ("a: \x00", 1, "control characters"),
        ("a: 1\nb: \ud800", 2, "surrogate"),
        ("just a text", 1, "no object"),
        ("a: {{ .Values.a }}", 1, "not rendered"),
        ("{{- if .Values.a }}\na: 1\n{{- end }}\n", 1, "not rendered"),
        ("? [a, b]\n: 1", 1, "A key is a list"),
        ("~: 1", 1, "A key is null"),
        ("a:\n  <<: 1", 2, "merges a mapping"),
        ("a: 1\n...\nb: 2", 3, "document start"),
        ("a: 1\n b: 2", 2, "mapping values"),
    ],
)
def test_what_is_no_yaml_is_one_finding_with_its_line(text: str, line: int, says: str) -> None:
    found = unreadable(text)
    (finding,) = found.findings
    assert (finding.code, finding.line) == ("DRA001", line)
    assert says in finding.message
    assert finding.remedy


def test_a_template_is_told_to_be_rendered() -> None:
    assert "helm template" in unreadable("a: {{ .Values.a }}").findings[0].remedy


def read(*paths: Path) -> list[Document | Checked]:
    return list(read_documents([str(path) for path in paths]))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a: \xff\n", "not UTF-8"),
        (b"x" * (20 * 2**20 + 1), "larger than 20 MiB"),
        (os.urandom(64) + b"\xff\x00", "UTF-8"),
    ],
    ids=["latin-1", "large", "random"],
)
def test_a_file_that_is_no_text_is_one_finding(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "file.yaml").write_bytes(content)
    (found,) = read(tmp_path / "file.yaml")
    assert isinstance(found, Checked)
    assert says in found.findings[0].message


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "file.yaml").write_bytes(b"\xef\xbb\xbfkind: A\n")
    (found,) = read(tmp_path / "file.yaml")
    assert isinstance(found, Document)
    assert found.value == {"kind": "A"}


def test_what_is_not_there_is_a_finding(tmp_path: Path) -> None:
    (found,) = read(tmp_path / "none.yaml")
    assert isinstance(found, Checked)
    assert "No such file" in found.findings[0].message


@pytest.mark.parametrize("name", ["", "x" * 300, "x/" * 3000])
def test_what_cannot_be_a_files_name_is_a_finding(name: str) -> None:
    (found,) = read_documents([name])
    assert isinstance(found, Checked)
    assert found.verdict is Verdict.UNREADABLE


def test_a_folder_that_cannot_be_entered_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Deeper than a path may be long: it can be made step by step, and read in no way.
    monkeypatch.chdir(tmp_path)
    for _ in range(20):
        Path("x" * 250).mkdir()
        monkeypatch.chdir("x" * 250)
    monkeypatch.chdir(tmp_path)
    found = list(read_documents([str(tmp_path)]))
    assert [each.findings[0].message for each in found] == ["It cannot be read: File name too long."]


def test_pipes_of_a_folder_are_not_waited_for_and_one_that_is_named_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    assert read(tmp_path) == []
    written = threading.Thread(target=(tmp_path / "pipe.yaml").write_text, args=("kind: A",))
    written.start()
    (found,) = read(tmp_path / "pipe.yaml")
    written.join()
    assert isinstance(found, Document)


def test_too_many_values_end_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dra.kubernetes_yaml.MAX_VALUES", 1000)
    assert "more than 1,000 values" in unreadable("[" + "a," * 1001 + "]").findings[0].message
    monkeypatch.setattr("dra.document.MAX_VALUES", 1000)
    found = list(parse_documents("file.yaml", "a: 1\n---\n" * 500))
    assert isinstance(found[-1], Checked)
    assert len(found) < 100


def test_a_folder_is_read_in_order_without_what_is_hidden_or_a_template(tmp_path: Path) -> None:
    files = [
        "b.yaml",
        "a/x.yml",
        "a/y.json",
        ".git/z.yaml",
        "node_modules/z.yaml",
        "notes.txt",
        ".hidden.yaml",
    ]
    for name in [*files, "chart/Chart.yaml", "chart/templates/t.yaml", "chart/crds/c.yaml"]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text('{"kind": "A"}')
    found = [Path(each.file).relative_to(tmp_path).as_posix() for each in read(tmp_path)]
    assert found == ["b.yaml", "a/x.yml", "a/y.json", "chart/Chart.yaml", "chart/crds/c.yaml"]


def test_other_yaml_of_a_repository_passes_by(tmp_path: Path) -> None:
    (tmp_path / "playbook.yaml").write_text("- hosts: all\n  tasks: []\n")
    (tmp_path / "values.yaml").write_text("replicas: 1\nreplicas: 2\n")
    assert [type(each) for each in read(tmp_path)] == [Document]


def test_values_are_those_of_another_reader() -> None:
    text = Path(__file__).resolve().parents[3].joinpath("Pulumi.yaml").read_text()
    value: Any = yaml.safe_load(text)
    assert documents(text)[0].value == value
