import Foundation

@testable import Heartwood
@testable import HeartwoodModel

/// Decoding of the graph's rows, history records and model record. The first byte selects which.
enum RowTarget {
  static func finding(_ bytes: [UInt8]) -> String? {
    guard let kind = bytes.first else { return nil }
    do {
      let world = try FuzzWorld.shared.get()
      return try bytes.withUnsafeBytes { buffer in
        let rest = UnsafeRawBufferPointer(rebasing: buffer.dropFirst())
        switch kind % 4 {
        case 0: return try row(rest, world.city, world)
        case 1: return try row(rest, world.country, world)
        case 2: return try history(rest, world)
        default: return try schema(rest)
        }
      }
    } catch let error as HeartwoodError {
      return error.description.isEmpty ? "an error without a message" : nil
    } catch {
      return "\(error)"
    }
  }

  /// Reads an accepted row in every way, and builds it again.
  private static func row(
    _ bytes: UnsafeRawBufferPointer, _ root: EntityDescription, _ world: FuzzWorld
  ) throws -> String? {
    let row = try RowView(validating: bytes, below: root)
    let entity = [world.city, world.capital, world.country].first { $0.number == row.entityNumber }
    guard let entity, entity.isKindOf(entity: root) else { return "a row of another entity is let through" }
    var builder = RowBuilder(entity.layout)
    for column in entity.layout.columns {
      let value = row.value(column)
      _ = "\(value)"
      if column.kind == .toOne || column.kind == .toMany { continue }
      builder.set(Int(column.slot), value)
      guard row.isNull(column) == row.isNull(column), row.isSame(column, in: row) else {
        return "a column differs from itself"
      }
    }
    let again = builder.finish(version: row.version)
    return try again.withUnsafeBytes { bytes in
      let copy = try RowView(validating: bytes, layout: entity.layout)
      for column in entity.layout.columns where column.kind != .toOne && column.kind != .toMany {
        let (before, after) = (row.value(column), copy.value(column))
        guard "\(before)" == "\(after)" else { return "\(before) becomes \(after)" }
      }
      return nil
    }
  }

  private static func history(_ bytes: UnsafeRawBufferPointer, _ world: FuzzWorld) throws -> String? {
    let record = try HistoryCoding.decode(bytes, number: 5, world.schema)
    let again = HistoryCoding.encode(record, world.schema)
    let copy = try again.withUnsafeBytes { try HistoryCoding.decode($0, number: 5, world.schema) }
    return copy.changes.count == record.changes.count ? nil : "changes are lost in writing them again"
  }

  private static func schema(_ bytes: UnsafeRawBufferPointer) throws -> String? {
    let record = try SchemaRecord(decoding: bytes)
    let again = record.encoded()
    return again.elementsEqual(try again.withUnsafeBytes { try SchemaRecord(decoding: $0) }.encoded())
      ? nil : "the model's record changes in being read"
  }

  static var seeds: [[UInt8]] {
    guard let world = try? FuzzWorld.shared.get() else { return [] }
    var seeds: [[UInt8]] = []
    for row in world.rowBytes { seeds += [[0] + row, [1] + row] as [[UInt8]] }
    let record = HistoryRecord(
      number: 5, previous: 4, nanoseconds: 7, author: "Eve", contextName: nil,
      changes: [
        HistoryChange(kind: .insert, entity: world.city, key: 3),
        HistoryChange(kind: .update, entity: world.capital, key: 1, updatedSlots: [0, 2]),
        HistoryChange(kind: .delete, entity: world.country, key: 2),
      ])
    seeds.append([2] + HistoryCoding.encode(record, world.schema))
    seeds.append([3] + [UInt8](world.record.encoded()))
    return seeds
  }
}
