/// A predicate written as text, in the language of Core Data's format strings.
///
/// ```swift
/// try FormatPredicate("population > %@ AND name BEGINSWITH[cd] %@", 50_000_000, "f")
/// try FormatPredicate("ANY cities.name IN %@ OR cities.@count == 0", ["Lyon", "Nice"])
/// ```
///
/// - Comparisons: `==` `!=` `<` `<=` `>` `>=` (also `=`, `<>`, `=<`, `=>`), `IN`, `BETWEEN {a, b}` (both ends
///   included), and for strings `BEGINSWITH`, `CONTAINS`, `ENDSWITH`, `LIKE` (`?` is any character, `*` any
///   number of them, `\*` a star) and `MATCHES` (a regular expression for the whole string). Options in brackets after the
///   operator: `c` ignores case, `d` accents, `n` compares bytes, `l` orders as a dictionary.
/// - Connectives: `AND`, `OR`, `NOT`, or `&&`, `||`, `!`. Constant predicates: `TRUEPREDICATE` and
///   `FALSEPREDICATE`. A Boolean property is a condition by itself.
/// - Properties by name, through to-one relationships with dots. `SELF` is the object, `entity` its entity. A name that is also a
///   keyword is written `#any`. `ANYKEY` is any attribute.
/// - Over to-many relationships: `ANY` (or `SOME`), `ALL`, `NONE` before the comparison, or
///   `SUBQUERY(cities, $c, $c.population > 5 AND $c.name != "x").@count`; `cities.@count`, and `@sum`,
///   `@min`, `@max`, `@avg`, `@median`, `@mode`, `@stddev` as in `cities.@sum.population`. Their values are lists: `cities.name`,
///   `cities.@distinctUnionOfObjects.name`, and those of a subquery. In ordered ones `[0]`, `[FIRST]`, `[LAST]` and `[SIZE]`.
/// - Arithmetic `+ - * / **`, of bits `& | ^ ~ << >>`, of lists `UNION INTERSECT MINUS`.
/// - Functions as `uppercase:(name)`, `uppercase(name)` or `FUNCTION(name, "uppercase:")`: of numbers, texts, dates and lists; `CAST`,
///   `TERNARY`, `coalesce`, `distance`. The article <doc:Asking> lists them.
/// - Constants: numbers, `"text"` or `'text'`, `TRUE`, `FALSE`, `YES`, `NO`, `NIL`, `NULL`, lists in braces,
///   `CAST(seconds, "NSDate")`. A string compared with a date, UUID or URL is converted to it.
/// - Arguments: `%@` any value, `%K` a property, `%d` `%i` `%ld` `%x` an integer, `%f` a number, `%s` a text.
/// - Values that are given later: `$NAME`, with `withSubstitutionVariables(_:)`.
///
/// Keywords are not case-sensitive. For nil, see `Condition`.
public struct FormatPredicate: FetchPredicate {
  /// The parsed condition.
  public let condition: Condition

  /// Parses a predicate from text.
  ///
  /// - Parameters:
  ///   - format: the text.
  ///   - arguments: one for each placeholder, in order.
  /// - Throws: `.invalidPredicate` with the column of the error in the text, or the argument that does not fit.
  public init(_ format: String, _ arguments: (any PredicateArgument)?...) throws(HeartwoodError) {
    try self.init(format, argumentArray: arguments)
  }

  /// Parses a predicate from text, with its arguments in an array.
  ///
  /// - Parameters:
  ///   - format: the text.
  ///   - argumentArray: one for each placeholder, in order.
  /// - Throws: like `init(_:_:)`.
  public init(_ format: String, argumentArray: [(any PredicateArgument)?]) throws(HeartwoodError) {
    try self.init(format, argumentArray, takesMore: false)
  }

  /// - Parameter takesMore: Whether further arguments than the text has placeholders for are left out, as Foundation does.
  package init(
    _ format: String, _ argumentArray: [(any PredicateArgument)?], takesMore: Bool
  ) throws(HeartwoodError) {
    var parser = try FormatParser(format, argumentArray, takesMore: takesMore)
    condition = try parser.parse()
  }

  /// The condition; its names are resolved when it is compiled.
  public func conditionTree(for entity: EntityDescription) throws(HeartwoodError) -> Condition { condition }
}

extension FormatPredicate: CustomStringConvertible {
  /// The predicate as text, with the arguments inserted. Parsing the text gives the same predicate again.
  public var description: String { condition.description }
}
