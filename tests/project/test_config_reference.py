"""docs/config-reference.md is what the schema says, and every key in it is explained."""

import copy

import pytest

from dsgui.core.config.schema import Schema
from scripts.config_reference import PAGE, keys, reference


def unexplained(schema):
    return [pointer for pointer, node in keys(schema) if len(node.get("description", "")) < 20]


def test_the_page_is_what_the_schema_makes(schema):
    assert PAGE.read_text("utf-8") == reference(schema), "run make docs"


def test_every_key_has_a_description_and_a_row(schema):
    assert unexplained(schema) == []
    page = PAGE.read_text("utf-8")
    assert "`zero_optimization.stage3_prefetch_bucket_size`" in page
    assert sum(line.startswith("| `") for line in page.splitlines()) > 400


@pytest.mark.parametrize("text", [None, "", "Too short."])
def test_a_key_without_a_description_is_found(catalog, text):
    document = copy.deepcopy(dict(catalog.schema().document))
    block = document["properties"]["tensorboard"]["properties"]["enabled"]
    block.pop("description") if text is None else block.update(description=text)
    assert unexplained(Schema(document, {"sections": []})) == ["/tensorboard/enabled"]
