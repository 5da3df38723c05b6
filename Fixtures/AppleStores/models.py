"""Models as Core Data describes them, and their keyed archives: what a store keeps in Z_MODELCACHE, and a .mom file."""
import plistlib
import zlib
from plistlib import UID

TYPES = {
    'int16': 100, 'int32': 200, 'int64': 300, 'decimal': 400, 'double': 500, 'float': 600, 'string': 700,
    'bool': 800, 'date': 900, 'binary': 1000, 'uuid': 1100, 'uri': 1200, 'transformable': 1800, 'composite': 2100,
}
CLASSES = {
    'int16': 'NSNumber', 'int32': 'NSNumber', 'int64': 'NSNumber', 'decimal': 'NSDecimalNumber', 'double': 'NSNumber',
    'float': 'NSNumber', 'string': 'NSString', 'bool': 'NSNumber', 'date': 'NSDate', 'binary': 'NSData',
    'uuid': 'NSUUID', 'uri': 'NSURL',
}


class Attribute:
    def __init__(self, name, type, external=False, transformer=None, elements=(), tombstone=False, transient=False):
        self.name, self.type, self.external, self.transformer = name, type, external, transformer
        self.elements, self.tombstone, self.transient = list(elements), tombstone, transient

    def leaves(self, path=''):
        """The attributes that have a column, with their paths: those of a composite one are its elements."""
        if self.type != 'composite':
            return [] if self.transient else [(path + self.name, self)]
        return [leaf for element in self.elements for leaf in element.leaves(path + self.name + '.')]


class Relationship:
    def __init__(self, name, destination, inverse, many=False, ordered=False):
        self.name, self.destination, self.inverse = name, destination, inverse
        self.many, self.ordered = many, ordered
        self.entity = None


class Entity:
    def __init__(self, name, properties, parent=None, abstract=False, unique=()):
        self.name, self.properties, self.parent, self.abstract = name, properties, parent, abstract
        self.unique = [list(names) for names in unique]
        for property in properties:
            if isinstance(property, Relationship):
                property.entity = self

    @property
    def attributes(self):
        return [p for p in self.properties if isinstance(p, Attribute)]

    @property
    def relationships(self):
        return [p for p in self.properties if isinstance(p, Relationship)]


class Model:
    def __init__(self, entities):
        self.entities = entities
        self.by_name = {entity.name: entity for entity in entities}
        self.numbers = {}
        for root in sorted((e for e in entities if not e.parent), key=lambda e: e.name):
            self._number(root)

    def _number(self, entity):
        self.numbers[entity.name] = len(self.numbers) + 1
        for child in self.children(entity):
            self._number(child)

    def children(self, entity):
        return sorted((e for e in self.entities if e.parent == entity.name), key=lambda e: e.name)

    def lineage(self, entity):
        """The entity and its superentities, the root first."""
        above = self.lineage(self.by_name[entity.parent]) if entity.parent else []
        return above + [entity]

    def root(self, entity):
        return self.lineage(entity)[0]

    def family(self, entity):
        return [entity] + [each for child in self.children(entity) for each in self.family(child)]

    def all_properties(self, entity):
        return [p for e in self.lineage(entity) for p in e.properties]

    def inverse(self, relationship):
        if not relationship.inverse:
            return None
        destination = self.by_name[relationship.destination]
        return next(p for p in self.all_properties(destination) if p.name == relationship.inverse)


class Archiver:
    """Writes objects as NSKeyedArchiver does. An object is (class names, function that returns its fields), and is written once."""

    def __init__(self):
        self.objects, self.texts, self.classes, self.known = ['$null'], {}, {}, {}

    def class_of(self, names):
        if names not in self.classes:
            self.objects.append({'$classname': names[0], '$classes': list(names)})
            self.classes[names] = UID(len(self.objects) - 1)
        return self.classes[names]

    def plain(self, value):
        key = (type(value).__name__, value)
        if key not in self.texts:
            self.objects.append(value)
            self.texts[key] = UID(len(self.objects) - 1)
        return self.texts[key]

    def object(self, key, names, fields):
        if key in self.known:
            return self.known[key]
        place = len(self.objects)
        self.objects.append(None)
        self.known[key] = UID(place)
        made = fields()
        made['$class'] = self.class_of(names)
        self.objects[place] = made
        return self.known[key]

    def fresh(self, names, fields):
        return self.object(('fresh', len(self.objects)), names, lambda: fields)

    def array(self, values):
        return self.fresh(('NSArray', 'NSObject'), {'NS.objects': values})

    def dictionary(self, pairs):
        pairs = list(pairs)
        return self.fresh(
            ('NSDictionary', 'NSObject'),
            {'NS.keys': [self.plain(k) for k, _ in pairs], 'NS.objects': [v for _, v in pairs]})

    def data(self, root):
        return plistlib.dumps(
            {'$archiver': 'NSKeyedArchiver', '$version': 100000, '$top': {'root': root}, '$objects': self.objects},
            fmt=plistlib.FMT_BINARY)


def class_names(attribute):
    names = ('NSAttributeDescription', 'NSPropertyDescription', 'NSObject')
    return ('NSCompositeAttributeDescription',) + names if attribute.type == 'composite' else names


class ModelArchive:
    def __init__(self, model, identifier):
        self.model, self.a, self.identifier = model, Archiver(), identifier

    def data(self):
        return self.a.data(self.root())

    def root(self):
        return self.a.object('model', ('NSManagedObjectModel', 'NSObject'), lambda: {
            'NSEntities': self.a.dictionary((e.name, self.entity(e)) for e in self.model.entities),
            'NSFetchRequestTemplates': UID(0),
            'NSVersionIdentifiers': self.a.fresh(('NSSet', 'NSObject'), {'NS.objects': [self.a.plain(self.identifier)]}),
        })

    def entity(self, entity):
        def fields():
            made = {
                'NSEntityName': self.a.plain(entity.name), 'NSClassNameForEntity': self.a.plain(entity.name),
                'NSUserInfo': self.a.dictionary([]), 'NSVersionHashModifier': UID(0),
                'NSRenamingIdentifier': self.a.plain(entity.name), 'NSManagedObjectModel': self.root(),
                'NSSuperentity': self.entity(self.model.by_name[entity.parent]) if entity.parent else UID(0),
            }
            made['NSSubentities'] = self.a.dictionary(
                (e.name, self.entity(e)) for e in self.model.children(entity))
            made['NSProperties'] = self.a.dictionary(
                (p.name, self.property(p, entity)) for p in self.model.all_properties(entity))
            if entity.abstract:
                made['NSIsAbstract'] = True
            if entity.unique:
                made['NSUniqueTuples'] = self.a.array(
                    [self.a.array([self.a.plain(name) for name in names]) for names in entity.unique])
            return made
        return self.a.object(('entity', entity.name), ('NSEntityDescription', 'NSObject'), fields)

    def property(self, property, entity):
        key = ('property', entity.name, property.name)
        if isinstance(property, Relationship):
            return self.a.object(key, ('NSRelationshipDescription', 'NSPropertyDescription', 'NSObject'),
                                 lambda: self.relationship(property, entity))
        return self.a.object(key, class_names(property), lambda: self.attribute(property, self.entity(entity), key))

    def attribute(self, attribute, owner, key):
        made = {
            'NSPropertyName': self.a.plain(attribute.name), 'NSIsOptional': True, 'NSEntity': owner,
            'NSAttributeType': TYPES[attribute.type], 'NSDefaultValue': UID(0), '_P': 243,
            'NSFlagsKey': (4 if attribute.external else 0) | (16 if attribute.tombstone else 0),
            'NSRenamingIdentifier': self.a.plain(attribute.name),
            'NSAttributeValueClassName': self.a.plain(CLASSES[attribute.type]) if attribute.type in CLASSES else UID(0),
            'NSValueTransformerName': self.a.plain(attribute.transformer) if attribute.transformer else UID(0),
        }
        if attribute.transient:
            made['NSIsTransient'] = True
        if attribute.elements:
            def element(e):
                below = key + (e.name,)
                return self.a.object(below, class_names(e), lambda: self.attribute(e, UID(0), below))
            made['NSCompositeElements'] = self.a.array([element(e) for e in attribute.elements])
        return made

    def relationship(self, relationship, entity):
        inverse = self.model.inverse(relationship)
        destination = self.model.by_name[relationship.destination]
        made = {
            'NSPropertyName': self.a.plain(relationship.name), 'NSIsOptional': True, 'NSEntity': self.entity(entity),
            'NSRenamingIdentifier': self.a.plain(relationship.name), 'NSDeleteRule': 1, 'NSMinCount': 0,
            'NSMaxCount': 0 if relationship.many else 1, '_P': 243,
            'NSDestinationEntity': self.entity(destination),
            '_NSDestinationEntityName': self.a.plain(relationship.destination),
            'NSInverseRelationship': self.property(inverse, destination) if inverse else UID(0),
            '_NSInverseRelationshipName': self.a.plain(relationship.inverse) if inverse else UID(0),
        }
        if relationship.ordered:
            made['NSIsOrdered'] = True
        return made


def model_cache(model, identifier='1'):
    """A model as Z_MODELCACHE has it: a keyed archive, deflated without a header."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(ModelArchive(model, identifier).data()) + packer.flush()
