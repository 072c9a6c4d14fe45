"""The schema as it stands in one DeepSpeed release: keys, defaults, ranges and the strictness of blocks follow it."""

import json

from jsonschema import Draft202012Validator

from dsgui.core.config.versions import at_version, in_release, releases

SCHEMA = {
    "type": "object",
    "x-model": "raw",
    "properties": {
        "new": {"type": "integer", "x-since": "0.17.2"},
        "gone": {"type": "object", "x-removed": "0.19.8"},
        "clipping": {
            "type": "number",
            "default": 1.0,
            "x-before": [{"version": "0.19.7", "default": 0.0}, {"version": "0.15.0", "default": 0.5}],
        },
        "block": {
            "type": "object",
            "x-model": "pydantic",
            "additionalProperties": False,
            "x-before": [{"version": "0.17.0", "x-model": "raw"}],
            "properties": {"inner": {"type": "integer", "minimum": 1, "x-since": "0.18.0"}},
        },
        "free": {
            "type": "object",
            "additionalProperties": {"type": "object", "properties": {"late": {"x-since": "0.19.0"}}},
        },
        "list": {"type": "array", "items": {"type": "object", "properties": {"late": {"x-since": "0.19.0"}}}},
        "kind": {
            "anyOf": [{"enum": ["adam", "muon", "onebit"]}, {"type": "string", "pattern": "^[A-Z]"}],
            "x-values-since": {"muon": "0.17.3"},
            "x-values-removed": {"onebit": "0.19.0"},
        },
    },
}


def keys(version):
    return set(at_version(SCHEMA, version)["properties"])


def test_a_key_is_there_from_its_first_release_until_its_last():
    assert {"new", "gone"} & keys("0.17.1") == {"gone"}
    assert {"new", "gone"} & keys("0.17.2") == {"new", "gone"}
    assert {"new", "gone"} & keys("0.19.8") == {"new"}
    assert in_release({}, "0.14.5")


def test_a_keyword_has_the_value_of_its_time_and_the_oldest_change_wins():
    defaults = {v: at_version(SCHEMA, v)["properties"]["clipping"]["default"] for v in ("0.19.7", "0.19.6", "0.14.5")}
    assert defaults == {"0.19.7": 1.0, "0.19.6": 0.0, "0.14.5": 0.5}


def test_a_block_is_strict_only_since_deepspeed_models_it():
    strange = {"block": {"strange": 1}}
    assert Draft202012Validator(at_version(SCHEMA, "0.16.9")).is_valid(strange)
    assert not Draft202012Validator(at_version(SCHEMA, "0.17.0")).is_valid(strange)


def test_it_reaches_into_maps_lists_and_alternatives():
    old = at_version(SCHEMA, "0.18.9")["properties"]
    assert old["free"]["additionalProperties"]["properties"] == {}
    assert old["list"]["items"]["properties"] == {}
    assert at_version(SCHEMA, "0.16.9")["properties"]["kind"]["anyOf"][0]["enum"] == ["adam", "onebit"]
    assert at_version(SCHEMA, "0.19.8")["properties"]["kind"]["anyOf"][0]["enum"] == ["adam", "muon"]


def test_the_releases_in_which_something_changed_are_all_named():
    assert set(releases(SCHEMA)) == {
        *("0.17.2", "0.19.8", "0.19.7", "0.15.0", "0.17.0", "0.18.0", "0.19.0", "0.17.3"),
    }


def test_the_whole_schema_is_valid_at_every_release_it_names(schema):
    """A key's schema that is the same in several releases is checked once."""
    seen = set()
    for version in {*releases(schema.document), "0.14.5", "0.19.8"}:
        document = at_version(schema.document, version)
        for part in ({**document, "properties": {}}, *document["properties"].values()):
            if (written := json.dumps(part, sort_keys=True)) not in seen:
                seen.add(written)
                Draft202012Validator.check_schema(part)
    assert len(seen) > len(schema.document["properties"])
