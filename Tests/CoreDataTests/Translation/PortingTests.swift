import Testing

@testable import CoreDataTranslation

@Suite struct `Porting of sources` {
  static let source = """
    import CoreData
    import UIKit

    @objc(City)
    public class City: NSManagedObject {
      @objc @NSManaged public var name: String?
      @available(iOS 17, *) @objc dynamic public var x: Int { 1 }
      @objc(addStopsObject:)
      @NSManaged public func addToStops(_ value: City)
      var key: String { #keyPath(City.owner.name) }; @objc var other = 2
      func begin() { f(#selector(begin)) }
    }
    #if canImport(ObjectiveC)
    @objc(Other)
    #endif
    class Other: NSManagedObject {}
    """

  @Test func `what hinders a source is found with its line and a remedy`() {
    let findings = Porting(Array(Self.source.utf8)).findings
    #expect(findings.map(\.line) == [2, 4, 6, 7, 8, 10, 10, 11])
    #expect(findings.map(\.isMended) == [false, true, true, true, true, true, true, false])
    #expect(
      findings[1].message
        == "@objc(City) needs the Objective-C runtime: put it into #if canImport(ObjectiveC)")
    #expect(findings[5].message == "#keyPath needs the Objective-C runtime: write \"owner.name\"")
  }

  @Test func `a mended source has attributes within conditions, and the accessors are written for it`() {
    let text = Porting(Array(Self.source.utf8)).text
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(
      lines[3...6] == [
        "#if canImport(ObjectiveC)", "@objc(City)", "#endif", "public class City: NSManagedObject {",
      ])
    #expect(
      lines[7...10] == [
        "  #if canImport(ObjectiveC)", "  @objc", "  #endif", "  @NSManaged public var name: String?",
      ])
    #expect(lines.contains("  @available(iOS 17, *) dynamic public var x: Int { 1 }"))
    #expect(lines.contains("  @NSManaged public func addToStops(_ value: City)"))
    let again = Porting(Array(text.utf8))
    #expect(again.findings.map(\.isMended) == [false, false])
    #expect(again.text == text)

    var writer = AccessorWriter(module: "Model")
    writer.collect(Array(text.utf8), file: "City.swift", module: "Model")
    writer.write(Array(text.utf8), file: "City.swift")
    #expect(writer.errors.isEmpty)
    #expect(writer.text.contains("\"$s5Model4CityC4nameSSSgvg\""))
    #expect(writer.text.contains("_managedAdd(\"stops\", value0)"))
  }
}
