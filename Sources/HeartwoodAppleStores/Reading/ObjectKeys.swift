import Foundation

/// A set of primary keys. Keys that follow one another take less than two bits each.
struct KeySet: Sendable {
  private var words: [Int64: UInt64] = [:]
  /// The word of the key that was inserted last, which is not in `words` yet: keys mostly come in order.
  private var (last, lastWord): (Int64, UInt64) = (0, 0)
  private(set) var count = 0

  /// - Returns: Whether the key was not in the set.
  @discardableResult
  mutating func insert(_ key: Int64) -> Bool {
    if key >> 6 != last {
      if lastWord != 0 { words[last] = lastWord }
      (last, lastWord) = (key >> 6, words[key >> 6] ?? 0)
    }
    let bit: UInt64 = 1 << UInt64(key & 63)
    guard lastWord & bit == 0 else { return false }
    lastWord |= bit
    count += 1
    return true
  }

  func contains(_ key: Int64) -> Bool {
    let word = key >> 6 == last ? lastWord : words[key >> 6] ?? 0
    return word & (1 << UInt64(key & 63)) != 0
  }
}

/// The primary keys of a table's objects, by the numbers of their entities. They are read once, when they are needed: few questions are
/// answered by the rows themselves.
final class ObjectKeys: @unchecked Sendable {
  private let lock = NSLock()
  /// Guarded by `lock`.
  private var known: [Int64: KeySet]?
  private var questions = 0

  /// How many questions rows answer before all keys are read.
  private static let mostQuestions = 1000

  /// All keys.
  func all(_ read: () throws -> [Int64: KeySet]) rethrows -> [Int64: KeySet] {
    if let known = lock.withLock({ known }) { return known }
    let found = try read()
    lock.withLock { known = found }
    return found
  }

  /// All keys, if they are known or were asked for often; else nil.
  func ifWorthwhile(_ read: () throws -> [Int64: KeySet]) rethrows -> [Int64: KeySet]? {
    let (found, isWorthwhile) = lock.withLock {
      questions += 1
      return (known, questions > Self.mostQuestions)
    }
    if let found { return found }
    return isWorthwhile ? try all(read) : nil
  }
}
