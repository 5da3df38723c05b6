import Foundation
import Heartwood

/// The overview of a whole store: its kind, its entities with their properties, and how many objects they have.
struct StoreOverview {
  private let present: ServedStore.Present
  private var store: BrowsedStore { present.store }

  init(_ present: ServedStore.Present) { self.present = present }

  func json(at generation: UInt64?) throws(CommandFailure) -> JSONValue {
    let counts = try store.objectCounts(at: generation)
    return .object(
      JSONObject([
        ("name", .string(CommandStore.url(store.path).lastPathComponent)), ("path", .string(store.path)),
        ("kind", .string(kind)), ("uuid", .string(store.identifier)),
        ("generation", store.newest.map { .integer(Int64(clamping: $0)) } ?? .null),
        ("hasGenerations", .bool(store.hasGenerations && !store.isFixed)),
        ("fixed", store.generation.map { .integer(Int64(clamping: $0)) } ?? .null),
        ("isLive", .bool(store.hasGenerations && !store.isFixed)),
        ("number", .integer(Int64(present.number))),
        ("absence", present.absence.map(JSONValue.string) ?? .null),
        ("notes", .array(store.notes.map(JSONValue.string))),
        ("entities", .array(store.model.entities.map { entity($0, counts) })),
      ]))
  }

  private var kind: String {
    store.isApple ? "Core Data" : StoreTypeOption.name(store.type)
  }

  private func entity(_ entity: DocumentEntity, _ counts: [String: Int]) -> JSONValue {
    let all = store.count(of: entity.name, in: counts)
    let lineage = store.model.lineage(of: entity.name)
    return .object(
      JSONObject([
        ("name", .string(entity.name)), ("parent", entity.superentity.map(JSONValue.string) ?? .null),
        ("isAbstract", .bool(entity.isAbstract)), ("own", .integer(Int64(counts[entity.name] ?? 0))),
        ("count", .integer(Int64(all))),
        ("attributes", .array(PageColumns.attributes(of: lineage).map(\.json))),
        (
          "relationships",
          .array(lineage.reversed().flatMap(\.relationships).map(Self.relationship))
        ),
        ("indexes", .array(lineage.flatMap(\.indexes).map { .array($0.map(JSONValue.string)) })),
      ]))
  }

  private static func relationship(_ relationship: DocumentRelationship) -> JSONValue {
    .object(
      JSONObject([
        ("name", .string(relationship.name)), ("destination", .string(relationship.destination)),
        ("isToMany", .bool(relationship.isToMany)),
        ("inverse", relationship.inverse.map(JSONValue.string) ?? .null),
      ]))
  }
}
