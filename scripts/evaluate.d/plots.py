# SPDX-License-Identifier: Apache-2.0
"""Draw figures of an evaluation as SVG: dots with error bars, one row for each value, text that is text.

A drawing has its own background and two sets of colours, of which the reader's browser takes one; series differ in their
shape too. Widths of texts are reckoned from above, so that no label reaches into the next column.
"""

import dataclasses
import html
import math

WIDTH, ROW, GROUP_GAP, TICKS = 960, 11, 9, 26
CHARACTER = 7.2  # more than a character of 12 px takes on average
# The shape and colour of a series, in light and in dark: as many as a page can have variants.
LIGHT = ("#0b5cad", "#3d8bd9", "#7a4fb5", "#b3541e", "#d98324", "#2b7a4b", "#a3195b", "#5f6b0a", "#00777f", "#57606a")
DARK = ("#5aa9f5", "#9ccbff", "#c3a3f2", "#f0976a", "#f5c06b", "#6fd197", "#ff8cc0", "#c8d45a", "#5fd5de", "#b1bac4")
SHAPES = ("circle", "circle", "circle", "square", "square", "triangle", "triangle", "triangle", "square", "circle")


@dataclasses.dataclass
class Dot:
    """A value with the ends of its error bar; `text` stands at the right end of its row, `hollow` is a warning."""

    value: float
    low: float
    high: float
    series: int = 0
    text: str = ""
    hollow: bool = False


@dataclasses.dataclass
class Group:
    """Rows below each other that have one label."""

    label: str
    dots: list
    heading: str = ""  # begins a part of the drawing


def style():
    def rules(background, text, grid, mark, colours):
        series = "".join(".s%d{fill:%s;stroke:%s}" % (i, c, c) for i, c in enumerate(colours))
        return (".back{fill:%s}text{fill:%s}.heading{stroke:%s}.grid{stroke:%s}.mark{stroke:%s}%s.hollow{fill:%s}"
                % (background, text, background, grid, mark, series, background))
    return ("<style>text{font:12px system-ui,sans-serif}.title{font-weight:600;font-size:15px}.heading{font-weight:600;paint-order:stroke;stroke-width:5px}"
            ".end{text-anchor:end}.middle{text-anchor:middle}.bar{stroke-width:1.4;fill:none}.mark{stroke-dasharray:4 3}"
            "%s@media (prefers-color-scheme:dark){%s}</style>" % (
                rules("#ffffff", "#1f2328", "#e3e7eb", "#8a929b", LIGHT), rules("#0d1117", "#e6edf3", "#272d36", "#8b949e", DARK)))


def text(x, y, words, kind=""):
    return '<text x="%.1f" y="%.1f"%s>%s</text>' % (x, y, ' class="%s"' % kind if kind else "", html.escape(words))


def line(x1, y1, x2, y2, kind):
    return '<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>' % (x1, y1, x2, y2, kind)


def marker(x, y, series, hollow=False):
    kind = "s%d%s" % (series, " hollow" if hollow else "")
    shape = SHAPES[series]
    if shape == "circle":
        return '<circle cx="%.1f" cy="%.1f" r="3.6" class="%s"/>' % (x, y, kind)
    if shape == "square":
        return '<rect x="%.1f" y="%.1f" width="6.4" height="6.4" class="%s"/>' % (x - 3.2, y - 3.2, kind)
    return '<path d="M%.1f %.1fl4 7h-8z" class="%s"/>' % (x, y - 4, kind)


def step(span):
    """A round distance of ticks, of which there are at most ten."""
    rough = span / 8
    power = 10 ** math.floor(math.log10(rough))
    return next(power * m for m in (1, 2, 5, 10) if power * m >= rough)


class Scale:
    """Places of values between `left` and `right`; what is beyond the last tick stands at the end."""

    def __init__(self, values, left, right, whole, most):
        self.left, self.right = left, right
        low, high = min([*values, whole]), min(max([*values, whole]), most)
        self.step = step(max(high - low, 1e-9))
        self.low = math.floor(low / self.step + 1e-9) * self.step
        self.high = math.ceil(high / self.step - 1e-9) * self.step
        if self.high <= self.low:
            self.high = self.low + self.step

    def __call__(self, value):
        part = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.left + part * (self.right - self.left)

    def ticks(self):
        count = round((self.high - self.low) / self.step)
        return [self.low + i * self.step for i in range(count + 1)]


def legend(names, y):
    """The series by shape and colour, in as many lines as they need: (elements, the next free line)."""
    out, x = [], 20.0
    for i, name in enumerate(names):
        width = 24 + CHARACTER * len(name)
        if x + width > WIDTH - 20:
            x, y = 20.0, y + 18
        out += [marker(x + 5, y - 4, i), text(x + 14, y, name)]
        x += width
    return out, y + 18 if names else y


def error_bar(dot, y, scale):
    """The dot with its bar; an arrow stands where a value is beyond the scale."""
    x, low, high = scale(dot.value), scale(dot.low), scale(dot.high)
    kind = "bar s%d" % dot.series
    out = [line(low, y, high, y, kind), line(low, y - 3, low, y + 3, kind)]
    out.append(line(high, y - 3, high, y + 3, kind) if dot.high <= scale.high else
               '<path d="M%.1f %.1fl6 4l-6 4z" class="s%d"/>' % (scale.right, y - 4, dot.series))
    return out + ([marker(x, y, dot.series, dot.hollow)] if dot.value <= scale.high else [])


def rows(groups, scale, y, label_end):
    """All groups below each other: (elements, where they end)."""
    out = []
    for group in groups:
        if group.heading:
            y += 14
            out.append(text(20, y + 4, group.heading, "heading"))
            y += 18
        height = max(ROW * len(group.dots), 16)
        out.append(text(label_end, y + height / 2 + 4, group.label, "end"))
        for i, dot in enumerate(group.dots):
            at = y + (i + 0.5) * height / len(group.dots)
            out += error_bar(dot, at, scale)
            if dot.text:
                out.append(text(scale.right + 14, at + 4, dot.text))
        y += height + GROUP_GAP
    return out, y


def grid(scale, top, bottom, form, whole):
    out = []
    for value in scale.ticks():
        x = scale(value)
        out += [line(x, top, x, bottom, "grid"), text(x, top - 8, form % value, "middle"), text(x, bottom + 16, form % value, "middle")]
    if scale.low <= whole <= scale.high:
        out.append(line(scale(whole), top, scale(whole), bottom, "mark"))
    return out


def draw(title, notes, names, groups, form="%g", whole=0.0, most=math.inf):
    """The drawing as text. `names`: of the series, for a legend; `whole`: the value of a dashed line, which is always
    there; `most`: the scale ends there, and what is beyond has an arrow."""
    dots = [dot for group in groups for dot in group.dots]
    label_end = 20 + CHARACTER * max(len(group.label) for group in groups)
    right = WIDTH - 30 - CHARACTER * max(len(dot.text) for dot in dots)
    scale = Scale([v for dot in dots for v in (dot.value, dot.low, dot.high)], label_end + 16, right, whole, most)
    if any(dot.high > scale.high for dot in dots):
        notes = (*notes, "An arrow at the right end: beyond the scale; the table has the number.")
    head = [text(20, 28, title, "title")]
    head += [text(20, 48 + 17 * i, note) for i, note in enumerate(notes)]
    keys, y = legend(names, 54 + 17 * len(notes))
    top = y + TICKS
    body, bottom = rows(groups, scale, top + 6, label_end)
    height = bottom + TICKS
    return "\n".join([
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" width="%d" height="%.0f" role="img">' % (
            WIDTH, height, WIDTH, height),
        "<title>%s</title>" % html.escape(title), style(), '<rect width="100%" height="100%" class="back"/>',
        *head, *keys, *grid(scale, top, bottom, form, whole), *body, "</svg>", ""])
