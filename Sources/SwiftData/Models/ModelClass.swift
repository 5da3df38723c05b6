import Foundation
import Heartwood
import HeartwoodFiles
import Synchronization

/// A class of models, as its declaration says. Each is read once in a process.
final class ModelClass: @unchecked Sendable {
  let type: any PersistentModel.Type
  /// The name of its entity.
  let name: String
  let superclass: ModelClass?
  /// The properties that the class adds to its superclass.
  let ownProperties: [ModelProperty]
  /// The traits that `#Unique` and `#Index` declare, those of the superclass first.
  let traits: [any SchemaTrait]
  /// All properties, those of the superclass first.
  let properties: [ModelProperty]
  /// The properties that lead to models, and those that do not.
  let relationships: [ModelProperty]
  let attributes: [ModelProperty]
  private let byHash: PropertyTable
  private let byName: [String: ModelProperty]
  private let byKeyPath: [AnyKeyPath: ModelProperty]
  /// The class's own key paths of inherited properties, by their names.
  private let inheritedKeyPaths: [String: AnyKeyPath]
  private let paths = Guarded(KnownPaths())

  private init(_ type: any PersistentModel.Type) {
    self.type = type
    name = String(describing: type)
    let objectClass: AnyClass = type
    superclass = (_getSuperclass(objectClass) as? any PersistentModel.Type).map { ModelClass.of($0) }
    let described = type.schemaMetadata
    ownProperties = described.filter { !($0.metadata is any SchemaTrait) }.map { ModelProperty($0, of: type) }
    traits = (superclass?.traits ?? []) + described.compactMap { $0.metadata as? any SchemaTrait }
    properties = (superclass?.properties ?? []) + ownProperties
    relationships = properties.filter { $0.destination != nil }
    attributes = properties.filter { $0.destination == nil }
    byHash = PropertyTable(properties)
    byName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
    let inherited = Array(zip(superclass?.properties ?? [], type._$inheritedKeyPaths))
    inheritedKeyPaths = Dictionary(inherited.map { ($0.name, $1) }, uniquingKeysWith: { _, last in last })
    byKeyPath = Dictionary(
      properties.map { ($0.keyPath, $0) } + inherited.map { ($1, $0) }, uniquingKeysWith: { _, last in last })
  }

  private static let known = Guarded<[ObjectIdentifier: ModelClass]>([:])
  /// The class that was asked for last: most questions are about the same one again. `known` keeps it.
  private static let last = Atomic<Unmanaged<ModelClass>?>(nil)

  static func of(_ type: any PersistentModel.Type) -> ModelClass {
    // Acquiring: the thread that stored the class has made it.
    if let last = last.load(ordering: .acquiring)?.takeUnretainedValue(),
      ObjectIdentifier(last.type) == ObjectIdentifier(type)
    {
      return last
    }
    let found = lookedUp(type)
    last.store(.passUnretained(found), ordering: .releasing)
    return found
  }

  private static func lookedUp(_ type: any PersistentModel.Type) -> ModelClass {
    if let found = known.withLock({ $0[ObjectIdentifier(type)] }) { return found }
    // Without the lock: this calls the class. Two threads would make equal ones.
    let made = ModelClass(type)
    return known.withLock { classes in
      if let found = classes[ObjectIdentifier(type)] { return found }
      classes[ObjectIdentifier(type)] = made
      return made
    }
  }

  /// The property of a name, by the hash of the name.
  func property(_ hash: UInt64) -> ModelProperty? { byHash[hash] }
  func property(named name: String) -> ModelProperty? { byName[name] }

  /// The key path of the class for a property of its own or of a superclass.
  func keyPath(of property: ModelProperty) -> AnyKeyPath {
    inheritedKeyPaths[property.name] ?? property.keyPath
  }

  /// The property that a key path reads; nil if it reads none, or more than one.
  func property(at keyPath: AnyKeyPath) -> ModelProperty? {
    if let found = byKeyPath[keyPath] { return found }
    guard let names = names(of: keyPath), names.count == 1 else { return nil }
    return byName[names[0]]
  }

  /// The name of the property that a key path reads, for the schema.
  ///
  /// - Precondition: It reads a property of the class.
  func name(of keyPath: AnyKeyPath) -> String {
    (names(of: keyPath) ?? ["\(keyPath)"]).joined(separator: ".")
  }

  /// Whether each of some names is a relationship of the class that the one before leads to.
  func leadsToModels(_ names: [String]) -> Bool {
    var current = self
    for name in names {
      guard let destination = current.property(named: name)?.destination else { return false }
      current = ModelClass.of(destination)
    }
    return !names.isEmpty
  }

  /// How the value is stored that some names lead to, over relationships and into structures; nil if it is no attribute.
  func coding(at names: [String]) -> AnyValueCoding? {
    guard let first = names.first, let property = property(named: first) else { return nil }
    if let destination = property.destination {
      return ModelClass.of(destination).coding(at: Array(names.dropFirst()))
    }
    return names.dropFirst().reduce(property.coding) { coding, name in
      coding?.elements?.first { $0.name == name }?.coding
    }
  }

  /// The names of the properties that a key path reads, one for each step; nil if it reads anything else.
  func names(of keyPath: AnyKeyPath) -> [String]? {
    if let found = byKeyPath[keyPath] { return [found.name] }
    let path = KeyPathBox(keyPath)
    if let known = paths.withLock({ $0.names[path] }) { return known.isEmpty ? nil : known }
    let found = PathProbe.names(of: keyPath, from: self)
    paths.withLock { $0.names[path] = found ?? [] }
    return found
  }
}

/// The properties of a class by the hashes of their names, which are spread well enough to be places in a table.
private struct PropertyTable {
  /// Twice as many places as properties at least, so that every search ends.
  private var places: [ModelProperty?]
  private let mask: UInt64

  /// - Parameter properties: Of several with one hash, the last is found.
  init(_ properties: [ModelProperty]) {
    var count = 2
    while count < 2 * properties.count { count *= 2 }
    mask = UInt64(count - 1)
    places = Array(repeating: nil, count: count)
    for property in properties { places[place(of: property.hash)] = property }
  }

  subscript(hash: UInt64) -> ModelProperty? { places[place(of: hash)] }

  /// Where the property of a hash is, or would be.
  private func place(of hash: UInt64) -> Int {
    var place = hash & mask
    while let property = places[Int(place)], property.hash != hash { place = (place + 1) & mask }
    return Int(place)
  }
}

/// The names that key paths read; none for those that read anything but properties.
private struct KnownPaths: Sendable {
  var names: [KeyPathBox: [String]] = [:]
}

/// A key path is an immutable value, which the compiler cannot assume of all.
private struct KeyPathBox: Hashable, @unchecked Sendable {
  let keyPath: AnyKeyPath
  init(_ keyPath: AnyKeyPath) { self.keyPath = keyPath }
}

/// One property of a class of models.
final class ModelProperty: @unchecked Sendable {
  enum Kind {
    case attribute(AnyValueCoding)
    case toOne(any PersistentModel.Type, isOptional: Bool)
    case toMany(any PersistentModel.Type, isOptional: Bool)
    /// A type that cannot be stored.
    case unknown
  }

  let name: String
  /// The hash of the name.
  let hash: UInt64
  let keyPath: AnyKeyPath
  let valueType: any Any.Type
  let defaultValue: Any?
  let metadata: (any SchemaProperty)?
  let kind: Kind

  init(_ described: Schema.PropertyMetadata, of type: any PersistentModel.Type) {
    name = described.name
    hash = _PropertyHash.of(described.name)
    keyPath = described.keypath
    valueType = Swift.type(of: described.keypath).valueType
    defaultValue = described.defaultValue
    metadata = described.metadata
    kind = Self.kind(of: valueType, metadata as? Schema.Attribute)
  }

  private static func kind(of type: any Any.Type, _ attribute: Schema.Attribute?) -> Kind {
    if let model = type as? any PersistentModel.Type { return .toOne(model, isOptional: false) }
    let wrapped = (type as? any OptionalType.Type)?.wrappedType
    if let model = wrapped as? any PersistentModel.Type { return .toOne(model, isOptional: true) }
    if let collection = type as? any RelationshipCollection.Type {
      return .toMany(element(of: collection), isOptional: wrapped != nil)
    }
    let transformer = attribute?.options.first { $0.kind == .transformable }?.transformerName
    let isEncoded = attribute?.has(.codable) == true
    return ValueCodings.coding(of: type, transformer: transformer, isEncoded: isEncoded).map {
      .attribute($0)
    }
      ?? .unknown
  }

  private static func element<Collection: RelationshipCollection>(
    of type: Collection.Type
  ) -> any PersistentModel.Type { Collection.PersistentElement.self }

  var coding: AnyValueCoding? {
    if case .attribute(let coding) = kind { return coding }
    return nil
  }

  /// The class that a relationship leads to.
  var destination: (any PersistentModel.Type)? {
    switch kind {
    case .toOne(let type, _), .toMany(let type, _): type
    case .attribute, .unknown: nil
    }
  }
}
