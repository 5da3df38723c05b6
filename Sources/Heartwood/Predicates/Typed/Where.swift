/// A typed condition as a value: the predicate of a request, or a part of one.
///
/// ```swift
/// let large = Where<Country> { $0.population > 50_000_000 }
/// let european = Where<Country> { $0.continent == .europe }
/// request.predicate = large && !european
/// ```
///
/// It is `Sendable`: what is built on the main actor may be used in a background context.
public struct Where<Object: ManagedObject>: FetchPredicate {
  /// The condition on each object.
  public let condition: Condition

  /// A predicate from a closure, which is called once, immediately.
  public init(_ build: (ObjectQuery<Object>) -> Condition) { condition = build(ObjectQuery()) }

  private init(_ condition: Condition) { self.condition = condition }

  /// True for every object.
  public static var `true`: Where { Where(.true) }
  /// True for no object.
  public static var `false`: Where { Where(.false) }

  /// True if all of these are; true if there is none.
  public static func all(_ parts: some Sequence<Where>) -> Where {
    let conditions = parts.map(\.condition)
    return conditions.isEmpty ? .true : Where(.all(conditions))
  }

  /// True if any of these is; false if there is none.
  public static func any(_ parts: some Sequence<Where>) -> Where {
    let conditions = parts.map(\.condition)
    return conditions.isEmpty ? .false : Where(.any(conditions))
  }

  /// True if both are true.
  public static func && (left: Where, right: Where) -> Where { Where(left.condition && right.condition) }
  /// True if either is true.
  public static func || (left: Where, right: Where) -> Where { Where(left.condition || right.condition) }
  /// True if the predicate is false.
  public static prefix func ! (predicate: Where) -> Where { Where(!predicate.condition) }

  /// The condition.
  public func conditionTree(for entity: EntityDescription) throws(HeartwoodError) -> Condition { condition }
}

extension Where: CustomStringConvertible {
  /// The condition in the language of `FormatPredicate`.
  public var description: String { condition.description }
}
