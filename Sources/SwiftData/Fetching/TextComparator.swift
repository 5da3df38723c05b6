import Foundation
import Heartwood
import HeartwoodBytes

/// How a sort descriptor compares texts, where `String.StandardComparator` has no such comparator on this system: `.localized` and
/// `.localizedStandard`, as in `SortDescriptor(\.name, comparator: .localizedStandard)`.
public struct TextComparator: Hashable, Sendable {
  fileprivate enum Kind { case localized, localizedStandard }
  fileprivate let kind: Kind

  /// As people of the current locale order texts.
  public static let localized = TextComparator(kind: .localized)
  /// As lists of names are shown in the current locale: case makes no difference at first, and numbers are ordered by their values.
  public static let localizedStandard = TextComparator(kind: .localizedStandard)
}

extension SortDescriptor {
  /// An order by a text, as people of the current locale order them. A store orders them likewise, without an index.
  public init(
    _ keyPath: any KeyPath<Compared, String> & Sendable, comparator: TextComparator,
    order: SortOrder = .forward
  ) {
    switch comparator.kind {
    case .localized: self.init(sent(keyPath.appending(path: \.localizedText)), order: order)
    case .localizedStandard: self.init(sent(keyPath.appending(path: \.localizedStandardText)), order: order)
    }
  }

  /// An order by a text, as people of the current locale order them. None comes before all others.
  public init(
    _ keyPath: any KeyPath<Compared, String?> & Sendable, comparator: TextComparator,
    order: SortOrder = .forward
  ) {
    switch comparator.kind {
    case .localized: self.init(sent(keyPath.appending(path: \.localizedText)), order: order)
    case .localizedStandard: self.init(sent(keyPath.appending(path: \.localizedStandardText)), order: order)
    }
  }
}

/// A key path from a literal and one that can be sent, which is an immutable value, as the compiler cannot see.
private func sent<Root, Value>(_ keyPath: KeyPath<Root, Value>) -> any KeyPath<Root, Value> & Sendable {
  func cast<Sent>(_ value: Any) -> Sent? { value as? Sent }
  guard let sent: any KeyPath<Root, Value> & Sendable = cast(keyPath) else {
    programError("\(keyPath) is a key path")
  }
  return sent
}

/// A text that is ordered in another way than by its characters.
protocol OrderedText {
  var text: String { get }
  static var comparisonOptions: ComparisonOptions { get }
}

struct LocalizedText: OrderedText, Comparable {
  let text: String
  static var comparisonOptions: ComparisonOptions { .localized }
  static func < (left: LocalizedText, right: LocalizedText) -> Bool {
    left.text.localizedCompare(right.text) == .orderedAscending
  }
}

struct LocalizedStandardText: OrderedText, Comparable {
  let text: String
  static var comparisonOptions: ComparisonOptions { .localizedStandard }
  static func < (left: LocalizedStandardText, right: LocalizedStandardText) -> Bool {
    left.text.localizedStandardCompare(right.text) == .orderedAscending
  }
}

extension String {
  fileprivate var localizedText: LocalizedText { LocalizedText(text: self) }
  fileprivate var localizedStandardText: LocalizedStandardText { LocalizedStandardText(text: self) }
}

extension String? {
  fileprivate var localizedText: LocalizedText? { map { LocalizedText(text: $0) } }
  fileprivate var localizedStandardText: LocalizedStandardText? { map { LocalizedStandardText(text: $0) } }
}

extension AnyKeyPath {
  /// How the texts are ordered that the key path of a sort descriptor reads; nil for one of other values.
  var textOrder: ComparisonOptions? {
    let type = Swift.type(of: self).valueType
    let wrapped = (type as? any OptionalType.Type)?.wrappedType ?? type
    return (wrapped as? any OrderedText.Type)?.comparisonOptions
  }

  /// The type of the values that it reads, of texts in whatever order.
  var readType: any Any.Type {
    let type = Swift.type(of: self).valueType
    guard textOrder != nil else { return type }
    return type is any OptionalType.Type ? String?.self : String.self
  }
}
