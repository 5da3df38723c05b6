import HeartwoodEngine

/// The changes of the figures of a store.
struct FigureChanges {
  let former: EngineStatistics
  let newest: EngineStatistics

  /// One line; nil if nothing has changed.
  var text: String? {
    var parts: [String] = []
    func add(_ difference: Int64, _ text: (Int64) -> String) {
      if difference != 0 { parts.append((difference > 0 ? "+" : "-") + text(abs(difference))) }
    }
    add(difference(\.generation.rawValue)) { Amount.text($0, "transaction") }
    add(difference(\.keys)) { Amount.text($0, "key") }
    add(newest.logBytes - former.logBytes) { "\(Amount.bytes($0)) of log" }
    add(newest.pageBytes - former.pageBytes) { "\(Amount.bytes($0)) of pages" }
    add(newest.fileBytes - former.fileBytes) { "\(Amount.bytes($0)) on disk" }
    if newest.checkpoint != former.checkpoint { parts.append("checkpoint \(newest.checkpoint.rawValue)") }
    return parts.isEmpty ? nil : "generation \(newest.generation.rawValue): \(parts.joined(separator: ", "))"
  }

  private func difference(_ figure: KeyPath<EngineStatistics, UInt64>) -> Int64 {
    Int64(clamping: newest[keyPath: figure]) - Int64(clamping: former[keyPath: figure])
  }
}
