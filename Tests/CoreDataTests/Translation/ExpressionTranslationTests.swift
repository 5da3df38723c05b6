import Testing

@testable import CoreDataTranslation

extension `Translation of sources for Apple's systems` {
  @Test func `casts of requests become operators`() {
    #expect(
      translated("f(r as! NSFetchRequest<NSFetchRequestResult>)")
        == "f(r ~~>! NSFetchRequest<NSFetchRequestResult>.self)")
    #expect(
      translated("if let r = r as? CoreData.NSFetchRequest<City>, x {}")
        == "if let r = r ~~>? CoreData.NSFetchRequest<City>.self, x {}")
    #expect(
      translated("let b = r is NSFetchRequest<NSDictionary>")
        == "let b = r ~~>~ NSFetchRequest<NSDictionary>.self")
    #expect(
      translated("let c = c as! NSFetchedResultsController<NSManagedObject>")
        == "let c = c ~~>! NSFetchedResultsController<NSManagedObject>.self")
  }

  @Test func `an array literal for a property that may be a set of Foundation is given to a function`() {
    let declared = "class P: NSManagedObject { @NSManaged var cars: NSSet?; var names: [String] = [] }\n"
    #expect(
      translated(declared + "p.cars = [a, b]\np.names = [\"x\"]").hasSuffix(
        "p.cars = _assigned([a, b])\np.names = [\"x\"]"))
    for other in ["p.cars = [a] as NSSet", "if p.cars == [a] {}", "let cars = [a]", "q.other = [a]"] {
      #expect(translated(declared + other).hasSuffix(other))
    }
  }

  @Test func `a cast in the argument of a macro stays one expression`() {
    #expect(
      translated("let r = try #require(City.fetchRequest() as? NSFetchRequest<City>, \"no\")")
        == "let r = try #require(_cast(City.fetchRequest() ~~>? NSFetchRequest<City>.self), \"no\")")
    #expect(
      translated("#expect((r as? NSFetchRequest<City>) != nil)")
        == "#expect((r ~~>? NSFetchRequest<City>.self) != nil)")
    #expect(translated("f(r is NSFetchRequest<City>)") == "f(r ~~>~ NSFetchRequest<City>.self)")
  }

  @Test func `a member of an extension keeps the access of its package`() {
    let source =
      "package class C: NSManagedObject {}\nextension C {\n  override package class func entity() -> NSEntityDescription { made }\n}"
    #expect(
      translated(source).contains(
        "override package class func entity() -> NSEntityDescription { Self._C_entity() }"))
  }

  @Test func `casts to another name of a request become operators`() {
    #expect(
      translated("typealias Found = NSFetchRequest<NSFetchRequestResult>\nlet f = r as! Found")
        == "typealias Found = NSFetchRequest<NSFetchRequestResult>\nlet f = r ~~>! Found.self")
  }

  @Test(arguments: [
    "let a = r as! City", "let a = r as? [NSFetchRequest<City>]", "let a = r as NSFetchRequest<City>",
    "switch r { case is NSFetchRequest<City>: break; default: break }",
    "do {} catch is NSFetchRequest<City> {}",
  ])
  func `other casts stay`(source: String) {
    #expect(translated(source) == source)
  }

  @Test func `a switch over all names of an enumeration of Objective-C is one over all of its cases`() {
    #expect(
      translated(
        "switch t { case .mainQueueConcurrencyType, .privateQueueConcurrencyType: f(.mainQueueConcurrencyType) }"
      )
        == "switch t { case .mainQueue, .privateQueue: f(.mainQueueConcurrencyType) }")
    #expect(
      translated("if case NSAttributeType.UUIDAttributeType = t, p == .errorMergePolicyType {}")
        == "if case NSAttributeType.uuid = t, p == .errorMergePolicyType {}")
    #expect(
      translated(
        "switch (t, m) { case (kind: .stringAttributeType, .copyEntityMappingType): break; default: break }")
        == "switch (t, m) { case (kind: .string, .copy): break; default: break }")
    #expect(translated("enum E { case stringAttributeType }") == "enum E { case stringAttributeType }")
  }

  @Test func `imports of a part of the module import it`() {
    #expect(translated("import CoreData.CoreDataDefines") == "import CoreData")
    #expect(
      translated("@preconcurrency import class CoreData.NSManagedObject") == "@preconcurrency import CoreData"
    )
    #expect(translated("public import CoreData") == "public import CoreData")
    #expect(translated("import class Foundation.NSExpression") == "import class Foundation.NSExpression")
  }

  @Test func `names that Foundation has on Apple's systems are the module's`() {
    #expect(
      translated("let s: ObjectiveC.Selector = f(Foundation.NSExpression.self)")
        == "let s: _NamesOfFoundation.Selector = f(_NamesOfFoundation.NSExpression.self)")
    for source in ["let d: Foundation.Date", "let f = x.Foundation.Selector", "import Foundation"] {
      #expect(translated(source) == source)
    }
  }

  @Test func `models in the program are found by their extension`() {
    #expect(
      translated("bundle.urls(forResourcesWithExtension: \"momd\", subdirectory: nil)")
        == "bundle._urls(forResourcesWithExtension: \"momd\", subdirectory: nil)")
    #expect(
      translated("bundle.paths(forResourcesOfType: \"mom\", inDirectory: nil)")
        == "bundle._paths(forResourcesOfType: \"mom\", inDirectory: nil)")
    let other = "manager.urls(for: .documentDirectory, in: .userDomainMask)"
    #expect(translated(other) == other)
  }

  @Test func `a member of an extension that overrides another is declared in its class`() {
    let text = translated(
      "class C: NSManagedObject {}\nextension C {\n  public override func awakeFromInsert() { super.awakeFromInsert() }\n}"
    )
    #expect(
      text.contains(
        "class C: NSManagedObject { public override func awakeFromInsert() { self._C_awakeFromInsert() } }"))
    #expect(text.contains("func _C_awakeFromInsert() { super.awakeFromInsert() }"))
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 4)
    #expect(!lines[2].contains("override"))
  }

  @Test func `a member of an extension that a subclass overrides is declared in its class`() {
    let text = translated(
      """
      class Base: NSManagedObject {}
      extension Base {
        @objc class func add(_ a: Int, to b: inout Int) throws -> Int { a }
        @objc var title: String { "" }
        func stays() {}
      }
      class City: Base {
        override class func add(_ a: Int, to b: inout Int) throws -> Int { 2 }
        override var title: String { "City" }
      }
      """)
    #expect(
      text.contains(
        "class func add(_ a: Int, to b: inout Int) throws -> Int { try Self._Base_add(a, to: &b) }; var title: String { self._Base_title }"
      ))
    #expect(text.contains("class func _Base_add(_ a: Int, to b: inout Int) throws -> Int { a }"))
    #expect(text.contains("func stays() {}"))
    #expect(!text.contains("_Base_stays"))
  }

  @Test func `an override in an extension of a class of another module is an error`() {
    #expect(
      errors("extension Other {\n  override func willSave() {}\n}", collected: true) == [
        "A.swift:2:1: error: willSave() overrides a member in an extension, and the class Other is not declared in this target: move it into the class"
      ])
  }
}

@Suite struct `Names of Foundation that the translator declares` {
  @Test func `each name is declared for the target, also qualified`() {
    let text = FoundationNames.declarations(without: [])
    #expect(
      text.contains("\npublic typealias NSExpression = CoreData.NSExpression\n")
        || text.hasPrefix("public typealias NSExpression"))
    #expect(text.contains("public typealias NSCompoundPredicate = CoreData._NSCompoundPredicate"))
    #expect(text.contains("@usableFromInline func NSStringFromClass("))
    let namespace = text.split(separator: "public enum _NamesOfFoundation {").last ?? ""
    for name in FoundationNames.all { #expect(namespace.contains(" \(name)"), "\(name)") }
  }

  @Test func `what a target declares itself stays`() {
    let source = """
      public struct UndoManager { class Selector {} }
      func autoreleasepool() {}
      #if os(macOS)
      class NSExpression {}
      #endif
      """
    let declared = FoundationNames.declared(in: Array(source.utf8))
    #expect(declared.isSuperset(of: ["UndoManager", "autoreleasepool"]))
    #expect(!declared.contains("Selector"))
    #expect(!declared.contains("NSExpression"))
    let lines = FoundationNames.declarations(without: declared).split(separator: "\n")
    #expect(!lines.contains { $0.hasPrefix("public typealias UndoManager") })
    #expect(!lines.contains { $0.hasPrefix("@usableFromInline func autoreleasepool") })
    #expect(lines.contains { $0.hasPrefix("  public typealias UndoManager") })
  }
}
