#!/usr/bin/env python3
"""duckdb.py LIBRARY DATABASE QUERIES: answers of DuckDB, whose library is LIBRARY, and of SQLite.

DATABASE is what `litifut-post -f sqlite` has written. DuckDB would open it by an extension, which is not in
any package; here it has tables with the same names, columns and contents, and the views by the text in the
database. QUERIES is SQL, each query ends with a semicolon at the end of a line. Fails when a view or a query
is refused, or has another answer than SQLite's."""
import csv
import ctypes
import os
import re
import sqlite3
import sys
import tempfile


class DuckDB:
    """A database in memory, by the C interface of DuckDB."""

    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.library.duckdb_result_error.restype = ctypes.c_char_p
        self.library.duckdb_row_count.restype = ctypes.c_uint64
        self.library.duckdb_column_count.restype = ctypes.c_uint64
        self.library.duckdb_value_varchar.restype = ctypes.c_char_p
        self.library.duckdb_value_varchar.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
        database = ctypes.c_void_p()
        self.connection = ctypes.c_void_p()
        assert self.library.duckdb_open(None, ctypes.byref(database)) == 0
        assert self.library.duckdb_connect(database, ctypes.byref(self.connection)) == 0

    def ask(self, query):
        """Rows of text, None where a value is NULL. The result of the interface has 48 bytes."""
        result = ctypes.create_string_buffer(64)
        if self.library.duckdb_query(self.connection, query.encode(), result):
            raise SystemExit("DuckDB refuses %s\n%s" % (
                query, self.library.duckdb_result_error(result).decode()))
        columns = range(self.library.duckdb_column_count(result))
        return [[self.value(result, column, row) for column in columns]
                for row in range(self.library.duckdb_row_count(result))]

    def value(self, result, column, row):
        text = self.library.duckdb_value_varchar(result, column, row)
        return None if text is None else text.decode()


def copied(sqlite, duckdb, folder):
    """All tables, then all views."""
    for name, in sqlite.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = sqlite.execute("PRAGMA table_info(%s)" % name).fetchall()
        types = {"INTEGER": "BIGINT", "TEXT": "VARCHAR"}
        duckdb.ask('CREATE TABLE %s(%s)' % (name, ", ".join('"%s" %s' % (c[1], types[c[2]]) for c in columns)))
        path = os.path.join(folder, name)
        with open(path, "w", newline="") as file:
            for row in sqlite.execute("SELECT * FROM " + name):
                csv.writer(file).writerow("\\N" if value is None else value for value in row)
        duckdb.ask("COPY %s FROM '%s' (AUTO_DETECT false, HEADER false, DELIM ',', QUOTE '\"', ESCAPE '\"', "
                   "NULL '\\N')" % (name, path))
    for text, in sqlite.execute("SELECT sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid").fetchall():
        duckdb.ask(text)


def comparable(rows):
    """In any order, as rows with equal keys have none; numbers have six digits."""
    def one(value):
        try:
            return "%.6g" % float(value)
        except (TypeError, ValueError):
            return "NULL" if value is None else str(value)
    return sorted([one(value) for value in row] for row in rows)


def main():
    library, database, queries = sys.argv[1:4]
    sqlite, duckdb = sqlite3.connect(database), DuckDB(library)
    with tempfile.TemporaryDirectory() as folder:
        copied(sqlite, duckdb, folder)
    views = ["SELECT * FROM " + name for name, in
             sqlite.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall()]
    with open(queries) as file:
        asked = [query for query in file.read().split(";\n") if query.strip()]
    answered = 0
    for query in views + asked:
        query = re.sub(r" LIMIT \d+$", "", query) # of equal rows, any may be the last one
        theirs, ours = comparable(duckdb.ask(query)), comparable(sqlite.execute(query).fetchall())
        if theirs != ours:
            raise SystemExit("%s\nDuckDB answers %s\nSQLite answers %s" % (query, theirs[:5], ours[:5]))
        answered += bool(ours)
    print("%d views, %d queries, %d with an answer" % (len(views), len(asked), answered))


main()
