# SPDX-License-Identifier: Apache-2.0
"""Manners of the programs: help and manual, completions, errors, exit statuses, pipes."""

import os
import re
import shutil

import pytest
from cli_support import refuse, run, succeed

COMMANDS = ["create", "append", "adopt", "info", "ls", "verify", "extract", "gc", "upgrade"]
CONTROL_COMMANDS = ["hint", "status", "top", "doctor", "report", "warm", "drop", "views", "restart", "reload"]


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path)


@pytest.fixture
def program(request):
    return request.getfixturevalue(request.param)


every_program = pytest.mark.parametrize("program", ["augurpack", "augurfs", "augurctl"], indirect=True)


# ---------------------------------------------------------------------------------------------- help and manual

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-o [a-z][a-z_-]*|-[A-Za-z](?=,))")


def options_of_help(text):
    """Options that head an entry of --help; a mention within a sentence does not count."""
    heads = [line for line in text.splitlines() if re.match(r"  (    )?-", line)]
    return {match for line in heads for match in OPTION.findall(line.strip())}


def page_of(program):
    page = succeed(program, "--man")
    done = run("groff", "-man", "-ww", "-Tutf8", "-P-c", input=page.encode())
    assert done.returncode == 0
    assert done.stderr == b"", done.stderr
    return re.sub(r".\x08", "", done.stdout.decode().replace("\u2010", "-").replace("\u2212", "-"))


def options_of_page(text):
    heads = [line for line in text.splitlines() if re.match(r"       -", line)]
    return {match for line in heads for match in OPTION.findall(line.strip().split("  ")[0])}


needs_groff = pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")


@needs_groff
def test_help_and_manual_of_augurfs_have_the_same_options(augurfs):
    page = options_of_page(page_of(augurfs))
    assert page == options_of_help(succeed(augurfs, "--help"))
    assert page == options_of_help(succeed(augurfs, "-h"))
    assert {"-o memory", "-o observe", "-o allow_other", "--foreground", "-f", "--help", "--version"} <= page


@needs_groff
@pytest.mark.parametrize("program, command", [("augurpack", command) for command in COMMANDS] +
                         [("augurctl", command) for command in CONTROL_COMMANDS], indirect=["program"])
def test_help_and_manual_of_a_command_have_the_same_options(program, command):
    page = page_of(program)
    name = os.path.basename(program)
    # A command's section reaches to the next heading.
    section = re.search(rf"^   {name} {command} .*?(?=^   {name}|^[A-Z])", page, re.MULTILINE | re.DOTALL).group()
    common = re.search(r"^OPTIONS$.*?(?=^[A-Z]+ )", page, re.MULTILINE | re.DOTALL).group()
    options = options_of_page(section) | options_of_page(common)
    assert options == options_of_help(succeed(program, command, "--help"))
    assert options == options_of_help(succeed(program, command, "-h"))
    assert {"--help", "--version"} <= options


@needs_groff
@pytest.mark.parametrize("program, commands", [("augurpack", COMMANDS), ("augurctl", CONTROL_COMMANDS)], indirect=["program"])
def test_every_command_is_in_help_and_manual(program, commands):
    page = page_of(program)
    name = os.path.basename(program)
    listed = succeed(program, "--help")
    in_page = re.findall(rf"^   {name} (\w+) ", page, re.MULTILINE)
    assert in_page == re.findall(r"^  (\w+) +[a-z]", listed, re.MULTILINE)[:len(commands)]
    assert set(in_page) == set(commands)


@needs_groff
@every_program
def test_lines_of_the_manual_fit_a_terminal(program):
    assert max(len(line) for line in page_of(program).splitlines()) <= 80


@pytest.mark.parametrize("name", ["augurpack", "augurctl"])
def test_without_words_and_with_help_the_commands_are_listed(name, request):
    program = request.getfixturevalue(name)
    assert succeed(program) == succeed(program, "-h")
    assert succeed(program, "help") == succeed(program, "--help")
    listed = re.findall(r"^  (\w+)  ", succeed(program).split("Commands:")[1], re.MULTILINE)
    assert {"augurpack": "create", "augurctl": "views"}[name] in listed
    for command in listed:
        assert succeed(program, "help", command) == succeed(program, command, "--help")
    assert "no such command" in refuse(2, program, "help", "frobnicate")


@every_program
def test_help_needs_nothing_of_the_machine(program, folder):
    gone = os.path.join(folder, "gone")
    os.mkdir(gone)
    # No environment, no folder, no descriptor to open another file with.
    script = f"cd {gone} && rmdir {gone} && exec $0 --help"
    assert "Usage: " in succeed("sh", "-c", script, program, env={})


def complete(program, script, line):
    """What bash proposes at the end of the line."""
    name = os.path.basename(program)
    words = [word for word in re.split(r"(=)| ", line) if word]  # bash parts words at '='
    if line.endswith(" "):
        words.append("")
    shell = """
      compopt() { :; }
      source "$1"; shift
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
      _%s; printf '%%s\\n' "${COMPREPLY[@]}"
    """ % name
    return succeed("bash", "-c", shell, "bash", script, *words).split()


@every_program
def test_bash_completes(program, folder):
    script = os.path.join(folder, "completion")
    with open(script, "w", encoding="utf-8") as file:
        file.write(succeed(program, "--completions", "bash"))
    succeed("bash", "-n", script)
    if os.path.basename(program) == "augurpack":
        assert complete(program, script, "augurpack ver") == ["verify"]
        assert set(COMMANDS) <= set(complete(program, script, "augurpack "))
        assert complete(program, script, "augurpack create --sha") == ["--shard-size"]
        assert complete(program, script, "augurpack create --on-error ") == ["stop", "skip"]
    elif os.path.basename(program) == "augurctl":
        assert complete(program, script, "augurctl h") == ["hint"]
        assert set(CONTROL_COMMANDS) <= set(complete(program, script, "augurctl "))
        assert complete(program, script, "augurctl hint --or") == ["--order"]
    else:
        assert complete(program, script, "augurfs --for") == ["--foreground"]
        assert complete(program, script, "augurfs -o me") == ["memory="]
        assert complete(program, script, "augurfs -o allow_other,obs") == ["allow_other,observe="]
        assert complete(program, script, "augurfs -o observe=o") == ["open"]


@every_program
def test_zsh_completion_has_every_option(program):
    script = succeed(program, "--completions", "zsh")
    assert script.startswith(f"#compdef {os.path.basename(program)}\n")
    if shutil.which("zsh"):
        succeed("zsh", "-n", "/dev/stdin", input=script.encode())


# ---------------------------------------------------------------------------------------------- errors and exit statuses


@every_program
def test_an_unknown_option_names_help(program):
    name = os.path.basename(program)
    error = refuse(2, program, "--frobnicate")
    assert error.startswith(f"{name}: --frobnicate: no such option") and "--help" in error
    assert "did you mean --help?" in refuse(2, program, "--hlep")
    if name == "augurfs":
        assert refuse(2, program).startswith(f"{name}: no arguments; the form is: {name} ")


@pytest.mark.parametrize("size", ["", "x", "1.5G", "-1", "1Q", "1 G", "99999999999999999999", "1K", "17T"])
def test_a_bad_size_is_echoed_with_the_accepted_form(augurpack, folder, size):
    store = os.path.join(folder, "store")
    error = refuse(2, augurpack, "create", "--shard-size", size, folder, store)
    assert error.startswith("augurpack: --shard-size: ")
    assert not os.path.exists(store)
    if size:
        assert f"'{size}'" in error
        assert "512M" in error or "4K to 16T" in error


def test_errors_touch_nothing(augurpack, augurfs, folder):
    store = os.path.join(folder, "store")
    assert "no such option" in refuse(2, augurpack, "create", "--frobnicate", folder, store)
    assert "of several SRC each must be one" in refuse(2, augurpack, "create", folder, __file__, "third")
    assert "too many" in refuse(2, augurpack, "upgrade", store, "second")
    assert "no such mount option" in refuse(2, augurfs, store, folder, "-o", "frobnicate")
    assert os.listdir(folder) == []


@pytest.mark.parametrize("command", [["info"], ["ls"], ["verify"], ["gc"], ["extract"]])
def test_no_store_is_an_error_that_names_it(augurpack, folder, command):
    missing = os.path.join(folder, "missing")
    destination = [os.path.join(folder, "out")] if command == ["extract"] else []
    error = refuse(2, augurpack, *command, missing, *destination)
    assert error.startswith("augurpack: ") and missing in error
    assert os.listdir(folder) == []


@every_program
def test_help_into_a_broken_pipe_is_success(program):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run(program, "--help", stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
