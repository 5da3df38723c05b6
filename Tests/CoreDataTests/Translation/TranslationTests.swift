import SwiftTokens
import Testing

@testable import CoreDataTranslation

@Suite struct `Translation of sources for Apple's systems` {
  /// The translation of a text without its first line, which names the file.
  func translated(_ source: String, sourceLocation: SourceLocation = #_sourceLocation) -> String {
    var index = ClassIndex()
    Translation.collect(from: Array(source.utf8), file: "A.swift", into: &index)
    let (text, errors) = Translation.translate(Array(source.utf8), file: "A.swift", index: index)
    #expect(errors.map(\.description) == [], sourceLocation: sourceLocation)
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    // Of a source that names types of Core Data; those of these tests do not import it.
    if lines.first == "import CoreData" { lines.removeFirst() }
    #expect(lines.first == "#sourceLocation(file: \"A.swift\", line: 1)", sourceLocation: sourceLocation)
    return lines.dropFirst().joined(separator: "\n")
  }

  func errors(_ source: String, collected: Bool = false) -> [String] {
    var index = ClassIndex()
    if collected { Translation.collect(from: Array(source.utf8), file: "A.swift", into: &index) }
    return Translation.translate(Array(source.utf8), file: "A.swift", index: index).errors.map(\.description)
  }

  static func accessors(_ name: String) -> String {
    let named = "\"\(name)\", 0x\(String(PropertyHash.of(name), radix: 16))"
    return "{ get { _managedGet(\(named)) } set { _managedSet(\(named), newValue) } }"
  }

  @Test(arguments: [
    "String?", "String!", "[String: Any]", "Set<City>", "Set<City>?", "(Int, String)", "((Int) -> Void)?",
    "any P & Q",
    "Swift.Optional<Foundation.Date>", "Dictionary<String, [Int]>?", "Int16",
    "@Sendable (Int) async throws -> [City]?",
    "City.Type", "[[Int?]?]",
  ])
  func `a property of any type gets accessors after its type`(type: String) {
    #expect(
      translated("class C { @NSManaged var a: \(type) }")
        == "class C {  var a: \(type) \(Self.accessors("a")) }")
    #expect(
      translated("class C {\n  @NSManaged public var a: \(type) // note\n  var b = 1\n}")
        == "class C {\n   public var a: \(type) \(Self.accessors("a")) // note\n  var b = 1\n}")
  }

  @Test func `a file that names types of Core Data imports it`() {
    func head(_ source: String) -> Substring? {
      Translation.translate(Array(source.utf8), file: "A.swift", index: ClassIndex()).text
        .split(separator: "\n").first
    }
    for name in [
      "NSManagedObjectContext", "NSAttributeDescription", "NSRelationshipDescription", "NSDeleteRule",
    ] {
      #expect(head("import XCTest\nlet value: \(name)") == "import CoreData")
    }
    #expect(head("import XCTest\nlet value: NSAttributedString")?.hasPrefix("#sourceLocation") == true)
    for source in [
      "import CoreData\nlet context: NSManagedObjectContext", "import XCTest\nlet a = 1 // NSManagedObject",
    ] {
      #expect(head(source) == "#sourceLocation(file: \"A.swift\", line: 1)")
    }
  }

  @Test(
    arguments: [
      (
        "public convenience init(context moc: NSManagedObjectContext) {}",
        "public convenience required init(context moc: NSManagedObjectContext) {}"
      ),
      (
        "private convenience init(context: NSManagedObjectContext) { self.init(entity: e, insertInto: context) }",
        "internal convenience required init(context: NSManagedObjectContext) { self.init(entity: e, insertInto: context) }"
      ),
      (
        "@discardableResult convenience fileprivate init(context: CoreData.NSManagedObjectContext) {}",
        "@discardableResult convenience internal required init(context: CoreData.NSManagedObjectContext) {}"
      ),
      ("required convenience init(context: NSManagedObjectContext) {}", nil),
      (
        "convenience init(context: NSManagedObjectContext, name: String) { self.init(context: context) }", nil
      ),
      ("convenience init(context: Int) {}", nil), ("init?(context: NSManagedObjectContext) {}", nil),
    ] as [(String, String?)])
  func `an initialiser of a context is a required one`(source: String, expected: String?) {
    #expect(
      translated("class C: NSManagedObject { \(source) }")
        == "class C: NSManagedObject { \(expected ?? source) }")
    #expect(translated("class C: Base { \(source) }") == "class C: Base { \(source) }")
  }

  @Test
  func `an initialiser of a context in an extension gets another label, and its class the required one`() {
    let written = "private convenience init(context: NSManagedObjectContext) { self.init() }"
    let renamed = " convenience init(_context context: NSManagedObjectContext) { self.init() }"
    #expect(
      translated("extension NSManagedObject { \(written) }") == "extension NSManagedObject { \(renamed) }")
    #expect(
      translated(
        "extension C { convenience init(context moc: NSManagedObjectContext) {} }\nclass C: NSManagedObject {}"
      )
        == "extension C { convenience init(_context moc: NSManagedObjectContext) {} }\nclass C: NSManagedObject { "
        + "public required convenience init(context: NSManagedObjectContext) { self.init(_context: context) } }"
    )
    for other in ["extension Other { \(written) }", "extension C { convenience init(context: Int) {} }"] {
      #expect(translated(other) == other)
    }
  }

  @Test func `a migration policy has its functions by the names of Objective-C`() {
    let source =
      "class P: NSEntityMigrationPolicy { func twice(_ n: NSNumber) -> NSNumber { n }; func both(a: Int, b: Int) throws -> Int { a }; "
      + "@objc(mine:) private func m(_ s: String?) -> String? { s }; func none(_ n: Int) {}; func own(_ n: Int) -> Int { n } }"
    func cases(_ text: String) -> [Substring] {
      text.split(separator: "case \"").dropFirst().map { $0.prefix { $0 != ";" } }
    }
    let marked = source.replacing("func twice", with: "@objc func twice").replacing(
      "func both", with: "@objc func both")
    #expect(
      cases(translated(marked)) == [
        "twice:\": return self.twice(Self._argument(arguments, 0))",
        "bothWithA:b:\": return try self.both(a: Self._argument(arguments, 0), b: Self._argument(arguments, 1))",
        "mine:\": return self.m(Self._argument(arguments, 0))",
      ])
    #expect(cases(translated("@objcMembers " + source)).count == 4)
    #expect(cases(translated(marked.replacing("NSEntityMigrationPolicy", with: "NSObject"))).isEmpty)
    #expect(cases(translated("class Q: P {}\n" + marked)).count == 3)
    let own =
      "override func value(forFunction n: String, arguments: [Any?], manager: NSMigrationManager) throws -> Any? { nil }"
    #expect(cases(translated(marked.dropLast() + own + " }")).isEmpty)
  }

  @Test func `a class of transformers that is made without arguments is found by its name`() {
    func factory(_ source: String) -> Substring? {
      translated(source).split(separator: "\n").first { $0.contains("_TransformerNamed_") }
    }
    func expected(_ name: String, _ type: String) -> Substring {
      "final class _TransformerNamed_\(name): CoreData._NamedTransformerClass { override class func make() -> CoreData.ValueTransformer? { \(type)() } }"
    }
    #expect(factory("class A: ValueTransformer {}")?.hasSuffix(expected("A", "A")) == true)
    #expect(
      factory(
        "@objc(B) public final class A: NSSecureUnarchiveFromDataTransformer { let a = [1].map { _ in init(2) } }"
      )?
      .hasSuffix(expected("B", "A")) == true)
    #expect(
      factory("class A: ValueTransformer { init(key: Data) {}\n override init() {} }")?.hasSuffix(
        expected("A", "A")) == true)
    for source in [
      "class A: ValueTransformer { init(key: Data) {} }", "class A<T>: ValueTransformer {}",
      "class A: ValueTransformer { private override init() {} }", "class A: NSObject {}",
      "enum E { class A: ValueTransformer {} }", "@MainActor class A: ValueTransformer {}",
    ] {
      #expect(factory(source) == nil, "\(source)")
    }
  }

  @Test func `modifiers and other attributes of properties stay, but for those of Objective-C`() {
    func words(_ text: String) -> [Substring] { text.split(whereSeparator: \.isWhitespace) }
    #expect(
      words(
        translated(
          "@objc(City) class C { @objc @NSManaged @available(iOS 17, *) public private(set) dynamic var `class`: Int }"
        ))
        == words(
          "class C { @available(iOS 17, *) public private(set) var `class`: Int \(Self.accessors("class")) } "
            + "final class _ClassNamed_City: CoreData._NamedClass { override class var target: AnyClass { C.self } }"
        ))
    #expect(
      words(translated("class C { @NSManaged weak var a: C?; @NSManaged unowned(unsafe) var b: C }"))
        == words("class C { var a: C? \(Self.accessors("a")); var b: C \(Self.accessors("b")) }"))
  }

  @Test func `several properties of one declaration get their accessors each`() {
    let (a, b) = (Self.accessors("a"), Self.accessors("b"))
    #expect(translated("class C { @NSManaged var a, b: Int }") == "class C {  var a: Int \(a), b: Int \(b) }")
    #expect(
      translated("class C { @NSManaged var a: Int?, b: String }")
        == "class C {  var a: Int? \(a), b: String \(b) }")
  }

  @Test func `lines stay where they are`() {
    let source = """
      @objc(
        City
      )
      class City: NSManagedObject {
        @NSManaged
        var name:
          String?
        /* @NSManaged var no: Int /* nested */ */
        let text = \"""
          @NSManaged var no: Int \\(#keyPath(City
            .name))
          \"""
      }
      """
    let lines = translated(source).split(separator: "\n", omittingEmptySubsequences: false)
    // The name of the class is noted behind them.
    #expect(lines.count == source.split(separator: "\n", omittingEmptySubsequences: false).count + 2)
    #expect(lines[6] == "    String? \(Self.accessors("name"))")
    #expect(lines[7] == "  /* @NSManaged var no: Int /* nested */ */")
    #expect(lines[9].hasSuffix("\\(\"name\""))
  }

  @Test func `key paths become texts, in interpolations too`() {
    #expect(translated("let k = #keyPath(City.owner.name)") == "let k = \"owner.name\"")
    #expect(translated("let k = #keyPath(Model.City.name)") == "let k = \"name\"")
    #expect(translated("let k = #keyPath(name)") == "let k = \"name\"")
    #expect(translated("let k = \"\\(#keyPath(City.name)) == %@\"") == "let k = \"\\(\"name\") == %@\"")
    #expect(translated("let k = #\"\\#(#keyPath(City.name)) \\(x)\"#") == "let k = #\"\\#(\"name\") \\(x)\"#")
  }

  @Test func `selectors carry their methods`() {
    #expect(
      translated("f(#selector(Controller.changed(_:)))")
        == "f(Selector(\"changed(_:)\", Controller.changed(_:)))")
    #expect(translated("f(#selector(changed))") == "f(Selector(\"changed\", Self.changed))")
    #expect(translated("f(#selector(self.changed(_:)))") == "f(Selector(\"changed(_:)\", Self.changed(_:)))")
    #expect(
      translated("f(#selector(strongSelf.changed(_:)))")
        == "f(Selector(\"changed(_:)\", type(of: strongSelf).changed(_:)))")
    #expect(translated("f(#selector(a.b.end))") == "f(Selector(\"end\", type(of: a.b).end))")
    #expect(translated("f(#selector(Shop.City.end))") == "f(Selector(\"end\", Shop.City.end))")
    #expect(translated("f(#selector(getter: City.name))") == "f(Selector(\"name\"))")
  }

  @Test func `methods of relationships get bodies, by their names in Swift and in Objective-C`() {
    #expect(
      translated("class C { @NSManaged func addToStops(_ value: Stop) }")
        == "class C {  func addToStops(_ value: Stop) { _managedAdd(\"stops\", value) } }")
    #expect(
      translated("class C { @objc(removeStopsObject:) @NSManaged func take(_ stop: Stop) }")
        == "class C {   func take(_ stop: Stop) { _managedRemove(\"stops\", stop) } }")
    #expect(
      translated(
        "class C { @objc(insertObject:inStopsAtIndex:) @NSManaged func insertIntoStops(_ v: Stop, at idx: Int) }"
      )
        == "class C {   func insertIntoStops(_ v: Stop, at idx: Int) { _managedInsert(\"stops\", v, at: idx) } }"
    )
    #expect(
      translated("class C { @NSManaged func replaceStops(at indexes: NSIndexSet, with values: [Stop]) }")
        == "class C {  func replaceStops(at indexes: NSIndexSet, with values: [Stop]) { _managedReplace(\"stops\", at: indexes, values) } }"
    )
    #expect(
      translated(
        "class C { @objc(removeObjectFromStopsAtIndex:) @NSManaged func removeFromStops(at idx: Int) }")
        == "class C {   func removeFromStops(at idx: Int) { _managedRemove(\"stops\", at: idx) } }")
  }

  @Test func `properties that Objective-C sees are found by their names`() {
    let text = translated(
      "class C: NSManagedObject { @objc var full: String { \"x\" }; @objc var mark = 1; var hidden = 2 }")
    #expect(
      text.contains(
        "case \"full\": return .some(self.full); case \"mark\": return .some(self.mark); default:"))
    #expect(text.contains("case \"mark\": return Self._assign(value, to: \\C.mark, of: self); default:"))
    #expect(!text.contains("\"hidden\""))
    #expect(
      translated("class D: Other { @objc var full: String { \"x\" } }")
        == "class D: Other {  var full: String { \"x\" } }")
  }

  @Test func `a method that takes a set takes a literal as well`() {
    #expect(
      translated("extension C { @objc(addStops:) @NSManaged public func addToStops(_ values: NSSet) }")
        == "extension C {   public func addToStops(_ values: NSSet) { _managedAdd(\"stops\", values) }; "
        + "public func addToStops(_ values: [Any]) { addToStops(NSSet(array: values)) } }")
    #expect(
      translated("class C { @NSManaged func removeFromStops(_ all: NSOrderedSet) }").hasSuffix(
        "; func removeFromStops(_ values: [Any]) { removeFromStops(NSOrderedSet(array: values)) } }"))
    #expect(!translated("class C { @NSManaged func addToStops(_ value: Stop) }").contains("[Any]"))
  }

  @Test func `an object is made in the class of its entity`() {
    #expect(
      translated("let a = NSManagedObject(entity: e, insertInto: c) as! City")
        == "let a = NSManagedObject._made(entity: e, insertInto: c) as! City")
    #expect(
      translated("f(Kit.Base(entity: T.entity(), insertInto: nil))")
        == "f(Kit.Base._made(entity: T.entity(), insertInto: nil))")
    for other in [
      "super.init(entity: e, insertInto: c)", "self.init(entity: e, insertInto: c)", "Row(entity: e)",
      "insert(entity: e, insertInto: c)",
    ] { #expect(translated(other) == other) }
  }

  @Test func `attributes of Objective-C are removed from types and members`() {
    #expect(
      translated("@objcMembers final class C: NSObject { let a = 1 }")
        == " final class C: NSObject { let a = 1 }")
    // Generated members behind another one on its line are statements of their own.
    #expect(
      translated("@objcMembers class C: NSManagedObject { var x = 3 }").hasPrefix(
        " class C: NSManagedObject { var x = 3 ; public override func"))
    #expect(
      translated("@objcMembers class C: NSManagedObject {\n  var x = 3\n}").hasPrefix(
        " class C: NSManagedObject {\n  var x = 3\n public override func"))
  }

  static let place = "_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>"

  @Test func `methods that validate a property are called by its name, wherever the class is declared`() {
    let own = "@objc func validateAge(\(Self.place)) throws {}"
    #expect(
      translated("class C: NSManagedObject { \(own) }").contains(
        "switch key { case \"age\", \"Age\": try self.validateAge(value); default: try super._validateOwn(value, forKey: key) }"
      ))
    #expect(translated("class C: NSManagedObject {}; extension C { \(own) }").contains("_validateOwn"))
    #expect(
      translated("@objcMembers class C: NSManagedObject { func validateAge(\(Self.place)) throws {} }")
        .contains(
          "_validateOwn"))
    for other in [
      "class C: NSManagedObject { func validateAge(\(Self.place)) throws {} }",
      "class C: NSManagedObject { @objc func validateAge(_ v: Int) throws {} }",
      "class C: NSManagedObject { @objc func validated(\(Self.place)) throws {} }",
      "class C: Other { \(own) }",
    ] { #expect(!translated(other).contains("_validateOwn"), "\(other)") }
  }

  @Test func `a class from a model calls the validators of its extensions`() throws {
    let model = """
      <model><entity name="City" representedClassName="City" codeGenerationType="class"/></model>
      """
    let classes = ModelClasses(try #require(Markup.root(of: model)))
    var index = ClassIndex()
    for name in classes.declared { index.note(generated: name) }
    let source = Array("extension City { @objc func validateAge(\(Self.place)) throws {} }".utf8)
    Translation.collect(from: source, file: "A.swift", into: &index)
    #expect(Translation.translate(source, file: "A.swift", index: index).errors.isEmpty)
    #expect(classes.text(index).contains("try self.validateAge(value)"))
  }

  @Test func `subclasses of what threads share say so`() {
    #expect(
      translated("class P: NSEntityMigrationPolicy {}")
        == "class P: NSEntityMigrationPolicy, @unchecked Sendable {}")
    #expect(
      translated("class S: CoreData.NSIncrementalStore, A where B: C {}")
        == "class S: CoreData.NSIncrementalStore, @unchecked Sendable, A where B: C {}")
    let said = "class P: NSEntityMigrationPolicy, @unchecked Sendable {}"
    #expect(translated(said) == said)
  }

  @Test func `containers and contexts with the initialisers of their superclass are made by their types`() {
    let made =
      "extension C: CoreData._ContainerMadeByType { public static func _made(name: String, managedObjectModel: CoreData.NSManagedObjectModel) -> CoreData.NSPersistentContainer { C(name: name, managedObjectModel: managedObjectModel) } }"
    for body in [
      "", " convenience init(a: Int) { self.init(name: \"a\") } ",
      " override init(name: String, managedObjectModel: M) { super.init() } ",
    ] {
      #expect(
        translated("class C: NSPersistentContainer {\(body)}\nlet a = 1").hasSuffix("}; \(made)\nlet a = 1"))
    }
    #expect(
      translated("final class C: NSManagedObjectContext {}").contains(
        "{ C(concurrencyType: concurrencyType) }"))
    for source in [
      "class C: NSPersistentContainer { init(a: Int) { super.init(name: \"a\", managedObjectModel: m) } }",
      "@MainActor final class C: NSPersistentContainer {}", "class C<T>: NSPersistentContainer {}",
      "enum E { class C: NSPersistentContainer {} }", "extension NSPersistentContainer {}",
      "class C: NSMergePolicy {}",
    ] { #expect(!translated(source).contains("_made"), "\(source)") }
  }

  @Test func `strings and regular expressions hide what looks like code`() {
    for source in [
      "let a = \"@NSManaged var a: Int\"", "let a = #\"\"@objc\"\"#", "let r = /\"@objc/",
      "let r = #/\"/#; let x = 1 / 2 / 3",
      "let a = \"\\\"@objc\"", "// @objc class", "let c = a / b; let d = \"@objc\"",
    ] { #expect(translated(source) == source) }
  }

  @Test(arguments: ["ObjectiveC", "CoreGraphics", "Darwin", "ObjectiveC.runtime", "func Darwin.fsync"])
  func `modules whose names Foundation has here are imported as Foundation`(module: String) {
    #expect(translated("import \(module)\nimport UIKit") == "import Foundation\nimport UIKit")
  }

  @Test func `what is not compiled here is no error`() {
    let member = "@objc optional func f() -> Int"
    #expect(errors("#if os(iOS)\nprotocol P { \(member) }\n#endif", collected: true) == [])
    #expect(errors("#if !os(iOS)\nprotocol P { \(member) }\n#endif", collected: true).count == 1)
  }

  @Test func `a protocol of Objective-C is one of classes`() {
    #expect(translated("@objc protocol P {}") == " protocol P: AnyObject {}")
    #expect(translated("@objc(P) public protocol P: Q {}") == " public protocol P: AnyObject, Q {}")
    for said in [": AnyObject", ": Q, AnyObject", ": class"] {
      #expect(translated("@objc protocol P\(said) {}") == " protocol P\(said) {}")
    }
    #expect(translated("protocol P {}") == "protocol P {}")
  }

  @Test func `an optional function has a default that does nothing, and is called without a question`() {
    let source = """
      @objc public protocol P {
        @objc optional func a(_ x: Int, by y: [String: Any],
          then z: @escaping () -> Void)
        @objc optional func b() -> String?
        func c()
      }
      """
    let defaults = """

      extension P { public func a(_ x: Int, by y: [String: Any], then z: @escaping () -> Void) {  } }
      extension P { public func b() -> String? { nil } }

      """
    let translated = translated(source)
    #expect(translated.hasSuffix("}\n" + defaults.dropFirst()))
    #expect(!translated.contains("optional"))
    let calls = [
      ("d?.a?(1, by: [:], then: f)", "d?.a(1, by: [:], then: f)"),
      (
        "(d as? P)?.a?(g(1, 2), by: [1: 2, 3: 4]) { x, y in }",
        "(d as? P)?.a(g(1, 2), by: [1: 2, 3: 4]) { x, y in }"
      ),
      ("let n = d.b?()?.count", "let n = d.b()?.count"),
      // Others are closures.
      ("d.a?(1)", "d.a?(1)"), ("d.a?(x: 1, by: [:], then: f)", "d.a?(x: 1, by: [:], then: f)"),
      ("b?()", "b?()"), ("d.c?()", "d.c?()"), ("a.b ? (1) : 2", "a.b ? (1) : 2"),
    ]
    for (call, expected) in calls {
      #expect(self.translated(source + "\n" + call).contains("\n" + expected + defaults))
    }
  }

  @Test func `delegates of fetched results controllers are passed on without a question`() {
    for (call, expected) in [
      ("d?.controllerWillChangeContent?(c)", "d?.controllerWillChangeContent(c)"),
      (
        "d?.controller?(c, didChange: x, at: i, for: .insert, newIndexPath: j)",
        "d?.controller(c, didChange: x, at: i, for: .insert, newIndexPath: j)"
      ),
      ("d?.controller?(c)", "d?.controller?(c)"),
    ] { #expect(translated(call) == expected) }
  }

  @Test func `what cannot be translated is an error with its place`() {
    #expect(
      errors("class C {\n  @NSManaged func calculate(_ x: Int)\n}") == [
        "A.swift:2:1: error: the @NSManaged function calculate is none that Core Data makes for a relationship, such as addToStops(_:): write its body"
      ])
    #expect(
      errors("protocol P {\n\n  @objc optional func f() -> Int\n  @objc optional var a: Int { get }\n}").map {
        $0.prefix(36)
      } == ["A.swift:3:1: error: optional members", "A.swift:4:1: error: optional members"])
    let own = "func validateAge(\(Self.place)) throws {}"
    #expect(
      errors("class C: NSManagedObject {}\nextension C { @objc private \(own) }", collected: true).first
        == "A.swift:2:1: error: validateAge(_:) is not called, as it is private in an extension: move it into the class C"
    )
    #expect(
      errors("extension C { @NSManaged var a: Int\n@objc \(own) }", collected: true).first?.hasPrefix(
        "A.swift:2:1: error: validateAge(_:) is not called, as the class C is not declared in this target")
        == true)
    #expect(
      errors("class C { @NSManaged var a }").first?.contains(
        "the type of the @NSManaged property a is not written") == true)
  }
}
