"""Headless Chromium, driven over its debugging socket: just enough of both protocols, from the
standard library alone."""
import base64
import http.client
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from urllib.parse import urlsplit

START_LIMIT_S = 240
CALL_LIMIT_S = 240


class Socket:
    """A WebSocket client: text messages, masked as clients must."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=CALL_LIMIT_S)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
                             "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
                             ).encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self._more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise SystemExit(f"Chromium refused its debugging socket: {head[:200]!r}")

    def _more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionError("Chromium has closed its debugging socket")
        return data

    def _take(self, count):
        while len(self.buffer) < count:
            self.buffer += self._more()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def send(self, text):
        data = text.encode()
        length = len(data)
        if length < 126:
            head = struct.pack("!BB", 0x81, 0x80 | length)
        elif length < 1 << 16:
            head = struct.pack("!BBH", 0x81, 0xFE, length)
        else:
            head = struct.pack("!BBQ", 0x81, 0xFF, length)
        # A mask of zeros is a mask.
        self.socket.sendall(head + bytes(4) + data)

    def receive(self, limit_s):
        """The next message, or None when none comes in time."""
        self.socket.settimeout(limit_s)
        try:
            if not self.buffer:
                self.buffer += self._more()
        except TimeoutError:
            return None
        self.socket.settimeout(CALL_LIMIT_S)
        text = b""
        while True:
            first, length = self._take(2)
            length &= 0x7F
            if length == 126:
                length, = struct.unpack("!H", self._take(2))
            elif length == 127:
                length, = struct.unpack("!Q", self._take(8))
            part = self._take(length)
            if first & 0x0F in (0, 1):
                text += part
                if first & 0x80:
                    return text.decode()


class Chrome:
    """One browser with one page."""

    def __init__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            # Not skipped: a page that nobody looked at is not a page that works.
            raise SystemExit("Chromium is not installed: scripts/deps test")
        self.folder = tempfile.mkdtemp(prefix="myriad-page-")
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--remote-debugging-port=0", f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.serial, self.events = 0, []
        self.socket = Socket(self._page())
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _page(self):
        """The address of the page's debugging socket."""
        ready = pathlib.Path(self.folder) / "DevToolsActivePort"
        until = time.monotonic() + START_LIMIT_S
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise SystemExit(f"Chromium ended with {self.process.returncode}")
            if ready.exists() and "\n" in ready.read_text():
                port = int(ready.read_text().split()[0])
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=CALL_LIMIT_S)
                connection.request("GET", "/json/list")
                targets = json.loads(connection.getresponse().read())
                connection.close()
                for target in targets:
                    if target["type"] == "page":
                        return target["webSocketDebuggerUrl"]
            time.sleep(0.1)
        raise SystemExit(f"Chromium did not start in {START_LIMIT_S} s")

    def call(self, method, **parameters):
        self.serial += 1
        serial = self.serial
        self.socket.send(json.dumps({"id": serial, "method": method, "params": parameters}))
        while True:
            text = self.socket.receive(CALL_LIMIT_S)
            if text is None:
                raise SystemExit(f"Chromium did not answer {method} in {CALL_LIMIT_S} s")
            message = json.loads(text)
            if "id" not in message:
                self.events.append(message)
            elif message["id"] == serial:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']}")
                return message["result"]

    def run(self, script):
        """The value of an expression in the page; promises are waited for."""
        said = self.call("Runtime.evaluate", expression=script, awaitPromise=True,
                         returnByValue=True)
        if "exceptionDetails" in said:
            details = said["exceptionDetails"]
            text = details.get("exception", {}).get("description", details["text"])
            raise SystemExit(f"in the page: {text}\n{script}")
        return said["result"].get("value")

    def wait(self, script, what, limit_s=240):
        """Waits until the expression is true, and returns it."""
        until = time.monotonic() + limit_s
        while True:
            found = self.run(script)
            if found:
                return found
            if time.monotonic() > until:
                raise SystemExit(f"waited {limit_s} s in vain: {what}\n"
                                 f"{self.run('document.body.innerText')[:1500]}")
            time.sleep(0.1)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": name}])

    def key(self, key, text=""):
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37,
                 "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "PageUp": 33, "PageDown": 34}
        more = {"windowsVirtualKeyCode": codes[key]} if key in codes else {}
        text = "\r" if key == "Enter" else text
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=key,
                  **({"text": text} if text else {}), **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **more)

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(data["data"]))

    def close(self):
        try:
            self.call("Browser.close")
        except (OSError, SystemExit):
            pass
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
