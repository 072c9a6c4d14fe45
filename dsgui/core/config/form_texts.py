"""What the form says in another language than the schema's English: titles, descriptions, conditions and units; and
what the search finds a field by in both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Model = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class FormTexts:
    """`sections` by id and `fields` by pointer: title, then intro or description. `otherwise` and `units` by what they
    are in English."""

    sections: Mapping[str, Sequence[str]]
    fields: Mapping[str, Sequence[str]]
    otherwise: Mapping[str, str]
    units: Mapping[str, str]

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "FormTexts":
        """Of `schemas/<tag>.json`."""
        return cls(document["sections"], document["fields"], document.get("otherwise", {}), document.get("units", {}))

    def told(self, model: Model) -> Model:
        """The form's fixed part in this language; `also` is what the search finds besides: the English words."""
        return [self._section(section) for section in model]

    def _section(self, section: Mapping[str, Any]) -> dict[str, Any]:
        title, intro = self.sections.get(section["id"], (section["title"], section["intro"]))
        return {**section, "title": title, "intro": intro, "fields": [self._field(one) for one in section["fields"]]}

    def _field(self, field: Mapping[str, Any]) -> dict[str, Any]:
        own = field.get("title", ""), field.get("help", "")
        title, description = self.fields.get(field["pointer"], own)
        told = {"title": title, "help": description, "also": " ".join(own).strip()}
        for name, texts in (("otherwise", self.otherwise), ("unit", self.units)):
            if name in field:
                told[name] = texts.get(field[name], field[name])
        return {**field, **{name: text for name, text in told.items() if text}}

    def beside(self, model: Model) -> Model:
        """The English form, whose search finds a field by its title in this language, too."""
        return [{**section, "fields": [self._named(one) for one in section["fields"]]} for section in model]

    def _named(self, field: Mapping[str, Any]) -> dict[str, Any]:
        title = self.fields.get(field["pointer"], ("",))[0]
        return {**field, "also": title} if title else dict(field)
