"""Writes stores as Core Data does, with Python's sqlite3, and says where each value is: in the file NAME.json beside the store."""
import hashlib
import json
import os
import plistlib
import sqlite3
import struct
import uuid

from models import Relationship, model_cache

COLUMN_TYPES = {
    'int16': 'INTEGER', 'int32': 'INTEGER', 'int64': 'INTEGER', 'bool': 'INTEGER', 'decimal': 'DECIMAL',
    'double': 'FLOAT', 'float': 'FLOAT', 'string': 'VARCHAR', 'date': 'TIMESTAMP', 'binary': 'BLOB', 'uuid': 'BLOB',
    'uri': 'VARCHAR', 'transformable': 'BLOB',
}


class Object:
    def __init__(self, entity, values=None, **links):
        self.entity, self.values, self.links, self.pk = entity, values or {}, links, None


class Table:
    def __init__(self, name):
        self.name, self.columns = name, []

    def add(self, name, type):
        """A column; digits at its end if there is one of the name."""
        taken = {column for column, _ in self.columns} | {'Z_PK', 'Z_ENT', 'Z_OPT'}
        made, number = name, 0
        while made in taken:
            number += 1
            made = f'{name}{number}'
        self.columns.append((made, type))
        return made


class Layout:
    """Where the properties of a model are."""

    def __init__(self, model):
        self.model, self.tables, self.columns, self.joins = model, {}, {}, {}
        for entity in model.entities:
            root = model.root(entity)
            self.tables.setdefault(root.name, Table('Z' + root.name.upper()))
        for entity in sorted(model.entities, key=lambda e: model.numbers[e.name]):
            self._place(entity)
        for entity in sorted(model.entities, key=lambda e: model.numbers[e.name]):
            for relationship in entity.relationships:
                if relationship.many:
                    self._place_many(relationship)

    def table(self, entity_name):
        return self.tables[self.model.root(self.model.by_name[entity_name]).name]

    def _place(self, entity):
        table = self.table(entity.name)
        for relationship in entity.relationships:
            if relationship.many:
                continue
            name = relationship.name.upper()
            column = table.add('Z' + name, 'INTEGER')
            place = {'column': column}
            destination = self.model.by_name[relationship.destination]
            if self.model.children(destination):
                place['entity'] = table.add(f'Z{self.model.numbers[entity.name]}_{name}', 'INTEGER')
            inverse = relationship.inverse and self.model.inverse(relationship)
            if inverse and inverse.many and inverse.ordered:
                place['order'] = table.add('Z_FOK_' + column[1:], 'INTEGER')
            self.columns[entity.name, relationship.name] = place
        # In the order of names, by which digits at the end are given.
        leaves = [leaf for attribute in entity.attributes for leaf in attribute.leaves()]
        for path, leaf in sorted(leaves, key=lambda leaf: leaf[0].split('.')):
            column = table.add('Z' + leaf.name.upper(), COLUMN_TYPES[leaf.type])
            self.columns[entity.name, path] = {'column': column, 'type': leaf.type, 'external': leaf.external}

    def _place_many(self, relationship):
        if not relationship.inverse:
            owner = self.model.numbers[relationship.entity.name]
            table = self.table(relationship.destination)
            name = f'{owner}{relationship.name.upper()}'
            place = {'foreign': table.add('Z' + name, 'INTEGER')}
            if relationship.ordered:
                place['order'] = table.add('Z_FOK_' + name, 'INTEGER')
            self.columns[relationship.entity.name, relationship.name] = place
            return
        inverse = self.model.inverse(relationship)
        if not inverse.many:
            place = self.columns[inverse.entity.name, inverse.name]
            self.columns[relationship.entity.name, relationship.name] = {
                'foreign': place['column'], 'order': place.get('order') if relationship.ordered else None}
            return
        if (relationship.entity.name, relationship.name) not in self.columns:
            self._join(relationship, inverse)

    def _join(self, relationship, inverse):
        """The table of a relationship that is to-many on both sides; named by the first of the two."""
        own, other = (self.model.numbers[r.entity.name] for r in (relationship, inverse))
        name, number = f'Z_{own}{relationship.name.upper()}', 0
        while name in self.joins:
            number += 1
            name = f'Z_{own}{relationship.name.upper()}{number}'
        to_owner = f'Z_{own}{inverse.name.upper()}'
        to_destination = f'Z_{other}{relationship.name.upper()}'
        if inverse is relationship:
            to_destination, to_owner = f'Z_{own}{relationship.name.upper()}', 'REFLEXIVE'
        elif to_owner == to_destination:
            to_destination += '1'
        columns = [to_owner, to_destination]
        order = inverse_order = None
        if relationship.ordered:
            order = 'Z_FOK_' + to_destination[2:]
            columns.append(order)
        if inverse.ordered and inverse is not relationship:
            inverse_order = 'Z_FOK_' + to_owner[2:]
            columns.append(inverse_order)
        self.joins[name] = columns
        self.columns[relationship.entity.name, relationship.name] = {
            'join': name, 'own': to_owner, 'other': to_destination, 'order': order,
            'isSymmetric': inverse is relationship}
        if inverse is not relationship:
            self.columns[inverse.entity.name, inverse.name] = {
                'join': name, 'own': to_destination, 'other': to_owner, 'order': inverse_order, 'isSymmetric': False}

    def place(self, entity, property):
        """Where a property of an entity is, or of the superentity that declares it."""
        for each in reversed(self.model.lineage(entity)):
            if (each.name, property) in self.columns:
                return self.columns[each.name, property]
        raise KeyError(property)


class Store:
    """A store that is written once. `history` is a list of transactions; see `_write_history`."""

    def __init__(self, path, model, cache=True, journal='delete', page_size=4096, encoding='UTF-8', seed='store',
                 framework=1518, tombstones=()):
        self.path, self.model, self.layout = path, model, Layout(model)
        self.uuid = str(uuid.UUID(bytes=hashlib.md5(seed.encode()).digest())).upper()
        for suffix in ('', '-wal', '-shm', '-journal', '.json'):
            if os.path.exists(path + suffix):
                os.remove(path + suffix)
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute(f'PRAGMA page_size = {page_size}')
        self.db.execute(f"PRAGMA encoding = '{encoding}'")
        self.db.execute('PRAGMA auto_vacuum = 2')
        self.db.execute(f'PRAGMA journal_mode = {journal}')
        self.db.execute('PRAGMA wal_autocheckpoint = 0')
        self.tombstones = list(tombstones)
        self.last, self.links_written = {}, set()
        self._make_tables(cache, framework)

    # The tables

    def _make_tables(self, cache, framework):
        run = self.db.execute
        for table in self.layout.tables.values():
            columns = ''.join(f', {name} {type}' for name, type in table.columns)
            run(f'CREATE TABLE {table.name} ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER{columns} )')
        for place in self.layout.columns.values():
            if 'type' not in place and 'join' not in place and place.get('column'):
                self._index(place['column'])
        for name, columns in self.layout.joins.items():
            fields = ', '.join(f'{column} INTEGER' for column in columns)
            run(f'CREATE TABLE {name} ( {fields}, PRIMARY KEY ({columns[0]}, {columns[1]}) )')
            run(f'CREATE INDEX {name}_{columns[1]}_INDEX ON {name} ({columns[1]}, {columns[0]})')
        run('CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)')
        run('CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)')
        hashes = {e.name: hashlib.sha256(e.name.encode()).digest() for e in self.model.entities}
        plist = {
            'NSStoreType': 'SQLite', 'NSStoreModelVersionIdentifiers': ['1'], 'NSStoreModelVersionHashes': hashes,
            'NSStoreModelVersionHashesVersion': 3, 'NSPersistenceFrameworkVersion': framework,
            '_NSAutoVacuumLevel': '2', 'author': 'the program',
        }
        run('INSERT INTO Z_METADATA VALUES (1, ?, ?)',
            (self.uuid, plistlib.dumps(plist, fmt=plistlib.FMT_BINARY)))
        if cache:
            run('CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)')
            run('INSERT INTO Z_MODELCACHE VALUES (?)', (model_cache(self.model),))
        for entity in self.model.entities:
            parent = self.model.numbers[entity.parent] if entity.parent else 0
            run('INSERT INTO Z_PRIMARYKEY VALUES (?, ?, ?, 0)', (self.model.numbers[entity.name], entity.name, parent))

    def _index(self, column):
        for table in self.layout.tables.values():
            if any(name == column for name, _ in table.columns):
                self.db.execute(f'CREATE INDEX IF NOT EXISTS {table.name}_{column}_INDEX ON {table.name} ({column})')

    # The rows

    def write(self, objects):
        """Writes objects in one transaction."""
        self.db.execute('BEGIN')
        for each in objects:
            root = self.model.root(self.model.by_name[each.entity]).name
            if each.pk is None:
                self.last[root] = self.last.get(root, 0) + 1
                each.pk = self.last[root]
            self.last[root] = max(self.last.get(root, 0), each.pk)
        for each in objects:
            self._insert(each)
        for each in objects:
            self._link(each)
        for root, last in self.last.items():
            self.db.execute('UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?', (last, self.model.numbers[root]))
        self.db.execute('COMMIT')

    def _insert(self, each):
        entity = self.model.by_name[each.entity]
        row = {'Z_PK': each.pk, 'Z_ENT': self.model.numbers[each.entity], 'Z_OPT': 1}
        for path, value in each.values.items():
            place = self.layout.place(entity, path)
            row[place['column']] = self._stored(value, place)
        for property in self.model.all_properties(entity):
            if isinstance(property, Relationship) and not property.many and each.links.get(property.name):
                place, other = self.layout.place(entity, property.name), each.links[property.name]
                row[place['column']] = other.pk
                if 'entity' in place:
                    row[place['entity']] = self.model.numbers[other.entity]
        names = ', '.join(row)
        self.db.execute(
            f'INSERT INTO {self.layout.table(each.entity).name} ({names}) VALUES ({", ".join("?" * len(row))})',
            list(row.values()))

    def _stored(self, value, place):
        if value is None or not place.get('external'):
            return value
        if len(value) <= 100:
            return b'\x01' + value
        name = str(uuid.UUID(bytes=hashlib.md5(value).digest())).upper()
        folder, file = os.path.split(self.path)
        below = os.path.join(folder, f'.{os.path.splitext(file)[0]}_SUPPORT', '_EXTERNAL_DATA')
        os.makedirs(below, exist_ok=True)
        with open(os.path.join(below, name), 'wb') as out:
            out.write(value)
        return b'\x02' + name.encode() + b'\x00'

    def _link(self, each):
        entity = self.model.by_name[each.entity]
        for property in self.model.all_properties(entity):
            if not isinstance(property, Relationship) or not property.many or property.name not in each.links:
                continue
            place = self.layout.place(entity, property.name)
            for rank, other in enumerate(each.links[property.name]):
                key = rank * 512 + 512
                if 'join' in place:
                    self._join(place, each.pk, other.pk, key)
                    continue
                table = self.layout.table(other.entity).name
                self.db.execute(f'UPDATE {table} SET {place["foreign"]} = ? WHERE Z_PK = ?', (each.pk, other.pk))
                if place.get('order'):
                    self.db.execute(f'UPDATE {table} SET {place["order"]} = ? WHERE Z_PK = ?', (key, other.pk))

    def _join(self, place, own, other, key):
        self.db.execute(
            f'INSERT OR IGNORE INTO {place["join"]} ({place["own"]}, {place["other"]}) VALUES (?, ?)', (own, other))
        if place['order']:
            self.db.execute(
                f'UPDATE {place["join"]} SET {place["order"]} = ? WHERE {place["own"]} = ? AND {place["other"]} = ?',
                (key, own, other))

    def close(self, keeps_log=False):
        """Writes the description of the store. With `keeps_log` the log stays as it is, as after the end of a process."""
        self._describe()
        if not keeps_log:
            self.db.close()
            return
        copies = {}
        for suffix in ('', '-wal'):
            with open(self.path + suffix, 'rb') as file:
                copies[suffix] = file.read()
        self.db.close()
        for suffix, data in copies.items():
            with open(self.path + suffix, 'wb') as out:
                out.write(data)

    def _describe(self):
        """Where everything is, for those who compare."""
        entities = {}
        for entity in self.model.entities:
            attributes, relationships = {}, {}
            for property in self.model.all_properties(entity):
                if isinstance(property, Relationship):
                    place = dict(self.layout.place(entity, property.name))
                    place.update(many=property.many, ordered=property.ordered,
                                 table=self.layout.table(entity.name).name,
                                 destination=self.layout.table(property.destination).name,
                                 root=self.model.root(self.model.by_name[property.destination]).name)
                    relationships[property.name] = place
                else:
                    for path, _ in property.leaves():
                        attributes[path] = self.layout.place(entity, path)
            entities[entity.name] = {
                'number': self.model.numbers[entity.name], 'table': self.layout.table(entity.name).name,
                'root': self.model.root(entity).name, 'attributes': attributes, 'relationships': relationships,
                'isAbstract': entity.abstract}
        with open(self.path + '.json', 'w') as out:
            json.dump({'uuid': self.uuid, 'entities': entities}, out, indent=1, sort_keys=True)
            out.write('\n')


def bits(*places):
    """A set of columns as the history has it."""
    size = max(places) // 8 + 1 if places else 1
    data = bytearray(size)
    for place in places:
        data[place // 8] |= 1 << place % 8
    return bytes(data)


def double_bits(value):
    return struct.pack('>d', float(value)).hex()
