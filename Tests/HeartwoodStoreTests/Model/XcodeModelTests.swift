import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

private final class Writer: ManagedObject {
  @Attribute var name = ""
  @Attribute var born: Date?
  @Relationship(inverse: { $0.author }, deleteRule: .cascade) var books: Set<Volume>
}

private final class Volume: ManagedObject {
  @Attribute(.unique) var isbn = ""
  @Relationship(inverse: { $0.books }) var author: Writer?
}

@Suite struct `Models of Xcode` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ text: String, _ name: String = "Library.xcdatamodel") throws -> URL {
    let url = folder.url.appending(path: name)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url.appending(path: "contents"))
    return url
  }

  private func model(_ body: String, version: String = "") throws -> (ManagedObjectModel, notes: [String]) {
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
    let url = try write(
      head + "<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\" "
        + "userDefinedModelVersionIdentifier=\"\(version)\">\n\(body)\n</model>")
    var notes: [String] = []
    return (try ManagedObjectModel(contentsOf: url) { notes.append($0) }, notes)
  }

  private func attribute(_ fields: String) throws -> AttributeDescription {
    let (attribute, notes) = try notedAttribute(fields)
    #expect(notes == [])
    return attribute
  }

  private func notedAttribute(_ fields: String) throws -> (AttributeDescription, notes: [String]) {
    let (model, notes) = try model(
      "<entity name=\"E\"><attribute name=\"a\" \(fields.replacing("'", with: "\""))/></entity>")
    return (try #require(model.entities[0].attributesByName["a"]), notes)
  }

  private static let library = """
    <entity name="Work" representedClassName="NSManagedObject" isAbstract="YES" syncable="YES">
      <attribute name="title" attributeType="String" minValueString="1" maxValueString="80" regularExpressionString="[A-Z].*"/>
      <relationship name="authors" optional="YES" toMany="YES" minCount="1" maxCount="3" ordered="YES" deletionRule="Deny" \
    destinationEntity="Author" inverseName="works" inverseEntity="Author"/>
    </entity>
    <entity name="Book" representedClassName=".Book" parentEntity="Work" codeGenerationType="category" elementID="Volume" \
    versionHashModifier="2" syncable="YES">
      <attribute name="isbn" attributeType="String" preserveAfterDeletion="YES"/>
      <attribute name="pages" optional="YES" attributeType="Integer 32" minValueString="1" defaultValueString="100" \
    usesScalarValueType="YES"/>
      <attribute name="price" optional="YES" attributeType="Decimal" maxValueString="99.50" defaultValueString="9.99" elementID="cost"/>
      <attribute name="scan" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
      <attribute name="read" optional="YES" transient="YES" attributeType="Boolean" defaultValueString="NO"/>
      <fetchIndex name="byPages">
        <fetchIndexElement property="pages" type="Binary" order="descending"/>
        <fetchIndexElement property="isbn" type="Binary" order="ascending"/>
      </fetchIndex>
      <uniquenessConstraints>
        <uniquenessConstraint><constraint value="isbn"/></uniquenessConstraint>
        <uniquenessConstraint><constraint value="pages"/><constraint value="price"/></uniquenessConstraint>
      </uniquenessConstraints>
      <userInfo><entry key="table" value="a &lt; &quot;b&quot;"/></userInfo>
    </entity>
    <entity name="Author" representedClassName="Library.Author" syncable="YES">
      <attribute name="name" optional="YES" attributeType="String" defaultValueString=""/>
      <attribute name="born" optional="YES" attributeType="Date" minDateTimeInterval="-86400" defaultDateTimeInterval="12.5" \
    usesScalarValueType="NO"/>
      <relationship name="works" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Work" \
    inverseName="authors" inverseEntity="Book"/>
      <relationship name="teacher" optional="YES" minCount="1" maxCount="1" deletionRule="Nullify" destinationEntity="Author" \
    inverseName="pupils" inverseEntity="Author"/>
      <relationship name="pupils" optional="YES" toMany="YES" deletionRule="No Action" destinationEntity="Author" \
    inverseName="teacher" inverseEntity="Author"/>
    </entity>
    <fetchRequest name="Long" entity="Book" predicateString="pages &gt; 500" fetchLimit="5" includesSubentities="NO"/>
    <configuration name="Core"><memberEntity name="Author"/></configuration>
    <elements><element name="Book" positionX="1" positionY="2" width="128" height="44"/></elements>
    """

  // MOD-02, MOD-06, GEN-08
  @Test func `a model has everything that its file says`() throws {
    let (model, notes) = try model(Self.library, version: "v2")
    #expect(notes == [])
    #expect(model.versionIdentifiers == ["v2"])
    let (work, book) = (
      try #require(model.entitiesByName["Work"]), try #require(model.entitiesByName["Book"])
    )
    let author = try #require(model.entitiesByName["Author"])
    #expect(work.isAbstract && !book.isAbstract && book.superentity === work)
    #expect(
      [work, book, author].map(\.managedObjectClassName) == ["ManagedObject", "Book", "Library.Author"])
    #expect(book.renamingIdentifier == "Volume" && book.versionHashModifier == "2")
    #expect(book.userInfo == ["table": "a < \"b\""])
    #expect(book.uniquenessConstraints == [["isbn"], ["pages", "price"]])
    #expect(book.indexes.map(\.name) == ["byPages"])
    #expect(book.indexes[0].elements.map(\.property.name) == ["pages", "isbn"])
    #expect(book.indexes[0].elements.map(\.isAscending) == [false, true])

    let title = try #require(work.attributesByName["title"])
    #expect(!title.isOptional && title.type == .string)
    #expect(title.validationRules == [.length(1...80), .pattern("[A-Z].*")])
    let attributes = book.attributesByName
    #expect(attributes["isbn"]?.preservesValueInHistoryOnDeletion == true)
    #expect(attributes["pages"]?.defaultValue as? Int32 == 100)
    #expect(attributes["price"]?.defaultValue as? Decimal == Decimal(string: "9.99"))
    #expect(attributes["price"]?.renamingIdentifier == "cost")
    #expect(attributes["price"]?.validationRules == [.number(atMost: Decimal(string: "99.50"))])
    #expect(attributes["scan"]?.allowsExternalBinaryDataStorage == true)
    #expect(attributes["read"]?.isTransient == true && attributes["read"]?.defaultValue as? Bool == false)
    #expect(author.attributesByName["name"]?.defaultValue as? String == "")
    let born = try #require(author.attributesByName["born"])
    #expect(born.defaultValue as? Date == Date(timeIntervalSinceReferenceDate: 12.5))
    #expect(born.validationRules == [.date(notBefore: Date(timeIntervalSinceReferenceDate: -86400))])

    let authors = try #require(work.relationshipsByName["authors"])
    #expect(authors.isToMany && authors.isOrdered && authors.minCount == 1 && authors.maxCount == 3)
    #expect(authors.deleteRule == .deny && authors.destinationEntity === author)
    let works = try #require(author.relationshipsByName["works"])
    #expect(works.inverseRelationship === authors && works.deleteRule == .cascade)
    let teacher = try #require(author.relationshipsByName["teacher"])
    #expect(!teacher.isToMany && teacher.minCount == 0 && teacher.isOptional)
    #expect(author.relationshipsByName["pupils"]?.deleteRule == .noAction)

    let request = try #require(model.fetchRequestTemplate(forName: "Long"))
    #expect(request.entityName == "Book" && request.fetchLimit == 5 && !request.includesSubentities)
    #expect(request.predicate.map { "\($0)" } == "pages > 500")
    #expect(model.configurations == ["Core"])
    #expect(model.entities(forConfigurationName: "Core")?.map(\.name) == ["Author"])
    #expect(model.entities(forConfigurationName: nil)?.count == 3)
    #expect(model.entities(forConfigurationName: "Other") == nil)
  }

  @Test func `attributes of each type have their defaults and limits`() throws {
    #expect(try attribute("attributeType='Integer 16' defaultValueString='-7'").defaultValue as? Int16 == -7)
    #expect(try attribute("attributeType='Integer 64' defaultValueString='3.0'").defaultValue as? Int64 == 3)
    #expect(try attribute("attributeType='Double' defaultValueString='0.5'").defaultValue as? Double == 0.5)
    #expect(try attribute("attributeType='Float' defaultValueString='2'").defaultValue as? Float == 2)
    #expect(try attribute("attributeType='Boolean' defaultValueString='YES'").defaultValue as? Bool == true)
    #expect(
      try attribute("attributeType='URI' defaultValueString='https://example.com'").defaultValue as? URL
        == URL(string: "https://example.com"))
    let uuid = UUID()
    #expect(
      try attribute("attributeType='UUID' defaultValueString='\(uuid.uuidString)'").defaultValue as? UUID
        == uuid)
    #expect(try attribute("attributeType='Binary' maxValueString='9'").validationRules == [.length(...9)])
    #expect(
      try attribute("attributeType='Transformable' valueTransformerName='T' customClassName='Color'")
        .attributeValueClassName == "Color")
    #expect(try attribute("attributeType='Undefined' transient='YES'").type == .undefined)
    #expect(try attribute("attributeType='Int32' optional='YES'").type == .integer32)
  }

  @Test func `a range index is read and written`() throws {
    let (model, notes) = try model(
      """
      <entity name="E"><attribute name="x" attributeType="Double"/><attribute name="y" attributeType="Double"/>
      <fetchIndex name="box"><fetchIndexElement property="x" type="RTree" order="ascending"/>
      <fetchIndexElement property="y" type="RTree" order="ascending"/></fetchIndex></entity>
      """)
    #expect(notes == [] && model.entities[0].indexes[0].collationType == .rTree)
    let url = folder.url.appending(path: "Box.xcdatamodel")
    try model.writeXcodeModel(to: url)
    #expect(try ManagedObjectModel(contentsOf: url).encoded() == model.encoded())
  }

  @Test func `indexes of older files are indexes, one of each attribute or of several`() throws {
    let (model, _) = try model(
      """
      <entity name="E"><attribute name="a" indexed="YES" attributeType="String"/><attribute name="b" attributeType="String"/>
      <compoundIndexes><compoundIndex><index value="b"/><index value="a"/></compoundIndex></compoundIndexes></entity>
      """)
    #expect(model.entities[0].indexes.map(\.name) == ["byA", "byBAndA"])
    #expect(model.entities[0].indexes.map { $0.elements.map(\.property.name) } == [["a"], ["b", "a"]])
  }

  @Test func `composite attributes have the elements that the file describes, also of each other`() throws {
    let (model, notes) = try model(
      """
      <entity name="Person"><attribute name="home" optional="YES" attributeType="Composite" compositeAttributeName="Address"/></entity>
      <composite name="Address">
        <attribute name="city" optional="YES" attributeType="String"/>
        <attribute name="place" optional="YES" attributeType="Composite" compositeAttributeName="Place"/>
      </composite>
      <composite name="Place"><attribute name="x" optional="YES" attributeType="Double"/></composite>
      """)
    #expect(notes == [])
    let home = try #require(model.entities[0].attributesByName["home"] as? CompositeAttributeDescription)
    #expect(home.elements.map(\.name) == ["city", "place"])
    #expect((home.elements[1] as? CompositeAttributeDescription)?.elements.map(\.name) == ["x"])
  }

  @Test func `a model that is read, written and read again is the same`() throws {
    let (first, _) = try model(Self.library, version: "v2")
    let url = folder.url.appending(path: "Copy.xcdatamodeld")
    var notes: [String] = []
    try first.writeXcodeModel(to: url, version: "Copy 2") { notes.append($0) }
    #expect(notes == [])
    let second = try ManagedObjectModel(contentsOf: url) { notes.append($0) }
    #expect(notes == [])
    #expect(try second.encoded() == first.encoded())
    #expect(second.versionChecksum == first.versionChecksum)
    let contents = url.appending(path: "Copy 2.xcdatamodel/contents")
    let text = try String(contentsOf: contents, encoding: .utf8)
    #expect(
      text.contains("representedClassName=\".Book\"") && text.contains("codeGenerationType=\"category\""))
    #expect(text.contains("usesScalarValueType=\"YES\""))
    try second.writeXcodeModel(to: url, version: "Copy 2")
    #expect(try String(contentsOf: contents, encoding: .utf8) == text)
    let composite = try model(
      """
      <entity name="P"><attribute name="h" attributeType="Composite" compositeAttributeName="A"/></entity>
      <composite name="A"><attribute name="x" optional="YES" attributeType="Double"/></composite>
      """
    ).0
    try composite.writeXcodeModel(to: url, version: "Copy 3")
    #expect(try ManagedObjectModel(contentsOf: url).encoded() == composite.encoded())
  }

  // MOD-13, GEN-06
  @Test func `a bundle has a current version, and a checksum of each`() throws {
    let bundle = folder.url.appending(path: "Library.xcdatamodeld")
    let first = try ManagedObjectModel(types: [Writer.self, Volume.self])
    let (second, _) = try model(Self.library)
    try first.writeXcodeModel(to: bundle)
    try second.writeXcodeModel(to: bundle, version: "Library 2")
    #expect(try ManagedObjectModel(contentsOf: bundle).versionChecksum == second.versionChecksum)
    #expect(
      try ManagedObjectModel.checksumsForVersionedModel(at: bundle)
        == ["Library": first.versionChecksum, "Library 2": second.versionChecksum])
    #expect(try ManagedObjectModel.models(in: [bundle]).count == 2)
    #expect(try ManagedObjectModel.models(in: [folder.url]).count == 3)
    try FileManager.default.removeItem(at: bundle.appending(path: ".xccurrentversion"))
    try FileManager.default.removeItem(at: bundle.appending(path: "Library.xcdatamodel"))
    #expect(try ManagedObjectModel(contentsOf: bundle).versionChecksum == second.versionChecksum)
  }

  @Test func `a current version that is not there is named, and the only version is read`() throws {
    let bundle = folder.url.appending(path: "Library.xcdatamodeld")
    let model = try ManagedObjectModel(types: [Writer.self, Volume.self])
    try model.writeXcodeModel(to: bundle)
    try FileManager.default.moveItem(
      at: bundle.appending(path: "Library.xcdatamodel"), to: bundle.appending(path: "Other.xcdatamodel"))
    var notes: [String] = []
    let read = try ManagedObjectModel(contentsOf: bundle) { notes.append($0) }
    #expect(read.versionChecksum == model.versionChecksum)
    #expect(
      notes.count == 1 && notes[0].contains(".xccurrentversion names Library, which is no version: Other"),
      "\(notes)")
  }

  @Test(arguments: [true, false])
  func `if no list names a version of a bundle, the last one by its name is read, and said`(hasList: Bool)
    throws
  {
    let bundle = folder.url.appending(path: "Library.xcdatamodeld")
    let last = try ManagedObjectModel(types: [Writer.self, Volume.self])
    let (other, _) = try model(Self.library)
    try last.writeXcodeModel(to: bundle, version: "Library 10")
    try other.writeXcodeModel(to: bundle, version: "Library 9")
    let list = try PropertyListSerialization.data(
      fromPropertyList: [String: String](), format: .xml, options: 0)
    let file = bundle.appending(path: ".xccurrentversion")
    if hasList { try list.write(to: file) } else { try FileManager.default.removeItem(at: file) }
    var notes: [String] = []
    let read = try ManagedObjectModel(contentsOf: bundle) { notes.append($0) }
    #expect(read.versionChecksum == last.versionChecksum)
    let fault = hasList ? "names no version" : "is missing"
    #expect(notes.count == 1 && notes[0].contains(".xccurrentversion \(fault): Library 10"), "\(notes)")
  }

  @Test func `classes and a file of the same model have one checksum, and the classes work with the file`()
    throws
  {
    let declared = try ManagedObjectModel(types: [Writer.self, Volume.self])
    let url = folder.url.appending(path: "Declared.xcdatamodel")
    try declared.writeXcodeModel(to: url)
    let plain = try ManagedObjectModel(contentsOf: url)
    #expect(plain.versionChecksum == declared.versionChecksum)
    let read = try ManagedObjectModel(contentsOf: url, classes: [Writer.self, Volume.self])
    #expect(read.versionChecksum == declared.versionChecksum)
    let container = PersistentContainer(name: "Library", managedObjectModel: read)
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: folder.store)]
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    let book = Volume(context: context)
    (book.isbn, book.author) = ("1", Writer(context: context))
    try context.save()
    try container.close()
    let again = PersistentContainer(name: "Library", managedObjectModel: plain)
    again.persistentStoreDescriptions = [PersistentStoreDescription(url: folder.store)]
    try again.loadPersistentStores()
    let found = try again.newBackgroundContext().fetch(FetchRequest<ManagedObject>(entityName: "Volume"))
    #expect(found.map { $0.value(forKey: "isbn") as? String } == ["1"])
    try again.close()
    let message = heartwoodMessage {
      _ = try ManagedObjectModel(
        contentsOf: write("<model><entity name=\"X\"/></model>"), classes: [Volume.self])
    }
    #expect(message?.contains("has the class Volume") == true)
  }

  @Test func `what is not known is named with its line, and kept where it is an attribute`() throws {
    let (model, notes) = try model(
      """
      <entity name="E" sparkle="YES">
        <attribute name="a" optional="YES" attributeType="String" glow="2"/>
        <attribute name="sum" optional="YES" attributeType="String" derived="YES" derivationExpression="uppercase:(a)"/>
        <trigger name="t"/>
        <fetchedProperty name="f"><fetchRequest name="r" entity="E" predicateString="a != nil"/></fetchedProperty>
      </entity>
      <plan name="p"/>
      <fetchRequest name="all" entity="E" includeSubentities="NO" sparkle="3"/>
      """)
    for part in [
      "line 3: sparkle", "line 4: glow=\"2\" of E.a", "<trigger>", "<plan>",
      "sparkle=\"3\" of the fetch request all",
    ] {
      #expect(notes.contains { $0.contains(part) }, "\(part): \(notes)")
    }
    #expect(notes.count == 5)
    #expect(model.entitiesByName["E"]?.propertiesByName.keys.sorted() == ["a", "f", "sum"])
    let url = folder.url.appending(path: "Kept.xcdatamodel")
    try model.writeXcodeModel(to: url)
    let text = try String(contentsOf: url.appending(path: "contents"), encoding: .utf8)
    #expect(text.contains("glow=\"2\"") && text.contains("sparkle=\"YES\""))
  }

  // MOD-47
  @Test func `a predicate or an expression that cannot be used is refused when the file is read`() throws {
    func message(_ body: String) -> String {
      heartwoodMessage { _ = try model(body) } ?? "no error"
    }
    func entity(_ inner: String) -> String {
      "<entity name=\"Car\"><attribute name=\"make\" attributeType=\"String\"/>"
        + "<relationship name=\"parts\" optional=\"YES\" toMany=\"YES\" destinationEntity=\"Part\" inverseName=\"car\" inverseEntity=\"Part\"/>"
        + "\(inner)</entity><entity name=\"Part\"><relationship name=\"car\" optional=\"YES\" maxCount=\"1\" "
        + "destinationEntity=\"Car\" inverseName=\"parts\" inverseEntity=\"Car\"/></entity>"
    }
    func fetched(_ predicate: String, of name: String = "Car") -> String {
      entity(
        "<fetchedProperty name=\"f\"><fetchRequest name=\"f\" entity=\"\(name)\" predicateString=\"\(predicate)\"/>"
          + "</fetchedProperty>")
    }
    func derived(_ expression: String) -> String {
      entity(
        "<attribute name=\"d\" optional=\"YES\" attributeType=\"Integer 64\" derived=\"YES\" derivationExpression=\"\(expression)\"/>"
      )
    }
    func index(_ part: String) -> String {
      entity("<fetchIndex name=\"byX\"><fetchIndexElement \(part) type=\"Binary\"/></fetchIndex>")
    }
    for (body, parts) in [
      (fetched("make == "), ["Car.f"]),
      (fetched("maker == 'x'"), ["Car.f", "maker"]),
      (fetched("make == $FETCH_SOURCE.maker"), ["Car.f", "maker"]),
      (fetched("make == $FETCH_SOURCE.parts"), ["Car.f", "parts"]),
      (fetched("make == 'x'", of: "Bus"), ["Car.f", "Bus"]),
      (derived("parts.@count +"), ["Car.d"]),
      (derived("wheels.@count"), ["Car.d", "wheels"]),
      (derived("lowercase:(make)"), ["Car.d"]),
      (index("expression=\"lowercase:(maker)\" expressionType=\"String\""), ["byX", "maker"]),
      (index("expression=\"lowercase:(\" expressionType=\"String\""), ["byX"]),
    ] {
      let text = message(body)
      #expect(text.contains("Library.xcdatamodel/contents, line 3: "), "\(body): \(text)")
      for part in parts { #expect(text.contains(part), "\(body): \(text)") }
      #expect(!text.contains("in the store"), "\(text)")
    }
    #expect(message(fetched("make == $FETCH_SOURCE.make AND SELF != $FETCH_SOURCE")) == "no error")
    #expect(message(derived("parts.@count")) == "no error")
  }

  @Test func `a default that is no URL is left out with a note`() throws {
    let (read, notes) = try notedAttribute("attributeType='URI' defaultValueString='http://['")
    #expect(read.defaultValue == nil)
    #expect(
      notes.count == 1
        && notes[0].hasSuffix(
          ", line 3: the default value \"http://[\" of E.a is left out, as its type is uri"),
      "\(notes)")
  }

  @Test(arguments: [
    "1.5abc", "1,5", "1.5.5", "1e", "--1", "+-1", " 1", "1 ", "0x10", "1e400", "nan(1)",
  ])
  func `a decimal that is none is left out with a note, and refused in a document`(text: String) throws {
    for (field, what) in [
      ("defaultValueString", "the default value \"\(text)\""),
      ("minValueString", "minValueString=\"\(text)\""), ("maxValueString", "maxValueString=\"\(text)\""),
    ] {
      let (read, notes) = try notedAttribute("attributeType='Decimal' \(field)='\(text)'")
      #expect(read.defaultValue == nil && read.validationRules.isEmpty, "\(field)")
      #expect(
        notes.count == 1
          && notes[0].hasSuffix(", line 3: \(what) of E.a is left out, as its type is decimal"),
        "\(notes)")
    }
    let model = try model(
      "<entity name=\"E\"><attribute name=\"a\" attributeType=\"Decimal\" defaultValueString=\"77\"/></entity>"
    ).0
    let stored = String(decoding: try model.encoded(), as: UTF8.self)
    let changed = Array(stored.replacing("\"77\"", with: "\"\(text)\"").utf8)
    let message = heartwoodMessage {
      _ = try changed.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
    }
    #expect(
      message?.contains("the default value of a, \"\(text)\", is no decimal") == true,
      "\(message ?? "no error")")
  }

  private func numbers(_ defaults: [(AttributeDescription.AttributeType, any Sendable)]) -> ManagedObjectModel
  {
    let entity = EntityDescription(name: "E")
    entity.properties = defaults.enumerated().map {
      AttributeDescription(name: "a\($0)", type: $1.0, defaultValue: $1.1)
    }
    return ManagedObjectModel(entities: [entity])
  }

  @Test func `defaults and limits that are no numbers, or infinite, are written and read again`() throws {
    let model = numbers([
      (.decimal, Decimal.nan), (.double, Double.nan), (.double, -Double.infinity), (.float, Float.nan),
      (.float, Float.infinity), (.date, Date(timeIntervalSinceReferenceDate: .infinity)),
      (.date, Date(timeIntervalSinceReferenceDate: .nan)), (.decimal, Decimal.leastNonzeroMagnitude),
      (.decimal, Decimal.greatestFiniteMagnitude),
    ])
    let attributes = model.entities[0].attributesByName
    attributes["a2"]?.validationRules = [
      .number(atLeast: .leastNonzeroMagnitude, atMost: .greatestFiniteMagnitude)
    ]
    attributes["a5"]?.validationRules = [
      .date(
        notBefore: Date(timeIntervalSinceReferenceDate: -.infinity),
        notAfter: Date(timeIntervalSinceReferenceDate: .infinity))
    ]
    let url = folder.url.appending(path: "Numbers.xcdatamodel")
    var notes: [String] = []
    try model.writeXcodeModel(to: url) { notes.append($0) }
    let read = try ManagedObjectModel(contentsOf: url) { notes.append($0) }
    #expect(notes == [])
    #expect(try read.encoded() == model.encoded())
  }

  @Test func `a limit that is NaN limits nothing, and is left out with a note`() throws {
    for text in ["nan", "NaN"] {
      let (read, notes) = try notedAttribute(
        "attributeType='Double' minValueString='\(text)' maxValueString='5'")
      #expect(read.validationRules == [.number(atMost: 5)])
      #expect(
        notes.count == 1
          && notes[0].hasSuffix("minValueString=\"\(text)\" of E.a is left out, as it limits nothing"),
        "\(notes)")
    }
    let rules: [ValidationRule] = [
      .number(atLeast: .nan, atMost: 5), .date(notBefore: Date(timeIntervalSinceReferenceDate: .nan)),
    ]
    #expect(rules == [.number(atMost: 5), .date()])
    let model = numbers([(.double, 1.0)])
    model.entities[0].attributesByName["a0"]?.validationRules = [.number(atLeast: .nan)]
    var written: [String] = []
    try model.writeXcodeModel(to: folder.url.appending(path: "None.xcdatamodel")) { written.append($0) }
    #expect(written == [])
  }

  @Test(arguments: [
    (
      #""kind":"longest""#,
      "entities[0].properties[0].attribute.validationRules[0].kind: "
    ),
    (#""kind":7"#, "entities[0].properties[0].attribute.validationRules[0].kind: "),
    (#""size":7"#, "entities[0].properties[0].attribute.validationRules[0]: \"kind\" is missing"),
  ])
  func `what a document of a model has wrong is named with its place`(text: String, message: String) throws {
    let model = numbers([(.double, 1.0)])
    model.entities[0].attributesByName["a0"]?.validationRules = [.number(atMost: 5)]
    let document = String(decoding: try model.encoded(), as: UTF8.self)
    let changed = document.replacing(#""kind":"number""#, with: text)
    #expect(changed != document)
    let file = folder.url.appending(path: "model.json")
    try Data(changed.utf8).write(to: file)
    let refusals = [
      heartwoodMessage { _ = try ManagedObjectModel(contentsOf: file) },
      heartwoodMessage { _ = try ManagedObjectModel(changeableDocument: Data(changed.utf8)) },
      heartwoodMessage {
        _ = try Array(changed.utf8).withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
      },
    ]
    for refusal in refusals {
      #expect(
        refusal?.contains(message) == true && refusal?.contains("DecodingError") == false, "\(refusal ?? "")")
    }
  }

  @Test func `the default of data is written in base 64, which is noted, and read again`() throws {
    let model = numbers([
      (.binaryData, Data([1, 2, 255])), (.binaryData, Data()), (.transformable, Data("value".utf8)),
    ])
    model.keepsBytesWithoutTransformers()
    model.entities[0].attributesByName["a2"]?.valueTransformerName = "Unregistered"
    let url = folder.url.appending(path: "Data.xcdatamodel")
    var notes: [String] = []
    try model.writeXcodeModel(to: url) { notes.append($0) }
    #expect(
      notes
        == (0...2).map {
          "the default value of E.a\($0) is written as defaultValueBase64, which Xcode does not know: it removes it when it saves the model"
        })
    notes = []
    let read = try ManagedObjectModel(contentsOf: url) { notes.append($0) }
    #expect(notes == [])
    #expect(try read.encoded() == model.encoded())
    let (both, words) = try notedAttribute(
      "attributeType='Binary' defaultValueBase64='AAE=' defaultValueString='x'")
    #expect(both.defaultValue as? Data == Data([0, 1]))
    #expect(
      words.count == 1 && words[0].contains("the default value \"x\" of E.a is left out"), "\(words)")
    let (other, noted) = try notedAttribute("attributeType='Binary' defaultValueBase64='A?'")
    #expect(other.defaultValue == nil)
    #expect(
      noted.count == 1
        && noted[0].hasSuffix(
          ", line 3: the default value \"A?\" of E.a is left out, as its type is binaryData"),
      "\(noted)")
  }

  @Test(arguments: ["\u{0}", "\u{1}", "\u{B}", "\u{1F}", "\u{FFFE}", "\u{FFFF}"])
  func `a character that XML does not have is refused with its place, and nothing is written`(
    character: String
  ) throws {
    let code =
      "U+" + String(character.unicodeScalars.first?.value ?? 0, radix: 16, uppercase: true).leftPadded
    let url = folder.url.appending(path: "Control.xcdatamodel")
    func message(_ change: (ManagedObjectModel, AttributeDescription) -> Void) -> String {
      let model = numbers([(.string, "x")])
      if let attribute = model.entities[0].attributesByName["a0"] { change(model, attribute) }
      return heartwoodMessage { try model.writeXcodeModel(to: url) } ?? "no error"
    }
    let value = message { $1.defaultValue = "a\(character)" }
    #expect(value.contains("defaultValueString of the attribute E.a0 has the character \(code)"), "\(value)")
    let info = message { $1.userInfo = ["key": "a\(character)"] }
    #expect(info.contains("value of the entry E.a0.key has the character \(code)"), "\(info)")
    let version = message { model, _ in model.versionIdentifiers = [character] }
    #expect(
      version.contains("userDefinedModelVersionIdentifier of the model has the character \(code)"),
      "\(version)")
    #expect(!FileManager.default.fileExists(atPath: url.path))
    let model = numbers([(.string, "\t\n\r\u{7F}\u{85}\u{2028}\u{FFFD}\u{1FFFE}")])
    try model.writeXcodeModel(to: url)
    #expect(try ManagedObjectModel(contentsOf: url).encoded() == model.encoded())
  }

  @Test func `a file that is no model is refused with the place and the reason`() throws {
    func message(_ text: String) -> String {
      heartwoodMessage { _ = try ManagedObjectModel(contentsOf: write(text)) } ?? "no error"
    }
    #expect(message("<model><entity name=\"E\"></model>").contains("is no XML"))
    #expect(message("<html/>").contains("and no <model>"))
    #expect(message("<model>\n<entity/></model>").contains("line 2: <entity> has no attribute name"))
    #expect(
      message("<model><entity name='E'><attribute name='a' attributeType='Blob'/></entity></model>").contains(
        "\"Blob\""))
    #expect(message("<model><entity name='E' parentEntity='E'/></model>").contains("inherits from itself"))
    #expect(message(String(repeating: "<a>", count: 100)).contains("inside of each other"))
    #expect(message("").contains("it is empty"))
    let bomb =
      "<!DOCTYPE m [<!ENTITY a \"xxxxxxxxxx\">"
      + (1...9).map {
        "<!ENTITY a\($0) \"\(String(repeating: "&a\($0 == 1 ? "" : "\($0 - 1)");", count: 20))\">"
      }.joined() + "]><model><entity name=\"&a9;\"/></model>"
    #expect(message(bomb).contains("is no XML"))
    let old = folder.url.appending(path: "Old.xcdatamodel")
    try FileManager.default.createDirectory(at: old, withIntermediateDirectories: true)
    try Data([1, 2]).write(to: old.appending(path: "elements"))
    #expect(heartwoodMessage { _ = try ManagedObjectModel(contentsOf: old) }?.contains("Xcode 3") == true)
    #expect(
      heartwoodMessage { _ = try ManagedObjectModel(contentsOf: URL(filePath: "/x/Model.momd")) }?.contains(
        "/x/Model.momd cannot be read") == true)
  }
}

extension String {
  /// With zeros to four digits.
  fileprivate var leftPadded: String { String(repeating: "0", count: max(0, 4 - count)) + self }
}
