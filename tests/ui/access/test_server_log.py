"""What a stranger can make the server write: little."""

import logging

from dsgui.ui.access.server_log import Few


def test_the_servers_messages_are_few_in_an_hour_and_the_last_says_that_more_are_left_out():
    now = [0.0]
    few = Few(most=3, within_s=60, clock=lambda: now[0])
    logger = logging.Logger("server")
    said = []
    logger.addFilter(few)
    logger.addHandler(handler := logging.Handler())
    handler.emit = lambda record: said.append(record.getMessage())
    for _ in range(1000):
        logger.error("accepting failed: %s", "no files left")
    assert len(said) == 3
    assert "suppressed" in said[-1]
    now[0] = 61
    logger.error("later")
    assert said[-1].startswith("later")
    logger.warning("Invalid HTTP request received.")
    assert len(said) == 4
