import Foundation

/// Records in the order of their keys, in pages. A copy stays as it is while another one is changed, and shares the pages
/// that are not.
package struct CardTable: Sendable {
  struct Record: Sendable {
    let key, value: [UInt8]
  }

  private(set) var pages: [[Record]] = []
  private static let recordsOfPage = 256

  /// Calls `body` with the value of a key; returns `nil` where there is none.
  package func withValue<Result>(
    of key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result? {
    let place = place(of: key)
    return holds(key, at: place) ? try pages[place.page][place.index].value.withUnsafeBytes(body) : nil
  }

  /// Calls `body` with the records from `key` on, or all, until it returns false.
  package func scan(
    from key: UnsafeRawBufferPointer?, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) {
    var (page, index) = key.map(place) ?? (0, 0)
    while page < pages.count {
      for record in pages[page][index...] {
        guard record.key.withUnsafeBytes({ key in record.value.withUnsafeBytes { body(key, $0) } }) else {
          return
        }
      }
      (page, index) = (page + 1, 0)
    }
  }

  /// How many keys are before `key`. Visits pages, not records.
  package func rank(of key: UnsafeRawBufferPointer) -> Int {
    let place = place(of: key)
    return pages[..<place.page].reduce(place.index) { $0 + $1.count }
  }

  /// The record that has `rank` records before it; `nil` where there are not so many.
  package func record(at rank: Int) -> (key: [UInt8], value: [UInt8])? {
    var rest = rank
    for page in pages {
      if rest < page.count { return (page[rest].key, page[rest].value) }
      rest -= page.count
    }
    return nil
  }

  mutating func put(_ record: Record) {
    let place = record.key.withUnsafeBytes(place)
    if pages.isEmpty { pages.append([]) }
    if record.key.withUnsafeBytes({ holds($0, at: place) }) {
      pages[place.page][place.index] = record
    } else {
      pages[place.page].insert(record, at: place.index)
      if pages[place.page].count > Self.recordsOfPage { split(place.page, after: place.index) }
    }
  }

  mutating func delete(_ key: UnsafeRawBufferPointer) {
    let place = place(of: key)
    guard holds(key, at: place) else { return }
    pages[place.page].remove(at: place.index)
    if pages[place.page].isEmpty { pages.remove(at: place.page) }
  }

  /// In the middle; where records come in order, before the last one, so that pages stay full.
  private mutating func split(_ page: Int, after index: Int) {
    let middle = index == Self.recordsOfPage ? index : Self.recordsOfPage / 2
    let tail = Array(pages[page][middle...])
    pages[page].removeSubrange(middle...)
    pages.insert(tail, at: page + 1)
  }

  /// The place of the first record that is not before `key`: in the last page that begins before it, or behind its end.
  private func place(of key: UnsafeRawBufferPointer) -> (page: Int, index: Int) {
    let page = max(0, Self.count(pages.count) { Self.order(pages[$0][0].key, key) <= 0 } - 1)
    guard page < pages.count else { return (0, 0) }
    return (page, Self.count(pages[page].count) { Self.order(pages[page][$0].key, key) < 0 })
  }

  private func holds(_ key: UnsafeRawBufferPointer, at place: (page: Int, index: Int)) -> Bool {
    place.page < pages.count && place.index < pages[place.page].count
      && Self.order(pages[place.page][place.index].key, key) == 0
  }

  /// How many of the first numbers below `bound` are `before`, by halving.
  private static func count(_ bound: Int, _ before: (Int) -> Bool) -> Int {
    var (low, high) = (0, bound)
    while low < high {
      let middle = (low + high) / 2
      if before(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Below 0 where `key` is before `other`, 0 where they are equal.
  private static func order(_ key: [UInt8], _ other: UnsafeRawBufferPointer) -> Int {
    guard let bytes = other.baseAddress else { return key.count }
    let order = Int(memcmp(key, bytes, min(key.count, other.count)))
    return order == 0 ? key.count - other.count : order
  }
}
