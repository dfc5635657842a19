#!/usr/bin/env python3
"""Writes gestures.jsonl, game.jsonl and candidates.tsv beside itself: small decisions of our own, for
tests and for the examples of src/model/DECISION.md. The same seed gives the same files."""
import json
import math
import pathlib
import random

HERE = pathlib.Path(__file__).parent
EXAMPLES = 1600


def write_examples(name, examples):
    with open(HERE / name, "w", encoding="utf-8") as out:
        for window, action in examples:
            out.write(json.dumps({"window": window, "action": action}, separators=(",", ":")) + "\n")


def gesture(rng):
    """Touch events ▶ what the finger meant. Tokens: 0 down, 1 up, 2 still, 3…10 a move to the east,
    north-east … south-east. Actions: 0 tap, 1 long press, 2 swipe sideways, 3 scroll."""
    action = rng.choices(range(4), weights=[4, 2, 3, 3])[0]
    moves = {0: 0, 1: 0, 2: rng.randint(3, 6), 3: rng.randint(3, 6)}[action]
    events = [0]
    if action == 1:
        events += [2] * rng.randint(3, 6)
    if action == 0 and rng.random() < 0.5:
        events.append(2)
    heading = {2: rng.choice([0, 4]), 3: rng.choice([2, 6])}.get(action, 0)
    for _ in range(moves):
        # A thumb moves on an arc: one step in three is an eighth of a turn off, and it may rest.
        off = rng.choice([0, 0, 0, 0, 1, -1])
        events.append(2 if rng.random() < 0.1 else 3 + (heading + off) % 8)
    if rng.random() < 0.6:  # the others are decided before the finger is lifted
        events.append(1)
    return events[-8:], action


def game(rng):
    """Rock, paper, scissors against a player with habits ▶ the player's next move. A token is a round:
    3 * ours + theirs (0 rock, 1 paper, 2 scissors). The player repeats what won, and after a loss plays
    what would have beaten our last move; one time in eight anything at all."""
    rounds = []
    theirs = rng.randrange(3)
    for _ in range(rng.randint(2, 12)):
        ours = rng.randrange(3)
        rounds.append(3 * ours + theirs)
        if rng.random() < 1 / 8:
            theirs = rng.randrange(3)
        elif (theirs - ours) % 3 == 1:  # won: stays
            pass
        elif theirs == ours:  # drawn: goes one on
            theirs = (theirs + 1) % 3
        else:
            theirs = (ours + 1) % 3
    return rounds[-8:], theirs


def candidates(rng, out):
    """Words and emoji in the order of a score ▶ the one that was picked. What the score does not know:
    an emoji is wanted after a colon and hardly ever else, and what was picked before is picked again."""
    colon = rng.random() < 0.3
    rows = []
    for _ in range(rng.randint(2, 6)):
        emoji = rng.random() < 0.4
        before = rng.random() < 0.25
        score = rng.gauss(-4, 1.5)
        wish = score + (4 if emoji and colon else -4 if emoji else 0) + (2.5 if before else 0)
        rows.append((score, int(emoji), int(colon), int(before), wish))
    rows.sort(key=lambda row: -row[0])
    none = rng.random() < 0.15
    weights = [math.exp(1.5 * row[4]) for row in rows]
    right = None if none else rng.choices(range(len(rows)), weights=weights)[0]
    for i, row in enumerate(rows):
        out.write(f"{int(i == right)}\t{row[0]:.3f}\t{row[1]}\t{row[2]}\t{row[3]}\n")
    out.write("\n")


def main():
    rng = random.Random(5)
    write_examples("gestures.jsonl", (gesture(rng) for _ in range(EXAMPLES)))
    write_examples("game.jsonl", (game(rng) for _ in range(EXAMPLES)))
    with open(HERE / "candidates.tsv", "w", encoding="utf-8") as out:
        out.write("#laya-ranking 1\n#features\tlog_prob\tis_emoji\tafter_colon\tpicked_before\n")
        for _ in range(EXAMPLES):
            candidates(rng, out)


if __name__ == "__main__":
    main()
