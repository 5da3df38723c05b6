import Foundation
import Heartwood

/// Which objects a table of the page shows, and in which order.
struct RowsRequest {
  let entity: String
  let condition: String?
  /// Names, with a minus sign before one that descends.
  let sort: String?
  /// A relationship of the entity, and the object that it leads to.
  let reference: (relationship: String, object: String)?
  let generation: UInt64?

  init(_ query: PageQuery) throws(CommandFailure) {
    entity = try query.required("entity")
    condition = query.text("where")
    sort = query.text("sort")
    generation = try query.generation()
    guard let relationship = query.text("by") else {
      reference = nil
      return
    }
    reference = (relationship, try query.required("of"))
  }

  /// The request, without a limit.
  ///
  /// - Throws: A usage failure if a name or the condition is wrong.
  func fetch(in store: CommandStore) throws -> FetchRequest<ManagedObject> {
    let entity = try store.entity(named: entity)
    let request = try store.request(entity, where: condition, sort: sorts)
    if let reference {
      let condition = try Self.condition(reference, of: entity, in: store)
      request.predicate =
        try self.condition.map { try FormatPredicate("(\($0)) AND (\(condition.0))", condition.1) }
        ?? FormatPredicate(condition.0, condition.1)
    }
    return request
  }

  private var sorts: [any FetchSort] {
    (sort ?? "").split(separator: ",").map { word in
      let name = word.trimmingPrefix("-")
      return NamedSort(String(name), ascending: name.count == word.count)
    }
  }

  /// That the relationship leads to the object, as a format and its argument.
  private static func condition(
    _ reference: (relationship: String, object: String), of entity: EntityDescription, in store: CommandStore
  ) throws -> (String, ManagedObjectID) {
    guard let relationship = entity.relationshipsByName[reference.relationship] else {
      throw CommandFailure.usage("\(entity.name ?? "") has no relationship \"\(reference.relationship)\"")
    }
    let identifier = try ObjectName.identifier(reference.object, in: store)
    return ("\(relationship.isToMany ? "ANY " : "")#\(relationship.name) == %@", identifier)
  }
}
