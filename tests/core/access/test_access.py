"""Who is let in: the rules by themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.access.access import Access, Request, cookie_name, is_loopback, weakness
from tests.support.cases import each_case

TOKEN = "a-token-that-only-the-owner-knows"
RULES = Access(TOKEN)
HOST = ("host", "127.0.0.1:7860")
BEARER = ("authorization", f"Bearer {TOKEN}")


def decide(*headers, method="GET", path="/", query="", scheme="http", rules=RULES):
    return rules.decide(Request(method, scheme, path, query, headers))


def test_the_owner_is_let_in_and_nobody_else():
    assert decide(HOST, BEARER).status == 200
    assert decide(HOST).status == 401
    assert decide(HOST, ("authorization", "Bearer nearly")).status == 401
    assert decide(HOST, ("authorization", f"Basic {TOKEN}")).status == 401


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1", "127.8.9.1:80", "[::1]:7860", "LOCALHOST:9"])
def test_loopback_by_any_name_and_port_is_ours_since_a_tunnel_has_its_own_port(host):
    assert decide(("host", host), BEARER).status == 200


@each_case(
    "host",
    [
        "",
        "evil.example",
        "evil.example:7860",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil.example#localhost",
        "localhost@evil.example",
        "192.168.1.4:7860",
        "0.0.0.0:7860",
        "[::]:7860",
        "127.0.0.1:",
        "127.0.0.1:0",
        "127.0.0.1:99999",
        "127.0.0.1:80:80",
        "localhost:٣",
        "2130706433",
        "[::1",
        "localhost\n",
    ],
)
def test_every_other_host_is_refused_with_the_right_token_too(host):
    assert decide(("host", host), BEARER).status == 403


def test_a_request_without_a_host_or_with_two_is_refused():
    assert decide(BEARER).status == 403
    assert decide(HOST, HOST, BEARER).status == 403


def test_a_name_that_was_allowed_is_ours():
    assert decide(("host", "gpu.lab:443"), BEARER, rules=Access(TOKEN, frozenset({"gpu.lab"}))).status == 200


def test_a_server_for_all_addresses_answers_to_numbers_which_no_rebinding_can_use():
    everywhere = Access(TOKEN, any_address=True)
    assert decide(("host", "192.168.1.4:7860"), BEARER, rules=everywhere).status == 200
    assert decide(("host", "evil.example:7860"), BEARER, rules=everywhere).status == 403


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://evil.example", "http://127.0.0.1:7861", "https://127.0.0.1:7860", "http://localhost:7860"],
)
def test_another_origin_is_refused_with_the_right_token_too(origin):
    assert decide(HOST, BEARER, ("origin", origin)).status == 403
    assert decide(HOST, BEARER, ("origin", "http://127.0.0.1:7860"), ("origin", origin)).status == 403


def test_our_own_origin_is_let_in_also_where_the_port_goes_without_saying():
    assert decide(HOST, BEARER, ("origin", "http://127.0.0.1:7860")).status == 200
    assert decide(("host", "localhost"), BEARER, ("origin", "http://localhost:80")).status == 200
    assert decide(("host", "localhost"), BEARER, ("origin", "https://localhost"), scheme="https").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "strange"])
def test_what_the_browser_says_comes_from_another_site_is_refused(site):
    assert decide(HOST, BEARER, ("sec-fetch-site", site)).status == 403
    assert (
        decide(HOST, BEARER, ("sec-fetch-site", site), ("sec-fetch-mode", "no-cors"), path="/dsgui/runs").status == 403
    )


def test_a_link_to_the_first_page_may_be_followed_from_anywhere_but_not_into_a_frame():
    link = (("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"))
    assert decide(HOST, BEARER, *link, ("sec-fetch-dest", "document")).status == 200
    assert decide(HOST, BEARER, *link, ("sec-fetch-dest", "iframe")).status == 403
    assert decide(HOST, BEARER, *link, ("sec-fetch-dest", "document"), path="/runs").location == "/?tab=runs"
    assert decide(HOST, BEARER, *link, ("sec-fetch-dest", "iframe"), path="/runs").status == 403
    assert decide(HOST, BEARER, *link, ("sec-fetch-dest", "document"), path="/dsgui/runs").status == 403
    assert decide(HOST, BEARER, *link, ("sec-fetch-dest", "document"), ("origin", "null")).status == 403


def test_the_token_of_the_address_becomes_a_cookie_and_the_rest_of_the_address_stays():
    entered = decide(HOST, query=f"token={TOKEN}&run=20260101-000000-0a1b")
    assert (entered.status, entered.location) == (303, "/?run=20260101-000000-0a1b")
    name, _, rest = entered.cookie.partition("=")
    assert name == "dsgui_7860"
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in rest.split(";")}
    assert "Secure" not in entered.cookie
    assert TOKEN not in entered.cookie
    kept = ("cookie", f"theme=dark; {entered.cookie.partition(';')[0]}")
    assert decide(HOST, kept).status == 200
    assert decide(("host", "127.0.0.1:7861"), kept).status == 401


def test_over_tls_the_cookie_is_for_tls_alone():
    assert "; Secure" in decide(HOST, query=f"token={TOKEN}", scheme="https").cookie


def test_another_servers_cookie_of_the_same_name_does_not_lock_the_owner_out():
    right = decide(HOST, query=f"token={TOKEN}").cookie.partition(";")[0]
    assert decide(HOST, ("cookie", f"dsgui_7860=planted; {right}")).status == 200


def test_the_token_counts_in_the_address_of_the_first_page_only():
    assert decide(HOST, path="/dsgui/runs", query=f"token={TOKEN}").status == 401
    assert decide(HOST, method="POST", query=f"token={TOKEN}").status == 401


def test_a_redirect_leads_nowhere_else():
    for query in (f"token={TOKEN}&//evil.example", f"token={TOKEN}&x=%0d%0aSet-Cookie:a=b", f"//evil?token={TOKEN}"):
        location = decide(HOST, query=query).location
        assert location == "" or (location.startswith("/") and not location.startswith("//") and "\n" not in location)


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_other_text_is_the_token(cookie, query):
    headers = (HOST, ("cookie", f"dsgui_7860={cookie}"), ("authorization", f"Bearer {query}"))
    assert decide(*headers, query=f"token={query}").status == 401


def test_without_a_token_host_and_origin_still_count():
    open_door = Access("")
    assert decide(HOST, rules=open_door).status == 200
    assert decide(("host", "evil.example"), rules=open_door).status == 403
    assert decide(HOST, ("origin", "http://evil.example"), rules=open_door).status == 403


@each_case(
    ("path", "kind", "status"),
    [
        ("/gradio_api/run/predict", "application/json", 200),
        ("/gradio_api/run/predict", "application/json; charset=utf-8", 200),
        ("/gradio_api/run/predict", "text/plain", 415),
        ("/gradio_api/run/predict", "multipart/form-data; boundary=x", 415),
        ("/gradio_api/run/predict", "", 415),
        ("/gradio_api/upload", "multipart/form-data; boundary=x", 200),
        ("/gradio_api/upload", "application/json", 415),
        ("/gradio_api/component_server", "application/json", 404),
        ("/", "application/json", 405),
    ],
)
def test_each_route_takes_one_kind_of_content(path, kind, status):
    assert decide(HOST, BEARER, ("content-type", kind), method="POST", path=path).status == status


@pytest.mark.parametrize("page", ["configure", "launch", "runs", "machine"])
def test_a_page_that_was_guessed_leads_to_its_tab(page):
    found = decide(HOST, BEARER, path=f"/{page}")
    assert (found.status, found.location) == (303, f"/?tab={page}")
    assert decide(HOST, BEARER, path=f"/{page}/").location == f"/?tab={page}"
    assert decide(HOST, BEARER, path=f"/{page}//").status == 404
    kept = decide(HOST, BEARER, path=f"/{page}", query="run=a%0Ab&tab=other&x=").location
    assert kept == f"/?tab={page}&run=a%0Ab&x="
    assert decide(HOST, path=f"/{page}").status == 401
    assert decide(HOST, BEARER, ("content-type", "application/json"), method="POST", path=f"/{page}").status == 404


def test_a_body_too_large_by_its_own_account_is_refused_unread():
    headers = (HOST, BEARER, ("content-type", "application/json"), ("content-length", "999999999999"))
    assert decide(*headers, method="POST", path="/gradio_api/run/predict").status == 413


def test_reading_takes_no_body():
    assert decide(HOST, BEARER, ("content-length", "5")).status == 400
    assert decide(HOST, BEARER, ("transfer-encoding", "chunked")).status == 400


def test_a_token_that_can_be_guessed_or_not_sent_is_called_weak():
    assert weakness("short")
    assert weakness("a" * 40)
    assert weakness("spaces are not good here")
    assert weakness("ünïcödé-is-not-good-here")
    assert weakness(TOKEN) is None


def test_loopback_is_told_from_what_only_looks_like_it():
    assert [is_loopback(n) for n in ("127.0.0.1", "::1", "localhost", "127.evil.example", "0.0.0.0", "")] == [
        *[True] * 3,
        *[False] * 3,
    ]


def test_the_cookies_name_has_the_port_that_the_browser_sees():
    assert cookie_name(Request("GET", "https", "/", "", (("host", "gpu.lab"),))) == "dsgui_443"
