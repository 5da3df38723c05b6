"""The tables of a store's history."""

INSERT, UPDATE, DELETE = 0, 1, 2


class History:
    """`transactions` are dictionaries: author, context, bundle, process (texts or missing), time (seconds since 2001), and changes: each
    (type, object, places of changed columns, tombstone values)."""

    def __init__(self, store, tombstones=0, inline=False):
        self.db, self.model, self.inline = store.db, store.model, inline
        self.strings, self.last, self.change = {}, 0, 0
        extra = ''.join(f', ZTOMBSTONE{n} BLOB' for n in range(tombstones))
        run = self.db.execute
        run('CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, '
            f'ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB{extra} )')
        run('CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, '
            'ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, '
            'ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )')
        run('CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )')
        run('CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)')
        for number, name in ((16001, 'CHANGE'), (16002, 'TRANSACTION'), (16003, 'TRANSACTIONSTRING')):
            run('INSERT INTO Z_PRIMARYKEY VALUES (?, ?, 0, 0)', (number, name))

    def text(self, value):
        if value is None:
            return None
        if value not in self.strings:
            self.strings[value] = len(self.strings) + 1
            self.db.execute('INSERT INTO ATRANSACTIONSTRING VALUES (?, 16003, NULL, ?)', (self.strings[value], value))
        return self.strings[value]

    def write(self, transactions):
        self.db.execute('BEGIN')
        for each in transactions:
            self.last += 1
            texts = [each.get(name) for name in ('author', 'bundle', 'context', 'process')]
            interned, plain = ([None] * 4, texts) if self.inline else ([self.text(t) for t in texts], [None] * 4)
            self.db.execute(
                'INSERT INTO ATRANSACTION VALUES (?, 16002, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)',
                (self.last, *interned, each['time'], *plain))
            for type, (entity, pk), columns, tombstone in each['changes']:
                self.change += 1
                names = ''.join(f', ZTOMBSTONE{n}' for n in range(len(tombstone)))
                marks = ', ?' * len(tombstone)
                self.db.execute(
                    'INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS'
                    f'{names}) VALUES (?, 16001, NULL, ?, ?, ?, ?, ?{marks})',
                    (self.change, type, self.model.numbers[entity], pk, self.last, columns, *tombstone))
        self.db.execute('UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = 16001', (self.change,))
        self.db.execute('UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = 16002', (self.last,))
        self.db.execute('COMMIT')
