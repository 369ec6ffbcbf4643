"""`python -m refarray`: what it lists, what its commands say, and how it ends.

More than 400 lines: much of it is the output that users see, in full.
"""

import io
import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import refarray
from refarray.__main__ import main
from refarray.commands import COMMANDS, info, terminal
from refarray.commands.expressions import evaluate
from refarray.testing import simulated_cuda

ROOT = Path(__file__).parents[1]


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "refarray", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


def use_a_terminal(monkeypatch):
    """Let output and error be a terminal, as far as one can ask them.

    No fixture: between those and the test, pytest replaces both streams.
    """
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")


# ---- The list ------------------------------------------------------------------------


def test_without_a_command_it_lists_them():
    result = run()
    assert (result.returncode, result.stderr) == (0, "")
    for command in COMMANDS.values():
        assert f"  {command.name:10}{command.summary}" in result.stdout


def test_the_version():
    assert run("--version").stdout == f"refarray {refarray.__version__}\n"


def test_an_unknown_command_is_a_mistake(capsys):
    assert main(["chek"]) == 2
    error = capsys.readouterr().err
    assert (
        error == "python -m refarray: there is no command chek; did you mean check?\n"
    )
    assert main(["dance"]) == 2
    assert "no command dance; known: demo, info, " in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_that_is_right(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert "for example:\n  python -m refarray " in text
    assert ("--json" in text) == (name != "run")  # whose program has its own output


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_the_table_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    adapter = ROOT.joinpath("adapters", "numpy.py").read_text("utf-8")
    (tmp_path / "my_adapter.py").write_text(adapter)
    (tmp_path / "program.py").write_text("print('ran')")
    for example in COMMANDS[name].examples:
        arguments = shlex.split(example)
        assert arguments[0] == name
        if arguments[-1] == "pytest":
            arguments.append("--version")
        result = run(*arguments)
        # numpy is not right everywhere: 1 is a verdict.
        assert result.returncode in ((0, 1) if name == "standard" else (0,)), example
        assert result.stdout or name == "run"
        assert result.stderr == ""


def test_a_command_is_imported_when_it_is_called():
    code = (
        "import sys; from refarray.__main__ import main; main({}); "
        "print(*[m for m in sys.modules if m.startswith('refarray.')], file=sys.stderr)"
    )
    for arguments, missing in (
        ([], ["commands.demo", "commands.info", "testing", "cuda", "profiles"]),
        (["demo"], ["commands.info", "commands.expressions", "testing", "cuda"]),
        (["check", "--explain", "1"], ["commands.demo", "testing.standard"]),
    ):
        result = subprocess.run(
            [sys.executable, "-c", code.format(arguments)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "refarray.commands.terminal" in result.stderr.split()
        for name in missing:
            assert f"refarray.{name}" not in result.stderr.split()


def test_the_page_shows_the_list_and_every_example(capsys):
    page = ROOT.joinpath("docs", "reference", "command-line.md").read_text("utf-8")
    assert main([]) == 0
    assert f"```text\n{capsys.readouterr().out}```" in page
    for command in COMMANDS.values():
        for example in command.examples:
            assert f"\npython -m refarray {example}\n" in page


# ---- demo, info ----------------------------------------------------------------------


def test_the_demo_keeps_its_promises():
    result = run("demo")
    assert (result.returncode, result.stderr) == (0, "")
    assert "capsule before: 'dltensor_versioned'" in result.stdout
    assert "capsule after:  'used_dltensor_versioned'" in result.stdout
    assert "the deleter of NumPy's tensor: 1 time" in result.stdout
    assert "the deleter of refarray's tensor: 1 time" in result.stdout


def test_the_demo_as_json():
    steps = json.loads(run("demo", "--json").stdout)
    assert steps[0]["fields"]["dl_tensor.dtype.code"] == "2 (kDLFloat)"
    assert steps[0]["address"] == steps[1]["address"]
    assert steps[1]["name_after"] == "used_dltensor_versioned"
    assert steps[-1]["bytes_in_use"] == 0


@pytest.mark.needs("bash")
def test_a_reader_that_stops_early_is_no_error():
    code = f"{sys.executable} -m refarray demo | head -n 1; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(
        ["bash", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (result.returncode, result.stderr) == (0, "")


@pytest.fixture
def without_cuda(tmp_path):
    return {"CUDA_VISIBLE_DEVICES": "", "LD_LIBRARY_PATH": str(tmp_path)}


def test_info_says_what_is_missing_for_cuda(without_cuda):
    text = run("info", **without_cuda).stdout
    assert f"refarray    {refarray.__version__}, array API 2025.12, DLPack 1.3" in text
    assert re.search(r"numpy +\d+\.\d+", text)
    assert "CUDA        not usable: " in text
    assert "missing     a GPU with its driver, for CUDA devices: " in text
    assert "simulated_cuda" in text


def test_info_as_json(without_cuda):
    found = json.loads(run("info", "--json", **without_cuda).stdout)
    assert found["devices"] == [{"name": "cpu", "dlpack": [1, 0]}]
    assert found["cuda"]["driver"] is None
    assert found["missing"][0]["what"] == "a GPU with its driver"


def test_info_on_a_machine_with_devices():
    with simulated_cuda(devices=2, memory=1 << 20, version=12040, force=True):
        found = info.facts()
        text = "\n".join(f"{topic:12}{line}" for topic, line in info.describe(found))
    assert "the driver runs CUDA 12.4" in text
    assert "cuda:1: 1,048,576 of 1,048,576 bytes free" in text
    assert "pip install 'refarray[cuda12]'" in text or "cupy" in text


def test_info_says_how_to_get_what_is_missing(monkeypatch):
    monkeypatch.setattr(info, "OPTIONAL", (("no-such-package", "nothing"),))
    lines = [text for _, text in info.describe(info.facts())]
    assert lines[-1] == "no-such-package, for nothing: pip install no-such-package"


# ---- inspect -------------------------------------------------------------------------


def test_an_object_is_inspected(capsys, tmp_path):
    picture = tmp_path / "struct.svg"
    arguments = ["inspect", "numpy:arange(6.0).reshape(2, 3)", "--svg", str(picture)]
    assert main(arguments) == 0
    assert re.search(r"dl_tensor\.shape .* \[2, 3\]", capsys.readouterr().out)
    assert picture.read_text("utf-8").startswith("<svg")


def test_an_inspection_as_json(capsys):
    assert main(["inspect", "refarray:zeros((2, 3), dtype=int8)", "--json"]) == 0
    text = capsys.readouterr().out
    fields = {field["name"]: field for field in json.loads(text)["fields"]}
    assert fields["dl_tensor.byte_offset"]["offset"] == 72


def test_broken_rules_stand_out(capsys, monkeypatch):
    use_a_terminal(monkeypatch)
    assert main(["inspect", "refarray:dlpack.Tensor(8, (2, 3), 'float64')"]) == 0
    assert "\033" not in capsys.readouterr().out
    assert main(["inspect", "refarray:dlpack.Tensor(3, (2, 3), 'float64')"]) == 0
    assert "\n\033[33mbreaks rule 59 (should): the fi" in capsys.readouterr().out


def test_names_of_the_module_come_before_those_of_python():
    assert evaluate("refarray:abs(asarray(-1))") == 1
    assert evaluate("refarray:linalg.det(eye(2))") == 1  # made on request
    assert evaluate("json:len(loads('[1, 2]'))") == 2


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Modules that fail, each in its own way."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "broken_import.py").write_text("x = 1\nimport no_such_thing\n")
    (tmp_path / "broken_code.py").write_text("x = 1\n\n1 / 0\n")
    (tmp_path / "broken_syntax.py").write_text("x = = 1\n")
    (tmp_path / "broken_call.py").write_text(
        "def make():\n    raise ValueError('first line\\nsecond line')\n"
        "class Mine:\n    def __dlpack__(self, **k):\n        raise KeyError('a')\n"
    )


MISTAKES = [
    ("nunpy:arange(3)", "there is no module nunpy; did you mean numpy?"),
    ("numpy.linalk:norm(3)", "there is no module numpy.linalk"),
    ("numpy", "'numpy' is not module:expression, such as numpy:arange(3.0)"),
    ("numpy:", "'numpy:' is not module:expression"),
    (":arange(3)", "':arange(3)' is not module:expression"),
    ("..:arange(3)", ".. cannot be imported: TypeError: "),
    ("numpy:arnge(3)", "numpy:arnge(3) raises NameError: name 'arnge' is not defined"),
    ("numpy:arange(", "'arange(' is no expression: '(' was never closed"),
    ("numpy:x = 3", "'x = 3' is no expression: "),
    ("json:loads('1')", "TypeError: a capsule is expected, or an object with"),
    ("json:loads('{')", "line 1 column 2 (char 1)\n"),  # not where in Python itself
    ("numpy:array([None])", "numpy:array([None]): BufferError: "),
    (
        "broken_import:x",
        "cannot be imported: ModuleNotFoundError: No module named 'no_",
    ),
    ("broken_code:x", "ZeroDivisionError: division by zero (broken_code.py:3)"),
    ("broken_syntax:x", "broken_syntax cannot be imported: SyntaxError: "),
    ("broken_call:make()", "ValueError: first line second line (broken_call.py:2)"),
    ("broken_call:Mine()", "broken_call:Mine(): KeyError: 'a' (broken_call.py:5)"),
]


def test_the_place_of_a_mistake_is_not_in_a_library(
    broken, tmp_path, monkeypatch, capsys
):
    path_of = sysconfig.get_path
    paths = {"platlib": str(tmp_path)}  # on some systems beside "purelib"
    monkeypatch.setattr(
        sysconfig, "get_path", lambda kind: paths.get(kind) or path_of(kind)
    )
    assert main(["inspect", "broken_code:x"]) == 2
    assert "ZeroDivisionError: division by zero\n" in capsys.readouterr().err


@pytest.mark.parametrize(("expression", "message"), MISTAKES)
def test_a_mistake_is_one_line(expression, message, broken, capsys):
    assert main(["inspect", expression]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("python -m refarray inspect: ")
    assert message in printed.err
    assert printed.err.count("\n") == 1


def test_a_picture_that_cannot_be_written(capsys, tmp_path):
    nowhere = str(tmp_path / "nowhere" / "x.svg")
    assert main(["inspect", "numpy:arange(3.0)", "--svg", nowhere]) == 2
    expected = f"{nowhere} cannot be written: No such file or directory\n"
    assert capsys.readouterr().err == f"python -m refarray inspect: {expected}"


# ---- trace ---------------------------------------------------------------------------


def test_an_exchange_is_traced(capsys, tmp_path):
    picture = tmp_path / "exchange.svg"
    arguments = ["trace", "numpy:arange(3.0)", "refarray", "--svg", str(picture)]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "numpy.ndarray (producer) -> refarray (consumer)\n" in text
    assert re.search(r"consumer .* calls the deleter", text)  # it was given back
    assert picture.read_text("utf-8").startswith("<svg")


def test_a_trace_as_json(capsys):
    assert (
        main(
            ["trace", "refarray:arange(3.0)", "numpy.ma.core:np.from_dlpack", "--json"]
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert (found["producer"], found["consumer"]) == ("refarray.Array", "numpy")
    assert "capsule made" in [step["kind"] for step in found["steps"]]


def test_a_refusal_is_a_step(capsys):
    assert main(["trace", "numpy:array([None])", "refarray"]) == 1
    printed = capsys.readouterr()
    assert re.search(r"producer .* raises BufferError", printed.out)
    assert printed.err == ""
    assert main(["trace", "numpy:arange(3.0)", "json:loads"]) == 1
    assert re.search(r"consumer .* raises TypeError", capsys.readouterr().out)


def test_the_sides_of_a_trace_have_their_colours(capsys, monkeypatch):
    use_a_terminal(monkeypatch)
    assert main(["trace", "numpy:arange(3.0)", "refarray"]) == 0
    text = capsys.readouterr().out
    assert "\033[38;5;166m(producer)\033[0m -> refarray" in text
    assert "  3  \033[38;5;32mconsumer\033[0m " in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["numpy:arange(3.0)", "json"], "json has no from_dlpack; name one: module:f"),
        (["numpy:arange(3.0)", "nunpy"], "there is no module nunpy; did you mean num"),
        (
            ["numpy:arange(3.0)", "math:pi"],
            "math:pi is no function: it is of type f",
        ),
        (["json:loads('1')", "numpy"], "json:loads('1') has no __dlpack__: int"),
        (["numpy:arnge(3)", "numpy"], "NameError: name 'arnge' is not defined"),
    ],
)
def test_mistakes_of_a_trace_are_one_line(arguments, message, capsys):
    assert main(["trace", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


# ---- run, standard -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "no_such.py"], "there is no file no_such.py; for a module: -m"),
        (["run", "-m", "no_such"], "No module named no_such"),
        (["run", "-m", "no_such.thing"], "No module named 'no_such'"),
        (["run", "--profile", "gqu", "x.py"], "known profiles: strict"),
        (["standard", "nunpy"], "there is no module nunpy; did you mean numpy?"),
        (["standard", "numpy", "--only", "x"], "no function is called 'x'"),
    ],
)
def test_other_mistakes_are_one_line_too(arguments, message, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_program_that_imports_what_is_not_there_has_its_traceback(tmp_path):
    (tmp_path / "program.py").write_text("import no_such_thing")
    result = run("run", str(tmp_path / "program.py"))
    assert result.returncode == 1
    assert "ModuleNotFoundError: No module named 'no_such_thing'" in result.stderr


def test_the_values_of_the_standard_as_json(capsys):
    assert main(["standard", "refarray", "--only", "signbit", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["namespace"], found["deviations"]) == ("refarray", [])
    assert found["values"] > 100


# ---- What only people see ------------------------------------------------------------


def test_colour_is_for_a_terminal(capsys, monkeypatch):
    use_a_terminal(monkeypatch)
    assert main(["info"]) == 0
    assert "\033[1mrefarray    \033[0m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["info"]) == 0
    assert "\033" not in capsys.readouterr().out


def test_no_colour_elsewhere(capsys):
    assert main(["info"]) == main([]) == 0
    assert main(["inspect", "numpy"]) == 2
    printed = capsys.readouterr()
    assert "\033" not in printed.out + printed.err
    assert not terminal.has_colour(io.StringIO())


def test_the_bar_is_for_people(capsys):
    terminal.Bar(70).show(7, "rule 7")
    assert capsys.readouterr().err == ""


def test_the_bar(capsys, monkeypatch):
    use_a_terminal(monkeypatch)
    bar = terminal.Bar(70)
    bar.show(7, "rule 7")
    assert capsys.readouterr().err == f"\r[###{'.' * 27}] 7/70 rule 7\033[K"
    bar.show(8, "x" * 100)
    assert len(capsys.readouterr().err) == 1 + 59 + 3  # never a second line
    bar.clear()
    assert capsys.readouterr().err == "\r\033[K"


def test_long_work_has_a_bar(capsys, monkeypatch):
    use_a_terminal(monkeypatch)
    assert main(["standard", "refarray", "--only", "signbit"]) == 0
    printed = capsys.readouterr()
    assert "] 0/" in printed.err and "signbit" in printed.err
    assert printed.err.endswith("\r\033[K")
    assert printed.out.startswith("refarray: ")
