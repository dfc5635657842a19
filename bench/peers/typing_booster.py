#!/usr/bin/env python3
"""ibus-typing-booster's engine as a peer: its candidates for the word at the end of a text, without user data.

The engine's own Python files, its database in memory and empty, the dictionary en_US; IBus itself is not running. Reads one JSON object a
line, answers one a line:
  {"before": text, "count": n} -> {"words": [whole words]}
The first line it writes says what it is. Exit code 3: not installed.

usage: typing_booster.py      (with the Python that has python3-gi: the system's)
"""
import json
import os
import sys
import tempfile

ENGINE = "/usr/share/ibus-typing-booster/engine"


def load():
    os.environ["HOME"] = tempfile.mkdtemp(prefix="laya-peer-")  # its own folders: nobody's data is read or written
    sys.path.insert(0, ENGINE)
    try:
        import itb_util
        import itb_version
        import tabsqlitedb
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), flush=True)
        sys.exit(3)
    database = tabsqlitedb.TabSqliteDb(user_db_file=":memory:")
    database.hunspell_obj.set_dictionary_names(["en_US"])
    return itb_util, itb_version.get_version(), database


def words(itb_util, database, before, count):
    stem, blank, typed = before.rpartition(" ")
    tokens = itb_util.tokenize(stem) if blank else []
    context = [token for token in tokens if token.strip()][-2:]
    p_phrase = context[-1] if context else ""
    pp_phrase = context[-2] if len(context) > 1 else ""
    return [phrase for phrase, _ in database.select_words(typed, p_phrase=p_phrase, pp_phrase=pp_phrase)][:count]


def main():
    itb_util, version, database = load()
    print(json.dumps({"name": f"ibus-typing-booster {version}, no user data"}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        found = words(itb_util, database, command["before"], command["count"])
        print(json.dumps({"words": found}), flush=True)


if __name__ == "__main__":
    main()
