# SPDX-License-Identifier: Apache-2.0
"""The statements of chrony, ptp4l and the kernel about this host's clock, and the doctor's."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from rclrt_py.clocks.interval import Interval
from rclrt_py.clocks.sources import (
    CHRONY,
    ClockSource,
    chrony_source,
    clock_sources,
    kernel_source,
    ptp_source,
    read_card,
    read_kernel,
)
from rclrt_py.doctor.checks import Level
from rclrt_py.doctor.clock import host_clock

# chronyc -c tracking of chrony 4: |0.000123456| + 0.000456789 + 0.001234568 / 2 s
SYNCHRONISED = (
    "C0A80101,192.168.1.1,3,1764460800.123456789,-0.000123456,0.000045000,0.000067000,-15.678,"
    "0.002,0.123,0.001234568,0.000456789,64.5,Normal\n"
)
OLD = SYNCHRONISED.replace("192.168.1.1,", "")  # before chrony 3
NOT_SYNCHRONISED = (
    "00000000,,0,0.000000000,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,1.000000000,"
    "1.000000000,0.0,Not synchronised\n"
)
PTP = """\
sending: GET TIME_STATUS_NP
\t7884c4.fffe.5a9b01-0 seq 0 RESPONSE MANAGEMENT TIME_STATUS_NP
\t\tmaster_offset              -12
\t\tingress_time               1745280125987654321
\t\tcumulativeScaledRateOffset +0.000000000
\t\tscaledLastGmPhaseChange    0
\t\tgmTimeBaseIndicator        0
\t\tlastGmPhaseChange          0x0000'0000000000000000.0000
\t\tgmPresent                  true
\t\tgmIdentity                 aabbcc.fffe.ddeeff
sending: GET CURRENT_DATA_SET
\t7884c4.fffe.5a9b01-0 seq 1 RESPONSE MANAGEMENT CURRENT_DATA_SET
\t\tstepsRemoved     1
\t\toffsetFromMaster -12.0
\t\tmeanPathDelay    350.0
sending: GET TIME_PROPERTIES_DATA_SET
\t7884c4.fffe.5a9b01-0 seq 2 RESPONSE MANAGEMENT TIME_PROPERTIES_DATA_SET
\t\tcurrentUtcOffset      37
\t\tleap61                0
\t\tleap59                0
\t\tcurrentUtcOffsetValid 1
\t\tptpTimescale          1
\t\ttimeTraceable         1
\t\tfrequencyTraceable    0
\t\ttimeSource            0x20
"""
PORT = """\
sending: GET PORT_PROPERTIES_NP
\t7884c4.fffe.5a9b01-1 seq 3 RESPONSE MANAGEMENT PORT_PROPERTIES_NP
\t\tportIdentity            7884c4.fffe.5a9b01-1
\t\tportState               SLAVE
\t\ttimestamping            HARDWARE
\t\tinterface               eth0
"""
UNSYNC = 0x40


@pytest.mark.parametrize(
    ("output", "reference"),
    [(SYNCHRONISED, "the time of 192.168.1.1"), (OLD, "the time of C0A80101")],
)
def test_the_error_of_chrony_is_its_offset_dispersion_and_half_of_its_delay(
    output: str, reference: str
) -> None:
    source = chrony_source(output)
    assert source is not None
    assert source.interval is not None
    assert source.reference == reference
    assert source.interval.high_ns == pytest.approx(123_456 + 456_789 + 617_284)
    assert source.interval.low_ns == -source.interval.high_ns


def test_a_clock_that_chrony_does_not_synchronise_has_no_interval() -> None:
    source = chrony_source(NOT_SYNCHRONISED)
    assert source is not None
    assert source.interval is None
    assert not source.is_synchronised


def test_a_chrony_that_runs_free_is_not_synchronised() -> None:
    fields = SYNCHRONISED.replace("C0A80101,192.168.1.1", "7F7F0101,")
    source = chrony_source(fields)
    assert source is not None
    assert source.interval is None
    assert not source.is_synchronised


@pytest.mark.parametrize("system_s", ["37.000123456", "-36.900000000"])
def test_the_doctor_finds_37_s_in_the_output_of_chrony(system_s: str) -> None:
    source = chrony_source(SYNCHRONISED.replace("-0.000123456", system_s))
    assert source is not None
    finding = host_clock([source])
    assert finding.level is Level.WARNING
    assert finding.found == "chrony: 37 s from the time of 192.168.1.1"


@pytest.mark.parametrize(
    "output",
    ["", "506 Cannot talk to daemon\n", SYNCHRONISED.replace("0.000456789", "nan"), "," * 13],
)
def test_other_output_of_chrony_is_no_source(output: str) -> None:
    assert chrony_source(output) is None


def no_card(interface: str) -> Interval | None:
    return None


def test_with_software_stamps_the_offset_is_known_to_the_path_delay() -> None:
    source = ptp_source(PTP + PORT.replace("HARDWARE", "SOFTWARE"), no_card)
    assert source is not None
    assert source.interval == Interval(-362.0, 338.0)
    assert source.reference == "PTP master aabbcc.fffe.ddeeff"
    assert source.fault is None


def test_with_hardware_stamps_the_network_card_is_compared_with_this_clock() -> None:
    source = ptp_source(PTP + PORT, no_card)
    assert source is not None
    assert source.interval is None
    assert "the network card follows PTP master" in source.reference
    # The card shows TAI, and this clock UTC, 1 ms late.
    asked = []

    def card(interface: str) -> Interval | None:
        asked.append(interface)
        return Interval(37_000_900_000, 37_001_000_000)

    source = ptp_source(PTP + PORT, card)
    assert source is not None
    assert source.interval == Interval(-1_000_362.0, -899_662.0)
    assert asked == ["eth0"]


def test_the_doctor_finds_a_clock_that_shows_tai_in_the_output_of_ptp4l() -> None:
    source = ptp_source(PTP + PORT, lambda interface: Interval(-100.0, 100.0))
    assert source is not None
    finding = host_clock([source])
    assert finding.level is Level.WARNING
    assert finding.found == "ptp4l: 37 s from PTP master aabbcc.fffe.ddeeff"


def test_an_offset_without_a_path_delay_has_no_interval_and_other_steps_are_named() -> None:
    source = ptp_source((PTP + PORT).replace("meanPathDelay", "x"), no_card)
    assert source is not None
    assert source.interval is None
    source = ptp_source(PTP.replace("stepsRemoved     1", "stepsRemoved     2"), no_card)
    assert source is not None
    assert "the PTP clock before this one, 2 steps from PTP master" in source.reference


def test_a_card_that_is_none_is_not_read() -> None:
    assert read_card("../../etc") is None
    assert read_card("no_such_card") is None


def test_a_ptp_master_that_does_not_state_its_offset_from_utc_is_a_fault() -> None:
    source = ptp_source(PTP.replace("currentUtcOffsetValid 1", "currentUtcOffsetValid 0"))
    assert source is not None
    assert source.fault is not None
    assert "wrong by 37 s" in source.fault


def test_the_ptp_master_itself_has_no_interval_and_without_ptp4l_there_is_no_source() -> None:
    source = ptp_source(PTP.replace("gmPresent                  true", "gmPresent false"))
    assert source is not None
    assert source.interval is None
    assert ptp_source("sending: GET TIME_STATUS_NP\n") is None


def test_the_kernel_states_no_error_because_programs_write_none() -> None:
    assert kernel_source(UNSYNC) is None
    source = kernel_source(0x2001)
    assert source is not None
    assert source.interval is None
    assert source.is_synchronised
    assert read_kernel() >= 0


def test_programs_that_are_missing_are_no_error() -> None:
    asked = []

    def ask(command: Sequence[str]) -> str | None:
        asked.append(command[0])
        return SYNCHRONISED if command == CHRONY else None

    names = [source.name for source in clock_sources(ask)]
    assert names[0] == "chrony"
    assert "ptp4l" not in names
    assert asked == ["chronyc", "pmc"]


def test_the_doctor_states_the_error_of_the_clock() -> None:
    near = ClockSource("chrony", "UTC by ntp", Interval(-2e5, 2e5))
    far = ClockSource("ptp4l", "PTP master x", Interval(-4e7, 4e7))
    assert host_clock([near]).level is Level.OK
    assert host_clock([near, far]).found == "within 0.200 ms of UTC by ntp (chrony)"
    assert host_clock([far]).level is Level.WARNING
    assert host_clock([ClockSource("chrony", "", None), far]).found.endswith("(ptp4l)")
    kernel = kernel_source(0)
    assert kernel is not None
    assert "its error is not stated" in host_clock([kernel]).found
    finding = host_clock([])
    assert finding.level is Level.WARNING
    assert finding.found.startswith("not synchronised")
    assert "`rclrt clock`" in (finding.fix or "")


@pytest.mark.parametrize("offset_s", [37.0, -37.2, 36.1])
def test_the_doctor_names_a_mistake_of_tai_and_utc(offset_s: float) -> None:
    interval = Interval(offset_s * 1e9 - 400, offset_s * 1e9 + 400)
    finding = host_clock([ClockSource("ptp4l", "PTP master x", interval)])
    assert finding.level is Level.WARNING
    assert finding.found == "ptp4l: 37 s from PTP master x"
    assert "TAI" in (finding.fix or "")


def test_a_known_fault_comes_first() -> None:
    fault = ClockSource("ptp4l", "PTP master x", Interval(-1, 1), fault="set its flag")
    assert host_clock([ClockSource("chrony", "UTC", Interval(-1, 1)), fault]).fix == "set its flag"


@pytest.mark.parametrize(
    ("low_s", "high_s", "expected"),
    [(37, 37.1, True), (-36.1, -36, True), (38.2, 38.3, False), (-1, 0, False), (-50, 50, False)],
)
def test_an_offset_near_37_s_is_one_of_tai_and_utc(
    low_s: float, high_s: float, expected: bool
) -> None:
    assert Interval(low_s * 1e9, high_s * 1e9).is_tai is expected
