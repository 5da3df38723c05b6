import Foundation
import Testing

@testable import Heartwood

/// The expected contents of a store, kept in dictionaries.
struct StoreModel {
  struct Row: Equatable {
    var entity: String
    var version: UInt32
    var values: [String: Value]
  }

  struct Place: Hashable {
    let root: String
    let key: UInt64
  }

  struct Source: Hashable {
    let relationship: String
    let key: UInt64
  }

  var rows: [Place: Row] = [:]
  /// To-many destinations with entries of their own, in order.
  var links: [Source: [UInt64]] = [:]

  func keys(_ root: EntityDescription, _ entity: EntityDescription? = nil) -> [UInt64] {
    rows.filter {
      $0.key.root == root.displayName && (entity == nil || $0.value.entity == entity?.displayName)
    }
    .map(\.key.key).sorted()
  }

  /// The destinations that a view should find, in the expected order.
  func destinations(_ relationship: RelationshipDescription, of key: UInt64) -> [UInt64] {
    if let inverse = relationship.inverseRelationship, !inverse.isToMany, !relationship.isOrdered {
      return rows.filter { $0.value.values[inverse.name]?.key == key }.map(\.key.key).sorted()
    }
    let targets = links[Source(relationship: relationship.displayName, key: key)] ?? []
    return relationship.isOrdered ? targets : targets.sorted()
  }

  mutating func link(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64) {
    add(relationship, source, target)
    if let inverse = relationship.inverseRelationship { add(inverse, target, source) }
  }

  private mutating func add(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64) {
    let place = Source(relationship: relationship.displayName, key: source)
    if links[place]?.contains(target) != true { links[place, default: []].append(target) }
  }

  mutating func unlink(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64) {
    links[Source(relationship: relationship.displayName, key: source)]?.removeAll { $0 == target }
    if let inverse = relationship.inverseRelationship {
      links[Source(relationship: inverse.displayName, key: target)]?.removeAll { $0 == source }
    }
  }

  mutating func setOrder(_ relationship: RelationshipDescription, _ source: UInt64, _ targets: [UInt64]) {
    links[Source(relationship: relationship.displayName, key: source)] = targets
  }

  /// Expects that a view holds exactly this.
  func check(_ view: any StoreView, _ world: StoreWorld, _ store: StoreIdentity) throws {
    for root in world.roots {
      var found: [Place: Row] = [:]
      var keys: [UInt64] = []
      try view.scanRows(of: root, from: nil, reversed: false) { scanned in
        let (key, row) = (scanned.key, scanned.row)
        keys.append(key)
        let entity = try root.entity(numbered: row.entityNumber)
        found[Place(root: root.displayName, key: key)] = Row(
          entity: entity.displayName, version: row.version, values: entity.values(row, store))
        return true
      }
      #expect(keys == self.keys(root))
      #expect(found == rows.filter { $0.key.root == root.displayName })
      #expect(try view.rowCount(of: root) == keys.count)
      if let rank = keys.indices.randomElement() {
        #expect(try view.rowKey(of: root, atRank: rank) == keys[rank])
      }
      #expect(try view.rowKey(of: root, atRank: keys.count) == nil)
    }
    try checkLinks(view, world)
  }

  private func checkLinks(_ view: any StoreView, _ world: StoreWorld) throws {
    for (place, row) in rows {
      guard let entity = world.model.entitiesByName[row.entity] else { continue }
      for relationship in entity.relationshipsBySlot where relationship.isToMany {
        var found: [UInt64] = []
        try view.destinations(relationship, of: place.key) {
          found.append($0)
          return true
        }
        #expect(
          found == destinations(relationship, of: place.key), "\(relationship.displayName) of \(place.key)")
        #expect(try view.destinationCount(relationship, of: place.key) == found.count)
      }
    }
  }
}

extension Value {
  /// The key of a destination.
  var key: UInt64? {
    if case .object(let id) = self { return id.key }
    return nil
  }
}
