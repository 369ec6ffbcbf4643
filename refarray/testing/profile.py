"""Plugin for pytest: run a test suite under a profile of refarray.

    pytest -p refarray.testing.profile --refarray-profile jax32

The profile is the default of the process, so that it holds in worker threads too. Its
name, with the seed of `adversarial`, is in the header, and beside each failure.

Next: as_array_api_strict.py.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from refarray import profiles


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("refarray").addoption(
        "--refarray-profile",
        metavar="PROFILE",
        help="the profile of refarray to run under, such as gpu, adversarial,seed=7 or "
        f"jax32+gpu,transfers=raise; names: {', '.join(profiles.NAMES)}",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the profile the default of the process."""
    text = config.getoption("--refarray-profile")
    if text is not None:
        try:
            profiles.set_default(text)
        except ValueError as error:
            raise pytest.UsageError(f"--refarray-profile: {error}") from error


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Make a test independent of those before, so that it fails alone as well."""
    profiles.restart(item.nodeid)


def pytest_report_header() -> str:
    """Say which profile it is."""
    return f"refarray profile: {profiles.active().name}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[
    None, pytest.TestReport, pytest.TestReport
]:
    """Say so again where a test fails."""
    report = yield
    if report.failed:
        report.sections.append(("refarray profile", profiles.active().name))
    return report
