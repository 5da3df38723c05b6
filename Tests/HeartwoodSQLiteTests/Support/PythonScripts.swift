/// Programs in Python that make databases, and write what SQLite reads in them.
enum PythonScripts {
  /// `dump(path, out)` writes all tables and rows of a database in the form that `Dump` reads, from a copy of its files.
  static let common = #"""
    import os, random, shutil, signal, sqlite3, struct, sys, tempfile

    class Text(bytes):
        pass

    def quoted(name):
        return '"' + name.replace('"', '""') + '"'

    def cell(value):
        if value is None: return b'n' + struct.pack('<I', 0)
        if isinstance(value, int): return b'i' + struct.pack('<Iq', 8, value)
        if isinstance(value, float): return b'r' + struct.pack('<Id', 8, value)
        return (b't' if isinstance(value, Text) else b'b') + struct.pack('<I', len(value)) + value

    def text(value):
        data = value.encode('utf-8')
        return struct.pack('<I', len(data)) + data

    def dump(path, out, lookups=0):
        folder = tempfile.mkdtemp(dir='.')
        for end in ['', '-wal', '-journal']:
            if os.path.exists(path + end): shutil.copy(path + end, folder + '/copy.db' + end)
        data = bytearray()
        try:
            db = sqlite3.connect(folder + '/copy.db')
            data += b'S' if db.execute('pragma integrity_check').fetchone()[0] == 'ok' else b'D'
            db.text_factory = Text
            names = [str(row[0], 'utf-8') for row in db.execute("select name from sqlite_master where type = 'table' and rootpage > 0")]
            for name in names:
                order = ''
                columns = [row for row in db.execute('pragma table_xinfo(%s)' % quoted(name)) if row[6] != 2]
                try:
                    db.execute('select rowid from %s' % quoted(name))
                    rowid = 'rowid'
                except sqlite3.OperationalError:
                    rowid = '0'
                    # An index that has all columns would be read in its own order.
                    key = [str(row[1], 'utf-8') for row in db.execute('pragma index_list(%s)' % quoted(name)) if row[3] == b'pk'][0]
                    order = ' order by ' + ', '.join('%s collate %s %s' % (quoted(str(part[2], 'utf-8')), str(part[4], 'utf-8'), 'desc' if part[3] else '')
                        for part in db.execute('pragma index_xinfo(%s)' % quoted(key)) if part[5])
                data += b'T' + text(name) + struct.pack('<BI', rowid == '0', len(columns))
                for column in columns:
                    data += text(str(column[1], 'utf-8')) + text(str(column[2], 'utf-8')) + struct.pack('<BI', column[3], column[5])
                for row in db.execute('select %s, %s from %s not indexed%s' % (rowid, ', '.join(quoted(str(c[1], 'utf-8')) for c in columns), quoted(name), order)):
                    data += b'R' + struct.pack('<q', row[0])
                    for value in row[1:]: data += cell(value)
            if lookups: data += index_lookups(db, lookups)
            data += b'E'
            db.close()
        except sqlite3.Error as error:
            data = b'X' + text(str(error))
        shutil.rmtree(folder)
        with open(out, 'wb') as file: file.write(data)

    def index_lookups(db, count):
        data = bytearray()
        for name, table in db.execute("select name, tbl_name from sqlite_master where type = 'index'").fetchall():
            name, table = str(name, 'utf-8'), str(table, 'utf-8')
            info = [row for row in db.execute('pragma index_xinfo(%s)' % quoted(name)) if row[5]]
            try: db.execute('select rowid from %s' % quoted(table))
            except sqlite3.OperationalError: continue
            if any(row[1] < 0 for row in info): continue
            partial = [row[4] for row in db.execute('pragma index_list(%s)' % quoted(table)) if str(row[1], 'utf-8') == name][0]
            if partial: continue
            columns = [str(row[2], 'utf-8') for row in info]
            lists = ', '.join(quoted(c) for c in columns)
            rows = db.execute('select %s from %s' % (lists, quoted(table))).fetchall()
            for key in random.sample(rows, min(count, len(rows))):
                used = random.randint(1, len(key))
                # The parameter has no affinity and no collation, but the column has; the unary plus keeps it from conversion.
                condition = ' and '.join('%s is ?%d collate %s' % (quoted(columns[i]), i + 1, str(info[i][4], 'utf-8')) for i in range(used))
                key = [str(v, 'utf-8') if isinstance(v, Text) else v for v in key[:used]]
                found = sorted(row[0] for row in db.execute('select rowid from %s where %s' % (quoted(table), condition), key))
                data += b'L' + text(name) + struct.pack('<I', used)
                for value in key: data += cell(Text(value.encode('utf-8')) if isinstance(value, str) else value)
                data += struct.pack('<I', len(found)) + b''.join(struct.pack('<q', r) for r in found)
        return data

    letters = 'abcxyzABCXYZ   019_\u00e4\u00f6\u4e2d\u6587\U0001f333'

    def random_text(r):
        kind = r.randrange(12)
        if kind == 0: return ''
        if kind == 1: return str(r.randrange(-1000, 1000))
        if kind == 2: return '%.3f' % r.uniform(-10, 10)
        if kind == 3 and r.randrange(3) == 0: return ''.join(r.choice(letters) for _ in range(40)) * r.randrange(200)
        return ''.join(r.choice(letters) for _ in range(r.randrange(30)))

    def random_value(r):
        kind = r.randrange(11)
        if kind == 0: return None
        if kind == 1: return r.choice([0, 1, -1, 127, 128, -129, 32767, 32768, 8388607, 8388608, 2147483648, -2147483649, 140737488355327, 140737488355328, 2**63 - 1, -2**63])
        if kind < 4: return r.randrange(-2**r.randrange(1, 63), 2**r.randrange(1, 63))
        if kind < 6: return r.choice([0.0, 1.0, -5.0, 1e300, 2.5, 1e-300, float('inf'), float(2**53), r.uniform(-100, 100)])
        if kind < 9: return random_text(r)
        size = r.randrange(100)
        if r.randrange(12) == 0: size = r.randrange(9000)
        if r.randrange(150) == 0: size = r.randrange(200000)
        return r.randbytes(size)
    """#

  /// Makes databases of random schemas: arguments are the first seed and the number of databases.
  static let databases = #"""
    types = ['INTEGER', 'int', 'TEXT', 'VARCHAR(20)', 'BLOB', 'REAL', 'double precision', 'NUMERIC', 'DECIMAL(10, 5)', '', 'BOOLEAN', 'TIMESTAMP', '"odd type"']
    names = ['a', 'B', 'c d', 'select', 'Z_PK', 'Order', 'x"y', '\u00e4', 'primary', 'k1', 'k2', 'k3', "it's", 'generated']
    defaults = ["7", "-7", "+3", "1.50", "-2.5e3", "'text'", "'it''s'", "'12'", "' 3.5 '", "x'00ff'", "null", "true", "(5)", "(-6)", "('q')", '"word"', "0x10", "12345678901"]

    def column(r, name, used):
        type = r.choice(types)
        parts = [quoted(name) if r.randrange(3) or not name.isalnum() or name.lower() in ('select', 'order', 'primary') else name, type]
        if r.randrange(4) == 0: parts.append('/* a, (comment) */')
        if r.randrange(3) == 0: parts.append('default ' + r.choice(defaults))
        if r.randrange(4) == 0: parts.append('collate ' + r.choice(['nocase', 'RTRIM', 'binary']))
        if r.randrange(6) == 0: parts.append("check (1 in (1, 2) and ')' <> '(')")
        if r.randrange(6) == 0: parts.append('references other(x, y) on delete set null deferrable initially deferred' if False else 'references other on delete cascade')
        if used and r.randrange(8) == 0:
            parts.append(r.choice(['generated always as (%s)', 'as (coalesce(%s, 1, (2)))']) % quoted(used[0]) + r.choice([' stored', ' virtual', '']))
            return ' '.join(parts).replace(parts[2], '') if parts[2].startswith('default') else ' '.join(p for p in parts if not p.startswith('default')), True
        return ' '.join(parts), False

    def reserving(db, path, count):
        # Extensions that encrypt keep bytes at the end of each page; the module has no call for it.
        db.execute('pragma user_version = 1')
        db.close()
        with open(path, 'r+b') as file:
            start = file.read(512)
            size = struct.unpack('>H', start[16:18])[0]
            file.seek(20)
            file.write(bytes([count]))
            file.seek(105)
            file.write(struct.pack('>H', (65536 if size == 1 else size) - count))
        return sqlite3.connect(path, isolation_level=None)

    def make(path, seed):
        r = random.Random(seed)
        db = sqlite3.connect(path, isolation_level=None)
        db.execute('pragma page_size = %d' % r.choice([512, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536]))
        db.execute("pragma encoding = '%s'" % r.choice(['UTF-8', 'UTF-8', 'UTF-16le', 'UTF-16be']))
        db.execute('pragma auto_vacuum = %d' % r.randrange(3))
        if r.randrange(4) == 0: db = reserving(db, path, r.choice([1, 8, 24, 32]))
        log = r.randrange(3) == 0
        db.execute('pragma journal_mode = %s' % ('wal' if log else 'delete'))
        db.execute('pragma synchronous = off')
        if log: db.execute('pragma wal_autocheckpoint = %d' % r.choice([0, 5, 1000]))
        tables = []
        for t in range(r.randrange(1, 5)):
            table = r.choice(['T', 'select ', "t'", 'Z']) + str(t)
            chosen = r.sample(names, r.randrange(1, 8))
            lines, used = [], []
            key = r.randrange(6)
            without = False
            inserted = []
            if key == 0: lines.append('id INTEGER PRIMARY KEY'); 
            if key == 1: lines.append('"id" integer primary key autoincrement not null')
            if key == 2: lines.append('id integer'); 
            if key == 3: lines.append('id INTEGER PRIMARY KEY DESC')
            inserted += ['id'] if key < 4 else []
            for name in chosen:
                line, generated = column(r, name, used)
                lines.append(line)
                if not generated:
                    used.append(name)
                    inserted.append(name)
            if key == 2: lines.append('constraint pk primary key (id desc)')
            if key == 4 and used:
                parts = r.choices(used, k=r.randrange(1, 4))
                lines.append('primary key (%s)' % ', '.join(quoted(p) + r.choice(['', ' desc', ' collate nocase', ' collate binary']) for p in parts))
                without = r.randrange(2) == 0
            if used and r.randrange(3) == 0: lines.append('constraint u unique (%s)' % ', '.join(quoted(p) for p in r.sample(used, min(2, len(used)))))
            if r.randrange(4) == 0: lines.append("-- a comment, with (\n check (1)")
            sql = 'create table %s (%s)%s' % (quoted(table), ', '.join(lines), ' without rowid' if without else '')
            db.execute(sql)
            tables.append((table, inserted))
            for i in range(r.randrange(3)):
                if used:
                    parts = ', '.join(quoted(p) + r.choice(['', ' desc', ' collate nocase', ' collate rtrim']) for p in r.sample(used, min(len(used), r.randrange(1, 4))))
                    db.execute('create %s index %s on %s (%s)%s' % (r.choice(['', '']), quoted('i %d %s' % (i, table)), quoted(table), parts, r.choice(['', '', ' where 1 = 1'])))
        wanted = r.choice([3, 30, 200])
        for round in range(3):
            db.execute('begin')
            for table, columns in tables:
                for _ in range(r.randrange(wanted)):
                    values = [random_value(r) for _ in columns]
                    if columns[0] == 'id': values[0] = r.choice([None, r.randrange(-1000, 100000), r.randrange(2**40)])
                    try: db.execute('insert into %s (%s) values (%s)' % (quoted(table), ', '.join(map(quoted, columns)), ', '.join('?' * len(columns))), values)
                    except sqlite3.IntegrityError: pass
                if r.randrange(2): db.execute('delete from %s where %s %% 3 = 0' % (quoted(table), 'length(%s)' % quoted(columns[-1])))
                if r.randrange(5) == 0: db.execute('delete from %s' % quoted(table))
                if r.randrange(3) == 0:
                    name = 'added%d' % round
                    db.execute('alter table %s add column %s %s default %s' % (quoted(table), name, r.choice(types), r.choice(defaults)))
                    columns.append(name)
            db.execute('commit')
            if r.randrange(5) == 0 and log: db.execute('pragma wal_checkpoint(%s)' % r.choice(['passive', 'truncate', 'restart']))
            if r.randrange(6) == 0: db.execute('pragma incremental_vacuum(3)')
        # A copy keeps the log that closing would remove.
        shutil.copy(path, path + '.copy')
        if os.path.exists(path + '-wal'): shutil.copy(path + '-wal', path + '.copy-wal')
        db.close()

    first, count = int(sys.argv[1]), int(sys.argv[2])
    for seed in range(first, first + count):
        make('%d.db' % seed, seed)
        random.seed(seed)
        dump('%d.db.copy' % seed, '%d.dump' % seed, lookups=4)
    """#

  /// Makes databases whose writers end within a transaction, and copies of them with a log or journal that is cut or
  /// changed: arguments are the first seed, the number of databases, and the number of copies of each.
  static let interruptedWriters = #"""
    def write(path, seed):
        # Runs in a process of its own, which kills itself.
        r = random.Random(seed)
        db = sqlite3.connect(path, isolation_level=None)
        db.execute('pragma page_size = %d' % r.choice([512, 1024, 4096, 65536]))
        mode = r.choice(['wal', 'wal', 'wal', 'delete', 'truncate', 'persist'])
        db.execute('pragma journal_mode = %s' % mode)
        db.execute('pragma synchronous = %s' % r.choice(['off', 'normal', 'full']))
        # Few pages in memory: a transaction writes before it ends.
        db.execute('pragma cache_size = %d' % r.choice([2, 5, 1000]))
        if mode == 'wal': db.execute('pragma wal_autocheckpoint = %d' % r.choice([0, 3, 20]))
        db.execute('create table a (id integer primary key, t text, b blob)')
        db.execute('create table b (x, y, primary key (x)) without rowid')
        steps = r.randrange(1, 12)
        last = r.randrange(60)
        for step in range(steps + 1):
            db.execute('begin immediate')
            for i in range(last if step == steps else r.randrange(40)):
                kind = r.randrange(10)
                if kind < 5: db.execute('insert into a (t, b) values (?, ?)', (random_text(r), random_value(r)))
                elif kind < 7: db.execute('update a set b = ? where id % 5 = ?', (r.randbytes(r.randrange(600)), r.randrange(5)))
                elif kind < 8: db.execute('delete from a where id % 7 = ?', (r.randrange(7),))
                else: db.execute('insert or replace into b values (?, ?)', (r.randrange(100), random_value(r)))
            if step == steps: break
            db.execute('commit' if r.randrange(6) else 'rollback')
            if mode == 'wal' and r.randrange(4) == 0: db.execute('pragma wal_checkpoint(%s)' % r.choice(['passive', 'truncate', 'restart']))
        os.kill(os.getpid(), signal.SIGKILL)

    first, count, copies = (int(word) for word in sys.argv[1:])
    for seed in range(first, first + count):
        path = '%d.db' % seed
        child = os.fork()
        if child == 0:
            try: write(path, seed)
            finally: os._exit(1)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        dump(path, '%d.dump' % seed)
        r = random.Random(seed + 1)
        for end in ['-wal', '-journal']:
            if not os.path.exists(path + end): continue
            with open(path + end, 'rb') as file: whole = file.read()
            for copy in range(copies if whole else 0):
                name = '%d-%d.db' % (seed, copy)
                shutil.copy(path, name)
                changed = bytearray(whole)
                if r.randrange(2): changed = changed[:r.randrange(len(whole))]
                else: changed[r.choice([r.randrange(len(whole)), r.randrange(min(64, len(whole)))])] ^= r.randrange(1, 256)
                with open(name + end, 'wb') as file: file.write(changed)
                dump(name, '%d-%d.dump' % (seed, copy))
    """#

  /// Makes a log whose checksums are of words with the higher byte first, as machines of that order write them.
  static let otherByteOrder = #"""
    def sums(data, first, second):
        for at in range(0, len(data), 8):
            x, y = struct.unpack('>II', data[at:at + 8])
            first = (first + x + second) & 0xffffffff
            second = (second + y + first) & 0xffffffff
        return first, second

    db = sqlite3.connect('a.db', isolation_level=None)
    db.execute('pragma page_size = 1024')
    db.execute('pragma journal_mode = wal')
    db.execute('create table a (id integer primary key, t)')
    for i in range(30): db.execute('insert into a (t) values (?)', ('x' * i * 10,))
    shutil.copy('a.db', 'copy.db')
    with open('a.db-wal', 'rb') as file: log = bytearray(file.read())
    log[0:4] = struct.pack('>I', 0x377f0683)
    pair = sums(log[:24], 0, 0)
    log[24:32] = struct.pack('>II', *pair)
    for at in range(32, len(log), 1048):
        pair = sums(log[at:at + 8] + log[at + 24:at + 1048], *pair)
        log[at + 16:at + 24] = struct.pack('>II', *pair)
    with open('copy.db-wal', 'wb') as file: file.write(log)
    dump('copy.db', 'copy.dump')
    """#

  /// Keeps a database open in the states that its log passes through. It reads a line for each state and answers with
  /// a line when what SQLite reads is in `state.dump`, and ends after the last.
  static let openLog = #"""
    db = sqlite3.connect('a.db', isolation_level=None)
    other = sqlite3.connect('a.db', isolation_level=None)
    db.execute('pragma page_size = 1024')
    db.execute('pragma journal_mode = wal')
    db.execute('pragma wal_autocheckpoint = 0')
    db.execute('create table a (id integer primary key, t)')
    def insert(count):
        db.execute('begin')
        for _ in range(count): db.execute('insert into a (t) values (?)', ('x' * random.randrange(700),))
        db.execute('commit')
    def checkpoint(mode): db.execute('pragma wal_checkpoint(%s)' % mode).fetchall()
    def begin(): other.execute('begin'); other.execute('select count(*) from a').fetchone()
    states = [
        lambda: insert(5), lambda: insert(50), begin, lambda: insert(50), lambda: checkpoint('passive'),
        lambda: insert(3), lambda: other.execute('commit'), lambda: checkpoint('passive'), lambda: insert(2),
        lambda: checkpoint('restart'), lambda: insert(70), lambda: checkpoint('truncate'), begin, lambda: insert(5),
        # A transaction that has not ended, and has written into the log.
        lambda: (db.execute('pragma cache_size = 1'), db.execute('begin'), db.execute("update a set t = t || 'y'")),
        lambda: db.execute('rollback'), lambda: insert(1),
    ]
    for number, state in enumerate(states):
        sys.stdin.readline()
        state()
        # A copy without the shared memory: SQLite reads what ended.
        dump('a.db', 'state.dump')
        print(number, number + 1 == len(states), flush=True)
    """#

  /// Changes a database again and again until its input ends, and answers each line with the number of transactions:
  /// every one sets all rows to its number. The arguments are the journal mode, and how many transactions a connection lasts.
  static let busyWriter = #"""
    import select
    mode, lasting = sys.argv[1], int(sys.argv[2])
    number = 0
    ended = False
    while not ended:
        db = sqlite3.connect('a.db', isolation_level=None, timeout=60)
        db.execute('pragma journal_mode = %s' % mode)
        db.execute('pragma synchronous = off')
        db.execute('pragma wal_autocheckpoint = 7')
        db.execute('create table if not exists a (id integer primary key, n, t)')
        for _ in range(lasting):
            number += 1
            db.execute('begin immediate')
            if number < 60: db.execute('insert into a (t) values (?)', ('x' * 900,))
            db.execute('update a set n = ?', (number,))
            if number % 5 == 0: db.execute("update a set t = substr(t, 2) || 'y'")
            db.execute('commit')
            if number % 17 == 0 and mode == 'wal': db.execute('pragma wal_checkpoint(%s)' % random.choice(['passive', 'truncate', 'restart'])).fetchall()
            if number == 60: print('ready', flush=True)
            if select.select([sys.stdin], [], [], 0)[0]:
                if not sys.stdin.readline():
                    ended = True
                    break
                print(number, flush=True)
        db.close()
    """#

  /// Answers each line with whether it could write to the database without waiting.
  static let writeAttempts = #"""
    db = sqlite3.connect('a.db', isolation_level=None, timeout=0)
    db.execute('pragma journal_mode = %s' % sys.argv[1])
    db.execute('create table a (n)')
    db.execute('insert into a values (1)')
    print('ready', flush=True)
    for line in sys.stdin:
        try:
            db.execute('insert into a values (1)')
            if sys.argv[1] == 'wal': print(db.execute('pragma wal_checkpoint(truncate)').fetchone()[0] == 0, flush=True)
            else: print(True, flush=True)
        except sqlite3.OperationalError as error:
            assert 'locked' in str(error)
            print(False, flush=True)
    """#
}
