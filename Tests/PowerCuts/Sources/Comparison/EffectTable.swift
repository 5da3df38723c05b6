import HeartwoodFaults

/// How often each effect was seen, of real file systems and of simulated disks, cut at the same moments.
public struct EffectTable: Sendable {
  /// What a column counts: images of one real or simulated disk, in the terms of one personality. The terms decide what was
  /// durable at the cut.
  public struct Column: Hashable, Sendable {
    /// The file system, or the personality of the simulated disk.
    public var source: String
    /// The personality whose syncs decide what was durable.
    public var terms: CrashModel

    /// A column.
    public init(source: String, terms: CrashModel) { (self.source, self.terms) = (source, terms) }
  }

  private var counts: [Column: [Effect: Int]] = [:]
  private var totals: [Column: Int] = [:]
  private var exact: [Column: Int] = [:]

  /// An empty table.
  public init() {}

  /// Counts an image. Of several effects of one image each counts.
  public mutating func add(_ effects: Set<Effect>, to column: Column, isEnumerated: Bool = false) {
    totals[column, default: 0] += 1
    if isEnumerated { exact[column, default: 0] += 1 }
    for effect in effects { counts[column, default: [:]][effect, default: 0] += 1 }
  }

  /// The effects that a column has.
  public func effects(of column: Column) -> Set<Effect> { Set((counts[column] ?? [:]).keys) }

  /// How many images a column has.
  public func total(_ column: Column) -> Int { totals[column] ?? 0 }

  /// A table in Markdown of some columns.
  ///
  /// - Parameter exactly: What the row is called that counts images which the simulation makes byte by byte.
  public func markdown(_ columns: [Column], exactly: String) -> String {
    var lines = [row("", columns.map(\.source)), row("---", columns.map { _ in "---:" })]
    lines.append(row("images", columns.map { "\(total($0))" }))
    lines.append(row(exactly, columns.map { exact[$0].map(String.init) ?? "" }))
    for effect in Effect.allCases {
      let numbers = columns.map { counts[$0]?[effect] ?? 0 }
      lines.append(row(effect.rawValue, numbers.map { $0 == 0 ? "" : "\($0)" }))
    }
    return lines.joined(separator: "\n")
  }

  private func row(_ name: String, _ cells: [String]) -> String {
    "| \(name) | \(cells.joined(separator: " | ")) |"
  }
}
