"""webdriver.py: drives a headless Chromium through chromedriver's plain HTTP (W3C WebDriver)."""
import base64
import json
import os
import signal
import subprocess
import urllib.error
import urllib.request

from patience import until

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
KEYS = {'Enter': '\ue007', 'Escape': '\ue00c', 'Tab': '\ue004', 'ArrowUp': '\ue013', 'ArrowDown': '\ue015'}

# For execute/async: asks each 50 ms, as long as its last argument but one says, in milliseconds.
LOOK = '''const told = arguments[arguments.length - 1], end = performance.now() + arguments[arguments.length - 2];
    const look = function () { try { return %s; } catch { return null; } }.bind(null, ...arguments);
    (function again() {
        const value = look();
        if (value || performance.now() > end) told(value);
        else setTimeout(again, 50);
    })();'''


class Browser:
    def __init__(self, work, width=1280, height=900, dark=False, options=()):
        self.log = open(os.path.join(work, 'chromedriver.log'), 'w')
        for _ in range(5):  # it ends if somebody else takes the port that it has found free
            self.url = self.start(work)
            if self.url:
                break
        arguments = ['--headless', '--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu',
                     '--hide-scrollbars', '--no-first-run', '--disable-background-networking',
                     '--disable-component-update', '--lang=en', f'--user-data-dir={work}/chromium',
                     f'--window-size={width},{height}', *options]
        wanted = {'browserName': 'chrome', 'goog:chromeOptions': {
            'binary': '/usr/bin/chromium', 'args': arguments},
            'goog:loggingPrefs': {'browser': 'ALL'}}
        self.session = None
        answer = self.call('POST', '/session', {'capabilities': {'alwaysMatch': wanted}})
        self.session = answer['sessionId']
        self.call('POST', 'timeouts', {'script': 60000, 'pageLoad': 60000})
        self.look(width, height, dark)

    def start(self, work):
        """Starts chromedriver. Returns where it listens, or None if it has ended."""
        self.driver = subprocess.Popen(['chromedriver', '--port=0', '--log-level=WARNING'],
                                       stdout=subprocess.PIPE, stderr=self.log, text=True,
                                       start_new_session=True,  # Chromium's processes are in it, too
                                       env={**os.environ, 'HOME': work, 'TMPDIR': work})
        for line in self.driver.stdout:
            if 'started successfully on port' in line:
                return 'http://127.0.0.1:' + line.split()[-1].strip('.')
        self.driver.wait()
        return None

    def call(self, method, path, body=None):
        if self.session:
            path = f'/session/{self.session}/{path}'.rstrip('/')
        request = urllib.request.Request(self.url + path, method=method,
                                         data=json.dumps(body).encode() if body is not None else None,
                                         headers={'Content-Type': 'application/json'})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)['value']['message'].split('\n')[0]) from None

    def command(self, name, **parameters):
        """A command of Chromium's own protocol."""
        return self.call('POST', 'goog/cdp/execute', {'cmd': name, 'params': parameters})

    def look(self, width, height, dark):
        self.command('Emulation.setDeviceMetricsOverride', width=width, height=height,
                     deviceScaleFactor=1, mobile=width < 600)
        self.command('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    def go(self, url):
        self.call('POST', 'url', {'url': url})

    def enter(self, where, role):
        """Opens the pages at HOST:PORT with the token of a role, as the tests of roles write it."""
        self.go('about:blank')
        self.go(f'http://{where}/#token=0123456789abcdef-{role}')
        self.wait('document.querySelector("#connection.live")')

    def script(self, text, *arguments):
        return self.call('POST', 'execute/sync', {'script': text, 'args': list(arguments)})

    def text(self, selector='body'):
        return self.script('return document.querySelector(arguments[0])?.innerText ?? ""', selector)

    def wait(self, text, *arguments, seconds=60):
        """Returns the value of an expression in the page once it is true, or None when the time
        is over. The page itself asks again, which takes far less than a question from here, unless it
        is left meanwhile."""
        def look():
            try:
                return self.call('POST', 'execute/async', {'script': LOOK % text, 'args': [
                    *arguments, 1000 * min(5, seconds)]})
            except RuntimeError:
                return self.script(f'try {{ return {text}; }} catch {{ return null; }}', *arguments)

        return until(look, seconds)

    def click(self, words, scope='body'):
        """Clicks the first button or link with these words, where it is on the page, as a
        pointer would."""
        found = self.wait('[...document.querySelector(arguments[1]).querySelectorAll("button,a,summary")]'
                          '.find((e) => e.textContent.trim().startsWith(arguments[0]) && !e.disabled)',
                          words, scope)
        if not found:
            raise RuntimeError(f'there is no {words} in {scope}: {self.text(scope)[:300]}')
        self.call('POST', f'element/{found[ELEMENT]}/click', {})

    def type(self, selector, text):
        found = self.call('POST', 'element', {'using': 'css selector', 'value': selector})
        self.call('POST', f'element/{found[ELEMENT]}/value', {'text': text})

    def press(self, *keys):
        actions = [{'type': kind, 'value': KEYS.get(key, key)} for key in keys
                   for kind in ('keyDown', 'keyUp')]
        self.call('POST', 'actions', {'actions': [{'type': 'key', 'id': 'keys', 'actions': actions}]})

    def axe(self):
        """What axe-core, which was loaded into the page, finds wrong in it."""
        return self.call('POST', 'execute/async', {'args': [], 'script': '''
            axe.run().then((r) => arguments[0](r.violations.map((v) => v.id + ": " +
                v.nodes.map((n) => n.html.slice(0, 120)).slice(0, 3).join(" | "))))'''})

    def picture(self, path):
        with open(path, 'wb') as out:
            out.write(base64.b64decode(self.call('GET', 'screenshot')))

    def complaints(self):
        return self.call('POST', 'se/log', {'type': 'browser'})

    def close(self):
        try:
            self.call('DELETE', '')
        except (RuntimeError, OSError):
            pass
        try:
            os.killpg(self.driver.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.driver.wait()
        self.log.close()
