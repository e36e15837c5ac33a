#!/usr/bin/env python3
"""browser.py PAGE SCRIPT [WIDTHxHEIGHT | PICTURE]: opens a page, a file or an address, in headless
Chromium, runs a script in it as the body of an asynchronous function, and prints what that returns
as JSON, then the messages of the console, one a line. With a size, the screen is that of a phone;
PICTURE (.png) is what the page looks like then. Speaks WebDriver to chromedriver; nothing else is
needed."""
import base64
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--window-size=1200,800"]


def ask(base, path, body=None):
    """One request; the value that it answers. An error is raised with the driver's own words."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=240) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        words = error.read().decode(errors="replace")
        raise RuntimeError("chromedriver refused %s: %s" % (path, words)) from error


def opened(base, capabilities):
    """The path of a new browser's session. On a machine with much other work a browser may not
    start within the driver's minute: three attempts are made."""
    for left in 2, 1, 0:
        try:
            return "/session/" + ask(base, "/session", capabilities)["sessionId"]
        except RuntimeError as error:
            print(error, file=sys.stderr)
            if not left:
                raise


def start(folder):
    """The driver on a port of its choice: process and address."""
    log = os.path.join(folder, "log")
    driver = subprocess.Popen(["chromedriver", "--port=0", "--log-path=" + log],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in driver.stdout:
        if "started successfully on port" in line:
            return driver, "http://127.0.0.1:" + line.split()[-1].rstrip(".")
    raise SystemExit("chromedriver did not start")


def main():
    page, script = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        driver, base = start(folder)
        session = None
        try:
            options = {"args": FLAGS + ["--user-data-dir=" + os.path.join(folder, "profile")]}
            # a script may take 30 seconds by default, which is little where other work is done
            session = opened(base, {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:chromeOptions": options,
                "timeouts": {"script": 200000},
                "goog:loggingPrefs": {"browser": "ALL"}}}})
            picture = len(sys.argv) > 3 and sys.argv[3].endswith(".png")
            if len(sys.argv) > 3 and not picture:
                width, height = map(int, sys.argv[3].split("x"))
                ask(base, session + "/goog/cdp/execute", {
                    "cmd": "Emulation.setDeviceMetricsOverride",
                    "params": {"width": width, "height": height, "deviceScaleFactor": 1,
                               "mobile": True}})
            began = time.monotonic()
            address = page if "://" in page else "file://" + os.path.abspath(page)
            ask(base, session + "/url", {"url": address})
            print("opened in %.1f s" % (time.monotonic() - began), file=sys.stderr)
            with open(script, encoding="utf-8") as file:
                body = "const done = arguments[0]; (async () => {" + file.read() + \
                    "})().then(done, error => done({error: String(error)}));"
            print(json.dumps(ask(base, session + "/execute/async", {"script": body, "args": []})))
            if picture:
                with open(sys.argv[3], "wb") as file:
                    file.write(base64.b64decode(ask(base, session + "/screenshot")))
            for entry in ask(base, session + "/se/log", {"type": "browser"}):
                print(entry["level"], entry["message"])
        finally:
            # also after an error, so that neither a browser nor the driver is left
            try:
                if session:
                    request = urllib.request.Request(base + session, method="DELETE")
                    urllib.request.urlopen(request, timeout=60)
            finally:
                driver.terminate()
                driver.wait()


main()
