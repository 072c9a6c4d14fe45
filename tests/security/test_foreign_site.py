"""A real browser that is let in, and a page of another origin that tries to use it; and what our page loads."""

import contextlib
import functools
import http.server
import threading

import pytest
from playwright.sync_api import sync_playwright

from tests.security.test_server import upload
from tests.support.browser import CHROMIUM, FLAGS

pytestmark = pytest.mark.browser

ATTACK = """async (base) => {
  const event = JSON.stringify({ data: [], fn_index: 0, session_hash: 'evil' });
  const post = (path, options) =>
    fetch(base + path, { method: 'POST', mode: 'no-cors', credentials: 'include', ...options })
      .then((r) => r.type, () => 'refused');
  const form = new FormData();
  form.append('files', new Blob(['{}']), 'evil.json');
  const read = (path) => fetch(base + path, { credentials: 'include' }).then((r) => r.text(), () => 'refused');
  const image = new Promise((done) => {
    const img = new Image();
    img.onload = () => done('loaded');
    img.onerror = () => done('refused');
    img.src = base + 'favicon.ico';
  });
  const socket = new Promise((done) => {
    const ws = new WebSocket(base.replace('http', 'ws') + 'gradio_api/queue/join');
    ws.onopen = () => done('open');
    ws.onerror = () => done('refused');
  });
  const frame = document.createElement('iframe');
  frame.src = base;
  document.body.append(frame);
  return {
    plain: await post('gradio_api/run/predict', { body: event, headers: { 'content-type': 'text/plain' } }),
    json: await fetch(base + 'gradio_api/run/predict', { method: 'POST', body: event, credentials: 'include',
      headers: { 'content-type': 'application/json' } }).then(() => 'done', () => 'refused'),
    upload: await post('gradio_api/upload', { body: form }),
    read: await read('dsgui/runs'),
    image: await image,
    socket: await socket,
  };
}"""
FORM = """(base) => {
  const form = document.createElement('form');
  form.method = 'post'; form.enctype = 'text/plain'; form.action = base + 'gradio_api/run/predict';
  const field = document.createElement('input');
  field.name = '{"data": [], "fn_index": 0, "session_hash": "evil", "x": "'; field.value = '"}';
  form.append(field); document.body.append(form); form.submit();
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """Another user's server on this machine: the same site to a browser, another origin."""
    folder = tmp_path_factory.mktemp("foreign")
    (folder / "index.html").write_text("<!doctype html><title>evil</title><p>Free GPUs!")
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    """A browser for which names of the attacker's lead to this machine."""
    flags = [*FLAGS, "--host-resolver-rules=MAP *.evil.example 127.0.0.1"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


def stored(app):
    """The uploads there are, the oldest first; looking makes one more."""
    folders = upload(app).parent.parent.iterdir()
    return sorted(folders, key=lambda folder: folder.stat().st_mtime_ns)


@pytest.mark.parametrize("name", ["127.0.0.1", "site.evil.example"])
def test_a_page_of_another_origin_gets_nothing_done(browser, app, foreign, name):
    kept = stored(app)
    with contextlib.closing(app.sign_in(browser.new_context())) as context:
        page = context.new_page()
        answers, asked = {}, set()
        page.on("request", lambda r: asked.add(r.url.removeprefix(app.url)))
        page.on("response", lambda r: answers.setdefault(r.url.removeprefix(app.url), []).append(r.status))
        page.goto(f"http://{name}:{foreign}/")
        got = page.evaluate(ATTACK, app.url)
        assert got["json"] == got["read"] == got["image"] == got["socket"] == got["upload"] == "refused"
        page.evaluate(FORM, app.url)
        page.wait_for_url(f"{app.url}**")
        assert "another site" in page.content()
    ours = {path: statuses for path, statuses in answers.items() if not path.startswith("http")}
    assert {"gradio_api/upload", "gradio_api/run/predict", "dsgui/runs"} <= asked
    assert {status for statuses in ours.values() for status in statuses} == {403}
    assert stored(app)[:-1] == kept


def test_a_rebound_name_is_refused_though_the_browser_thinks_it_is_the_same_origin(browser, app):
    with contextlib.closing(browser.new_context()) as context:
        page = context.new_page()
        answer = page.goto(f"http://dsgui.evil.example:{app.port}/?token={app.token}")
        assert answer.status == 403
        got = page.evaluate("fetch('/dsgui/runs').then((r) => r.status)")
        assert got == 403


def test_the_owner_who_follows_the_printed_address_from_another_site_comes_in(browser, app, foreign):
    with contextlib.closing(browser.new_context()) as context:
        page = context.new_page()
        page.goto(f"http://site.evil.example:{foreign}/")
        page.evaluate("(url) => { location.href = url; }", app.entrance)
        page.wait_for_selector('[data-pointer="/train_batch_size"]', state="attached", timeout=60_000)
        assert page.url == app.url
        assert page.evaluate("document.cookie") == ""


def test_markup_that_got_into_the_page_runs_nothing(browser, app):
    """That the page itself keeps to its policy is seen by every browser test: a breach is a console error."""
    page = app.sign_in(browser.new_context()).new_page()
    page.goto(app.url)
    blocked = page.evaluate(
        """() => new Promise((done) => {
          window.hacked = false;
          document.addEventListener('securitypolicyviolation', () => setTimeout(() => done(!window.hacked), 50));
          const p = document.createElement('p');
          p.innerHTML = '<img src=x: onerror="window.hacked = true"><svg onload="window.hacked = true"></svg>';
          const script = document.createElement('script');
          script.textContent = 'window.hacked = true';
          document.body.append(p, script);
        })"""
    )
    assert blocked
