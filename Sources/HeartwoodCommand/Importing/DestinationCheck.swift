import Heartwood

/// Checks how many destinations the objects of a file have, before the first is written.
///
/// It knows those of new objects, and of relationships whose destinations the file replaces. Memory is linear in the number of links.
struct DestinationCheck {
  private let prepared: PreparedImport
  private let model: DocumentModel
  /// By object and relationship, both sides of all links.
  private var destinations: [Int: [String: Set<Int>]] = [:]
  /// By entity.
  private var relationships: [String: [DocumentRelationship]] = [:]

  init(_ prepared: PreparedImport, model: DocumentModel) {
    self.prepared = prepared
    self.model = model
    for (source, object) in prepared.objects.enumerated() {
      for link in object.links {
        let inverse = relationships(of: object.entity).first { $0.name == link.name }?.inverse
        for destination in link.destinations {
          destinations[source, default: [:]][link.name, default: []].insert(destination)
          if let inverse { destinations[destination, default: [:]][inverse, default: []].insert(source) }
        }
      }
    }
  }

  /// - Throws: A failure that names the first object and relationship with too few or too many destinations.
  mutating func run() throws(CommandFailure) {
    for (index, object) in prepared.objects.prefix(prepared.fileCount).enumerated() {
      for relationship in relationships(of: object.entity) where object.decides(relationship) {
        let count = destinations[index]?[relationship.name]?.count ?? 0
        guard let reason = relationship.refusal(of: count, object.entity) else { continue }
        throw .data("\(object.path).\(relationship.name): \(reason)")
      }
    }
  }

  private mutating func relationships(of entity: String) -> [DocumentRelationship] {
    if let known = relationships[entity] { return known }
    let found = model.lineage(of: entity).flatMap(\.relationships).filter { !$0.isTransient }
    relationships[entity] = found
    return found
  }
}

extension PreparedImport.Object {
  /// Whether the object has no other destinations of a relationship than those of the file.
  fileprivate func decides(_ relationship: DocumentRelationship) -> Bool {
    if existing == nil { return true }
    return relationship.isToMany ? given[relationship.name] != nil : cleared.contains(relationship.name)
  }
}

extension DocumentRelationship {
  /// Why a save refuses a number of destinations; nil if it does not.
  fileprivate func refusal(of count: Int, _ entity: String) -> String? {
    guard isToMany else {
      return count > 0 || isOptional ? nil : "a destination is missing, and \(entity).\(name) is not optional"
    }
    if count == 0 && isOptional { return nil }
    if count < minimumCount { return "has \(count) of at least \(minimumCount) destinations" }
    return maximumCount > 0 && count > maximumCount
      ? "has \(count) of at most \(maximumCount) destinations" : nil
  }
}
