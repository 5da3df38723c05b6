import Heartwood

/// `Optional`, whatever it wraps.
protocol OptionalType {
  static var wrappedType: any Any.Type { get }
  static var none: Self { get }
  /// The wrapped value; nil for none.
  var wrapped: Any? { get }
}

extension Optional: OptionalType {
  static var wrappedType: any Any.Type { Wrapped.self }
  var wrapped: Any? { self }
}

/// A type of to-many relationships: an array of models, or an optional one.
public protocol RelationshipCollection<PersistentElement> {
  /// The class of the elements.
  associatedtype PersistentElement: PersistentModel
  /// Its elements. Not meant to be used.
  var _models: [PersistentElement] { get }
  /// A collection of elements. Not meant to be used.
  static func _collection(of models: [PersistentElement]) -> Self
}

extension Array: RelationshipCollection where Element: PersistentModel {
  /// The class of the elements.
  public typealias PersistentElement = Element
  /// The array itself. Not meant to be used.
  public var _models: [Element] { self }
  /// The array itself. Not meant to be used.
  public static func _collection(of models: [Element]) -> [Element] { models }
}

extension Optional: RelationshipCollection where Wrapped: RelationshipCollection {
  /// The class of the elements.
  public typealias PersistentElement = Wrapped.PersistentElement
  /// The elements; none for nil. Not meant to be used.
  public var _models: [Wrapped.PersistentElement] { self?._models ?? [] }
  /// A collection of elements. Not meant to be used.
  public static func _collection(of models: [Wrapped.PersistentElement]) -> Wrapped? {
    Wrapped._collection(of: models)
  }
}

extension _Value {
  /// Whether it is no value.
  var isNone: Bool {
    if case .null = self { return true }
    return false
  }
}
