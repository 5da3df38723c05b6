import Testing

@testable import SwiftDataExpansion

/// The messages of macros about mistakes: each with its line and column in the source that has the mistake.
struct DiagnosticTests {
  // MARK: Models

  @Test func `a structure and an actor are no models, and are to be classes`() {
    let structure = Expanding("Model", "member", "public struct Trip {\n  var name: String\n}")
    #expect(
      structure.messages == [
        "1:8: '@Model' can only be applied to a class, and 'Trip' is declared with 'struct'"
      ])
    #expect(structure.source == nil && structure.marked == "struct")
    #expect(structure.fixed == "public class Trip {\n  var name: String\n}")
    let actor = Expanding("Model", "member", "actor Trip {}")
    #expect(actor.fixed == "class Trip {}")
  }

  @Test func `an enumeration and an extension are no models`() {
    let enumeration = Expanding("Model", "member", "/// A kind.\nenum Kind {\n  case a\n}")
    #expect(
      enumeration.messages == [
        "2:1: '@Model' can only be applied to a class, and 'Kind' is declared with 'enum'"
      ])
    #expect(enumeration.fixed == nil)
    #expect(
      Expanding("Model", "member", "func trip() {}").messages == [
        "1:1: '@Model' can only be applied to a class"
      ])
  }

  @Test func `a constant without a value is to be a variable`() {
    let source = "final class Trip {\n  var name: String\n  let start: Date\n  let kind = 1\n}"
    let model = Expanding("Model", "member", source)
    #expect(
      model.messages == [
        "3:3: 'start' is a constant, which a model cannot store: use 'var', or mark it with '@Transient' and give it a value"
      ])
    #expect(model.fixed == source.replacing("let start", with: "var start"))
    #expect(model.source?.contains("\"name\"") == true)
    #expect(model.source?.contains("\"start\"") == false && model.source?.contains("\"kind\"") == false)
  }

  // The compiler warns of the accessors of constants in Swift 5, and applications have such models.
  @Test(arguments: ["5", "6", nil]) func `a constant is stored as a variable is in Swift 5`(mode: String?) {
    let source = "final class Trip {\n  @Attribute(.unique) let start: Date\n  let kind = 1\n}"
    let model = expanded("member", source, mode)
    #expect(model.messages.isEmpty == (mode == "5"))
    for name in ["start", "kind"] {
      #expect(model.source?.contains("name: \"\(name)\"") == (mode == "5"))
      #expect(expanded("memberAttribute", "let \(name) = 1", mode).source?.isEmpty == (mode != "5"))
    }
  }

  // The compiler warns of the conformance in Swift 5, and applications have such models.
  @Test(arguments: ["5", "6", nil]) func `a model cannot be of the main actor, but in Swift 5`(mode: String?)
  {
    let source = "@MainActor @Model final class Trip {\n  var name: String\n}"
    let model = expanded("member", source, mode)
    guard mode != "5" else { return #expect(model.messages.isEmpty) }
    #expect(
      model.messages == [
        "1:1: 'Trip' cannot be of the main actor, as contexts of all actors make models: remove '@MainActor', and keep it where models are shown"
      ])
    #expect(model.marked == "@MainActor" && model.fixed == source.replacing("@MainActor", with: ""))
  }

  /// An expansion of `@Model` in a language mode.
  private func expanded(_ role: String, _ piece: String, _ mode: String?) -> Expanding {
    let configuration = mode.map { "{\"languageMode\":{\"components\":[\($0),10]},\"other\":[5]}" }
    return Expanding(
      PluginRequest(
        expandAttachedMacro: .init(
          macro: .init(moduleName: "SwiftDataMacros", typeName: "Model", name: "Model"), macroRole: role,
          attributeSyntax: Expanding.syntax("@Model"), declSyntax: Expanding.syntax(piece),
          staticBuildConfiguration: configuration)), piece)
  }

  @Test func `each mistake of a model is reported`() {
    let source = "class Trip {\n  let a: Int\n  var (b, c) = (1, 2)\n  var d = 1, e = 2\n  let f: Int\n}"
    #expect(
      Expanding("Model", "member", source).messages.map { $0.prefix { $0 != " " } } == [
        "2:3:", "3:3:", "4:3:", "5:3:",
      ])
    #expect(
      Expanding("Model", "member", source).messages[1]
        == "3:3: a property of a model is declared alone: write a 'var' for each")
  }

  @Test func `the option unique at a list of models is refused`() {
    let source =
      "class Trip {\n  @Relationship(.unique, inverse: \\Stop.trips) var stops: [Stop]?\n  @Attribute(.unique) var tags: [String]\n  @Relationship(.unique) var last: Stop?\n}"
    let model = Expanding("Model", "member", source)
    #expect(
      model.messages == [
        "2:3: 'stops' leads to several models, which cannot be unique: remove '.unique', or make it a relationship to one"
      ])
    #expect(model.marked == "@Relationship(.unique, inverse: \\Stop.trips)")
  }

  // The compiler says that the annotation is missing.
  @Test func `a stored property with neither type nor value is left to the compiler`() {
    let model = Expanding("Model", "member", "class Trip {\n  var name\n  var computed: Int { 1 }\n}")
    #expect(model.messages.isEmpty && model.source?.contains("keypath: \\Trip.name") == true)
    #expect(Expanding("PersistedProperty", "accessor", "var name").messages.isEmpty)
  }

  @Test func `what is no class gets one message, and nothing beside it`() {
    let source = "struct Trip { var name = 1 }"
    let member = PluginRequest.Attached(
      macro: .init(moduleName: "SwiftDataMacros", typeName: "Model", name: "Model"),
      macroRole: "memberAttribute", attributeSyntax: Expanding.syntax("@Model"),
      declSyntax: Expanding.syntax("var name = 1"), parentDeclSyntax: Expanding.syntax(source))
    #expect(Expanding(PluginRequest(expandAttachedMacro: member), "var name = 1").source == "")
    let conformance = Expanding("Model", "extension", source, missing: "PersistentModel", of: "Trip")
    #expect(conformance.source == "" && conformance.messages.isEmpty)
    #expect(
      Expanding("Model", "extension", "class Trip {}", missing: "PersistentModel", of: "Trip").source
        == "extension Trip: nonisolated SwiftData.PersistentModel {}")
  }

  @Test func `observers of a property are warned of, where they are`() {
    let source = "@Attribute var name: String = \"a\" {\n  willSet { print(newValue) }\n}"
    let model = Expanding("Model", "member", "class Trip {\n\(source)\n}")
    #expect(
      model.messages == [
        "3:3: observers of a model's property are never called: react where 'name' is set, or mark it with '@Transient'"
      ])
    #expect(model.marked == "willSet" && model.diagnostics.map(\.severity) == ["warning"])
    #expect(model.source?.contains("_name") == true)
    // The property says nothing, so that each warning is given once.
    let property = Expanding("PersistedProperty", "accessor", source)
    #expect(property.diagnostics.isEmpty && property.source?.contains("set {") == true)
    #expect(Expanding("PersistedProperty", "peer", source).diagnostics.isEmpty)
  }

  @Test func `a model with a mistake has no further one in its expansion`() {
    let source = """
      class Trip {
        var a = 1, b = 2
        var c = 3 { didSet { save() } }
        @Transient var d: Int
        @Transient var e: Int?
        @Transient @Wrapped var f: Int
        lazy var g = 1 { willSet {} }
      }
      """
    let model = Expanding("Model", "member", source)
    #expect(
      model.messages == [
        "2:3: a property of a model is declared alone: write a 'var' for each",
        "3:15: observers of a model's property are never called: react where 'c' is set, or mark it with '@Transient'",
        "4:14: 'd' is not stored, so a model that is fetched has no value for it: give it one where it is declared",
      ])
    #expect(model.source?.contains("_a") == false)
    #expect(model.source?.contains("{\n  Swift.fatalError()\n}") == true)
    #expect(Expanding("Model", "memberAttribute", "var a = 1, b = 2").source == "")
  }

  @Test func `a name that no store has is refused at the property`() {
    let model = Expanding(
      "Model", "member", "class Trip { var `my \"name\"` = 1; var `default` = 2; var größe = 3 }")
    #expect(
      model.messages == [
        "1:18: a store has no property of the name 'my \"name\"': use letters, digits and underscores"
      ])
    // The expansion for it is well formed, so that nothing further is reported.
    #expect(
      Expanding("PersistedProperty", "peer", "var `my name` = 1").source
        == "private var `_my name`: SwiftData._SwiftDataNoType")
  }

  @Test func `what names a deprecated property is deprecated`() {
    let source =
      "class Trip { #Unique<Trip>([\\.old]); @available(*, deprecated, message: \"x\") var old = 1; var new = 2 }"
    let model = Expanding("Model", "member", source, missing: "PersistentModel").source ?? ""
    #expect(model.contains("@available(*, deprecated)\nclass var schemaMetadata"))
    #expect(model.contains("SwiftData.Schema.Unique<Trip>([\\.old])"))
    let other = Expanding("Model", "member", "class Trip { @available(macOS 15, *) var new = 2 }").source
    #expect(other?.contains("@available") == false)
  }

  @Test func `properties in a part that the compiler leaves out are left out`() {
    let source = """
      class Trip {
      #if DEBUG && !FAST
        var note = 1
      #else
        var other = 2
      #endif
      }
      """
    func properties(_ configuration: String?) -> [String] {
      let made = Expanding("Model", "member", source, configuration: configuration).source ?? ""
      return made.matches(of: /name: "(\w+)"/).map { String($0.1) }
    }
    #expect(properties(#"{"customConditions":["SWIFT_PACKAGE", "DEBUG"],"endianness":"little"}"#) == ["note"])
    #expect(properties(#"{"customConditions":["DEBUG","FAST"]}"#) == ["other"])
    #expect(properties(#"{"customConditions":[]}"#) == ["other"] && properties(nil) == ["other"])
  }

  @Test func `what is not persisted has no attribute`() {
    for member in [
      "@Transient var a = 1", "static var a = 1", "let a = 1", "lazy var a = 1", "var a: Int { 1 }",
      "func a() {}", "init() {}", "class A {}", "#Index<A>([\\.a])", "@Transient var a = 1 { didSet {} }",
    ] {
      #expect(Expanding("Model", "memberAttribute", member).source == "", "\(member)")
    }
    #expect(Expanding("Model", "memberAttribute", "var a: Int").source == "@_PersistedProperty")
    #expect(
      Expanding("Model", "memberAttribute", "@Attribute(.transformable(by: T.self)) var a: A?").source
        == "@_TransformablePersistedProperty")
  }

  @Test func `a model actor is an actor`() {
    let actor = Expanding("ModelActor", "member", "public final class Importer {}")
    #expect(
      actor.messages == [
        "1:14: '@ModelActor' can only be applied to an actor, and 'Importer' is declared with 'class'"
      ])
    #expect(actor.fixed == "public final actor Importer {}")
    #expect(Expanding("ModelActor", "member", "struct Importer {}").fixed == nil)
  }

  // MARK: Predicates

  private func refusals(_ body: String) -> [String] {
    Expanding(freestanding: "Predicate", "#Predicate<Trip> {\n  \(body)\n}").messages
  }

  @Test func `a method that no store can call is refused, with those that it can`() {
    let messages = refusals("$0.name.uppercased() == \"A\"")
    #expect(
      messages.count == 1
        && messages[0].hasPrefix("2:11: a store cannot call 'uppercased': a predicate has allSatisfy, "))
    #expect(refusals("$0.stops.map { $0.name }.sorted().isEmpty").first?.hasPrefix("2:28: ") == true)
    #expect(
      refusals("isGood($0)") == [
        "2:10: '$0' cannot be passed to a function in a predicate, which a store cannot call"
      ])
  }

  @Test func `a part that reads no variable is kept as it is written`() {
    func constants(_ body: String) -> [String] {
      let source = Expanding(freestanding: "Predicate", "#Predicate<Trip> { \(body) }").source ?? ""
      return source.matches(of: /build_Arg\((.*?)\), rhs/).map { String($0.1) }
    }
    #expect(constants("years.filter { $0 > 3 }.count == $0.year") == ["years.filter { $0 > 3 }.count"])
    #expect(constants("years.sorted { $0 < $1 }[0] == $0.year") == ["years.sorted { $0 < $1 }[0]"])
    // The variables of the closure inside are no inputs of the predicate.
    let sorted = Expanding(
      freestanding: "Predicate",
      "#Predicate<Trip> { if (years.max { $0 < $1 } ?? 0) == 1 { true } else { $0.year == 1 } }")
    #expect(sorted.source?.contains("_input0 in") == true)
    #expect(sorted.source?.contains("build_Arg((years.max { $0 < $1 } ?? 0) == 1)") == true)
    #expect(
      constants("years.map { String($0) }.joined() == $0.name") == ["years.map { String($0) }.joined()"])
    #expect(constants("(flag ? 1 : 2) == $0.year") == ["(flag ? 1 : 2)"])
    #expect(constants("(flag ? $0 : other).year == 1").isEmpty)
    #expect(refusals("(20...).contains($0.year)").isEmpty && refusals("names[$0.title] == 1").isEmpty)
    // The inner closure reads the outer variable.
    #expect(
      refusals("$0.stops.contains { stop in years.sorted { $0 < stop.year }.isEmpty }").first?.contains(
        "a store cannot call 'sorted'") == true)
  }

  @Test func `a test of a class is followed by other conditions`() {
    for body in ["$0 is Tour && $0.a == 1", "$0 is Tour || $0.a == 1", "($0 is Tour) == flag"] {
      #expect(refusals(body).isEmpty, "\(body)")
    }
    let source = Expanding(freestanding: "Predicate", "#Predicate<Trip> { $0 is A & B && $0.a == 1 }").source
    #expect(source?.contains("TypeCheck<_, A & B>") == true)
  }

  @Test func `statements are refused`() {
    for word in ["let", "var", "for", "while", "guard", "switch"] {
      #expect(
        refusals("\(word) x = $0.name\n  return x == name") == [
          "2:3: a predicate is one expression or 'if' with one in each branch: '\(word)' is not allowed in it"
        ])
    }
    #expect(
      refusals("$0.a == 1\n  $0.b == 2") == [
        "3:3: a predicate is one expression: this is a second one, or is not understood"
      ])
    #expect(refusals("") == ["3:1: a predicate needs an expression"])
    #expect(refusals("if $0.a { true }") == ["3:1: 'if' of a predicate needs an 'else' with a value"])
    #expect(
      refusals("if $0.a, let b = $0.b { b } else { false }") == [
        "2:12: in a predicate, 'if let' comes before other conditions"
      ])
  }

  @Test func `expressions that no store has are refused`() {
    #expect(
      refusals("[$0.a, 2].contains(1)") == [
        "2:3: a list in a predicate may have no values of the model: compare with each of them"
      ])
    #expect(refusals("($0.a, 2) == (1, 2)") == ["2:3: a tuple is not allowed in a predicate"])
    #expect(refusals("try $0.a == f()") == ["2:3: 'try' is not allowed in a predicate"])
    #expect(
      refusals("$0.a == #Predicate { true }") == [
        "2:11: a macro is not allowed in a predicate: keep its result in a constant before"
      ])
    #expect(
      refusals("$0.a == #line(1)") == [
        "2:11: a macro is not allowed in a predicate: keep its result in a constant before"
      ])
    #expect(
      refusals("\"\\($0.a)\" == \"1\"") == [
        "2:6: a string of a predicate cannot contain '$0': compare parts, or keep the text in a constant"
      ])
    #expect(refusals("$0.a as Int == 1") == ["2:8: in a predicate, 'as' needs '?' or '!'"])
    #expect(refusals("$0.a[1, 2, 3] == 1") == ["2:7: this subscript is not understood in a predicate"])
    #expect(refusals("$0(1)") == ["2:5: this call is not understood in a predicate"])
  }

  @Test func `a forced value is compared, with and without spaces`() {
    for body in ["$0.a! == 1", "$0.a! != 1", "1 == $0.a!", "$0.a!.b == 1", "$0.a != nil", "$0.a!=nil"] {
      let source = Expanding(freestanding: "Predicate", "#Predicate<Trip> { \(body) }").source
      #expect(
        source?.contains("build_ForcedUnwrap") == !body.contains("nil") && refusals(body).isEmpty, "\(body)")
    }
  }

  @Test func `brackets that do not match are reported`() {
    #expect(
      Expanding(freestanding: "Predicate", "#Predicate<Trip> { ($0.a == 1 }").messages == [
        "1:31: '}' closes no bracket"
      ])
    #expect(
      Expanding(freestanding: "Predicate", "#Predicate<Trip> { $0.a == 1").messages == [
        "1:18: '{' is not closed"
      ])
  }

  @Test func `a predicate is written as a closure, whose variables have names`() {
    #expect(
      Expanding(freestanding: "Predicate", "#Predicate<Trip>(condition)").messages == [
        "1:1: a predicate is written as a closure"
      ])
    #expect(
      refusals("() in true") == ["2:4: a closure of a predicate has at least one variable with a name"])
  }
}
