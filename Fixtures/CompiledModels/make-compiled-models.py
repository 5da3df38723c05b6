#!/usr/bin/env python3
"""Compiles the models beside it as Apple's tools do: Library.momd of Library.xcdatamodeld, Library.cdm of Library.xcmappingmodel, and
Library.cache, the compressed copy of the model that Core Data puts into a store. Changed.mom has what a program can put into a model and
Xcode's editor cannot. The shapes of the archives are those of public files."""

import base64, datetime, decimal, os, plistlib, uuid, zlib
import xml.etree.ElementTree as xml

UID = plistlib.UID
HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, 'Library.xcdatamodeld')
REFERENCE = datetime.datetime(2001, 1, 1)

TYPES = {'Undefined': 0, 'Integer 16': 100, 'Integer 32': 200, 'Integer 64': 300, 'Decimal': 400, 'Double': 500, 'Float': 600,
    'String': 700, 'Boolean': 800, 'Date': 900, 'Binary': 1000, 'UUID': 1100, 'URI': 1200, 'Transformable': 1800, 'Composite': 2100}
VALUE_CLASSES = {'String': 'NSString', 'Decimal': 'NSDecimalNumber', 'Date': 'NSDate', 'Binary': 'NSData', 'UUID': 'NSUUID', 'URI': 'NSURL',
    'Undefined': None, 'Transformable': None, 'Composite': None}
RULES = {'No Action': 0, 'Nullify': 1, 'Cascade': 2, 'Deny': 3}
PARENTS = {
    'NSMutableDictionary': ['NSDictionary'], 'NSMutableArray': ['NSArray'], 'NSMutableString': ['NSString'],
    'NSKnownKeysDictionary1': ['NSKnownKeysDictionary', 'NSMutableDictionary', 'NSDictionary'],
    'NSKnownKeysMappingStrategy1': ['NSKnownKeysMappingStrategy'],
    'NSAttributeDescription': ['NSPropertyDescription'], 'NSRelationshipDescription': ['NSPropertyDescription'],
    'NSFetchedPropertyDescription': ['NSPropertyDescription'], 'NSExpressionDescription': ['NSPropertyDescription'],
    'NSDerivedAttributeDescription': ['NSAttributeDescription', 'NSPropertyDescription'],
    'NSCompositeAttributeDescription': ['NSAttributeDescription', 'NSPropertyDescription'],
    'NSDecimalNumberPlaceholder': ['NSDecimalNumber', 'NSNumber', 'NSValue'], 'NSFetchRequest': ['NSPersistentStoreRequest'],
    'NSKeyPathExpression': ['NSFunctionExpression', 'NSExpression'],
    'NSComparisonPredicate': ['NSPredicate'], 'NSCompoundPredicate': ['NSPredicate'], 'NSTruePredicate': ['NSPredicate'],
}


class Archive:
    def __init__(self):
        self.objects = ['$null']
        self.known = {}

    def put(self, value):
        """A string or a number, once each."""
        if value is None: return UID(0)
        key = (type(value).__name__, value)
        if key not in self.known:
            self.known[key] = UID(len(self.objects))
            self.objects.append(value)
        return self.known[key]

    def class_of(self, name):
        if ('class', name) not in self.known:
            chain = [name] + PARENTS.get(name, ['NSExpression'] if name.endswith('Expression') else
                ['NSPredicateOperator'] if name.endswith('Operator') else []) + ['NSObject']
            self.known['class', name] = UID(len(self.objects))
            self.objects.append({'$classname': name, '$classes': chain})
        return self.known['class', name]

    def reserve(self):
        self.objects.append(None)
        return UID(len(self.objects) - 1)

    def fill(self, place, name, fields):
        self.objects[place.data] = {**fields, '$class': self.class_of(name)}
        return place

    def add(self, name, fields):
        return self.fill(self.reserve(), name, fields)

    def list(self, members, name='NSArray'):
        return self.add(name, {'NS.objects': list(members)})

    def dictionary(self, fields, name='NSMutableDictionary'):
        return self.add(name, {'NS.keys': [self.put(k) for k in fields], 'NS.objects': list(fields.values())})

    def known_keys(self, fields):
        names = sorted(fields)
        token = self.put('__empty_slot_token_4c24_98dc_ac1e_b773__')
        strategy = self.add('NSKnownKeysMappingStrategy1', {'keys': self.list([self.put(n) for n in names]), 'length': len(names), 'version': 1})
        return self.add('NSKnownKeysDictionary1', {'searchMapping': strategy, 'values': self.list([fields[n] for n in names]),
            'emptyToken': token, 'version': 1})

    def data(self, root):
        return plistlib.dumps({'$archiver': 'NSKeyedArchiver', '$version': 100000, '$top': {'root': root}, '$objects': self.objects},
            fmt=plistlib.FMT_BINARY, sort_keys=False)

    # Values

    def value(self, value):
        if value is None: return UID(0)
        if isinstance(value, (str, bool, int, float)): return self.put(value)
        if isinstance(value, bytes): return self.put(value)
        if isinstance(value, datetime.datetime): return self.add('NSDate', {'NS.time': (value - REFERENCE).total_seconds()})
        if isinstance(value, uuid.UUID): return self.add('NSUUID', {'NS.uuidbytes': value.bytes})
        if isinstance(value, decimal.Decimal):
            sign, digits, exponent = value.as_tuple()
            number = int(''.join(map(str, digits)))
            mantissa = number.to_bytes(16, 'little')
            return self.add('NSDecimalNumberPlaceholder', {'NS.mantissa': mantissa, 'NS.negative': bool(sign), 'NS.exponent': exponent,
                'NS.mantissa.bo': 1, 'NS.length': (number.bit_length() + 15) // 16, 'NS.compact': False})
        return self.list([self.value(member) for member in value])

    # Expressions

    def constant(self, value):
        return self.add('NSConstantValueExpression', {'NSExpressionType': 0, 'NSConstantValue': self.value(value)})

    def me(self):
        if 'self' not in self.known: self.known['self'] = self.add('NSSelfExpression', {'NSExpressionType': 1})
        return self.known['self']

    def variable(self, name):
        return self.add('NSVariableExpression', {'NSExpressionType': 2, 'NSVariable': self.put(name)})

    def path(self, path, operand=None):
        specifier = self.add('NSKeyPathSpecifierExpression', {'NSExpressionType': 10, 'NSKeyPath': self.put(path)})
        isKey = operand is None and '.' not in path
        return self.add('NSKeyPathExpression', {'NSExpressionType': 3 if operand is None else 4, 'NSOperand': operand or self.me(),
            'NSSelectorName': self.put('valueForKey:' if isKey else 'valueForKeyPath:'),
            'NSArguments': self.list([specifier], 'NSMutableArray')})

    def function(self, name, *arguments):
        operand = self.add('NSConstantValueExpression', {'NSExpressionType': 0, 'NSConstantValueClassName': self.put('_NSPredicateUtilities')})
        return self.message(operand, name, *arguments)

    def message(self, operand, name, *arguments):
        return self.add('NSFunctionExpression', {'NSExpressionType': 4, 'NSOperand': operand, 'NSSelectorName': self.put(name),
            'NSArguments': self.list(arguments)})

    def aggregate(self, *members):
        return self.add('NSAggregateExpression', {'NSExpressionType': 14, 'NSCollection': self.list(members)})

    # Predicates

    OPERATORS = {'<': 0, '<=': 1, '>': 2, '>=': 3, '==': 4, '!=': 5, 'MATCHES': 6, 'LIKE': 7, 'BEGINSWITH': 8, 'ENDSWITH': 9, 'IN': 10,
        'CONTAINS': 99, 'BETWEEN': 100}

    def compare(self, left, sign, right, options=0, modifier=0):
        number = self.OPERATORS[sign]
        fields = {'NSModifier': modifier, 'NSOperatorType': number}
        if number < 4: name, more = 'NSComparisonPredicateOperator', {'NSVariant': number, 'NSOptions': options}
        elif number < 6: name, more = 'NSEqualityPredicateOperator', {'NSNegate': number == 5, 'NSOptions': options}
        else:
            name = {6: 'NSMatchingPredicateOperator', 7: 'NSLikePredicateOperator', 10: 'NSInPredicateOperator', 99: 'NSInPredicateOperator',
                100: 'NSBetweenPredicateOperator'}.get(number, 'NSSubstringPredicateOperator')
            more = {'NSFlags': options}
        return self.add('NSComparisonPredicate', {'NSLeftExpression': left, 'NSRightExpression': right,
            'NSPredicateOperator': self.add(name, {**fields, **more})})

    def join(self, kind, *parts):
        return self.add('NSCompoundPredicate', {'NSCompoundPredicateType': ['NOT', 'AND', 'OR'].index(kind), 'NSSubpredicates': self.list(parts)})

    def written(self, text):
        """The predicates and expressions of the models, by their text."""
        p, c, v = self.path, self.constant, self.variable
        return {
            'canonical:(name)': lambda: self.function('canonical:', p('name')),
            'works.@count': lambda: self.function('count:', p('works')),
            'name == $FETCH_SOURCE.name AND SELF != $FETCH_SOURCE': lambda: self.join('AND',
                self.compare(p('name'), '==', p('name', v('FETCH_SOURCE'))), self.compare(self.me(), '!=', v('FETCH_SOURCE'))),
            'pages > 500 AND NOT (title BEGINSWITH[cd] "The" OR author.name IN {"A", "B"})': lambda: self.join('AND',
                self.compare(p('pages'), '>', c(500)), self.join('NOT', self.join('OR',
                    self.compare(p('title'), 'BEGINSWITH', c('The'), 3), self.compare(p('author.name'), 'IN', self.aggregate(c('A'), c('B')))))),
            'name == $NAME OR born == nil OR ANY works.title LIKE "*x*"': lambda: self.join('OR', self.compare(p('name'), '==', v('NAME')),
                self.compare(p('born'), '==', c(None)), self.compare(p('works.title'), 'LIKE', c('*x*'), 0, 2)),
        }[text]()


class Model:
    """Compiles the `contents` of a version. In a store, entities have copies of what they inherit, and attributes that are indexed have an
    index."""

    def __init__(self, path, in_store=False):
        self.root = xml.parse(path).getroot()
        self.in_store = in_store
        self.archive = a = Archive()
        self.entities = {e.get('name'): e for e in self.root.findall('entity')}
        self.places = {name: a.reserve() for name in self.entities}
        self.model = a.reserve()
        self.properties = {}
        for name, entity in self.entities.items():
            for e in self.declared(name): self.properties[name, e.get('name')] = a.reserve()
        if in_store:
            for name in self.entities:
                for ancestor in self.ancestors(name):
                    for e in self.declared(ancestor): self.properties[name, e.get('name')] = a.reserve()

    def declared(self, name):
        return [e for e in self.entities[name] if e.tag in ('attribute', 'relationship', 'fetchedProperty')]

    def ancestors(self, name):
        found = []
        while self.entities[name].get('parentEntity'):
            name = self.entities[name].get('parentEntity')
            found.append(name)
        return found

    def data(self):
        a = self.archive
        for name in self.entities: self.entity(name)
        fields = {'NSEntities': a.known_keys(self.places) if self.in_store else a.dictionary(self.places)}
        fields['NSVersionIdentifiers'] = a.list([a.put(self.root.get('userDefinedModelVersionIdentifier'))], 'NSSet')
        requests = {r.get('name'): self.request(r) for r in self.root.findall('fetchRequest')}
        fields['NSFetchRequestTemplates'] = a.dictionary(requests) if requests else UID(0)
        configurations = {c.get('name'): a.list([self.places[m.get('name')] for m in c], 'NSSet') for c in self.root.findall('configuration')}
        if configurations: fields['NSConfigurations'] = a.dictionary(configurations)
        if not self.in_store: fields.update({'CDMCompilerToolVersion': 24512.0, 'CDMCompilerXcodeVersion': 260200})
        a.fill(self.model, 'NSManagedObjectModel', fields)
        return a.data(self.model)

    def entity(self, name):
        a, e = self.archive, self.entities[name]
        parent = e.get('parentEntity')
        owners = [name] + (self.ancestors(name) if self.in_store else [])
        properties = {p.get('name'): self.property(name, p) for owner in owners for p in self.declared(owner)}
        class_name = e.get('representedClassName')
        fields = {'NSEntityName': a.put(name), 'NSClassNameForEntity': a.put(class_name if class_name != 'NSManagedObject' else None),
            'NSManagedObjectModel': self.model, 'NSProperties': a.dictionary(properties), 'NSRenamingIdentifier': a.put(e.get('elementID') or name),
            'NSSubentities': a.dictionary({n: self.places[n] for n, x in self.entities.items() if x.get('parentEntity') == name}),
            'NSSuperentity': self.places[parent] if parent else UID(0), 'NSVersionHashModifier': a.put(e.get('versionHashModifier')),
            'NSUserInfo': self.info(e)}
        if e.get('isAbstract') == 'YES': fields['NSIsAbstract'] = True
        tuples = [[c.get('value') for c in u] for o in owners for u in self.entities[o].iter('uniquenessConstraint')]
        if tuples: fields['NSUniqueTuples'] = a.list([a.list([a.put(n) for n in t], 'NSMutableArray') for t in tuples], 'NSMutableArray')
        indexes = [(owner, i) for owner in owners for i in self.entities[owner].findall('fetchIndex')]
        made = [self.index(owner, i.get('name'), [(x.get('property'), x.get('order') != 'descending', x.get('type') == 'RTree') for x in i])
            for owner, i in indexes]
        compound = [[x.get('value') for x in i] for i in e.iter('compoundIndex')]
        if self.in_store:
            for owner in owners:
                for names in [[p.get('name')] for p in self.declared(owner) if p.get('indexed') == 'YES'] + (compound if owner == name else []):
                    made.append(self.index(name, '_'.join(names), [(n, True, False) for n in names]))
        if compound: fields['NSCompoundIndexes'] = a.list([a.list([a.put(n) for n in t], 'NSMutableArray') for t in compound], 'NSMutableArray')
        if made: fields['NSFetchIndexDescriptions'] = a.list(made, 'NSMutableArray')
        a.fill(self.places[name], 'NSEntityDescription', fields)

    def info(self, element):
        entries = element.find('userInfo')
        return self.archive.dictionary({e.get('key'): self.archive.put(e.get('value')) for e in entries} if entries is not None else {}, 'NSDictionary')

    def index(self, owner, name, parts):
        a = self.archive
        place = a.reserve()
        elements = [a.add('NSFetchIndexElementDescription', {'NSPropertyName': a.put(n), 'NSAscending': up, 'NSFetchIndexElementType': int(tree),
            'NSFetchIndexDescription': place}) for n, up, tree in parts]
        return a.fill(place, 'NSFetchIndexDescription', {'NSIndexName': a.put(name), 'NSEntity': self.places[owner],
            'NSIndexElements': a.list(elements), 'NSPartialIndexPredicate': UID(0)})

    def request(self, element):
        a = self.archive
        text = element.get('predicateString')
        return a.add('NSFetchRequest', {'NSEntity': self.places[element.get('entity')], 'NSPredicate': a.written(text) if text else UID(0),
            'NSSortDescriptors': UID(0), 'NSValuesToFetch': UID(0), 'NSValuesToGroupBy': UID(0), 'NSHavingPredicate': UID(0),
            'NSRelationshipKeyPathsForPrefetching': UID(0), 'NSHasFetchRequestFlags': True, 'NSFetchRequestFlags': 30, 'NSResultType': 0,
            'NSFetchOffset': 0, 'NSFetchLimit': int(element.get('fetchLimit', 0)), 'NSBatchSize': 0, 'NSAllocationType': 0})

    def property(self, owner, e):
        a, name = self.archive, e.get('name')
        flags = 0xf1 | (2 if e.get('optional') == 'YES' else 0) | (8 if e.get('transient') == 'YES' else 0)
        fields = {'NSPropertyName': a.put(name), 'NSRenamingIdentifier': a.put(e.get('elementID') or name), 'NSEntity': self.places.get(owner, UID(0))}
        if e.get('optional') == 'YES': fields['NSIsOptional'] = True
        if e.get('transient') == 'YES': fields['NSIsTransient'] = True
        if e.get('indexed') == 'YES': fields['NSIsIndexed'] = True
        if e.get('versionHashModifier'):
            fields['NSVersionHashModifier'] = a.put(e.get('versionHashModifier'))
            flags &= ~0x80
        if e.find('userInfo') is not None:
            fields['NSUserInfo'] = self.info(e)
            flags &= ~0x40
        kind, more = {'attribute': self.attribute, 'relationship': self.relationship, 'fetchedProperty': self.fetched}[e.tag](owner, e)
        if 'NSValidationPredicates' in more: flags &= ~0x30
        if 'NSIsOrdered' in more: flags |= 0x400
        if 'NSIsReadOnly' in more: flags |= 4
        place = self.properties.get((owner, name)) or a.reserve()
        return a.fill(place, kind, {**fields, **more, '_P': flags})

    def attribute(self, owner, e):
        a, kind = self.archive, e.get('attributeType')
        flags = (4 if e.get('allowsExternalBinaryDataStorage') == 'YES' else 0) | (16 if e.get('preserveAfterDeletion') == 'YES' else 0)
        fields = {'NSAttributeType': TYPES[kind], 'NSAttributeValueClassName': a.put(VALUE_CLASSES.get(kind, 'NSNumber')),
            'NSDefaultValue': self.default(e, kind), 'NSValueTransformerName': a.put(e.get('valueTransformerName')), 'NSFlagsKey': flags}
        predicates, warnings = self.rules(e, kind)
        if predicates: fields.update({'NSValidationPredicates': a.list(predicates), 'NSValidationWarnings': a.list(warnings)})
        if e.get('derived') == 'YES':
            fields.update({'NSDerivationExpression': a.written(e.get('derivationExpression')), 'NSFilteringPredicate': UID(0), 'NSIsReadOnly': True})
            return 'NSDerivedAttributeDescription', fields
        if kind == 'Composite':
            described = [c for c in self.root.findall('composite') if c.get('name') == e.get('composite')][0]
            fields['NSCompositeElements'] = a.list([self.property('', x) for x in described])
            return 'NSCompositeAttributeDescription', fields
        return 'NSAttributeDescription', fields

    def typed(self, text, kind):
        if kind == 'Boolean': return text == 'YES'
        if kind.startswith('Integer'): return int(text)
        if kind == 'Decimal': return decimal.Decimal(text)
        if kind in ('Double', 'Float'): return float(text)
        if kind == 'Date': return REFERENCE + datetime.timedelta(seconds=float(text))
        if kind == 'UUID': return uuid.UUID(text)
        return text

    def default(self, e, kind):
        text = e.get('defaultDateTimeInterval' if kind == 'Date' else 'defaultValueString')
        if text is None: return UID(0)
        if kind == 'URI':
            return self.archive.add('NSURL', {'NS.base': UID(0), 'NS.relative': self.archive.put(text)})
        return self.archive.value(self.typed(text, kind))

    def rules(self, e, kind):
        a, predicates, warnings = self.archive, [], []
        isText = kind in ('String', 'Binary')
        names = ('minDateTimeInterval', 'maxDateTimeInterval') if kind == 'Date' else ('minValueString', 'maxValueString')
        for name, sign, number in zip(names, ('>=', '<='), (1670, 1660) if isText else (1620, 1610)):
            if e.get(name) is None: continue
            value = int(e.get(name)) if isText else self.typed(e.get(name), kind)
            predicates.append(a.compare(a.path('length') if isText else a.me(), sign, a.constant(value)))
            warnings.append(a.put(number))
        if e.get('regularExpressionString'):
            predicates.append(a.compare(a.me(), 'MATCHES', a.constant(e.get('regularExpressionString'))))
            warnings.append(a.put(1680))
        return predicates, warnings

    def relationship(self, owner, e):
        a, inverse = self.archive, e.get('inverseName')
        most = int(e.get('maxCount', 0 if e.get('toMany') == 'YES' else 1))
        fields = {'NSDestinationEntity': self.places[e.get('destinationEntity')], '_NSDestinationEntityName': a.put(e.get('destinationEntity')),
            'NSInverseRelationship': self.properties[e.get('inverseEntity'), inverse] if inverse else UID(0),
            '_NSInverseRelationshipName': a.put(inverse), 'NSDeleteRule': RULES[e.get('deletionRule')],
            'NSMinCount': int(e.get('minCount', 0)), 'NSMaxCount': most}
        if e.get('ordered') == 'YES': fields['NSIsOrdered'] = True
        return 'NSRelationshipDescription', fields

    def fetched(self, owner, e):
        request = e.find('fetchRequest')
        return 'NSFetchedPropertyDescription', {'NSIsTransient': True, 'NSIsReadOnly': True, 'NSFetchRequest': self.request(request),
            '_NSFetchRequestEntityName': self.archive.put(request.get('entity'))}


def mapping_model():
    """Library.cdm, with the expressions that Xcode compiles those of its editor to."""
    a = Archive()
    source = lambda path: a.path(path, a.variable('source'))

    def fetch(entity, predicate):
        return a.add('NSFetchRequestExpression', {'NSExpressionType': 50, 'NSCountOnlyFlag': False,
            'NSMOCExpression': a.path('sourceContext', a.variable('manager')),
            'NSFRExpression': a.message(a.variable('manager'), 'fetchRequestForSourceEntityNamed:predicateString:', a.constant(entity), a.constant(predicate))})

    def through(mapping, path):
        return a.message(a.variable('manager'), 'destinationInstancesForEntityMappingNamed:sourceInstances:', a.constant(mapping), source(path))

    def properties(fields):
        return a.list([a.add('NSPropertyMapping', {'NSDestinationPropertyName': a.put(name), 'NSValueExpression': value, 'NSUserInfo': UID(0),
            'NSPropertyTransforms': UID(0)}) for name, value in fields.items()])

    def entity(name, number, origin, destination, predicate, policy, attributes, relationships):
        return a.add('NSEntityMapping', {'NSMappingName': a.put(name), 'NSMappingType': number, 'NSSourceEntityName': a.put(origin),
            'NSDestinationEntityName': a.put(destination), 'NSSourceEntityVersionHash': a.put(bytes(range(32))),
            'NSDestinationEntityVersionHash': a.put(bytes(range(32, 64))), 'NSSourceExpression': fetch(origin, predicate),
            'NSEntityMigrationPolicyClassName': a.put(policy), 'NSUserInfo': UID(0), 'NSAttributeMappings': properties(attributes),
            'NSRelationshipMappings': properties(relationships)})

    root = a.reserve()
    mappings = {
        'AuthorToAuthor': entity('AuthorToAuthor', 5, 'Author', 'Author', 'TRUEPREDICATE', None, {'name': source('name')},
            {'works': through('VolumeToBook', 'volumes')}),
        'VolumeToBook': entity('VolumeToBook', 1, 'Volume', 'Book', 'pages > 1', 'Library.VolumePolicy', {
            'isbn': a.function('uppercase:', source('number')),
            'words': a.function('add:to:', a.function('multiply:by:', source('pages'), a.constant(300)), a.constant(1))},
            {'author': through('AuthorToAuthor', 'author')}),
    }
    a.fill(root, 'NSMappingModel', {'NSEntityMappings': a.list(mappings.values()), 'NSEntityMappingsByName': a.dictionary(mappings)})
    return a.data(root)


def changed_model():
    """What only programs put into models: rules with messages, indexes of expressions and of some objects, orders of fetched properties,
    and what is not understood."""
    a = Archive()
    entity, index, model = a.reserve(), a.reserve(), a.reserve()

    def attribute(name, kind, **more):
        return a.add(more.pop('class_name', 'NSAttributeDescription'), {'NSPropertyName': a.put(name), 'NSRenamingIdentifier': a.put(name),
            'NSEntity': entity, 'NSIsOptional': True, 'NSAttributeType': kind, 'NSFlagsKey': 0, 'NSDefaultValue': UID(0), '_P': 243, **more})

    length = a.path('length')
    rules = [
        (a.join('AND', a.compare(length, '>=', a.constant(3)), a.compare(length, '<=', a.constant(50))), 'between 3 and 50 characters'),
        (a.compare(a.me(), 'CONTAINS', a.constant('title'), 1), 'with a title'),
        (a.compare(a.path('number'), '>', a.constant(0)), ''),
        (a.add('NSBlockPredicate', {}), 'a block'),
    ]
    properties = {
        'title': attribute('title', 700, NSValidationPredicates=a.list([p for p, _ in rules]), NSValidationWarnings=a.list([a.put(w) for _, w in rules])),
        'number': attribute('number', 300, NSFlagsKey=64, NSUnknown=True),
        'total': attribute('total', 300, class_name='NSDerivedAttributeDescription', NSFilteringPredicate=UID(0),
            NSDerivationExpression=a.function('sum:', a.path('parts.number'))),
        'some': attribute('some', 300, class_name='NSDerivedAttributeDescription', NSDerivationExpression=a.path('number'),
            NSFilteringPredicate=a.compare(a.path('number'), '>', a.constant(0))),
        'identity': attribute('identity', 2000),
        'cover': attribute('cover', 1800, NSAttributeValueClassName=a.put('Cover'), NSValueTransformerName=a.put('CoverTransformer'),
            NSDefaultValue=a.add('App.Cover', {'text': a.put('none')})),
        'parts': a.add('NSRelationshipDescription', {'NSPropertyName': a.put('parts'), 'NSIsOptional': True, 'NSEntity': entity,
            'NSDestinationEntity': entity, 'NSDeleteRule': 1, 'NSMinCount': 0, 'NSMaxCount': -1, 'NSInverseRelationship': UID(0),
            '_NSInverseRelationshipName': a.put('whole')}),
        'whole': a.add('NSRelationshipDescription', {'NSPropertyName': a.put('whole'), 'NSIsOptional': True, 'NSEntity': entity,
            'NSDestinationEntity': entity, 'NSDeleteRule': 1, 'NSMinCount': 0, 'NSMaxCount': 1, '_NSInverseRelationshipName': a.put('parts')}),
        'others': a.add('NSFetchedPropertyDescription', {'NSPropertyName': a.put('others'), 'NSIsOptional': True, 'NSIsTransient': True,
            'NSEntity': entity, 'NSUserInfo': a.dictionary({'search': a.put('great')}, 'NSDictionary'), '_NSFetchRequestEntityName': a.put('Item'), 'NSFetchRequest': a.add('NSFetchRequest', {'NSEntity': entity,
                'NSPredicate': a.compare(a.path('title'), 'CONTAINS', a.path('userInfo.search', a.variable('FETCHED_PROPERTY')), 1),
                'NSSortDescriptors': a.list([a.add('NSSortDescriptor', {'NSKey': a.put('title'), 'NSAscending': False,
                    'NSSelector': a.put('localizedStandardCompare:'), 'NSReverseNullOrder': False})]), 'NSFetchRequestFlags': 14})}),
    }
    part = lambda fields: a.add('NSFetchIndexElementDescription', {'NSAscending': True, 'NSFetchIndexElementType': 0, 'NSFetchIndexDescription': index, **fields})
    lower = a.add('NSExpressionDescription', {'NSPropertyName': a.put('lower'), 'NSExpressionResultType': 700,
        'NSExpression': a.function('lowercase:', a.path('title'))})
    a.fill(index, 'NSFetchIndexDescription', {'NSIndexName': a.put('byLower'), 'NSEntity': entity,
        'NSPartialIndexPredicate': a.compare(a.path('number'), '>', a.constant(3)),
        'NSIndexElements': a.list([part({'NSProperty': lower}), part({'NSPropertyName': a.put('number')})])})
    a.fill(entity, 'NSEntityDescription', {'NSEntityName': a.put('Item'), 'NSClassNameForEntity': a.put('App.Item'),
        'NSProperties': a.dictionary(properties), 'NSSubentities': UID(0), 'NSSuperentity': UID(0), 'NSFetchIndexDescriptions': a.list([index]),
        'NSUserInfo': a.dictionary({'order': a.put(3), 'data': a.put(b'x')}, 'NSDictionary')})
    a.fill(model, 'NSManagedObjectModel', {'NSEntities': a.dictionary({'Item': entity}), 'NSVersionIdentifiers': a.list([], 'NSSet'),
        'NSFetchRequestTemplates': UID(0)})
    return a.data(model)


def circular_model():
    """Objects that are within themselves: an entity that inherits from itself, a rule, a composite attribute. And a rule of forty predicates
    that each have the next one twice."""
    a = Archive()
    first, second, rule, composite = a.reserve(), a.reserve(), a.reserve(), a.reserve()
    a.fill(rule, 'NSCompoundPredicate', {'NSCompoundPredicateType': 1, 'NSSubpredicates': a.list([rule, rule])})
    name = a.add('NSAttributeDescription', {'NSPropertyName': a.put('name'), 'NSAttributeType': 700, 'NSIsOptional': True, 'NSEntity': first,
        'NSValidationPredicates': a.list([rule])})
    twice = a.add('NSTruePredicate', {})
    for _ in range(40): twice = a.join('AND', twice, twice)
    other = a.add('NSAttributeDescription', {'NSPropertyName': a.put('other'), 'NSAttributeType': 700, 'NSIsOptional': True, 'NSEntity': first,
        'NSValidationPredicates': a.list([twice])})
    a.fill(composite, 'NSCompositeAttributeDescription', {'NSPropertyName': a.put('whole'), 'NSAttributeType': 2100, 'NSIsOptional': True,
        'NSCompositeElements': a.list([composite])})
    for place, parent, title, properties in [(first, second, 'First', {'name': name, 'whole': composite, 'other': other}), (second, first, 'Second', {})]:
        a.fill(place, 'NSEntityDescription', {'NSEntityName': a.put(title), 'NSProperties': a.dictionary(properties), 'NSSuperentity': parent,
            'NSSubentities': a.dictionary({'First': first, 'Second': second})})
    return a.data(a.add('NSManagedObjectModel', {'NSEntities': a.dictionary({'First': first, 'Second': second})}))


def write(name, data):
    path = os.path.join(HERE, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file: file.write(data)


def main():
    versions = ['Library', 'Library 2']
    hashes = {}
    for number, version in enumerate(versions):
        path = os.path.join(MODELS, version + '.xcdatamodel', 'contents')
        model = Model(path)
        hashes[version] = {name: bytes([number, place] + [7] * 30) for place, name in enumerate(sorted(model.entities))}
        write('Library.momd/%s.mom' % version, model.data())
    write('Library.momd/VersionInfo.plist', plistlib.dumps({'NSManagedObjectModel_CurrentVersionName': versions[-1],
        'NSManagedObjectModel_VersionHashes': hashes}, fmt=plistlib.FMT_BINARY))
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    cache = Model(os.path.join(MODELS, versions[-1] + '.xcdatamodel', 'contents'), in_store=True).data()
    write('Library.cache', compressor.compress(cache) + compressor.flush())
    write('Library.cdm', mapping_model())
    write('Changed.mom', changed_model())
    write('Circular.mom', circular_model())


if __name__ == '__main__':
    main()
