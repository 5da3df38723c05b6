import Foundation
import Heartwood

/// A kind of store of a program: a file with a line for each object, in JSON: its entity, what the file calls it, and its values.
///
/// It writes another file and renames it, so that a crash leaves the old one or the new one.
final class LineStore: AtomicStore, @unchecked Sendable {
  static let kind = PersistentStore.StoreType(rawValue: "Lines")

  private struct Line: Codable {
    var entity: String
    var name: String
    var texts: [String: String] = [:]
    var numbers: [String: Int64] = [:]
    var relations: [String: [String]] = [:]
  }

  /// Set by a test to make the next save fail.
  nonisolated(unsafe) static var fails = false
  private var lines: [Line] = []

  override func loadMetadata() throws {
    guard let text = try? String(contentsOf: url, encoding: .utf8) else { return }
    var rows = text.split(separator: "\n")
    guard !rows.isEmpty else { return }
    storedMetadata[MetadataKey.storeUUID] = String(rows.removeFirst())
    lines = try rows.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
  }

  override func load() throws {
    var nodes: [String: AtomicStoreCacheNode] = [:]
    for line in lines {
      guard let entity = managedObjectModel.entitiesByName[line.entity] else { continue }
      nodes[line.entity + line.name] = AtomicStoreCacheNode(
        objectID: objectID(for: entity, withReferenceObject: line.name))
    }
    for line in lines {
      guard let node = nodes[line.entity + line.name] else { continue }
      for (name, text) in line.texts { node.setValue(text, forKey: name) }
      for (name, number) in line.numbers { node.setValue(number, forKey: name) }
      for (name, names) in line.relations {
        guard let relationship = node.objectID.entity.relationshipsByName[name] else { continue }
        let others = names.compactMap { nodes[(relationship.destinationEntity.name ?? "") + $0] }
        node.setValue(
          !relationship.isToMany
            ? others.first as Any : relationship.isOrdered ? others as Any : Set(others) as Any,
          forKey: name)
      }
    }
    addCacheNodes(Set(nodes.values))
  }

  override func save() throws {
    if Self.fails { throw CocoaError(.fileWriteOutOfSpace) }
    var rows = [storedMetadata[MetadataKey.storeUUID] as? String ?? ""]
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    for line in cacheNodes().map(line).sorted(by: { ($0.entity, $0.name) < ($1.entity, $1.name) }) {
      rows.append(String(decoding: try encoder.encode(line), as: UTF8.self))
    }
    try Data(rows.joined(separator: "\n").utf8).write(to: url, options: .atomic)
  }

  override func newReferenceObject(for object: ManagedObject) -> any Sendable {
    UUID().uuidString
  }

  private func name(_ node: AtomicStoreCacheNode) -> String {
    "\(referenceObject(for: node.objectID) ?? "?")"
  }

  private func line(_ node: AtomicStoreCacheNode) -> Line {
    var line = Line(entity: node.objectID.entity.name ?? "", name: name(node))
    for (key, value) in node.propertyCache {
      switch value {
      case let text as String: line.texts[key] = text
      case let number as Int64: line.numbers[key] = number
      case let other as AtomicStoreCacheNode: line.relations[key] = [name(other)]
      case let others as Set<AtomicStoreCacheNode>: line.relations[key] = others.map(name).sorted()
      case let others as [AtomicStoreCacheNode]: line.relations[key] = others.map(name)
      default: break
      }
    }
    return line
  }
}
