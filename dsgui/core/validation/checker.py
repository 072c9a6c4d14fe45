"""The one call the page and the command line make: a config's text and its context → every finding, worst first."""

from collections.abc import Iterable, Sequence

from dsgui.core import rules
from dsgui.core.config.context import Context
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Finding, has_error
from dsgui.core.config.misspelt import in_order, renamed_first
from dsgui.core.config.schema import Schema
from dsgui.core.rules.values import SchemaCheck
from dsgui.core.validation.folding import fold
from dsgui.core.validation.repair import with_whole_fixes, without_fixes
from dsgui.core.validation.taking_out import with_way_out
from dsgui.core.validation.written import findings as written_findings

_MOST_RELEASES = 32  # remembered; their names come from the page


class Checker:
    """Schema and rules together."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._by_release: dict[str, SchemaCheck] = {}

    def findings(
        self, document: Document, context: Context, written: str | None = None, *, fixes: bool = True
    ) -> list[Finding]:
        """All findings, errors first, in the order of the text within a severity, after what has to be renamed before
        anything else. `written`: the file's own text, where
        that is what will be read. `fixes`: each is tried out, which takes a look at the whole config; who shows none
        asks for none."""
        raw = self._raw(document, context)
        folded = fold(raw, document)
        found = [
            *(written_findings(written, context) if written is not None else ()),
            *(self.whole(folded, document, context, raw) if fixes else without_fixes(folded)),
        ]
        return in_order(found, document)

    def whole(
        self, findings: Iterable[Finding], document: Document, context: Context, before: Sequence[Finding] | None = None
    ) -> list[Finding]:
        """The findings, each with a fix that adds no error or with none, and of its `choices` those that add none.
        `before`: all of the document, if known."""
        offered = [with_way_out(finding) for finding in findings]
        return with_whole_fixes(offered, document, lambda fixed: self._raw(fixed, context), before)

    def _raw(self, document: Document, context: Context) -> list[Finding]:
        """What the schema and the rules say, each of a place of its own."""
        by_key = self._schema_check(context.release).findings(document, context)
        return renamed_first([*by_key, *rules.check(document.value, context)], document.value)

    def has_error(self, document: Document, context: Context) -> bool:
        """True when DeepSpeed would refuse the config."""
        return has_error(self._raw(document, context))

    def forget(self) -> None:
        """Drop what is remembered of earlier documents: for measuring."""
        for check in self._by_release.values():
            check.forget()

    def _schema_check(self, release: str) -> SchemaCheck:
        if release not in self._by_release:
            if len(self._by_release) >= _MOST_RELEASES:
                self._by_release.clear()
            self._by_release[release] = SchemaCheck(self.schema, release)
        return self._by_release[release]
