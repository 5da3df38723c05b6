import Heartwood

/// The objects of a store that a file names by the values of unique attributes.
extension PreparedImport {
  /// Finds them, before anything is written.
  ///
  /// - Throws: A failure that names the first reference to an object that is neither in the file nor in the store, or the first new object
  ///   without a value that it needs.
  mutating func findExisting(in store: CommandStore) throws {
    var wanted: [ObjectKey.Attribute: [Int]] = [:]
    for (index, object) in objects.enumerated() {
      if let key = object.key { wanted[key.attribute, default: []].append(index) }
    }
    for (attribute, indices) in wanted {
      for start in stride(from: 0, to: indices.count, by: Self.valuesOfFetch) {
        let part = indices[start..<min(start + Self.valuesOfFetch, indices.count)]
        let found = try Self.found(part.compactMap { objects[$0].key?.value.base }, attribute, in: store)
        for index in part { setExisting(objects[index].key.flatMap { found[$0] }, of: index) }
      }
    }
    for object in objects where object.existing == nil {
      if object.isSought, let key = object.key {
        throw CommandFailure.data(
          "\(object.path): neither the file nor the store has a \(object.entity) whose \(key.attribute.name) is \"\(key.value)\""
        )
      }
      if let name = object.missing.first {
        throw CommandFailure.data(
          "\(object.path).\(name): a value is missing, \(object.entity).\(name) is not optional, and the store has no such object yet"
        )
      }
    }
  }

  private static let valuesOfFetch = 500

  private static func found(
    _ values: [Any], _ attribute: ObjectKey.Attribute, in store: CommandStore
  ) throws -> [ObjectKey: ManagedObjectID] {
    let request = FetchRequest<ManagedObject>(entityName: attribute.entity)
    let placeholders = values.map { _ in "%@" }.joined(separator: ", ")
    request.predicate = try FormatPredicate(
      "%K IN {\(placeholders)}", argumentArray: [attribute.name] + values.map { $0 as? any PredicateArgument }
    )
    var found: [ObjectKey: ManagedObjectID] = [:]
    for object in try store.context.fetch(request) {
      if let key = ObjectKey(attribute, object.value(forKey: attribute.name)) { found[key] = object.objectID }
    }
    store.context.reset()
    return found
  }
}
