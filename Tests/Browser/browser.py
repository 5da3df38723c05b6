"""A headless browser that is driven over its own pipe, without other programs: the DevTools protocol of Chromium."""
import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile


class Browser:
    """Chromium with one page. As root, it runs as the user nobody."""

    def __init__(self, program="chromium"):
        path = shutil.which(program)
        if path is None:
            raise SystemExit(f"{program} is not installed: apt-get install --no-install-recommends chromium")
        self.profile = tempfile.mkdtemp(prefix="heartwood-browser-")
        to_browser, from_here = os.pipe()
        to_here, from_browser = os.pipe()
        # The browser reads 3 and writes 4, which a shell makes of descriptors that are neither.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 100) for end in (to_browser, from_browser)]
        if os.getuid() == 0:
            os.chown(self.profile, 65534, 65534)
        arguments = [
            path, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "--no-first-run",
            "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
            "--hide-scrollbars", "--no-sandbox", "about:blank",
        ]
        user = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}', "bash", *arguments], pass_fds=ends, cwd="/", **user,
            env={**os.environ, "HOME": self.profile}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (to_browser, from_browser, *ends):
            os.close(end)
        self.output, self.input = from_here, to_here
        self.buffer, self.number, self.events = b"", 0, []
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = None
        self.session = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def message(self):
        while b"\0" not in self.buffer:
            data = os.read(self.input, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        found = json.loads(text)
        if "method" in found:
            self.events.append(found)
        return found

    def resize(self, width, height, dark=False, touch=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        scheme = "dark" if dark else "light"
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, address):
        self.ask("Page.navigate", url=address)

    def value(self, expression):
        """The value of an expression in the page; promises are waited for."""
        result = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:800])
        return result["result"].get("value")

    def until(self, condition, seconds=20):
        """Waits until an expression is true, which the page itself tries after each frame."""
        script = (
            "new Promise((done) => { const end = performance.now() + %d; const look = () => { let is = false;"
            " try { is = Boolean(%s); } catch {} if (is || performance.now() > end) done(is); else setTimeout(look, 20); };"
            " look(); })" % (seconds * 1000, condition))
        for _ in range(5):
            try:
                if self.value(script):
                    return
                break
            except RuntimeError as error:
                # The page was replaced while it was asked.
                if "context" not in str(error):
                    raise
        raise AssertionError(f"this did not become true: {condition}")

    def press(self, *keys):
        codes = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39,
                 "PageDown": 34, "PageUp": 33, "Home": 36, "End": 35}
        for key in keys:
            text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
            common = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper())), **text}
            self.ask("Input.dispatchKeyEvent", type="keyDown", **common)
            self.ask("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def picture(self, path):
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def errors(self):
        """What the page has reported as wrong: exceptions, refused loads, errors of the console."""
        found = []
        for event in self.events:
            if event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(event["params"]["exceptionDetails"])[:600])
            if event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"] + " " + event["params"]["entry"].get("url", ""))
        return found

    def requests(self):
        """The addresses of everything that the page has asked for."""
        return [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]

    def close(self):
        try:
            self.ask("Browser.close")
        except (RuntimeError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
