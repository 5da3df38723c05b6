/// The names of the properties in a key path.
enum KeyPathNames {
  /// The key path as text of a predicate: names if the class's model is in use, otherwise Swift's
  /// description.
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
