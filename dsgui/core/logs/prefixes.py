"""Prefixes of a line: the host, torchrun's rank, a logger's time, level and location."""

import re

_HOST = re.compile(r"(?P<host>[A-Za-z0-9][\w.-]*): +(?=\S)")
_NO_HOST = re.compile(
    r"(?:steps?|global_steps?|iter(?:ation)?|epoch|batch|train(?:ing)?|eval(?:uation)?|val(?:id(?:ation)?)?|test|note|hint|"
    r"tip|info|default|usage|example|expected|config|args|options?|params?|\w*loss|\w*error|\w*warning|\w*exception|"
    r"critical|fatal|debug|lr|accuracy|acc|ppl)\Z",
    re.IGNORECASE,
)
_TORCHRUN = re.compile(r"\[(?:rank|default)(\d{1,9})\]:(?!\[) ?")
_LOGGER = re.compile(
    r"""\s*
    (?:\[(?P<level1>[A-Z]+)\|[^\]]{1,80}\]\s*)?                                    # transformers: [INFO|trainer.py:1]
    (?:\[[\w.-]{1,40}\][ ](?=\d{4}-))?                                              # torchtitan: [titan] 2026-01-01
    (?:\[?\d{4}[-/]\d\d[-/]\d\d[T ,]\d\d:\d\d:\d\d[\d.,]*(?:Z|[+-]\d\d:?\d\d)?\]?
      |\[?\d\d[/-]\d\d[/-]\d{2,4}[ ]\d\d:\d\d:\d\d[\d.,]*\]?|\[?\d\d:\d\d:\d\d[\d.,]*\]?(?=[ ]))?
    [ |>-]*
    (?:\[?(?P<level2>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\b(?:\]|:(?![ ]))?)?
    [ |:>-]*
    (?:\[[\w./<>-]+:\d+(?::[\w<>.]+)?\]|[\w.]+:[\w<>.]+:\d+\b|[\w./]+\.py:\d+\b|(?<=-[ ])[\w.]+(?=[ ]-[ ])
      |__main__|(?<=[A-Z]:)[\w.]+(?=:))?
    [ |:>-]*
    (?:(?P<level3>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)[ ]-[ ])?""",
    re.VERBOSE,
)
_RANK = re.compile(r"\[?\brank\s*+[\[:=]?\s*+(\d{1,9})\b\]?:?", re.IGNORECASE)


def launcher_prefix(text: str) -> tuple[int | None, str]:
    """The rank and the rest of the line, without the host that pdsh adds and the rank that torchrun adds."""
    host = _HOST.match(text)
    if host and not _NO_HOST.match(host["host"]):
        text = text[host.end() :]
    match = _TORCHRUN.match(text)
    return (int(match[1]), text[match.end() :]) if match else (None, text)


def logger_prefix(text: str) -> tuple[str, str]:
    """The level ("" if there is none) and the message of a logger's line."""
    match = _LOGGER.match(text)
    if not match:
        return "", text
    return match["level1"] or match["level2"] or match["level3"] or "", text[match.end() :]


def rank_in(text: str) -> tuple[int | None, str]:
    """The rank that a line names (`[Rank 0]`, `Rank[1]:`, `rank=2`), and the line without it."""
    match = _RANK.search(text)
    return (int(match[1]), text[: match.start()] + text[match.end() :]) if match else (None, text)
