extension EntityDescription {
  /// The names of the properties that a key path reads, starting at objects of this entity.
  ///
  /// - Throws: `.coreData` if the path starts at another class, or reads anything but modelled properties.
  package func propertyNames(of keyPath: AnyKeyPath) throws(HeartwoodError) -> [String] {
    try path(keyPath).names
  }

  /// The slot of the property that a key path reads; nil if it reads several.
  ///
  /// - Throws: As `propertyNames(of:)`.
  package func slot(of keyPath: AnyKeyPath) throws(HeartwoodError) -> Int? { try path(keyPath).slot }

  private func path(_ keyPath: AnyKeyPath) throws(HeartwoodError) -> KeyPathTable.Path {
    let known = compiled.keyPaths
    if let path = known[keyPath] { return path }
    let names = try resolvedNames(of: keyPath)
    let path = KeyPathTable.Path(
      keyPath, names: names, slot: names.count == 1 ? slot(named: names[0]) : nil)
    known.add(path)
    return path
  }

  private func resolvedNames(of keyPath: AnyKeyPath) throws(HeartwoodError) -> [String] {
    let root = type(of: keyPath).rootType
    if let type = root as? any ObjectClass.Type, let names = try type.propertyNames(of: keyPath, in: self) {
      return names
    }
    throw .model(
      "the key path \(keyPath) begins at \(root), but objects of \(displayName) "
        + "are \(givenClass.map { "\($0)" } ?? "ManagedObject")")
  }
}
