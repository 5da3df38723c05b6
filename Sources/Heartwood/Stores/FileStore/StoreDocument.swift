import Foundation
import HeartwoodEngine
import HeartwoodFiles

extension StoreFileFormat {
  /// Writes a store to a file of this form.
  func write(_ contents: some StoreReading, _ header: StoreFileHeader, to output: inout FileOutput) throws {
    switch self {
    case .binary:
      try BinaryStoreFile.write(contents.reader, header.identifier, saves: header.saves, to: &output)
    case .json: try JSONStoreWriter.write(try StoreDocument(contents, header), contents, to: &output)
    case .xml: try XMLStoreWriter.write(try StoreDocument(contents, header), contents, to: &output)
    }
  }
}

/// The head of a readable file, before its objects.
struct StoreDocument {
  var identifier: UUID
  var saves: UInt64
  var metadata: JSONObject
  /// The model as JSON.
  var model: JSONValue
  /// The next key of each root entity, by name.
  var nextKeys: [(entity: String, key: UInt64)]

  static func roots(_ schema: StoreSchema) -> [EntityDescription] {
    schema.rootEntities.sorted { $0.displayName < $1.displayName }
  }

  /// An object: its attributes with values, and its relationships that are not derived from others, by name.
  struct Object {
    let entity: EntityDescription
    let key: UInt64
    let version: UInt32
    let attributes: [(name: String, value: JSONValue)]
    let relationships: [(name: String, value: JSONValue)]
  }

  /// Calls `body` with all objects: by root entity, and then by key.
  static func forEachObject(_ contents: some StoreReading, _ body: (Object) throws -> Void) throws {
    for root in roots(contents.schema) {
      try contents.scanRows(of: root, from: nil, reversed: false) { found in
        try body(try object(found, root, contents))
        return true
      }
    }
  }

  private static func object(
    _ found: FoundRow, _ root: EntityDescription, _ contents: some StoreReading
  ) throws -> Object {
    let entity = try root.entity(numbered: found.row.entityNumber)
    var attributes: [(String, JSONValue)] = []
    var relationships: [(String, JSONValue)] = []
    for slot in entity.slots {
      let column = entity.layout.columns[slot]
      let name = entity.property(at: slot).name
      switch column.kind {
      case .transient: continue
      case .toOne:
        guard !found.row.isNull(column) else { continue }
        relationships.append((name, .integer(Int64(bitPattern: found.row.key(column)))))
      case .toMany:
        let relationship = entity.relationship(at: slot)
        guard relationship.isWrittenToDocuments else { continue }
        let keys = try contents.destinationKeys(relationship, of: found.key)
        if !keys.isEmpty { relationships.append((name, StoreDocumentValue.json(keys))) }
      default:
        // A new object has the defaults of elements also where the whole has no value: they are none then.
        let wholes = entity.isElement(slot) ? entity.compositeSlots(around: slot) : []
        guard wholes.allSatisfy({ found.row.value(entity.layout.columns[$0]) == .bool(true) }) else {
          continue
        }
        let value = try value(column, of: found, entity, contents)
        if !value.isNull { attributes.append((name, StoreDocumentValue.json(value, column.kind))) }
      }
    }
    return Object(
      entity: entity, key: found.key, version: found.row.version,
      attributes: attributes.sorted { $0.0 < $1.0 }, relationships: relationships.sorted { $0.0 < $1.0 })
  }

  private static func value(
    _ column: Column, of found: FoundRow, _ entity: EntityDescription, _ contents: some StoreReading
  ) throws -> Value {
    let slot = Int(column.slot)
    guard let reference = found.row.external(column), let attribute = entity.attribute(at: slot) else {
      return found.row.value(column)
    }
    guard let data = try contents.externalData(reference, of: attribute, found.key) else {
      throw HeartwoodError.damagedStore("the data of \(attribute.displayName) is not there")
    }
    return .data(data)
  }
}

extension StoreDocument {
  init(_ contents: some StoreReading, _ header: StoreFileHeader) throws {
    identifier = UUID(header.identifier)
    saves = header.saves
    metadata = MetadataValue.object(try StoreMetadata(in: contents.reader).values)
    do {
      model = try JSONParser.parse(contents.schema.record.model)
    } catch {
      throw HeartwoodError.damagedModel("\(error)")
    }
    nextKeys = try Self.roots(contents.schema).map { root in
      let key = KeySpace.counterKey(contents.schema.keyNumber(of: root))
      return (root.displayName, try contents.number(key) ?? 1)
    }
  }
}

extension RelationshipDescription {
  /// Whether a readable file has the destinations of this to-many relationship: those of its inverse follow from them.
  var isWrittenToDocuments: Bool {
    guard hasEntries else { return false }
    guard let inverse = inverseRelationship, inverse.hasEntries, inverse !== self, !isOrdered else {
      return true
    }
    guard !inverse.isOrdered else { return false }
    let (mine, other) = (displayName, inverse.displayName)
    return mine <= other
  }
}
