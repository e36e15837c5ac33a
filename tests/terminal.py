"""A terminal for tests: runs a program in a pseudo terminal and says what is on its screen.

    with Terminal([program, argument...]) as terminal:
        terminal.see("a text")      # waits until a line has it, and all is drawn; the lines
        terminal.type("keys")
        terminal.ends()             # its exit status
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

import pyte

COLUMNS, LINES = 120, 30
SETTLED = 0.2  # seconds without output: the screen is complete


class Terminal:
    def __init__(self, command, columns=COLUMNS, lines=LINES):
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.child, self.file = pty.fork()
        if not self.child:
            os.environ["TERM"] = "linux"
            for one in (signal.SIGINT, signal.SIGQUIT):  # tests that run in the background ignore them
                signal.signal(one, signal.SIG_DFL)
            os.execvp(command[0], command)
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.open = True

    def __enter__(self):
        return self

    def __exit__(self, *what):
        if self.open:
            os.kill(self.child, 9)
            os.waitpid(self.child, 0)
        os.close(self.file)

    def read(self, seconds):
        if not select.select([self.file], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.file, 65536)
        except OSError:  # the other end is closed
            data = b""
        self.stream.feed(data)
        return bool(data)

    def has_ended(self):
        return os.waitid(os.P_PID, self.child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def see(self, text, seconds=60):
        end = time.monotonic() + seconds
        while not any(text in line for line in self.lines()):
            if time.monotonic() > end or (not self.read(1) and self.has_ended()):
                print("\n".join(self.lines()), file=sys.stderr)
                raise AssertionError(f"not on the screen: {text}")
        while self.read(SETTLED):  # what is drawn comes in pieces
            pass
        return self.lines()

    def type(self, keys):
        os.write(self.file, keys.encode())

    def chosen(self):
        """The line that is shown in reverse."""
        for number in range(LINES):
            row = self.screen.buffer[number]
            if row[1].reverse:
                return "".join(row[i].data for i in range(COLUMNS)).rstrip()
        return None

    def ends(self):
        while self.read(5):
            pass
        self.open = False
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
