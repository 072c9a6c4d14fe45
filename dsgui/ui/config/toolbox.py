"""What can be asked about the config in the editor, as HTML: a comparison, a move to another DeepSpeed, code for it."""

from collections.abc import Callable

from dsgui.core.config import accelerate_yaml, outputs
from dsgui.core.config.compare import differences
from dsgui.core.config.context import LATEST_KNOWN, OLDEST_KNOWN, RELEASES, Context, Integration, version_tuple
from dsgui.core.config.document import Document
from dsgui.core.config.preset import Preset
from dsgui.core.config.versions import releases
from dsgui.core.errors import DocumentError
from dsgui.core.texts.saying import words
from dsgui.core.validation.checker import Checker
from dsgui.core.validation.migration import migration
from dsgui.core.validation.resolve import resolve
from dsgui.ui.common.documents import read_document
from dsgui.ui.common.findings_view import sendable
from dsgui.ui.config.resolution_view import natively_html, resolution_html
from dsgui.ui.config.tools_view import code_html, comparison_html, migration_html

TRAINER = "trainer"
SNIPPETS = {
    "training_arguments": "HF TrainingArguments",
    "initialize": "deepspeed.initialize",
    "accelerate": "accelerate YAML",
}


class Toolbox:
    """The tools of the Configure page. `presets` lists those that there are now, shipped and own."""

    def __init__(self, checker: Checker, presets: Callable[[], tuple[Preset, ...]]) -> None:
        self._checker = checker
        self.presets = presets
        self._tools = {"compare": self._compare, "move": self._move, "code": self._code, TRAINER: self._trainer}

    @property
    def releases(self) -> tuple[str, ...]:
        """The DeepSpeed releases that dsgui answers for by name, newest first: those in which some key changed."""
        named = {*releases(self._checker.schema.document), *RELEASES}
        known = (v for v in named if version_tuple(OLDEST_KNOWN) <= version_tuple(v) <= version_tuple(LATEST_KNOWN))
        return tuple(sorted(known, key=version_tuple, reverse=True))

    def panel(self, tool: str, chosen: str, text: str, context: Context) -> str:
        """The answer of one tool to what was `chosen` in it; "" without a tool, or while the text is broken."""
        if tool not in self._tools or not chosen:
            return ""
        try:
            return sendable(self._tools[tool](chosen, read_document(text), context))
        except DocumentError:
            return ""

    def fix_move(self, rule: str, pointer: str, fix: str, text: str, context: Context, to: str) -> str:
        """The text after a fix that the move to release `to` offers; unchanged when it offers none such."""
        try:
            document = read_document(text)
        except DocumentError:
            return text
        for finding in migration(self._checker, document, context, to).findings:
            for one in finding.fixes:
                if (finding.rule, finding.pointer, one.id) == (rule, pointer, fix):
                    return one.apply(document).text
        return text

    def outgoing(self, text: str, reader: Integration, context: Context) -> outputs.Converted:
        """The text rewritten for one reader. Raises `DocumentError` when it is no JSON."""
        document = read_document(text)
        if reader is Integration.NATIVE:
            return outputs.native_form(document, context)
        return outputs.hf_form(document)

    def _trainer(self, id: str, document: Document, context: Context) -> str:
        if context.integration is Integration.NATIVE:
            return natively_html()
        resolution = resolve(document.value, context, self._checker.schema)
        return resolution_html(resolution, context.arguments, context.devices)

    def _compare(self, id: str, document: Document, context: Context) -> str:
        preset = next((preset for preset in self.presets() if preset.id == id), None)
        return comparison_html(preset.title, differences(Document(preset.text), document)) if preset else ""

    def _move(self, release: str, document: Document, context: Context) -> str:
        if release not in self.releases:
            return ""
        return migration_html(migration(self._checker, document, context, release))

    def _code(self, id: str, document: Document, context: Context) -> str:
        if id == "accelerate":
            code = accelerate_yaml.write(
                document.value, nodes=context.nodes, gpus_per_node=context.gpus_per_node, config_path="ds_config.json"
            )
            return code_html(words("tools_page", "for_accelerate"), code, "yaml")
        if id == "initialize":
            return code_html(words("tools_page", "native_loop"), outputs.initialize_snippet(document), "python")
        return code_html(words("tools_page", "in_trainer"), outputs.training_arguments(document), "python")
