"""plotly.js on its way to a browser."""

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from dsgui.ui.site.plotly_file import answered, eager


@pytest.fixture(scope="module")
def client():
    app = FastAPI()
    app.get("/plotly.min.js")(answered)
    return TestClient(app)


def test_it_comes_compressed_and_whole(client):
    answer = client.get("/plotly.min.js")
    assert answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) < 1_700_000 < 4_000_000 < len(answer.content)


def test_who_reads_nothing_compressed_gets_the_same(client):
    plain = client.get("/plotly.min.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == client.get("/plotly.min.js").content


def test_who_has_it_is_told_that_nothing_changed(client):
    mark = client.get("/plotly.min.js").headers["etag"]
    again = client.get("/plotly.min.js", headers={"If-None-Match": mark})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/plotly.min.js", headers={"If-None-Match": '"other"'}).status_code == 200


def test_the_function_that_plotly_is_in_is_compiled_at_once(client):
    assert b"this, (() => {" in client.get("/plotly.min.js").content[:1000]


@pytest.mark.parametrize("script", [b"", b"let a = 1;", b"this, () => {", b"(x)(this, () => {}));more()"])
def test_a_script_of_another_shape_stays_as_it_is(script):
    assert eager(script) == script
