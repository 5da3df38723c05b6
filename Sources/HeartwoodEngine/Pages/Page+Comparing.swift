/// Compares entries of two pages in place.
extension Page {
  /// Whether all keys of both pages begin with the same prefix.
  func hasPrefix(of other: Page) -> Bool {
    prefixBytes == other.prefixBytes && prefix.begins(with: other.prefix)
  }

  /// The order of two keys with the same prefix: negative, zero or positive.
  @inline(__always)
  func orderBehindPrefix(_ index: Int, _ other: Page, _ otherIndex: Int) -> Int {
    let (head, otherHead) = (head(index), other.head(otherIndex))
    if head != otherHead { return head < otherHead ? -1 : 1 }
    let (suffix, otherSuffix) = (suffixBytes(index), other.suffixBytes(otherIndex))
    let shorter = min(suffix, otherSuffix)
    if shorter > 8 {
      let order = Bytes.compare(rest(index), other.rest(otherIndex), shorter &- 8)
      if order != 0 { return order }
    }
    // Heads are padded with zeros: if one suffix ends within the head, the shorter one is first.
    return suffix &- otherSuffix
  }

  /// Whether two entries of leaves certainly have the same value: at the same position of the log, or inline.
  @inline(__always)
  func hasValue(_ index: Int, of other: Page, _ otherIndex: Int) -> Bool {
    let reference = reference(index)
    guard reference == other.reference(otherIndex) else { return false }
    if reference & Page.inlineMark == 0 { return true }
    let (value, otherValue) = (inlineValue(index), other.inlineValue(otherIndex))
    return Bytes(value).begins(with: Bytes(otherValue))
  }
}

/// Compares the keys of any two pages.
final class KeyComparison {
  private let keys = OwnedBytes(count: 2 * Format.keyLimit)

  /// The order of two keys: negative, zero or positive.
  func order(_ page: Page, _ index: Int, _ other: Page, _ otherIndex: Int) -> Int {
    if page.hasPrefix(of: other) { return page.orderBehindPrefix(index, other, otherIndex) }
    let (count, otherCount) = (page.keyBytes(index), other.keyBytes(otherIndex))
    let (key, otherKey) = (
      keys.writable.bytes(0, Format.keyLimit), keys.writable.bytes(Format.keyLimit, Format.keyLimit)
    )
    page.copyKey(index, to: key)
    other.copyKey(otherIndex, to: otherKey)
    let order = Bytes.compare(key.bytes, otherKey.bytes, min(count, otherCount))
    return order != 0 ? order : count - otherCount
  }
}
