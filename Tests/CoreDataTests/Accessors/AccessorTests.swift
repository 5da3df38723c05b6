import Foundation
import Testing

@testable import CoreDataTranslation

/// The names of accessors, held against those of the compiler.
@Suite struct `Accessors under the compiler's names` {
  static let stub = """
    open class NSManagedObject: Hashable {
      public init() {}
      public static func == (left: NSManagedObject, right: NSManagedObject) -> Bool { left === right }
      public func hash(into hasher: inout Hasher) {}
      public final func _managedGet<T>(_ key: String, _ name: UInt64) -> T { fatalError() }
      public final func _managedSet<T>(_ key: String, _ name: UInt64, _ value: T) {}
      public final func _managedAdd(_ key: String, _ value: Any) {}
      public final func _managedRemove(_ key: String, _ value: Any) {}
      public final func _managedInsert(_ key: String, _ value: Any, at index: Int) {}
    }
    """

  func run(_ tool: String, _ arguments: [String], in folder: URL) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [tool] + arguments
    process.currentDirectoryURL = folder
    let output = folder.appending(path: UUID().uuidString)
    try Data().write(to: output)
    let handle = try FileHandle(forWritingTo: output)
    process.standardOutput = handle
    process.standardError = handle
    try process.run()
    process.waitUntilExit()
    let text = try String(contentsOf: output, encoding: .utf8)
    #expect(process.terminationStatus == 0, "\(tool): \(text.prefix(2000))")
    return text
  }

  /// The symbols that a module's objects refer to and do not have, and the names that are written for its sources.
  func names(of files: [String: String]) throws -> (
    wanted: Set<String>, written: Set<String>, text: String, folder: URL
  ) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "accessors-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Self.stub.write(to: folder.appending(path: "Stub.swift"), atomically: true, encoding: .utf8)
    for (name, text) in files {
      try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
    }
    _ = try run(
      "swiftc",
      [
        "-parse-as-library", "-module-name", "CoreData", "-emit-module", "-emit-library", "Stub.swift", "-o",
        "libCoreData.so",
      ],
      in: folder)
    let sources = files.keys.sorted()
    _ = try run(
      "swiftc",
      ["-parse-as-library", "-wmo", "-module-name", "Model", "-I", ".", "-c"] + sources + ["-o", "model.o"],
      in: folder)
    let symbols = try run("nm", ["-u", "model.o"], in: folder).split(separator: "\n")
      .compactMap { $0.split(separator: " ").last.map(String.init) }.filter { $0.hasPrefix("$s5Model") }
    var writer = AccessorWriter(module: "Model")
    for (name, text) in files.sorted(by: { $0.key < $1.key }) {
      writer.collect(Array(text.utf8), file: name, module: "Model")
    }
    for (name, text) in files.sorted(by: { $0.key < $1.key }) { writer.write(Array(text.utf8), file: name) }
    #expect(writer.errors.map(\.description) == [])
    let text = writer.text
    let written = text.split(separator: "\"").filter { $0.hasPrefix("$s5Model") }.map(String.init)
    return (Set(symbols), Set(written), text, folder)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `random declarations have the names that the compiler gives them`(seed: UInt64) throws {
    var random = RandomDeclarations(seed: seed)
    var files = ["Common.swift": RandomDeclarations.common]
    for index in 0..<4 { files["File\(index).swift"] = random.file(index, classes: 10, properties: 14) }
    let (wanted, written, _, folder) = try names(of: files)
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(wanted.count >= 1000)
    #expect(wanted.subtracting(written).sorted().prefix(5) == [])
    #expect(written.subtracting(wanted).sorted().prefix(5) == [])
  }

  @Test func `every form of declaration links, in the same and in other files, also what is private`() throws
  {
    let source = """
      import CoreData
      import Foundation
      public class City: NSManagedObject {
        @NSManaged public var name: String?, population: Int64
        @NSManaged private var hidden: String!
        @NSManaged fileprivate var shown, half: Int
        @NSManaged public private(set) var `class`: Set<City>?
        @NSManaged weak var mayor: City?
        @NSManaged var closure: (Int) -> String
        @NSManaged public func addToCities(_ value: City)
        @NSManaged public func removeFromCities(_ values: NSSet)
        @NSManaged public func insertIntoCities(_ value: City, at idx: Int)
        struct Own { }
        final class Nested: NSManagedObject { @NSManaged var own: Own? }
        func use() { hidden = "a"; shown = half; closure = { _ in "" }; Nested().own = nil; addToCities(self); removeFromCities(NSSet()); insertIntoCities(self, at: 1) }
      }
      #if canImport(ObjectiveC)
      @objc(Secret)
      #endif
      private class Secret: NSManagedObject { @NSManaged var word: String?; func use() { word = "a" } }
      func use() { Secret().use() }
      """
    let other = """
      import CoreData
      extension City { @NSManaged public var capital: City? }
      func more(_ city: City) { city.capital = nil; city.capital?.capital = city }
      """
    let (wanted, written, text, folder) = try names(of: ["City.swift": source, "Other.swift": other])
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(wanted.subtracting(written).sorted() == [])
    try text.write(to: folder.appending(path: "Accessors.swift"), atomically: true, encoding: .utf8)
    for mode in [["-Onone"], ["-O", "-wmo"]] {
      _ = try run(
        "swiftc",
        mode + [
          "-parse-as-library", "-module-name", "Model", "-I", ".", "-L", ".", "-lCoreData", "-emit-library",
          "-Xlinker", "-z", "-Xlinker",
          "defs", "City.swift", "Other.swift", "Accessors.swift", "-o", "libModel.so",
        ], in: folder)
    }
  }

  @Test func `classes are found by the names that Objective-C has, also where they are left out`() {
    func writer(_ source: String) -> AccessorWriter {
      var writer = AccessorWriter(module: "Model")
      writer.collect(Array(source.utf8), file: "City.swift", module: "Model")
      writer.write(Array(source.utf8), file: "City.swift")
      return writer
    }
    let given = "#if canImport(ObjectiveC)\n@objc(Town)\n#endif\n"
    #expect(
      writer(given + "public final class City: NSManagedObject { @NSManaged var name: String? }").text
        .contains(
          "final class _ClassNamed_Town: CoreData._NamedClass { override class var target: AnyClass { City.self } }"
        ))
    let same = "@objc(City)\nfinal class City: NSManagedObject {}"
    #expect(writer(same).text.contains("class _ClassNamed_City:"))
    let hiddenSame = writer(same.replacingOccurrences(of: "final", with: "private"))
    #expect(hiddenSame.errors.isEmpty && !hiddenSame.text.contains("_ClassNamed_"))
    #expect(!writer(given + "enum Kind {}\nclass City: NSManagedObject {}").text.contains("_ClassNamed_"))
    let hidden = writer(given + "private class City: NSManagedObject {}")
    #expect(hidden.errors.map(\.line) == [4])
    #expect(hidden.errors.first?.message.contains("City Town") == true)
    let validating = writer(
      "class City: NSManagedObject {\nfunc validateAge(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}\n}"
    )
    #expect(validating.errors.map(\.line) == [2])
  }

  @Test func `a type that cannot be resolved is an error with its place`() {
    var writer = AccessorWriter(module: "Model")
    let source = Array("class City: NSManagedObject {\n  @NSManaged var color: UIColor?\n}".utf8)
    writer.collect(source, file: "City.swift", module: "Model")
    writer.write(source, file: "City.swift")
    #expect(writer.errors.map(\.line) == [2])
    #expect(writer.errors.first?.message.contains("UIColor") == true)
  }
}
