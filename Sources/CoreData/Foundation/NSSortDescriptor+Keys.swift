import Foundation
import Heartwood
import HeartwoodBytes

/// A sort descriptor with the name of a property. `NSSortDescriptor(key:ascending:)` makes one.
final class KeyedSortDescriptor: NSSortDescriptor {
  let path: String
  let method: Selector?
  let order: Comparator?
  private let textOrder: TextOrder

  init(_ path: String, _ ascending: Bool, _ method: Selector? = nil, _ order: Comparator? = nil) {
    self.path = path
    self.method = method
    self.order = order
    textOrder = TextOrder(method)
    super.init(keyPath: \SortProbe.value, ascending: ascending)
  }

  override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    let result = unordered(
      KeyValues.value(of: object1, atPath: path), KeyValues.value(of: object2, atPath: path))
    return ascending
      ? result
      : result == .orderedAscending
        ? .orderedDescending : result == .orderedDescending ? .orderedAscending : result
  }

  private func unordered(_ left: Any?, _ right: Any?) -> ComparisonResult {
    guard let left, !(left is NSNull) else {
      return right == nil || right is NSNull ? .orderedSame : .orderedAscending
    }
    guard let right, !(right is NSNull) else { return .orderedDescending }
    if let order { return order(left, right) }
    // Numbers would be cast in many ways.
    if !(left is NSNumber), let left = left as? String, let right = right as? String {
      return textOrder.compare(left, right)
    }
    return InMemoryOrder.compare(left, right)
  }

  /// Compares values of the property: by what was given, or by their natural order.
  override var comparator: Comparator { { [self] in unordered($0, $1) } }
  override var reversedSortDescriptor: Any { KeyedSortDescriptor(path, !ascending, method, order) }
  override func copy(with zone: NSZone? = nil) -> Any { self }
  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KeyedSortDescriptor else { return false }
    return other.path == path && other.ascending == ascending && other.method?.name == method?.name
  }
  override var hash: Int { path.hashValue ^ (ascending ? 1 : 0) }
  override var description: String {
    "(\(path), \(ascending ? "ascending" : "descending"), \(method?.name ?? "compare:"))"
  }
}

private final class SortProbe {
  let value = 0
}

/// The order of texts that a selector stands for.
struct TextOrder {
  enum Kind { case plain, caseInsensitive, localized, localizedCaseInsensitive, localizedStandard }
  let kind: Kind

  init(_ selector: Selector?) {
    switch selector?.name.split(separator: "(").first.map(String.init) {
    case "caseInsensitiveCompare", "caseInsensitiveCompare:": kind = .caseInsensitive
    case "localizedCompare", "localizedCompare:": kind = .localized
    case "localizedCaseInsensitiveCompare", "localizedCaseInsensitiveCompare:":
      kind = .localizedCaseInsensitive
    case "localizedStandardCompare", "localizedStandardCompare:": kind = .localizedStandard
    default: kind = .plain
    }
  }

  /// The method that stands for options; nil for the usual order.
  static func selector(_ options: ComparisonOptions) -> Selector? {
    let name: String? =
      switch options {
      case .caseInsensitive: "caseInsensitiveCompare:"
      case .localized: "localizedCompare:"
      case [.localized, .caseInsensitive]: "localizedCaseInsensitiveCompare:"
      case .localizedStandard: "localizedStandardCompare:"
      default: nil
      }
    return name.map { Selector($0) }
  }

  var options: ComparisonOptions {
    switch kind {
    case .plain: []
    case .caseInsensitive: .caseInsensitive
    case .localized: .localized
    case .localizedCaseInsensitive: [.localized, .caseInsensitive]
    case .localizedStandard: .localizedStandard
    }
  }

  func compare(_ a: String, _ b: String) -> ComparisonResult {
    switch kind {
    case .plain: a.compare(b)
    case .caseInsensitive: a.caseInsensitiveCompare(b)
    case .localized: a.localizedCompare(b)
    case .localizedCaseInsensitive: a.localizedCaseInsensitiveCompare(b)
    case .localizedStandard: a.localizedStandardCompare(b)
    }
  }
}

/// A protocol for initialisers that choose the class.
public protocol _KeyedSortDescriptor {}
extension NSSortDescriptor: _KeyedSortDescriptor {}

extension _KeyedSortDescriptor where Self: NSSortDescriptor {
  /// An order by a property by its name or its path.
  public init(key: String?, ascending: Bool) {
    self = KeyedSortDescriptor(key ?? "self", ascending) as NSSortDescriptor as! Self
  }

  /// An order by a property by its name, with a method that compares texts, such as `localizedStandardCompare`.
  public init(key: String?, ascending: Bool, selector: Selector?) {
    self = KeyedSortDescriptor(key ?? "self", ascending, selector) as NSSortDescriptor as! Self
  }

  /// An order by a property by its name, with a comparison. Objects can be sorted by it, fetches not.
  public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
    self = KeyedSortDescriptor(key ?? "self", ascending, nil, comparator) as NSSortDescriptor as! Self
  }

  /// An order by a property by its key path.
  public init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self = KeyedSortDescriptor(Self.name(of: keyPath), ascending) as NSSortDescriptor as! Self
  }

  /// An order by a property by its key path, with a method that compares texts.
  public init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool, selector: Selector?) {
    self = KeyedSortDescriptor(Self.name(of: keyPath), ascending, selector) as NSSortDescriptor as! Self
  }

  private static func name(of keyPath: AnyKeyPath) -> String {
    guard let names = InspectedObject.names(of: keyPath) else {
      programError(
        "the key path \(keyPath) reads no property of a model: use NSSortDescriptor(key:ascending:)")
    }
    return names
  }
}

extension NSSortDescriptor {
  /// The name or the path of the property; nil if the descriptor has a comparison of its own.
  public var key: String? {
    if let keyed = self as? KeyedSortDescriptor { return keyed.path }
    return InspectedObject.names(of: keyPath)
  }

  /// The method that compares texts; nil for the usual order.
  public var selector: Selector? { (self as? KeyedSortDescriptor)?.method }

  /// The order for a store.
  ///
  /// - Throws: `.coreData` for an order by a comparison, which no store has.
  func storeOrder() throws(HeartwoodError) -> any FetchSort {
    let keyed = self as? KeyedSortDescriptor
    guard let key, keyed?.order == nil else {
      throw HeartwoodError(
        .coreData,
        "a sort descriptor with a comparison cannot be used in a fetch: use a key, or sort the result")
    }
    return NamedSort(
      key == "self" ? "objectID" : key, ascending: ascending, options: TextOrder(keyed?.method).options)
  }
}
