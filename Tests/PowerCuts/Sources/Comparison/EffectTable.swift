import HeartwoodFaults

/// The frequency of each effect on real file systems and on simulated disks that were cut at the same
/// moments.
public struct EffectTable: Sendable {
  /// The subject of a column: the images of one real or simulated disk, classified in the terms of one crash
  /// model. The terms determine which changes were durable at the cut.
  public struct Column: Hashable, Sendable {
    /// The file system, or the crash model of the simulated disk.
    public var source: String
    /// The crash model whose syncs determine which changes were durable.
    public var terms: CrashModel

    /// Creates a column.
    public init(source: String, terms: CrashModel) { (self.source, self.terms) = (source, terms) }
  }

  private var counts: [Column: [Effect: Int]] = [:]
  private var totals: [Column: Int] = [:]
  private var exact: [Column: Int] = [:]

  /// Creates an empty table.
  public init() {}

  /// Counts an image once for each of its effects.
  public mutating func add(_ effects: Set<Effect>, to column: Column, isEnumerated: Bool = false) {
    totals[column, default: 0] += 1
    if isEnumerated { exact[column, default: 0] += 1 }
    for effect in effects { counts[column, default: [:]][effect, default: 0] += 1 }
  }

  /// The effects that were counted in a column.
  public func effects(of column: Column) -> Set<Effect> { Set((counts[column] ?? [:]).keys) }

  /// The number of images in a column.
  public func total(_ column: Column) -> Int { totals[column] ?? 0 }

  /// A Markdown table of some columns.
  ///
  /// - Parameter exactly: The label of the row that counts the images which the simulation reproduces byte
  ///   for byte.
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
