/// Numbers with the noun that they count.
enum Amount {
  /// `1 object`, `5 objects`.
  static func text(_ count: some BinaryInteger, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }

  /// `2 City, 1 Country`: the number of occurrences of each entity name.
  static func byEntity(_ names: some Sequence<String>) -> String {
    let counts = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
    return counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }

  /// `1.5 MiB`.
  static func bytes(_ count: Int64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    var value = Double(count)
    var unit = 0
    while value >= 1024, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    if unit == 0 { return text(count, "byte") }
    return "\((value * 10).rounded() / 10) \(units[unit])"
  }
}
