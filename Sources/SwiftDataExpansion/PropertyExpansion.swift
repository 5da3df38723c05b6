import SwiftTokens

/// The expansion of `@_PersistedProperty` on a variable of a model: accessors, and a variable without a value.
struct PropertyExpansion {
  let variable: VariableDeclaration
  /// Whether values are stored by a transformer.
  let isTransformable: Bool

  init(_ syntax: PluginRequest.Syntax, isTransformable: Bool) throws(ExpansionError) {
    var index = 0
    guard let variable = VariableDeclaration(SourceText(syntax.source), &index), !variable.isOneOfSeveral
    else {
      throw ExpansionError("a property of a model is a variable with a name", at: 0..<0)
    }
    self.variable = variable
    self.isTransformable = isTransformable
  }

  var accessors: String {
    let arguments = PropertyHash.arguments(variable.name)
    let kind = kind
    return """
      @storageRestrictions(initializes: \(variable.placeholderName), accesses: _$initialValues)
      init(initialValue) {
        _$initialValues.set\(kind)(initialValue, \(arguments))
        \(variable.placeholderName) = SwiftData._SwiftDataNoType()
      }
      get { SwiftData._ModelStorage.get\(kind)(self, \(arguments)) }
      set { SwiftData._ModelStorage.set\(kind)(self, newValue, \(arguments)) }
      """
  }

  var peer: String { "private var \(variable.placeholderName): \(ModelExpansion.placeholder)" }

  /// The family of functions that reads and writes a value of the type: `Value` for types that rows have as they are, so that the
  /// compiler has nothing to choose from.
  private var kind: String {
    if isTransformable { return "Transformed" }
    guard var type = variable.type else { return "Property" }
    while type.hasSuffix("?") || type.hasSuffix("!") { type.removeLast() }
    return Self.plainTypes.contains(type) ? "Value" : "Property"
  }

  private static let plainTypes: Set<String> = [
    "Bool", "Int", "Int16", "Int32", "Int64", "Double", "Float", "String", "Decimal", "Date", "Data", "UUID",
    "URL",
    "Foundation.Date", "Foundation.Data", "Foundation.UUID", "Foundation.URL", "Foundation.Decimal",
  ]
}
