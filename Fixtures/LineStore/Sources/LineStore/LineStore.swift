import Foundation
import Heartwood

/// A kind of store of a program: a file with a line for each object, in JSON: its entity, what the file calls it, and its values. The first
/// line has what is known of the store, its model included, so that it can be migrated.
///
/// It writes another file and renames it, so that a crash leaves the old one or the new one. It has attributes of all types but
/// transformable and composite ones.
public final class LineStore: AtomicStore, @unchecked Sendable {
  /// The kind under which the class is registered.
  public static let kind = PersistentStore.StoreType(rawValue: "Lines")

  private var lines: [Line] = []

  override public func loadMetadata() throws {
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    var rows = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
    guard !rows.isEmpty else { return }
    try JSONDecoder().decode(Header.self, from: Data(rows.removeFirst().utf8)).add(to: &storedMetadata)
    lines = try rows.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
  }

  override public func load() throws {
    var nodes: [String: AtomicStoreCacheNode] = [:]
    for line in lines {
      guard let entity = managedObjectModel.entitiesByName[line.entity] else { continue }
      nodes[line.entity + line.name] = AtomicStoreCacheNode(
        objectID: objectID(for: entity, withReferenceObject: line.name))
    }
    for line in lines {
      guard let node = nodes[line.entity + line.name] else { continue }
      let attributes = node.objectID.entity.attributesByName
      for (name, value) in line.values {
        guard let type = attributes[name]?.type else { continue }
        node.setValue(value.attributeValue(type), forKey: name)
      }
      for (name, others) in line.relations {
        guard let relationship = node.objectID.entity.relationshipsByName[name] else { continue }
        let found = others.compactMap { nodes[$0] }
        let value: Any? =
          !relationship.isToMany ? found.first : relationship.isOrdered ? found as Any : Set(found) as Any
        node.setValue(value, forKey: name)
      }
    }
    addCacheNodes(Set(nodes.values))
    lines = []
  }

  override public func save() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var rows = [String(decoding: try encoder.encode(Header(storedMetadata)), as: UTF8.self)]
    // Always in the same order, so that versions of a file can be compared.
    for line in cacheNodes().map(line).sorted(by: { ($0.entity, $0.name) < ($1.entity, $1.name) }) {
      rows.append(String(decoding: try encoder.encode(line), as: UTF8.self))
    }
    try Data((rows.joined(separator: "\n") + "\n").utf8).write(to: url, options: .atomic)
  }

  override public func newReferenceObject(for object: ManagedObject) -> any Sendable { UUID().uuidString }

  private func name(_ node: AtomicStoreCacheNode) -> String { "\(referenceObject(for: node.objectID) ?? "")" }

  private func line(_ node: AtomicStoreCacheNode) -> Line {
    func reference(_ node: AtomicStoreCacheNode) -> String { (node.objectID.entity.name ?? "") + name(node) }
    var line = Line(entity: node.objectID.entity.name ?? "", name: name(node))
    for (key, value) in node.propertyCache {
      switch value {
      case let other as AtomicStoreCacheNode: line.relations[key] = [reference(other)]
      case let others as Set<AtomicStoreCacheNode>: line.relations[key] = others.map(reference).sorted()
      case let others as [AtomicStoreCacheNode]: line.relations[key] = others.map(reference)
      default: line.values[key] = LineValue(value)
      }
    }
    return line
  }
}

/// The metadata of the store.
private struct Header: Codable {
  var identifier: String?
  var hashes: [String: Data]?
  var model: Data?
  var formerModels: [String]?
  /// A stage of a migration whose code has still to run.
  var stage: String?

  init(_ metadata: [String: any Sendable]) {
    typealias Key = PersistentStore.MetadataKey
    identifier = metadata[Key.storeUUID] as? String
    hashes = metadata[Key.modelVersionHashes] as? [String: Data]
    model = metadata[Key.modelData] as? Data
    formerModels = metadata[Key.formerModelVersionChecksums] as? [String]
    stage = metadata[Key.pendingMigrationStage] as? String
  }

  func add(to metadata: inout [String: any Sendable]) {
    typealias Key = PersistentStore.MetadataKey
    metadata[Key.storeUUID] = identifier
    metadata[Key.modelVersionHashes] = hashes
    metadata[Key.modelData] = model
    metadata[Key.formerModelVersionChecksums] = formerModels
    metadata[Key.pendingMigrationStage] = stage
  }
}

/// An object in the file.
private struct Line: Codable {
  var entity: String
  var name: String
  var values: [String: LineValue] = [:]
  /// The destinations, each by its entity and name.
  var relations: [String: [String]] = [:]
}

/// A value in the file.
private enum LineValue: Codable {
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)

  /// Nil for no value.
  init?(_ value: Any?) {
    switch value {
    case let value as Bool: self = .bool(value)
    case let value as any BinaryInteger: self = .integer(Int64(value))
    case let value as any BinaryFloatingPoint: self = .number(Double(value))
    case let value as String: self = .text(value)
    case let value as Date: self = .number(value.timeIntervalSinceReferenceDate)
    case let value as Data: self = .text(value.base64EncodedString())
    case let value as UUID: self = .text(value.uuidString)
    case let value as URL: self = .text(value.absoluteString)
    case let value as Decimal: self = .text(value.description)
    default: return nil
    }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    }
  }

  /// The value of an attribute of this type; nil if the file has one of another.
  func attributeValue(_ type: AttributeType) -> Any? {
    switch (type, self) {
    case (.boolean, .bool(let value)): value
    case (.integer16, .integer(let value)), (.integer32, .integer(let value)),
      (.integer64, .integer(let value)):
      value
    // A whole number may be written without a point.
    case (.double, .integer(let value)), (.float, .integer(let value)): Double(value)
    case (.double, .number(let value)), (.float, .number(let value)): value
    case (.date, .integer(let value)): Date(timeIntervalSinceReferenceDate: Double(value))
    case (.date, .number(let value)): Date(timeIntervalSinceReferenceDate: value)
    case (.string, .text(let value)): value
    case (.binaryData, .text(let value)): Data(base64Encoded: value)
    case (.uuid, .text(let value)): UUID(uuidString: value)
    case (.uri, .text(let value)): URL(string: value)
    case (.decimal, .text(let value)): Decimal(string: value)
    default: nil
    }
  }
}
