/// The names of the properties that a key path leads over.
enum KeyPathNames {
  /// As text of a predicate: names where the class's model is in use, else what Swift calls the key path.
  static func text(of keyPath: AnyKeyPath) -> String {
    if let type = type(of: keyPath).rootType as? ManagedObject.Type {
      for entity in FrozenModels.entities(of: type) {
        if let names = try? entity.propertyNames(of: keyPath) { return names.joined(separator: ".") }
      }
    }
    let written = "\(keyPath)"
    return String(written[(written.firstIndex(of: ".").map(written.index(after:)) ?? written.startIndex)...])
  }
}
