import Foundation
import HeartwoodArchives

/// Reads a model that Apple's tools have compiled: a `.mom` file, or the copy of the model that Core Data keeps in a store.
///
/// Both are keyed archives of an `NSManagedObjectModel`; the one in a store is compressed. What a store can mean is read, and the rest is left
/// out with a sentence in `notes`, by the rules of `XcodeModelReader`, so that a compiled model is the one of its source.
package struct CompiledModelReader {
  /// The name of the file in messages.
  let file: String
  /// The parts of the file that the model does not have, or has otherwise, a sentence each.
  package var notes: [String] = []
  /// The statements that no store could mean, a sentence each.
  package var mistakes: [String] = []
  /// The superentity of each entity that has one, and the names of the properties that an entity inherits.
  private var parents: [String: String] = [:]
  private var inherited: [String: Set<String>] = [:]
  /// The composite attributes that are being read, by the numbers of their objects.
  var openComposites: Set<Int> = []
  /// How many parts of predicates and expressions may be read yet.
  var partsLeft = 0
  /// How many members of lists and dictionaries may be read yet, as objects of an archive may refer to the same ones again and again.
  var left = 0

  package init(file: String) { self.file = file }

  /// Whether data is a compiled model, by a glance: an archive that names the class of one.
  package static func isLikely(_ data: Data) -> Bool {
    func has(_ text: String) -> Bool { data.range(of: Data(text.utf8)) != nil }
    return KeyedArchive.isLikely(data) && has("NSManagedObjectModel") && !has("NSMappingModel")
  }

  /// The archive in a file, compressed or not.
  ///
  /// - Throws: `.coreData` if it is neither.
  package static func archive(_ data: Data, file: String) throws(HeartwoodError) -> KeyedArchive {
    do throws(ArchiveError) {
      if KeyedArchive.isLikely(data) { return try KeyedArchive(data) }
      return try KeyedArchive(Data(try Inflate.bytes(of: [UInt8](data), limit: 1 << 26)))
    } catch {
      throw HeartwoodError(
        .coreData, "\(file) is no model that Apple's tools have compiled: \(error)", underlying: error)
    }
  }

  /// - Throws: `.coreData` if the archive is no model, or damaged.
  package mutating func document(of archive: KeyedArchive) throws(HeartwoodError) -> ModelDocument {
    do throws(ArchiveError) {
      left = 16 * archive.count + 1000
      partsLeft = 64 * archive.count + 10_000
      guard let root = try archive.root.object, root.isKind(of: "NSManagedObjectModel") else {
        throw ArchiveError("it has \(try archive.root.kind) in place of a model")
      }
      return try document(of: root)
    } catch {
      throw HeartwoodError(
        .coreData, "\(file) is no model that Apple's tools have compiled: \(error)", underlying: error)
    }
  }

  private mutating func document(of root: ArchivedObject) throws(ArchiveError) -> ModelDocument {
    noteUnknown(root, "the model")
    var objects: [ArchivedObject] = []
    for (name, value) in try entries("NSEntities", of: root) {
      guard let object = value.object, object.isKind(of: "NSEntityDescription") else {
        throw ArchiveError("the entity \(name) is \(value.kind)")
      }
      objects.append(object)
    }
    try readInheritance(objects)
    var entities: [ModelDocument.Entity] = []
    for object in objects { entities.append(try entity(object)) }
    entities.sort { $0.name < $1.name }
    dropInherited(&entities)
    var connecting = XcodeModelReader(file: file)
    connecting.connect(&entities)
    notes += connecting.notes
    mistakes += connecting.mistakes
    var document = ModelDocument(
      versionIdentifiers: try strings("NSVersionIdentifiers", of: root).filter { !$0.isEmpty }.sorted(),
      entities: entities)
    let names = Set(entities.map(\.name))
    try readRequests(root, names, into: &document)
    try readConfigurations(root, names, into: &document)
    return document
  }

  // MARK: Entities

  private mutating func entity(_ object: ArchivedObject) throws(ArchiveError) -> ModelDocument.Entity {
    guard let name = try object.string("NSEntityName"), !name.isEmpty else {
      throw ArchiveError("an entity has no name")
    }
    noteUnknown(object, "the entity \(name)")
    var entity = ModelDocument.Entity(
      name: name, className: XcodeModel.className(try object.string("NSClassNameForEntity")),
      isAbstract: try object.bool("NSIsAbstract") ?? false,
      superentity: parents[name],
      renamingIdentifier: try identifier(object, name),
      versionHashModifier: try text("NSVersionHashModifier", of: object),
      userInfo: try userInfo(of: object, "the entity \(name)"), properties: [], uniquenessConstraints: [],
      indexes: [])
    var indexed: Set<String> = []
    for (key, value) in try entries("NSProperties", of: object) {
      guard let property = value.object else { throw ArchiveError("\(name).\(key) is \(value.kind)") }
      if try property.bool("NSIsIndexed") == true { indexed.insert(key) }
      // In a store, and in models that a program made, an entity has copies of what it inherits.
      if property.className == "_NSPropertyDescriptionProxy" || inherited[name]?.contains(key) == true {
        continue
      }
      if let read = try self.property(property, of: name) { entity.properties.append(read) }
    }
    entity.properties.sort { $0.name < $1.name }
    if let constraints = try object.list("NSUniqueTuples") {
      for constraint in try constraints.values() {
        entity.uniquenessConstraints.append(try names(constraint, "a uniqueness constraint of \(name)"))
      }
    }
    try readIndexes(of: object, indexed, into: &entity)
    return entity
  }

  // MARK: Inheritance

  /// Reads which entity inherits from which, and what. An entity that names no superentity has the one that names it.
  private mutating func readInheritance(_ objects: [ArchivedObject]) throws(ArchiveError) {
    var declared: [String: [String]] = [:]
    for object in objects {
      guard let name = try object.string("NSEntityName") else { continue }
      let keys = try entries("NSProperties", of: object).map(\.name)
      declared[name] = keys
      if let parent = try object.object("NSSuperentity")?.string("NSEntityName") { parents[name] = parent }
    }
    for object in objects {
      guard let parent = try object.string("NSEntityName") else { continue }
      for (name, _) in try entries("NSSubentities", of: object) where parents[name] == nil {
        parents[name] = parent
      }
    }
    for name in declared.keys {
      for ancestor in ancestors(of: name) { inherited[name, default: []].formUnion(declared[ancestor] ?? []) }
    }
  }

  /// The entities that one inherits from, as far as they are no circle.
  private func ancestors(of name: String) -> [String] {
    var found: [String] = []
    var seen: Set<String> = [name]
    var next = parents[name]
    while let name = next, seen.insert(name).inserted {
      found.append(name)
      next = parents[name]
    }
    return found
  }

  /// Removes the copies of constraints and indexes that an entity inherits, as models have them that a program made.
  private func dropInherited(_ entities: inout [ModelDocument.Entity]) {
    let given = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for place in entities.indices {
      let ancestors = ancestors(of: entities[place].name).compactMap { given[$0] }
      guard !ancestors.isEmpty else { continue }
      let constraints = Set(ancestors.flatMap(\.uniquenessConstraints))
      let indexes = ancestors.flatMap(\.indexes)
      entities[place].uniquenessConstraints.removeAll { constraints.contains($0) }
      entities[place].indexes.removeAll { index in
        indexes.contains { $0.name == index.name && $0.properties == index.properties }
      }
    }
  }

  // MARK: Configurations

  private mutating func readConfigurations(
    _ root: ArchivedObject, _ names: Set<String>, into document: inout ModelDocument
  ) throws(ArchiveError) {
    for (name, value) in try entries("NSConfigurations", of: root) {
      guard let list = value.list else { throw ArchiveError("the configuration \(name) is \(value.kind)") }
      try take(list.count)
      var members: [String] = []
      for member in try list.values() {
        var entity = member.string
        if let object = member.object { entity = try object.string("NSEntityName") }
        guard let entity, names.contains(entity) else {
          note(
            "\(entity ?? member.kind) of the configuration \(name) is no entity of the model, and is left out"
          )
          continue
        }
        members.append(entity)
      }
      document.configurations = document.configurations ?? [:]
      document.configurations?[name] = members.sorted()
    }
  }
}
