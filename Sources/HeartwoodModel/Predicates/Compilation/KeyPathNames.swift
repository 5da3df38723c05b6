/// The names of the properties in a key path.
enum KeyPathNames {
  /// The key path as text of a predicate: the names that the class declares, otherwise Swift's description.
  static func text(of keyPath: AnyKeyPath) -> String {
    if let type = type(of: keyPath).rootType as? any ObjectClass.Type,
      let names = type.declaredNames(of: keyPath)
    {
      return names.joined(separator: ".")
    }
    let written = "\(keyPath)"
    return String(written[(written.firstIndex(of: ".").map(written.index(after:)) ?? written.startIndex)...])
  }
}
