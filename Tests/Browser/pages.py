"""The page of `heartwood browse` in a browser: what is shown, what is not executed, keys, widths, and a store that is written."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import stores
from browser import Browser

COMMAND = os.environ["HEARTWOOD_COMMAND"]
ROWS = int(os.environ.get("HEARTWOOD_ROWS", "1000000"))


def heartwood(*words):
    return subprocess.run([COMMAND, *words], check=True, capture_output=True, text=True).stdout


class Page:
    """A store that is served, until the end of the block."""

    def __init__(self, store, *options):
        self.words = [COMMAND, "browse", store, "--no-open", *options]

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, text=True)
        return self.process.stdout.readline().strip()

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(30) == 0, "an interruption ends the command without an error"


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def open_table(browser, address, query, rows=1):
    # Another document between them, as a change behind # alone loads nothing.
    browser.open("about:blank")
    browser.open(address + query)
    browser.until(f"document.querySelectorAll('.rows tbody tr').length >= {rows} && document.querySelector('.rows td.id')")


def check_width(browser, width):
    wide = browser.value("[...document.querySelectorAll('body, #top, #main, #time, #object, .heading, .where')]"
                         ".filter((node) => node.scrollWidth > innerWidth + 1).map((node) => node.id || node.className)")
    check(not wide, f"at {width} px these are too wide: {wide}")


EXACT_JSON = """{
  "id": 12345678901234567890,
  "price": 1.10,
  "huge": 1e400,
  "a": 1,
  "a": [],
  "2": {},
  "1": -0,
  "é\\u0041": 1
}"""


def hostile(browser, address, pictures):
    open_table(browser, address, "", len(stores.HOSTILE))
    browser.until("[...document.images].every((image) => image.complete)")
    browser.picture(f"{pictures}/hostile.png")
    shown = browser.value("[...document.querySelectorAll('.rows tbody tr')].map((row) => row.children[1].textContent)")
    for value, text in zip(stores.HOSTILE, shown):
        if value.isprintable() and 0 < len(value) < 200:
            check(text == value, f"{value!r} is shown as {text!r}")
    blanks = browser.value("[...document.querySelectorAll('.rows .blank')].map((node) => node.textContent).join('')")
    # Of a text, and where another object refers to it.
    check(blanks == " " * 12, f"these blanks are seen: {blanks!r}")
    for number in range(1, len(stores.HOSTILE) + 1):
        browser.value(f"location.hash = new URLSearchParams({{ entity: 'Hostile', id: 'Hostile/p{number}' }})")
        browser.until(f"document.querySelector('#object code')?.textContent === 'p{number}'")
        if stores.HOSTILE[number - 1].startswith('{"id"'):
            shown = browser.value("document.querySelector('#object pre.json').textContent")
            check(shown == EXACT_JSON, f"JSON is shown with other values: {shown}")
        if number in (1, 16):
            browser.until("[...document.images].every((image) => image.complete)")
            browser.picture(f"{pictures}/hostile-object-{number}.png")
    check(browser.value("document.title") == "hostile.heartwood – Heartwood", "a value has run a script")
    check(browser.value("document.querySelectorAll('script').length") == 1, "there is a script of a value")
    check(browser.value("document.querySelectorAll('iframe, object, embed, svg').length") == 0, "there is an element of a value")
    links = browser.value("[...document.links].map((link) => link.protocol)")
    check(set(links) <= {"http:", "https:"}, f"there are links to {set(links)}")


def hostile_names(browser, address, store):
    """At a past generation only what differs is marked, also in the row under the cursor."""
    for number in range(3):
        heartwood("update", store, "Hostile", "--where", "note == \"case 0\" OR flag == true", "--set", f"big = {number}")
    open_table(browser, address, "#entity=Hostile&time=1", len(stores.HOSTILE))
    browser.until("document.querySelector('#time input')", 60)
    browser.press("[")
    browser.until("document.querySelector('td.differs')")
    names = browser.value("[...document.querySelectorAll('th')].map((head) => head.textContent.replace(' ·', ''))")
    marked = browser.value("[...new Set([...document.querySelectorAll('td.differs')].map((cell) => cell.cellIndex))]")
    check([names[index] for index in marked] == ["big"], f"these are marked: {[names[index] for index in marked]}")
    colours = browser.value("[...document.querySelectorAll('td.differs')].map((cell) => {"
                            " cell.classList.remove('fresh'); return getComputedStyle(cell).backgroundColor; })")
    check(len(set(colours)) == 1, f"the marks have the colours {set(colours)}")


def many(browser, address, pictures):
    open_table(browser, address, "#entity=Reading&sort=value", 100)
    browser.press("g")
    browser.type(str(ROWS // 200))
    browser.press("Enter")
    browser.until(f"document.querySelector('.range').textContent.replace(/\\s/g, '').endsWith('–{ROWS}')")
    browser.picture(f"{pictures}/last-page.png")
    times = []
    for _ in range(9):
        query = f"entity=Reading&sort=value&limit=200&offset={ROWS - 200}"
        times.append(browser.value(f"(async () => {{ const start = performance.now(); await (await fetch('api/rows?{query}')).text();"
                                   " return performance.now() - start; })()"))
    print(f"the last of {ROWS // 200} pages, of 200 rows: {sorted(times)[4]:.1f} ms in the browser, median of nine")
    browser.press("/")
    browser.type('station.name == "oak 22" AND va')
    browser.until("!document.querySelector('#candidates').hidden")
    browser.press("Tab")
    browser.until("document.activeElement.value.endsWith('AND value ') && !document.querySelector('#candidates').hidden")
    browser.picture(f"{pictures}/completion.png")
    browser.type("> 190")
    browser.press("Enter")
    browser.until("/^[1-9]\\d* objects/.test(document.querySelector('.total').textContent)", 60)
    browser.picture(f"{pictures}/condition.png")
    browser.press("/")
    browser.type("value >> 3")
    browser.press("Enter")
    browser.until("!document.querySelector('.where .error').hidden && !document.querySelector('.caret').hidden")
    check(browser.value("document.querySelector('.total').textContent") == "", "rows of another condition are counted")
    browser.picture(f"{pictures}/error.png")
    browser.press("Escape", "h")
    browser.until("document.querySelectorAll('.history li').length > 3")
    browser.picture(f"{pictures}/history.png")
    browser.press("m")
    browser.until("document.querySelectorAll('.drawing a').length === 2 && [...document.images].every((image) => image.complete)")
    browser.picture(f"{pictures}/model.png")


def written(browser, address, store, pictures):
    """Another program saves while the page is open."""
    open_table(browser, address, "#entity=Reading&id=Reading/p1", 10)
    browser.until("document.querySelector('#object code')?.textContent === 'p1'")
    browser.until("document.querySelector('.dot.live')")
    for number in range(20):
        heartwood("update", store, "Reading", "--where", "rank < 3", "--set", f"note = \"round {number}\"", "--author", "writer")
    for place in (".rows", "#object"):
        browser.until(f"document.querySelector('{place}').textContent.includes('round 19')", 60)
    browser.picture(f"{pictures}/written.png")
    browser.press("Escape", "t")
    browser.until("document.querySelector('#time input')", 60)
    browser.press("[", "[", "[")
    browser.until("document.querySelector('.rows').textContent.includes('round 16') && document.querySelector('td.differs')")
    browser.value("document.querySelector('#time .changed').click()")
    browser.until("document.querySelector('.differences ins')?.textContent.includes('round 16')")
    browser.picture(f"{pictures}/time.png")
    browser.press("t")
    browser.until("document.querySelector('.rows').textContent.includes('round 19') && document.querySelector('#time').hidden")
    browser.resize(1280, 400)
    browser.press("h")
    browser.until("document.querySelectorAll('.history li').length > 15")
    for key, place in [("ArrowDown", "> 0"), ("End", "> 100"), ("Home", "=== 0"), ("PageDown", "> 100")]:
        browser.press(key)
        browser.until(f"document.querySelector('.scroll').scrollTop {place}")
    browser.press("h")
    browser.resize(1280, 800)
    browser.until("document.querySelector('.rows td.id')")
    busy(browser, store)


def replaced(browser, folder, pictures):
    """A store that is deleted while it is shown, and made anew."""
    store = f"{folder}/replaced.heartwood"
    for name, entity in (("former", "Former"), ("newer", "Newer")):
        model = {"entities": {entity: {"attributes": {"name": {"type": "string", "optional": True}}}}}
        with open(f"{folder}/{name}.json", "w") as file:
            json.dump({"model": model, "objects": [{"@id": f"{entity}/1", "name": name}]}, file)
    heartwood("import", store, f"{folder}/former.json")
    word = "document.querySelector('#state .word').textContent"
    with Page(store) as address:
        open_table(browser, address, "#entity=Former&id=Former/p1")
        browser.until(f"{word} === 'live'")
        shutil.rmtree(store)
        browser.until(f"{word} === 'the store was deleted'")
        browser.picture(f"{pictures}/deleted.png")
        # A page that is opened now says it, too.
        open_table(browser, address, "#entity=Former&id=Former/p1")
        browser.until(f"{word} === 'the store was deleted'")
        heartwood("import", store, f"{folder}/newer.json")
        browser.until(f"{word} === 'live' && document.querySelector('.rows').textContent.includes('newer')")
        check(browser.value("document.querySelector('h1').textContent") == "Newer", "the new store is not shown")
        check(browser.value("document.querySelector('#object').hidden"), "an object of the former store is shown")
        browser.until("document.querySelector('.exchanged')?.textContent.startsWith('another store since')")
        browser.picture(f"{pictures}/replaced.png")
        browser.resize(390, 844, touch=True)
        check_width(browser, 390)
        browser.resize(1280, 800)
        browser.value("location.hash = 'entity=Newer&id=Newer/p1'")
        browser.until("document.querySelector('#object code')?.textContent === 'p1'")
        browser.value("location.hash = 'entity=Newer&at=999'")
        browser.until("document.querySelector('#main .error')?.textContent.includes('999')")
        check(browser.value("document.querySelector('#object').hidden"), "an object is shown beside a place that is not")
        browser.value("location.hash = 'entity=Newer'")
        browser.until("document.querySelector('.rows td.id')")
        heartwood("update", store, "Newer", "--where", "TRUEPREDICATE", "--set", "name = \"followed\"")
        browser.until("document.querySelector('.rows').textContent.includes('followed')")
        # A copy of the same store in its place is gone on with, in silence.
        browser.value("location.hash = new URLSearchParams({ entity: 'Newer', sort: 'name', id: 'Newer/p1' })")
        browser.until("document.querySelector('#object code')?.textContent === 'p1'")
        shutil.copytree(store, store + ".copy")
        shutil.rmtree(store)
        browser.until(f"{word} === 'the store was deleted'")
        os.rename(store + ".copy", store)
        browser.until(f"{word} === 'live'")
        heartwood("update", store, "Newer", "--where", "TRUEPREDICATE", "--set", "name = \"again\"")
        browser.until("document.querySelector('#object').textContent.includes('again')")
    return address


def aborted(browser, address, process):
    """What requests that the browser gives up cost: they end in the command, too (`PageServerTests`, `BrowseCommandTests`)."""
    open_table(browser, address, "#entity=Reading", 100)
    # A scan of all rows, of which some are matched slowly.
    condition = "rank < 20 AND (note MATCHES '.*s.*e.*e.*n.*x' OR station.name MATCHES '.*o.*a.*k.*x')"
    ask = f"(signal) => fetch('api/count?' + new URLSearchParams({{ entity: 'Reading', where: {json.dumps(condition)} }}), {{ signal }})"
    whole = browser.value(f"(async () => {{ const start = performance.now(); await (await ({ask})()).text();"
                          " return performance.now() - start; })()")

    def seconds():
        with open(f"/proc/{process.pid}/stat") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before = seconds()
    browser.value(f"(async () => {{ for (let number = 0; number < 4; number += 1) {{ const control = new AbortController();"
                  f" const answer = ({ask})(control.signal); setTimeout(() => control.abort(), 30); await answer.catch(() => null); }} }})()")
    used = seconds() - before
    while True:
        # A figure, on which nothing depends: until the process does nothing any more.
        time.sleep(1)
        if seconds() - before - used < 0.05:
            break
        used = seconds() - before
    print(f"4 requests that were given up: {used:.2f} s of processor time; one that is not takes {whole / 1000:.2f} s")


def deep_model(browser, folder):
    """Forty entities, each of which inherits from the one before it, have names that can be read."""
    model = {"entities": {f"Level{number}": {"superentity": f"Level{number - 1}"} if number else {} for number in range(40)}}
    with open(f"{folder}/deep.json", "w") as file:
        json.dump({"model": model, "objects": [{"@id": "Level39/1"}]}, file)
    heartwood("import", f"{folder}/deep.heartwood", f"{folder}/deep.json")
    with Page(f"{folder}/deep.heartwood") as address:
        open_table(browser, address, "#entity=Level39")
        narrow = browser.value("[...document.querySelectorAll('#entities .name')].filter((node) => node.clientWidth < node.scrollWidth)"
                               ".map((node) => node.textContent)")
        check(not narrow, f"these names are cut: {narrow}")
    return address


def large_model(browser, folder, pictures):
    """A diagram of sixty entities begins with what was looked at, also on a telephone."""
    names = [f"Entity{number}" for number in range(60)]
    model = {"entities": {name: {
        "attributes": {f"attribute{index}": {"type": "string", "optional": True} for index in range(5)},
        "relationships": {
            "next": {"destination": names[(number + 1) % 60]}, "far": {"destination": names[number * 7 % 60]}}} for number, name in enumerate(names)}}
    with open(f"{folder}/large.json", "w") as file:
        json.dump({"model": model, "objects": [{"@id": "Entity30/1", "attribute0": "one"}]}, file)
    heartwood("import", f"{folder}/large.heartwood", f"{folder}/large.json")
    seen = ("(() => { const area = document.querySelector('.scroll').getBoundingClientRect();"
            " return [...document.querySelectorAll('.drawing a')].filter((node) => { const box = node.getBoundingClientRect();"
            " return box.left >= area.left - 1 && box.right <= area.right + 1 && box.top >= area.top - 1 && box.bottom <= area.bottom + 1; })"
            ".map((node) => node.ariaLabel); })()")
    with Page(f"{folder}/large.heartwood") as address:
        for width, height in ((390, 844), (1280, 800)):
            browser.resize(width, height, touch=width < 500)
            browser.open("about:blank")
            browser.open(address + "#view=model&entity=Entity30")
            browser.until("document.querySelectorAll('.drawing a').length === 60 && document.images[0].complete")
            browser.until(f"{seen}.includes('Entity30')")
            browser.picture(f"{pictures}/large-model-{width}.png")
            browser.value("document.querySelector('[aria-pressed]').click()")
            browser.until("document.querySelector('.drawing').getBoundingClientRect().width <= innerWidth")
            browser.picture(f"{pictures}/large-model-{width}-fitted.png")
            check_width(browser, width)
            browser.value("document.querySelector('[aria-pressed]').click()")
            browser.until(f"{seen}.includes('Entity30')")
        browser.resize(1280, 800)
    return address


def busy(browser, store):
    """A program that saves again and again, without a pause: the page follows, and the slider moves."""
    writer = subprocess.Popen([COMMAND, "shell", store], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    isDone = threading.Event()

    def write():
        number = 0
        while not isDone.is_set():
            number += 1
            writer.stdin.write(f"update Reading --where 'rank == 0 AND value > 0' --set 'note = \"busy {number}\"'\n")
            writer.stdin.flush()
        writer.stdin.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        browser.until("document.querySelector('.rows').textContent.includes('busy')")
        browser.press("t")
        # The list of generations is read first: keys before that do nothing.
        key = "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '[', bubbles: true }))"
        browser.until(f"document.querySelector('td.differs') || !{key}", 60)
        place = browser.value("location.hash")
        browser.press("]")
        browser.until(f"location.hash !== {json.dumps(place)}")
        browser.press("t")
    finally:
        isDone.set()
        thread.join()
        writer.wait()
    browser.until("document.querySelector('#time').hidden")


def long_past(browser, folder):
    """The slider at a generation that is older than all that it has at first."""
    model = {"entities": {"Step": {"attributes": {"number": {"type": "integer64"}}}}}
    with open(f"{folder}/past.json", "w") as file:
        json.dump({"model": model, "objects": [{"@id": "Step/1", "number": 0}]}, file)
    heartwood("import", f"{folder}/past.heartwood", f"{folder}/past.json")
    lines = "".join(f"update Step --where TRUEPREDICATE --set 'number = {number}'\n" for number in range(1, 5201))
    subprocess.run([COMMAND, "shell", f"{folder}/past.heartwood"], input=lines, check=True, capture_output=True, text=True)
    before, number = [line.split()[0] for line in heartwood("generations", f"{folder}/past.heartwood").split("\n")[4:6]]
    with Page(f"{folder}/past.heartwood") as address:
        open_table(browser, address, f"#entity=Step&time=1&at={number}")
        browser.until(f"document.querySelector('#time .moment')?.textContent.startsWith('generation {number} ')")
        browser.press("[")
        browser.until(f"document.querySelector('#time .moment').textContent.startsWith('generation {before} ')")
        browser.value("document.querySelector('#time .changed').click()")
        browser.until("document.querySelector('.differences ins')")
        # The slider goes on at the end of what it has.
        browser.value("(() => { const slider = document.querySelector('#time input'); slider.value = slider.max;"
                      " slider.dispatchEvent(new Event('input')); })()")
        browser.until("Number(document.querySelector('#time input').value) < Number(document.querySelector('#time input').max)")
        browser.value("document.querySelector('#time .now').click()")
        browser.until("document.querySelector('#time .moment').textContent.startsWith('now') && !location.hash.includes('at=')")
    return address


def keys(browser, address):
    open_table(browser, address, "#entity=Reading", 100)
    browser.press("ArrowDown", "ArrowDown", "Enter")
    browser.until("document.querySelector('#object code')?.textContent === 'p3'")
    browser.press("ArrowDown")
    browser.until("document.querySelector('#object code')?.textContent === 'p4'")
    browser.press("o", "Tab")
    browser.until("document.querySelector('#object').contains(document.activeElement)")
    browser.press("Escape")
    browser.until("document.querySelector('#object').hidden")
    browser.press("PageDown")
    browser.until("document.querySelector('.range').textContent.startsWith('201')")
    browser.press("PageUp", "s")
    browser.until("document.querySelector('th[aria-sort=ascending]')")
    browser.press("End", "ArrowDown")
    browser.until("document.querySelector('.range').textContent.startsWith('201')")
    browser.press("?")
    browser.until("document.querySelector('#help').open")
    browser.press("Escape")
    browser.until("!document.querySelector('#help').open")
    browser.press("e")
    browser.until("document.querySelector('#entities').contains(document.activeElement)")
    browser.press("ArrowDown", "Enter")
    browser.until("document.querySelector('h1').textContent === 'Station'")


def looks(browser, address, pictures):
    """Every view in the light, in the dark and at a telephone's width."""
    views = {
        "table": "#entity=Reading&sort=-value", "object": "#entity=Reading&sort=-value&id=Station/p4", "history": "#view=history",
        "model": "#view=model", "time": "#entity=Reading&time=1",
    }
    for name, width, height, dark in [("light", 1280, 800, False), ("dark", 1280, 800, True), ("telephone", 390, 844, False)]:
        browser.resize(width, height, dark, touch=width < 500)
        for view, query in views.items():
            browser.open("about:blank")
            browser.open(address + query)
            browser.until("document.querySelector('.rows td.id, .history li, .drawing a')")
            if view == "time":
                # A small store that was closed has no earlier generations.
                browser.until("/generation|now/.test(document.querySelector('#time').textContent)", 60)
            if view == "object":
                browser.until("document.querySelector('#object dt')")
            browser.until("[...document.images].every((image) => image.complete)")
            check_width(browser, width)
            browser.picture(f"{pictures}/{name}-{view}.png")
    browser.resize(1280, 800)


def others(browser, address):
    """Pages of other sites read nothing."""
    browser.open("data:text/html,<title>other</title>")
    browser.until("document.title === 'other'")
    for way in ("{}", "{ mode: 'no-cors' }"):
        script = f"fetch({json.dumps(address)} + 'api/store', {way}).then((answer) => answer.text(), () => '')"
        check(browser.value(script) == "", "another page reads the store")


def main(pictures):
    os.makedirs(pictures, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/hostile.json", "w") as file:
            file.write(stores.hostile())
        stores.write_many(f"{folder}/many.json", ROWS)
        for name in ("hostile", "many"):
            heartwood("import", f"{folder}/{name}.heartwood", f"{folder}/{name}.json")
        browser = Browser()
        try:
            browser.resize(1280, 800)
            expected = 0
            with Page(f"{folder}/hostile.heartwood") as address:
                hostile(browser, address, pictures)
                hostile_names(browser, address, f"{folder}/hostile.heartwood")
                served = address
            gone = [replaced(browser, folder, pictures), large_model(browser, folder, pictures), long_past(browser, folder),
                    deep_model(browser, folder)]
            # The generation that is not there is answered by an error.
            expected += 1
            page = Page(f"{folder}/many.heartwood")
            with page as address:
                many(browser, address, pictures)
                # The condition that is wrong is answered by an error.
                expected += 1
                aborted(browser, address, page.process)
                keys(browser, address)
                looks(browser, address, pictures)
                written(browser, address, f"{folder}/many.heartwood", pictures)
                elsewhere = [url for url in browser.requests() if not url.startswith((served, address, *gone, "about:", "data:"))]
                check(not elsewhere, f"these were loaded: {elsewhere}")
                # A page whose command has ended says that it follows nothing more.
                errors = [error for error in browser.errors() if "api/changes" not in error]
                check(len(errors) == expected, "\n".join(errors))
                others(browser, address)
        except Exception:
            browser.picture(f"{pictures}/failed.png")
            print("\n".join(browser.errors()))
            raise
        finally:
            browser.close()
    print(f"the page does what it should; the pictures are in {pictures}")


if __name__ == "__main__":
    main(sys.argv[1])
