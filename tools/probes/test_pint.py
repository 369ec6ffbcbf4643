"""pint: arrays with units."""

import pint
import pytest

import refarray as xp

units = pint.UnitRegistry()


def values(quantity):
    assert isinstance(quantity.magnitude, xp.Array)
    return memoryview(quantity.magnitude).tolist()


def test_arithmetic():
    way = units.Quantity(xp.asarray([1.0, 3.0]), "km")
    time = units.Quantity(xp.asarray([0.5, 2.0]), "hour")
    assert values(way / time) == [2, 1.5]
    assert str((way / time).units) == "kilometer / hour"
    assert values(way + units.Quantity(xp.asarray([500.0, 500.0]), "m")) == [1.5, 3.5]
    assert values(2 * way) == [2, 6]


def test_conversion():
    assert values(units.Quantity(xp.asarray([1.0, 2.5]), "m").to("mm")) == [1000, 2500]


def test_units_that_do_not_agree():
    x = xp.asarray([1.0])
    with pytest.raises(pint.DimensionalityError):
        units.Quantity(x, "m") + units.Quantity(x, "s")
