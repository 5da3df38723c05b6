import Testing

@testable import CoreDataTranslation

@Suite struct `Classes of models as Xcode makes them` {
  let model = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel">
      <entity name="City" representedClassName=".City" codeGenerationType="class">
        <attribute name="population" attributeType="Integer 64" usesScalarValueType="YES"/>
        <attribute name="rank" optional="YES" attributeType="Integer 16"/>
        <attribute name="founded" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="in" attributeType="String" defaultValueString="a &lt; &quot;b&quot;"/>
        <relationship name="country" optional="YES" maxCount="1" destinationEntity="Country"/>
        <relationship name="twins" optional="YES" toMany="YES" destinationEntity="City"/>
      </entity>
      <entity name="Capital" representedClassName="Capital" parentEntity="City" codeGenerationType="class"/>
      <entity name="Country" representedClassName="Country" codeGenerationType="category"/>
      <entity name="Note" representedClassName="Note"/>
    </model>
    """

  @Test func `types, optionals, superclasses and methods are those of Xcode`() throws {
    let text = ModelClasses(try #require(Markup.root(of: model))).text
    for line in [
      "public class City: NSManagedObject {}", "public class Capital: City {}",
      "public var population: Int64 {",
      "public var rank: NSNumber? {", "public var founded: Date? {",
      "public var `in`: String? { get { _managedGet(\"in\", 0x",
      "public var country: Country? {", "public var twins: NSSet? {",
      "public func addToTwins(_ value: City) { _managedAdd(\"twins\", value) }",
      "public func removeFromTwins(_ values: NSSet) { _managedRemove(\"twins\", values) }",
      "@nonobjc public class func fetchRequest() -> NSFetchRequest<Capital>",
      "extension City: Identifiable {}",
      "final class _ClassNamed_City: CoreData._NamedClass { override class var target: AnyClass { City.self } }",
    ] { #expect(text.contains(line), "\(line)") }
    #expect(!text.contains("class Country"))
    #expect(text.contains("extension Country {"))
    #expect(!text.contains("Note"))
    #expect(!text.contains("extension Capital: Identifiable"))
  }
}
