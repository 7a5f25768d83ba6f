"""Reads logs and prints what the model was shown: the requests, and the context at the end; a line of JSON for each log.

It needs spec/README.md and no line of Turnstep, and the tests run it over every golden log. It projects; of the rules it checks those two
that say whether it read aright: how many messages a request has, and that an epoch has the hash of its content.
It is lax where a checker must not be: empty lines are passed over wherever they stand.
Usage: python3 reader.py LOG.jsonl...
"""

import hashlib
import json
import re
import sys
from decimal import Decimal

FORMAT = 1


def events_of(path):
    """The events of a log file with the numbers of their lines, the header left out. Raises ValueError for what it cannot read."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode("utf-8")
                if text.strip() == "":
                    continue
                event = json.loads(text)
            except ValueError as error:
                raise ValueError(f"line {number}: no JSON in UTF-8: {error}") from error
            if not isinstance(event, dict) or not isinstance(event.get("type"), str):
                raise ValueError(f"line {number}: no event: it has no type")
            if event["type"] == "turnstep.log":
                if number > 1:
                    raise ValueError(f"line {number}: a header that is not the first line")
                if not isinstance(event.get("format"), int):
                    raise ValueError(f"line {number}: a header without a format")
                if event["format"] > FORMAT:
                    raise ValueError(f"line {number}: format {event['format']} is newer than {FORMAT}")
                continue
            yield number, event


class Projection:
    """The context, as the events build it."""

    def __init__(self):
        self.context = []
        self.late = []  # waits for the next gate
        self.directives = []  # what the user asked of the open turn, by identity
        self.epoch = 0
        self.step = None

    def take(self, event):
        kind = event["type"]
        if kind == "session.created" and event["format"] > FORMAT:
            raise ValueError(f"format {event['format']} is newer than {FORMAT}")
        if kind == "epoch.started":
            check_hash(event["content"])
            self.epoch = event["n"]
        elif kind == "turn.started":
            self.directives = []
        elif kind == "input.entered":
            self.enter(event)
        elif kind == "step.started":
            self.flush()
            self.step = {"reply": None, "calls": [], "ends": {}}
        elif kind == "model.requested":
            self.flush()
        elif kind == "reply.completed":
            self.step["reply"] = event
            self.step["calls"] += event["calls"]
        elif kind == "reply.interrupted" and "note" in event:
            self.late.append(system(event["note"], "interrupted"))
        elif kind == "call.ended":
            self.step["ends"][event["call"]] = event
        elif kind == "call.ended-late":
            self.late.append(system(event["content"], "late-outcome"))
        elif kind == "log.damaged":
            self.late.append(system(event["content"], "damage"))
        elif kind == "step.ended":
            self.end_step()
        elif kind == "stop.vetoed":
            self.context.append({"role": "user", "content": event["content"], "origin": {"kind": "plugin", "name": event["by"]}})
        elif kind == "context.compacted":
            self.compact(event)
        # Every other type changes nothing that a model sees, known or not.

    def flush(self):
        self.context += self.late
        self.late = []

    def enter(self, event):
        self.flush()
        message = {"role": "user", "content": event["content"], "origin": event["origin"], "input": event["input"]}
        self.context.append(message)
        if event["origin"]["kind"] in ("user", "steer"):
            self.directives.append(message)

    def end_step(self):
        step, self.step = self.step, None
        reply = step["reply"]
        if reply is None:
            return
        parts = [part for part in reply["parts"] if part["type"] == "call" or part["text"] != ""]
        if all(part["type"] == "reasoning" for part in parts):
            return
        message = {"role": "assistant", "parts": parts, "calls": [transcript(call) for call in step["calls"]]}
        if "replay" in reply:
            message["replay"] = reply["replay"]
        self.context.append(message)
        for call in step["calls"]:
            end = step["ends"][call["id"]]
            self.context.append(
                {"role": "tool", "call": call["id"], "name": call["name"], "outcome": end["outcome"]["kind"], "content": end["content"]}
            )

    def compact(self, event):
        replaced, rest = self.context[: event["upTo"]], self.context[event["upTo"] :]
        kept = [message for message in replaced if any(message is directive for directive in self.directives)]
        self.context = [system(event["summary"], "summary"), *kept, *rest]


def check_hash(content):
    named = {name: content[name] for name in ("route", "system", "tools")}
    found = hashlib.sha256(canonical(named).encode("utf-8")).hexdigest()
    if content["hash"] != found:
        raise ValueError(f"the hash is {content['hash']}, that of route, system and tools is {found}")


def canonical(value):
    """JSON as section 7 has it."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{quoted(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, str):
        return quoted(value)
    return json.dumps(value) if value is None or isinstance(value, bool) else number(value)


def quoted(text):
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", json.dumps(text, ensure_ascii=False))


def number(value):
    """A number as ECMAScript writes it: the fewest digits that are this double, with an exponent only far from 1."""
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + exponent  # where it stands, counted from the first digit
    if text == "0":
        return "0"
    if 0 < point <= 21:
        text = text.ljust(point, "0") if len(text) <= point else f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{text}"
    else:
        text = f"{text[0]}{'.' if len(text) > 1 else ''}{text[1:]}e{point - 1:+d}"
    return ("-" if sign else "") + text


def system(content, name):
    return {"role": "user", "content": content, "origin": {"kind": "system", "name": name}}


def transcript(call):
    raw = call["rawArgs"]
    blank = raw.strip() in ("", "null")
    return {"id": call["id"], "name": call["name"], "providerId": call["providerId"], "args": "{}" if blank or "args" not in call else raw}


def growth(before, now):
    """The messages as those of the request before that are still in front, and what came behind them."""
    kept = 0
    while kept < min(len(before), len(now)) and before[kept] == now[kept]:
        kept += 1
    return {"kept": kept, "added": now[kept:]}


def request_of(event, projection, seen):
    if event["messages"] != len(projection.context):
        raise ValueError(f"{event['messages']} messages were sent, the log gives {len(projection.context)}")
    asked = {name: event[name] for name in ("seq", "turn", "step", "attempt", "purpose", "toolChoice", "options") if name in event}
    return {**asked, "epoch": projection.epoch, **growth(seen, projection.context)}


def project(path):
    projection, requests, seen, count = Projection(), [], [], 0
    for number, event in events_of(path):
        try:
            projection.take(event)
            if event["type"] == "model.requested":
                requests.append(request_of(event, projection, seen))
                seen = list(projection.context)
        except KeyError as error:
            raise ValueError(f"line {number}: {event['type']} refers to {error}, which is not there") from error
        except (TypeError, AttributeError) as error:
            raise ValueError(f"line {number}: {event['type']} does not fit where it stands, or a field has a wrong value") from error
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
        count += 1
    return {"events": count, "requests": requests, "end": {"late": projection.late, **growth(seen, projection.context)}}


if __name__ == "__main__":
    paths = sys.argv[1:]
    if not paths or paths[0] in ("-h", "--help"):
        print(__doc__.strip(), file=sys.stdout if paths else sys.stderr)
        sys.exit(0 if paths else 2)
    for path in paths:
        try:
            print(json.dumps(project(path)))
        except (OSError, ValueError) as error:
            sys.exit(f"{path}: {error}")
