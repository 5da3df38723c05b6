import Heartwood

/// Checks the uniqueness constraints of all objects of a file, among each other and with those of the store, before the first is written.
///
/// An object has values under a constraint if it is new, or if it updates one of the store and the file gives one of the values. A
/// missing value equals no other. Memory is linear in the number of these values.
struct UniqueCheck {
  /// The changes of the file to the values under one constraint.
  private struct Claims {
    /// By values, the index of the object that gets them.
    var indices: [UniquenessConstraint.Values: Int] = [:]
    /// The index of the last object that changes the values of one of the store, which others may get then.
    var changes: [ManagedObjectID: Int] = [:]
  }

  private let store: CommandStore
  private let prepared: PreparedImport
  /// The number of the transaction that writes an object, by its index.
  private let batchOf: [Int]
  /// By name, the entities that objects have.
  private var entities: [String: (entity: EntityDescription, constraints: [UniquenessConstraint])] = [:]
  private var claims: [UniquenessConstraint: Claims] = [:]

  init(_ prepared: PreparedImport, batches: [[Int]], in store: CommandStore) {
    self.prepared = prepared
    self.store = store
    var batchOf = [Int](repeating: 0, count: prepared.objects.count)
    for (number, batch) in batches.enumerated() { for index in batch { batchOf[index] = number } }
    self.batchOf = batchOf
  }

  /// - Parameter storeHasObjects: Whether objects of the store may have the values too.
  /// - Throws: A failure that names the object and the property, and the object that has the same values.
  mutating func run(storeHasObjects: Bool) throws {
    for index in 0..<prepared.fileCount {
      let (entity, constraints) = try entity(of: prepared.objects[index])
      for constraint in constraints { try claim(constraint, index, entity) }
    }
    store.context.reset()
    guard storeHasObjects else { return }
    for (constraint, claims) in claims.sorted(by: {
      ($0.key.entity, $0.key.names[0]) < ($1.key.entity, $1.key.names[0])
    }) {
      // In the order of the file, so that the first is reported.
      for (values, index) in claims.indices.sorted(by: { $0.value < $1.value }) {
        try checkHolder(of: values, constraint, index, claims)
      }
    }
  }

  /// The entity that an object has: that of the object of the store that it updates, which may be a subentity of that in the file.
  private mutating func entity(
    of object: PreparedImport.Object
  ) throws -> (entity: EntityDescription, constraints: [UniquenessConstraint]) {
    let name = object.existing?.entity.name ?? object.entity
    if let known = entities[name] { return known }
    let entity = try store.entity(named: name)
    let found = (entity, entity.inheritedUniquenessConstraints)
    entities[name] = found
    return found
  }

  /// Notes the values that an object gets under a constraint.
  private mutating func claim(
    _ constraint: UniquenessConstraint, _ index: Int, _ entity: EntityDescription
  ) throws {
    let object = prepared.objects[index]
    let isGiven = constraint.names.map(object.gives)
    guard object.existing == nil || isGiven.contains(true) else { return }
    let stored = try object.existing.flatMap { identifier in
      isGiven.contains(false) ? try store.context.existingObject(with: identifier) : nil
    }
    let all = zip(constraint.names, isGiven).map { name, isGiven -> Any? in
      if isGiven { return value(of: name, object) }
      guard let stored, !object.begins(around: name, in: stored) else {
        return entity.defaultValue(ofColumn: name, object.hasValue(in:))
      }
      return stored.value(forKey: name)
    }
    if let existing = object.existing { claims[constraint, default: Claims()].changes[existing] = index }
    guard let values = entity.constrained(all, by: constraint),
      let first = claims[constraint, default: Claims()].indices.updateValue(index, forKey: values)
    else { return }
    // Two of the file's objects may update one of the store.
    guard let existing = object.existing, existing == prepared.objects[first].existing else {
      throw failure(constraint, index, "\(prepared.objects[first].path) has")
    }
  }

  /// The value in the file: of a relationship, the object of the store, or one that is not saved yet.
  private func value(of name: String, _ object: PreparedImport.Object) -> Any? {
    guard let destination = object.constrained[name] else { return object.value(of: name) }
    return prepared.objects[destination].existing ?? UniquenessConstraint.UnsavedObject(number: destination)
  }

  private mutating func checkHolder(
    of values: UniquenessConstraint.Values, _ constraint: UniquenessConstraint, _ index: Int, _ claims: Claims
  ) throws {
    let object = prepared.objects[index]
    // No object of the store leads to one that is not saved.
    guard !values.haveUnsavedObjects else { return }
    // The key was looked up already, and found no object.
    if object.existing == nil, let key = object.key, constraint.names == key.constraint.names { return }
    let (entity, _) = try entity(of: object)
    let holder = try constraint.holder(of: values, entity, in: store.context)
    guard let holder, holder != object.existing else { return }
    let name = "\(ObjectName.text(holder)) of the store has"
    guard let change = claims.changes[holder] else {
      let option = "\(constraint.entity).\(constraint.names.joined(separator: "+"))"
      throw failure(
        constraint, index, name, object.key == nil ? "; --upsert \(option) updates that object" : "")
    }
    guard batchOf[change] > batchOf[index] else { return }
    throw failure(
      constraint, index, "until \(prepared.objects[change].path) is written, \(name)",
      "; give --batch a number that has both in one transaction")
  }

  private func failure(
    _ constraint: UniquenessConstraint, _ index: Int, _ other: String, _ advice: String = ""
  ) -> CommandFailure {
    .sameValues(prepared.objects[index].path, constraint.names, other, advice)
  }
}

extension PreparedImport.Object {
  /// Whether the file gives a property a value or removes it: an element of a composite attribute by itself, or with the whole of one
  /// around it.
  fileprivate func gives(_ name: String) -> Bool {
    given(name) != nil || constrained[name] != nil || cleared.contains(name)
  }

  /// Whether the file gives the composite attribute around an element its first value.
  fileprivate func begins(around element: String, in stored: ManagedObject) -> Bool {
    guard let point = element.lastIndex(of: ".") else { return false }
    let composite = String(element[..<point])
    return hasValue(in: composite) && stored.value(forKey: composite) == nil
  }

  /// Whether the file has a value for a composite attribute, or for an element of it.
  fileprivate func hasValue(in composite: String) -> Bool {
    attributes.contains { $0.value != nil && ($0.name == composite || $0.name.hasPrefix("\(composite).")) }
  }

  /// The value of an attribute in the file, or of an element of a composite one under its full name.
  fileprivate func value(of name: String) -> Any? {
    guard let (whole, path) = given(name) else { return nil }
    return path.reduce(whole as Any?) { whole, part in (whole as? [String: any Sendable])?[part] }
  }

  /// The innermost value of the file that decides an attribute or an element, and the names from it to the element.
  private func given(_ name: String) -> (whole: (any Sendable)?, path: ArraySlice<String>)? {
    let parts = name.split(separator: ".").map(String.init)
    for count in (1...parts.count).reversed() {
      let whole = parts[..<count].joined(separator: ".")
      if let own = attributes.last(where: { $0.name == whole }) { return (own.value, parts[count...]) }
    }
    return nil
  }
}
