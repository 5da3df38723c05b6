/// Names that SQLite takes for different ones: it compares them without case, and keeps those that begin with `sqlite_` for itself.
struct DistinctNames {
  private var taken: Set<String> = []

  func has(_ name: String) -> Bool { taken.contains(name.lowercased()) }

  /// The name, or one that begins with it if it is taken.
  mutating func take(_ name: String) -> String {
    let name = name.lowercased().hasPrefix("sqlite_") ? "_" + name : name
    var (made, number) = (name, 1)
    while !taken.insert(made.lowercased()).inserted {
      number += 1
      made = "\(name)_\(number)"
    }
    return made
  }
}
