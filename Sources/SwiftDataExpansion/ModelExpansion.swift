import SwiftTokens

/// The members and the conformances that `@Model` adds to a class.
struct ModelExpansion {
  /// The type of the variables that take the place of stored ones.
  static let placeholder = "SwiftData._SwiftDataNoType"

  let syntax: PluginRequest.Syntax
  let type: TypeDeclaration
  /// Whether the file is compiled as Swift 5, where constants are stored as variables are, and a model of an actor is only warned of.
  let isSwift5: Bool

  /// - Parameter conditions: The names of conditions that hold, such as `DEBUG`.
  /// - Throws: `ExpansionError` if it is no class.
  init(
    _ syntax: PluginRequest.Syntax, isSwift5: Bool = false, conditions: Set<String> = []
  ) throws(ExpansionError) {
    let source = SourceText(syntax.source, conditions: conditions)
    guard let type = TypeDeclaration(source) else {
      throw ExpansionError("'@Model' can only be applied to a class", at: 0..<0)
    }
    guard type.kind.is("class") else {
      let fix =
        type.kind.is("struct") || type.kind.is("actor")
        ? ExpansionError.Fix(
          message: "replace '\(type.kind.text)' with 'class'", range: type.kind.range, text: "class")
        : nil
      throw ExpansionError(
        "'@Model' can only be applied to a class, and '\(type.name.text)' is declared with '\(type.kind.text)'",
        at: type.kind.range, fix: fix)
    }
    self.syntax = syntax
    self.type = type
    self.isSwift5 = isSwift5
  }

  private var persisted: [VariableDeclaration] {
    type.variables.filter { $0.isPersisted(constants: isSwift5) }
  }

  /// The errors in the class and its properties.
  var problems: [ExpansionError] { (actorProblem.map { [$0] } ?? []) + propertyProblems }

  private var actorProblem: ExpansionError? {
    guard !isSwift5, let actor = type.prefix.attribute("MainActor") else { return nil }
    return ExpansionError(
      "'\(type.name.text)' cannot be of the main actor, as contexts of all actors make models: remove '@MainActor', and keep it where models are shown",
      at: actor.range, fix: .init(message: "remove '@MainActor'", range: actor.range, text: ""))
  }

  /// The errors in the stored properties.
  private var propertyProblems: [ExpansionError] {
    type.variables.compactMap { variable in
      guard variable.isStored else { return nil }
      if variable.prefix.attribute("Transient") != nil {
        guard variable.needsValue else { return nil }
        return ExpansionError(
          "'\(variable.name)' is not stored, so a model that is fetched has no value for it: give it one where it is declared",
          at: variable.keyword)
      }
      if variable.isOneOfSeveral {
        return ExpansionError(
          "a property of a model is declared alone: write a 'var' for each", at: variable.keyword)
      }
      if variable.isPersisted(constants: isSwift5),
        !variable.name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }), variable.isInBackticks
      {
        return ExpansionError(
          "a store has no property of the name '\(variable.name)': use letters, digits and underscores",
          at: variable.nameRange)
      }
      if let observer = variable.observer, !variable.prefix.modifiers.contains("lazy") {
        return ExpansionError(
          "observers of a model's property are never called: react where '\(variable.name)' is set, or mark it with '@Transient'",
          at: observer, isWarning: true)
      }
      if let options = variable.prefix.attribute("Relationship"), options.isUnique, variable.isList {
        return ExpansionError(
          "'\(variable.name)' leads to several models, which cannot be unique: remove '.unique', or make it a relationship to one",
          at: options.range)
      }
      guard variable.isConstant, variable.initialValue == nil, !isSwift5 else { return nil }
      return ExpansionError(
        "'\(variable.name)' is a constant, which a model cannot store: use 'var', or mark it with '@Transient' and give it a value",
        at: variable.keyword,
        fix: .init(message: "replace 'let' with 'var'", range: variable.keyword, text: "var"))
    }
  }

  // MARK: Members

  /// - Parameter isRoot: Whether the superclass, if there is one, is no model.
  func members(isRoot: Bool) -> String {
    let access = type.memberAccess
    let adoption =
      isRoot ? "  _$storage.adopt(backingData, by: self)" : "  super.init(backingData: backingData)"
    let placeholders = persisted.map { "  \($0.placeholderName) = SwiftData._SwiftDataNoType()" }
    var lines: [String] = []
    if isRoot {
      lines += [
        "@exclusivity(unchecked) \(access)final var _$storage = SwiftData._ModelStorage()"
      ]
    }
    lines += [
      "private var _$initialValues = SwiftData._InitialValues()",
      "\(access)\(isRoot ? "" : "override ")func _$moveInitialValues(to values: SwiftData._FreeValues) {",
      isRoot ? "" : "  super._$moveInitialValues(to: values)",
      "  _$initialValues.move(to: values)",
      "}",
      schemaMetadata(isRoot),
      keyPaths(isRoot),
      isRoot && type.declaresEquality ? equality : "",
      "\(access)required init(backingData: any SwiftData.BackingData<\(isRoot ? type.writtenName : "Root")>) {",
      // After a problem, properties without a value are not reported once more.
      problems.allSatisfy(\.isWarning)
        ? (placeholders + [adoption]).joined(separator: "\n") : "  Swift.fatalError()",
      "}",
    ]
    return lines.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  /// The attribute of members that name all properties, so that the compiler does not warn of a deprecated one inside of them.
  private var deprecation: String {
    persisted.contains { $0.prefix.isDeprecated } ? "@available(*, deprecated)\n" : ""
  }

  private func schemaMetadata(_ isRoot: Bool) -> String {
    let entries = persisted.map { variable in
      propertyMetadata(
        variable.name, "\(type.writtenName).\(variable.writtenName)", defaultValue(of: variable),
        metadata(of: variable))
    }
    return """
      \(deprecation)\(type.memberAccess)\(isRoot ? "" : "override ")class var schemaMetadata: [SwiftData.Schema.PropertyMetadata] {
        [
      \((entries + traits).joined(separator: "\n"))
        ]
      }
      """
  }

  /// The key paths of the properties for subclasses: of an inherited property they have one of their own. A final class that inherits from no
  /// model needs none.
  private func keyPaths(_ isRoot: Bool) -> String {
    let superclass = type.firstInherited ?? ""
    var members: [String] = []
    if !type.prefix.modifiers.contains("final") {
      let own = persisted.map { "\\_Model.\($0.writtenName)" }.joined(separator: ", ")
      members += [
        "\(deprecation)\(type.memberAccess)static func _$keyPaths<_Model: \(type.writtenName)>(of type: _Model.Type) -> [Swift.AnyKeyPath] {",
        isRoot ? "  [\(own)]" : "  \(superclass)._$keyPaths(of: type) + [\(own)]", "}",
      ]
      if isRoot {
        members.append("\(type.memberAccess)class var _$inheritedKeyPaths: [Swift.AnyKeyPath] { [] }")
      }
    }
    if !isRoot {
      members.append(
        "\(type.memberAccess)override class var _$inheritedKeyPaths: [Swift.AnyKeyPath] { \(superclass)._$keyPaths(of: \(type.writtenName).self) }"
      )
    }
    return members.joined(separator: "\n")
  }

  private func propertyMetadata(
    _ name: String, _ path: String, _ defaultValue: String, _ metadata: String
  ) -> String {
    "    SwiftData.Schema.PropertyMetadata(name: \(quoted(name)), keypath: \\\(path), "
      + "defaultValue: \(defaultValue), metadata: \(metadata)),"
  }

  private func defaultValue(of variable: VariableDeclaration) -> String {
    guard let value = variable.initialValue, value != "nil", variable.prefix.attribute("Relationship") == nil
    else {
      return "nil"
    }
    // `if` and `switch` are no arguments, and `as` takes no `Int!`.
    let isStatement = ["if", "switch"].contains(String(value.prefix { !$0.isWhitespace && $0 != "(" }))
    let argument = isStatement ? "{ \(value) }()" : value
    guard let type = variable.type else { return argument }
    return "(\(argument)) as \(type.hasSuffix("!") ? type.dropLast() + "?" : type)"
  }

  private func metadata(of variable: VariableDeclaration) -> String {
    for name in ["Attribute", "Relationship"] {
      guard let use = variable.prefix.attribute(name) else { continue }
      return "SwiftData.Schema.\(name)(\(use.arguments ?? ""))"
    }
    return "nil"
  }

  /// The entries of `#Unique` and `#Index`, which name a property of `Schema`, as they are of none of the class.
  private var traits: [String] {
    type.macros.filter { $0.name == "Unique" || $0.name == "Index" }.map {
      let trait = "SwiftData.Schema.\($0.name)"
      return propertyMetadata(
        trait, "SwiftData.Schema.encodingVersion", "nil",
        "\(trait)<\($0.generic ?? type.writtenName)>(\($0.arguments))")
    }
  }

  /// Says that the class's own `==` is the one of `Equatable`: the compiler does not choose between it and that of all models.
  private var equality: String {
    let name = type.writtenName
    return """
      @_implements(Swift.Equatable, ==(_:_:)) \(type.memberAccess)static func _$areEqual(_ left: \(name), _ right: \(name)) -> Bool {
        left == right
      }
      """
  }

  // MARK: Other roles

  /// The attribute that makes a member a persisted property; nil for others.
  static func memberAttribute(_ member: PluginRequest.Syntax, isSwift5: Bool = false) -> String? {
    var index = 0
    guard let variable = VariableDeclaration(SourceText(member.source), &index),
      variable.isPersisted(constants: isSwift5)
    else { return nil }
    let isTransformable = variable.prefix.attribute("Attribute")?.arguments?.contains("transformable") == true
    return isTransformable ? "@_TransformablePersistedProperty" : "@_PersistedProperty"
  }

  /// The conformances that the class lacks.
  static func conformances(of type: String, _ missing: String) -> String {
    guard missing.contains("PersistentModel") else { return "" }
    // Also where declarations are of the main actor by default: contexts of all actors make models.
    return "extension \(type): nonisolated SwiftData.PersistentModel {}"
  }
}

/// A text as a string literal.
func quoted(_ text: String) -> String {
  "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
}
