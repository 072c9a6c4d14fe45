"""What our style sheets say for a width, a printer or a wish of the system reaches the page (Gradio rewrites each
selector of the sheets it is given), also while the page is open. What a page shows has its place before it comes."""

import re

import pytest
from playwright.sync_api import expect

from dsgui.shell.runs.store import Store
from dsgui.ui.site.pages import STATIC
from dsgui.ui.site.server import DESIGN, SHEETS
from tests.answers.remembered import BROWSER
from tests.support.app_server import running_app
from tests.support.made_runs import Made, make_run
from tests.support.run_fixtures import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.remembered(*BROWSER)]

LATER = ("learn/learn.css", "site/shortcuts.css", "config/form.css", "runs/compare.css", "runs/cards.css")
SOURCES = (DESIGN, *SHEETS, *(STATIC / name for name in LATER))
# What only a run with checkpoints, a model, a touch screen or a click more has.
STAND_INS = """<div class="ds-runs"><div class="ds-cell" data-column="name"><button class="ds-pencil"></button></div>
<div class="ds-run-row" aria-current="true"></div><progress class="ds-progress"></progress>
<div class="ds-reason-line" data-live></div>
<ol class="ds-phases"><li></li></ol>
<dl class="ds-facts"></dl>
<span class="ds-swatch"></span><span class="ds-mem-swatch"></span>
<div class="ds-slurm"><div class="row"><div class="form"></div></div></div>
<span class="ds-mem-track"><span class="ds-mem-part"></span></span>
<button class="ds-step" aria-pressed="true"></button><button class="ds-base" aria-pressed="true"></button>
<label class="ds-segment"><input type="radio" checked><span></span></label>
<div class="ds-form"><button class="ds-auto" aria-pressed="true"></button></div><div class="ds-picker-option"></div>
<div class="ds-log-tools"><input class="ds-run-search"></div>
<figure class="ds-chart"><i class="ds-chart-source"></i></figure>
<table class="ds-after-table"><thead><tr><td></td></tr></thead><tbody><tr><th></th><td class="ds-actions">
<button class="ds-step"></button></td></tr></tbody></table>
<div class="ds-run"><div class="ds-run-head"><div class="ds-actions"><span class="ds-resume"><select class="ds-step">
</select></span><button class="ds-step" id="archive-run"></button><button class="ds-step" id="delete-run"></button>
</div></div></div>
<button class="ds-step ds-from-missing"></button><div class="ds-memory"><p class="ds-mem-explained"></p></div>
<div class="ds-alone"><div class="ds-run-choice"><button class="ds-step"></button></div>
<div class="ds-run-list"></div></div><div class="ds-scroll"><table class="ds-table"><tbody><tr><th></th></tr></tbody>
</table></div><p class="ds-standing-plan"></p><span class="ds-standing-guessed"></span>
<div class="ds-context" data-open><div class="form"><i id="gpus"></i></div></div>
<div class="ds-goal-cards"></div>
<div class="ds-findings"><ul><li class="ds-finding"><p><button class="ds-where"></button></p><button class="ds-fix">
</button><ul class="ds-alike"><li><button class="ds-where"></button></li></ul></li></ul></div>
<div class="ds-sheet"><div class="ds-sheet-groups"></div></div>
<div class="ds-to-copy"><pre class="ds-command"></pre><button class="ds-copy"></button></div>
<div class="ds-learn ds-learn-tall" hidden></div>
<div class="ds-learn ds-learn-folded"><div class="ds-learn-head"><button class="ds-learn-handle"><span></span></button>
<b></b></div><div class="ds-learn-body"></div></div></div>"""
CARD = """<div class="ds-run"><div class="ds-run-head"><div class="ds-actions"></div></div></div>
<section class="ds-diagnosis"><div class="ds-remedies"><p class="ds-remedy"><span class="ds-does"></span></p>
</div></section><dl class="ds-known"><div><dt></dt><dd></dd></div></dl>
<div class="ds-alone"><div class="ds-card"><a class="ds-run-row"><span class="ds-run-name"></span></a>
<button class="ds-pencil"></button></div></div><div class="ds-run-label"><button class="ds-add-label"></button></div>
<div class="ds-table-row"><span class="ds-cell" data-column="name"><button class="ds-pencil"></button></span></div>"""
PICKS = """<span class="ds-picks"><button class="ds-fix"></button></span><div class="ds-findings"><ul>
<li class="ds-error"></li></ul></div>"""
MORE = """<button id="format-json"></button><button id="repair-json"></button>
<div class="ds-wide"><details open></details></div>"""
CHIP = """<span class="ds-standing-few"></span><div><span class="ds-standing-chip">
<span class="ds-standing-more"></span><span class="ds-standing-few"></span></span></div>"""
# The form beside a text that is no JSON.
ASIDE = """<div class="ds-form ds-aside"><div class="ds-tools"></div><div class="ds-search-told"></div>
<div class="ds-body"><div class="ds-tabs"></div><div class="ds-pane"><p class="ds-banner"></p></div></div>
<div class="ds-panels"></div></div>"""
FIELDS = """<i id="memory-attention"></i><i id="memory-host"></i><i id="memory-nvme"></i>"""
# Of four runs, and of nine.
COMPARED = f"""<ul class="ds-compare-key">{"<li></li>" * 4}</ul><ul class="ds-compare-key">{"<li></li>" * 9}</ul>
<ul class="ds-compare-strip"><li></li></ul>
<div class="ds-differences"><table><tbody><tr><td><span class="ds-share"><span></span></span></td></tr></tbody></table>
</div>"""
LEARNT = """<button class="ds-learn-to" data-done="true"></button>
<div class="ds-learn-sliders"><div class="ds-learn-controls"></div><div class="ds-zs ds-learn-picture">
<section class="ds-zs-stage"><p class="ds-zs-fact"></p></section><section class="ds-zs-stage"></section></div>
<div class="ds-learn-key"><details><summary></summary></details></div></div>"""
PUT = """([into, html]) => document.querySelector(into).insertAdjacentHTML("beforeend", html)"""
# Each rule under a condition that holds now: what it says of an element changes nothing if it is put on the element
# itself, or it would not have reached it. Of two rules for one element, the later one is meant.
REACHED = """(sources) => {
  const seen = [], lost = [], last = new Map();
  const parts = (selector) => {
    let depth = 0;
    return [...selector].reduce((all, letter) => {
      depth += (letter === "(") - (letter === ")");
      if (letter === "," && !depth) return [...all, ""];
      return [...all.slice(0, -1), all.at(-1) + letter];
    }, [""]).map((part) => part.trim());
  };
  for (const [name, source] of Object.entries(sources)) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(source);
    for (const media of [...sheet.cssRules].filter((one) => one instanceof CSSMediaRule)) {
      for (const rule of media.cssRules) {
        for (const selector of parts(rule.selectorText).filter((one) => !/::/.test(one))) {
          const here = `${name} ${media.conditionText} ${selector}`;
          const holds = matchMedia(media.conditionText).matches;
          const found = [...document.querySelectorAll(selector)].slice(0, 50);
          seen.push([here, holds && found.length > 0]);
          if (holds) for (const one of found) for (const property of rule.style)
            last.set(one, (last.get(one) ?? new Map()).set(property, [rule.style.getPropertyValue(property), here]));
        }
      }
    }
  }
  for (const [one, said] of last) for (const [property, [value, here]] of said) {
    const told = () => getComputedStyle(one).getPropertyValue(property);
    const [before, own] = [told(), one.style.cssText];
    one.style.setProperty(property, value, "important");
    if (told() !== before) lost.push(`${here} { ${property}: ${value} } is ${before} on ${one.id || one.className}`);
    one.style.cssText = own;
  }
  return [seen, [...new Set(lost)]];
}"""
ASKED = ({"contrast": "more"}, {"forced_colors": "active"}, {"reduced_motion": "reduce"}, {"media": "print"})
NOTHING = {"contrast": "null", "forced_colors": "null", "reduced_motion": "null", "media": "null"}
SCREENS = (
    {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
    {"viewport": {"width": 768, "height": 1024}},
    {"viewport": {"width": 1200, "height": 900}},
    {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    {"viewport": {"width": 1920, "height": 1080}},
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An app on two runs, and their ids."""
    folder = tmp_path_factory.mktemp("runs")
    ids = [make_run(folder, Made("one", 20)), make_run(folder, Made("other", 20))]
    plan = Store(folder).open(ids[1]).plan_file
    plan.write_text(plan.read_text().replace("/train.py", "/elsewhere/other.py"))  # what is told of two scripts
    with running_app(folder) as app:
        yield app, ids


def test_what_a_sheet_says_for_a_width_a_printer_or_a_wish_of_the_system_reaches_the_page(browser, made):
    app, ids = made
    sources = {path.name: path.read_text("utf-8") for path in SOURCES}
    reached, lost = {}, []
    for screen in SCREENS:
        with browser.new_context(**screen) as context:
            page = visited(app.sign_in(context).new_page(), app, ids)
            for asked in ({}, *ASKED):
                page.emulate_media(**{**NOTHING, **asked})
                seen, missed = page.evaluate(REACHED, sources)
                lost += missed
                for rule, is_reached in seen:
                    reached[rule] = reached.get(rule, False) or is_reached
            # Results overrule the fields' own rules on purpose: only what reaches them is asked.
            page.emulate_media(**NOTHING)
            page.evaluate(PUT, ["#comparison", COMPARED])
            looked_for(page)
            for rule, is_reached in page.evaluate(REACHED, sources)[0]:
                reached[rule] = reached.get(rule, False) or is_reached
    assert lost == [], "\n".join(dict.fromkeys(lost))
    unreached = [rule for rule, is_reached in reached.items() if not is_reached]
    assert unreached == [], "\n".join(unreached)
    assert len(reached) > 60


# What a finger hits of each control in sight, and of each box what its label adds: less than 30 pixels wide or 36 high.
# Neighbours that are drawn narrower share what is between them.
SMALL = """() => {
const controls = document.querySelectorAll(".ds-runs :is(button:not(.ds-link), a.ds-step, select, input, summary)");
return [...controls].flatMap((one) => {
  if (!one.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) return [];
  const { left, top, width, height } = one.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  if (y < 20 || y > innerHeight - 20) return [];
  const isHit = (dx, dy) => {
    const found = document.elementFromPoint(x + dx, y + dy);
    return found && (one.contains(found) || found.closest("label")?.control === one);
  };
  const reach = (dx, dy) => [...Array(40).keys()].findLastIndex((px) => isHit(dx * px, dy * px));
  const [wide, high] = [reach(1, 0) + reach(-1, 0), reach(0, 1) + reach(0, -1)];
  return wide < 30 || high < 36 ? [`${one.id || one.className} ${one.textContent.slice(0, 20)}: ${wide}×${high}`] : [];
}); }"""


@pytest.mark.parametrize("address", ["?tab=runs", "?run={0}", "?compare={0},{1}"])
def test_a_finger_hits_every_control_of_the_runs(browser, made, address):
    app, ids = made
    with browser.new_context(**SCREENS[0]) as context:
        page = app.sign_in(context).new_page()
        page.goto(f"{app.url}{address.format(*ids)}")
        page.locator(".ds-run-row:visible, .js-plotly-plot:visible").first.wait_for()
        assert page.evaluate(SMALL) == []


def looked_for(page):
    """Configure while something is searched for, and a part of a bar has the focus."""
    page.locator("#pages > .tab-wrapper [role=tab]").nth(0).click()
    page.fill(".ds-search", "offload")
    page.locator("#config-form .ds-brief").first.wait_for()
    page.fill("#memory-model textarea, #memory-model input", "7B")
    page.locator("#memory-panel .ds-mem-part").first.focus()
    page.locator(".ds-mem-explained b").first.wait_for(state="attached")


def visited(page, app, ids):
    """A page that has shown all of what it has."""
    page.goto(f"{app.url}?compare={','.join(ids)}")
    page.locator("[data-chart] .js-plotly-plot").first.wait_for()
    page.keyboard.press("?")
    page.locator("#ds-shortcuts[open]").wait_for()
    page.keyboard.press("Escape")
    for place, shown in ((3, ".ds-readings"), (1, "#launch"), (0, "#config-json .cm-content")):
        page.locator("#pages > .tab-wrapper [role=tab]").nth(place).click()
        page.locator(shown).first.wait_for()
    page.click("#learn-open")
    page.locator("[data-track]").first.click()
    page.locator("#learn-step-title").wait_for()
    page.evaluate(PUT, ["#monitor .ds-runs", STAND_INS])
    page.evaluate(PUT, ["#monitor", CARD])
    page.evaluate(PUT, ["#findings", PICKS])
    page.evaluate(PUT, ["#workspace-bar", CHIP])
    page.evaluate(PUT, ["#config-form", ASIDE])
    page.evaluate(PUT, [".ds-learn", LEARNT])
    for into, html in (("#findings", MORE), ("#memory", FIELDS)):
        page.evaluate(PUT, [into, html])
    page.evaluate("() => document.documentElement.classList.add('ds-learn-bar')")
    if page.locator("#context-fold").is_visible():
        page.locator("#context-fold").focus()
        for key in ("Tab", "Shift+Tab"):  # the ring is for who uses keys
            page.keyboard.press(key)
    return page


SHIFTS = """window.shifts = [];
new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map(({ value }) => value)))
  .observe({ type: "layout-shift", buffered: true });"""
FEW = 0.05  # https://web.dev/articles/cls calls 0.1 good
OPENED = (
    ("", ".ds-findings .ds-verdict"),
    ("?tab=launch", "#preflight .ds-verdict"),
    ("?tab=runs", ".ds-run-row"),
    ("?tab=machine", ".ds-readings"),
    ("?run={0}", ".js-plotly-plot"),
    ("?compare={0},{1}", ".js-plotly-plot"),
)


@pytest.mark.parametrize(("address", "last"), OPENED)
def test_nothing_moves_while_a_page_is_filled(browser, made, address, last):
    app, ids = made
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        app.sign_in(context).add_init_script(SHIFTS)
        page = context.new_page()
        page.goto(app.url + address.format(*ids))
        page.locator(last).first.wait_for()
        page.wait_for_timeout(700)  # nothing tells that nothing will move any more
        assert page.evaluate("shifts.reduce((all, one) => all + one, 0)") < FEW


TABS = """window.tabs = new Set();
const look = () => {
  const tab = document.querySelector("#pages [role=tab][aria-selected=true]");
  if (tab) window.tabs.add(tab.textContent.trim());
  if (document.querySelector("#workspace")?.checkVisibility()) window.tabs.add("the form");
  requestAnimationFrame(look);
};
look();"""


NAMED = (
    ("?run={0}", "3 · Runs"),
    ("?compare={0},{1}", "3 · Runs"),
    ("?tab=launch", "2 · Launch"),
    ("?tab=runs", "3 · Runs"),
    ("?tab=machine", "4 · Machine"),
)


@pytest.mark.parametrize(("address", "tab"), NAMED)
def test_the_page_that_an_address_names_is_the_first_that_is_seen(browser, made, address, tab):
    app, ids = made
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        app.sign_in(context).add_init_script(TABS)
        page = context.new_page()
        page.goto(app.url + address.format(*ids))
        page.locator("#pages [role=tab]").filter(has_text=tab).wait_for()
        page.wait_for_timeout(700)  # nothing tells that no other will be seen
        assert page.evaluate("[...tabs]") == [tab]


def test_a_config_is_opened_and_edited_that_was_kept_behind_the_page_that_the_address_names(browser, made):
    app, (one, _) = made
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        app.sign_in(context).add_init_script("localStorage['dsgui.config'] ??= '{\"steps_per_print\": 7}'")
        page = context.new_page()
        page.goto(f"{app.url}?run={one}")
        page.locator(".js-plotly-plot").first.wait_for()
        page.locator("#pages [role=tab]").first.click()
        expect(page.locator("#config-json .cm-content")).to_contain_text("7")
        page.fill('[data-pointer="/train_batch_size"]', "24")
        expect(page.locator("#config-json .cm-content")).to_contain_text("24")


def test_a_run_is_still_there_for_whoever_looks_at_another_page_before_its_own_is_ready(browser, made):
    app, (one, _) = made
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = app.sign_in(context).new_page()
        held = []
        page.route("**/runs/runs.js", lambda route: held.append(route))
        page.goto(f"{app.url}?run={one}", wait_until="commit")
        wait_until(lambda: page.evaluate("history.state?.tab === 2") and held)  # evaluating lets the route be told
        page.locator("#pages [role=tab]").first.click()
        expect(page).not_to_have_url(re.compile("run="))
        held[0].continue_()
        page.locator(".ds-run-title").wait_for(state="attached")
        page.locator("#pages [role=tab]", has_text="Runs").click()
        expect(page.locator(".ds-run-title")).to_have_text("one")
        expect(page).to_have_url(re.compile(f"run={one}$"))


@pytest.mark.parametrize(("width", "lines"), [(390, 2), (768, 1), (1280, 1), (1920, 1)])
def test_opening_a_config_is_one_line_of_controls_of_one_height(browser, made, width, lines):
    with browser.new_context(viewport={"width": width, "height": 900}) as context:
        page = made[0].sign_in(context).new_page()
        page.goto(made[0].url)
        page.locator("#open-path .ds-browse-open").wait_for()
        boxes = page.evaluate(
            """[..."#open-path input, #open-path .ds-browse-open, #open-file, #upload".split(", ")].map((one) => {
            const { top, height } = document.querySelector(one).getBoundingClientRect(); return [top, height]; })"""
        )
        assert len({height for _, height in boxes}) == 1
        assert len({top for top, _ in boxes}) == lines


def test_what_stands_beside_the_launch_form_stays_while_there_is_no_command(browser, made):
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = made[0].sign_in(context).new_page()
        page.goto(f"{made[0].url}?tab=launch")
        page.locator("#preflight .ds-verdict").wait_for()
        page.get_by_label("My own script").check()
        page.fill("#script :is(textarea, input)", "/nowhere.py")
        expect(page.locator("#preflight")).to_contain_text("No file at /nowhere.py")
        seen = "getComputedStyle(document.querySelector('#launch')).visibility"
        assert page.evaluate(seen) == "visible"


def test_below_1020_px_a_run_has_the_whole_width(browser, made):
    app, (one, _) = made
    with browser.new_context(viewport={"width": 768, "height": 900}) as context:
        page = app.sign_in(context).new_page()
        page.goto(f"{app.url}?run={one}")
        page.locator(".js-plotly-plot").first.wait_for()
        charts = [page.locator(".ds-chart:not([hidden])").nth(place).bounding_box() for place in (0, 1)]
        assert charts[0]["y"] == charts[1]["y"]  # two side by side
        assert not page.locator(".ds-run-side .ds-run-list").is_visible()


# The colours of the system, as Chromium resolves them, and what words and curves are drawn in.
READ = """() => {
  const colour = (name) => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.cssText = `forced-color-adjust: none; color: ${name}`;
    const told = getComputedStyle(probe).color;
    probe.remove();
    return told;
  };
  const style = (selector) => getComputedStyle(document.querySelector(selector));
  const names = ["CanvasText", "Canvas", "Highlight", "HighlightText"];
  return {
    system: Object.fromEntries(names.map((name) => [name, colour(name)])),
    tick: style(".js-plotly-plot .xtick text").fill,
    curve: style(".js-plotly-plot .scatterlayer .js-line").stroke,
    pressed: [style(".ds-axes [aria-pressed=true]").backgroundColor, style(".ds-axes [aria-pressed=true]").color],
    primary: [style("#to-launch").backgroundColor, style("#to-launch").color],
  };
}"""


def test_forced_colours_switched_on_and_off_while_a_page_is_open_leave_it_legible(browser, made):
    app, (one, _) = made
    with browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="dark") as context:
        page = app.sign_in(context).new_page()
        page.goto(f"{app.url}?run={one}")
        page.locator(".js-plotly-plot .xtick text").first.wait_for()
        page.get_by_role("tab", name="1 · Configure").click()
        page.locator("#to-launch").wait_for()  # is made with its page, and stays
        page.get_by_role("tab", name="3 · Runs").click()
        page.locator(".js-plotly-plot .xtick text").first.wait_for()
        before = page.evaluate(READ)
        page.emulate_media(forced_colors="active")
        system = page.evaluate(READ)["system"]
        drawn_anew = f"""() => getComputedStyle(document.querySelector(".js-plotly-plot .xtick text")).fill
            === "{system["CanvasText"]}" """
        page.wait_for_function(drawn_anew)
        read = page.evaluate(READ)
        assert read["curve"] not in (system["Canvas"], "none")
        assert read["pressed"] == read["primary"] == [system["Highlight"], system["HighlightText"]]
        page.emulate_media(forced_colors="none")
        page.wait_for_function(f"({READ})().tick === '{before['tick']}'")
        assert page.evaluate(READ) == before
