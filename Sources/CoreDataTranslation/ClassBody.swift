import SwiftTokens

extension TokenCursor {
  /// Whether a class is generic or of the main actor, so that its name alone makes no object anywhere.
  ///
  /// - Parameter start: The place of the word `class`.
  func isGenericOrOfMainActor(classAt start: Int) -> Bool {
    self[start + 2].is("<") || (start - 6..<start).contains { self[$0].is("MainActor") }
  }

  /// The places of the initialisers that a class declares, and that of the brace that ends it; nil if it has no body.
  ///
  /// - Parameter start: The place of the word `class`.
  func initialisers(ofClassAt start: Int) -> (places: [Int], end: Int)? {
    var next = start
    while !self[next].is("{") {
      if self[next].kind == .end { return nil }
      next += 1
    }
    let end = end(ofBracketsAt: next) - 1
    var places: [Int] = []
    next += 1
    while next < end {
      if self[next].is("{") {
        next = self.end(ofBracketsAt: next)
        continue
      }
      if self[next].is("init"), !self[next - 1].is(".") { places.append(next) }
      next += 1
    }
    return (places, end)
  }
}
