import Foundation
import GraphTestSupport
import HeartwoodFaults
import TestSupport
import Testing

@testable import Heartwood

/// Files with what an editor leaves behind when types, names and destinations change.
@Suite struct `Models that were edited` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func read(_ body: String) throws -> (ManagedObjectModel, notes: [String]) {
    let url = folder.url.appending(path: "Library.xcdatamodel")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data("<model>\n\(body)\n</model>".utf8).write(to: url.appending(path: "contents"))
    var notes: [String] = []
    return (try ManagedObjectModel(contentsOf: url) { notes.append($0) }, notes)
  }

  /// An attribute `a` of an entity, with single quotes for double ones.
  private func attribute(_ fields: String) throws -> (AttributeDescription, notes: [String]) {
    let (model, notes) = try read(
      "<entity name=\"E\"><attribute name=\"a\" optional=\"YES\" \(fields.replacing("'", with: "\""))/></entity>"
    )
    return (try #require(model.entities[0].attributesByName["a"]), notes)
  }

  @Test(arguments: ["YES", "yes", "true", "1"])
  func `flags that other tools write mean the same`(yes: String) throws {
    let (model, _) = try read(
      "<entity name=\"E\"><attribute name=\"a\" optional=\"\(yes)\" attributeType=\"String\"/>"
        + "<attribute name=\"t\" optional=\"\(yes)\" transient=\"\(yes)\" attributeType=\"String\"/>"
        + "<relationship name=\"r\" optional=\"\(yes)\" toMany=\"\(yes)\" ordered=\"\(yes)\" destinationEntity=\"E\"/></entity>"
    )
    let entity = model.entities[0]
    #expect(entity.attributesByName["a"]?.isOptional == true)
    #expect(entity.attributesByName["t"]?.isTransient == true)
    let relationship = try #require(entity.relationshipsByName["r"])
    #expect(relationship.isToMany && relationship.isOrdered)
  }

  /// Attributes of a file, the default value that they have, and a part of a note; an empty part for none.
  private static let defaults: [(fields: String, value: String, note: String)] = [
    ("attributeType='Integer 16' defaultValueString='NO'", "0", "\"NO\" of E.a is read as 0"),
    ("attributeType='Integer 32' defaultValueString='YES'", "1", "read as 1"),
    ("attributeType='Integer 64' defaultValueString='1.5'", "1", "\"1.5\" of E.a is read as 1"),
    ("attributeType='Integer 64' defaultValueString='0.0'", "0", ""),
    ("attributeType='Double' defaultValueString='NO'", "0.0", "read as 0"),
    ("attributeType='Boolean' defaultValueString='0.0'", "false", ""),
    ("attributeType='Boolean' defaultValueString='3'", "true", "\"3\" of E.a is read as true"),
    ("attributeType='Boolean' defaultValueString='maybe'", "nil", "\"maybe\" of E.a is left out"),
    ("attributeType='Integer 16' defaultValueString='70000'", "nil", "left out, as its type is integer16"),
    ("attributeType='Integer 32' defaultValueString='none'", "nil", "left out"),
    ("attributeType='Decimal' defaultValueString='-'", "nil", "left out"),
    ("attributeType='Decimal' defaultValueString='.5'", "0.5", ""),
    ("attributeType='Decimal' defaultValueString='-.5'", "-0.5", ""),
    ("attributeType='Decimal' defaultValueString='5.'", "5", ""),
    ("attributeType='Decimal' defaultValueString='.'", "nil", "left out"),
    ("attributeType='Double' defaultValueString='1e400'", "nil", "\"1e400\" of E.a is left out"),
    ("attributeType='Float' defaultValueString='1e39'", "nil", "\"1e39\" of E.a is left out"),
    ("attributeType='Double' defaultValueString='inf'", "inf", ""),
    ("attributeType='Float' defaultValueString='a'", "nil", "left out"),
    ("attributeType='UUID' defaultValueString='empty'", "nil", "left out, as its type is uuid"),
    ("attributeType='Date' defaultValueString='now'", "nil", "depends on the moment"),
    ("attributeType='Date' defaultDateTimeInterval='yesterday'", "nil", "left out"),
    (
      "attributeType='String' defaultDateTimeInterval='5'", "nil",
      "\"5\" of E.a is left out, as its type is string"
    ),
    ("attributeType='Binary' defaultValueString='x'", "nil", "left out"),
    ("attributeType='Transformable' defaultValueString='x' valueTransformerName='T'", "nil", "left out"),
    ("attributeType='Integer 16' defaultValueString=''", "nil", ""),
    ("attributeType='String' defaultValueString=''", "", ""),
    ("attributeType='String' minValueString='x'", "nil", "minValueString=\"x\" of E.a is left out"),
    ("attributeType='Date' minValueString='1'", "nil", "minValueString=\"1\" of E.a is left out"),
    ("attributeType='Double' maxDateTimeInterval='1'", "nil", "maxDateTimeInterval=\"1\""),
    ("attributeType='Boolean' maxValueString='1'", "nil", "maxValueString=\"1\" of E.a is left out"),
    ("attributeType='Integer 16' minValueString='9' maxValueString='1'", "nil", "above the greatest"),
    (
      "attributeType='Integer 32' minValueString='5.5' maxValueString='5.7'", "nil",
      "no value of the type integer32 is within them"
    ),
    ("attributeType='Integer 16' minValueString='40000'", "nil", "the limits 40000 and none"),
    ("attributeType='String' minValueString='-5' maxValueString='-1'", "nil", "the limits -5 and -1"),
    ("attributeType='Date' minDateTimeInterval='inf'", "nil", "the limits inf and none"),
    ("attributeType='Date' maxDateTimeInterval='-inf'", "nil", "the limits none and -inf"),
    ("attributeType='Date' minDateTimeInterval='nan'", "nil", "minDateTimeInterval=\"nan\""),
    ("attributeType='Integer 16' regularExpressionString='a'", "nil", "regularExpressionString"),
    ("attributeType='String' regularExpressionString='('", "nil", "regularExpressionString"),
    (
      "attributeType='String' valueTransformerName='T'", "nil",
      "valueTransformerName=\"T\" of E.a has no effect"
    ),
    ("attributeType='Transformable'", "nil", "names no transformer"),
    ("attributeType='String' derived='YES'", "nil", "no derivationExpression"),
    (
      "attributeType='String' derivationExpression='uppercase:(b)'", "nil",
      "derivationExpression=\"uppercase:(b)\" of E.a has no effect, as it is not derived"
    ),
    ("attributeType='String' customClassName='T'", "nil", "customClassName=\"T\" of E.a has no effect"),
    ("attributeType='String' compositeName='T'", "nil", "compositeName=\"T\" of E.a has no effect"),
    (
      "attributeType='String' allowsExternalBinaryDataStorage='YES'", "nil",
      "allowsExternalBinaryDataStorage=\"YES\" of E.a has no effect, as its type is string"
    ),
    (
      "attributeType='String' transient='YES' preserveAfterDeletion='YES'", "nil",
      "preserveAfterDeletion=\"YES\" of E.a has no effect, as it is transient"
    ),
    (
      "attributeType='String' transient='perhaps'", "nil",
      "transient=\"perhaps\" of E.a is neither YES nor NO, and is read as NO"
    ),
  ]

  // MOD-02
  @Test(arguments: 0..<defaults.count)
  func `a value of another type is read as what it can mean, or left out with a note`(place: Int) throws {
    let (fields, value, note) = Self.defaults[place]
    let (attribute, notes) = try attribute(fields)
    #expect(attribute.defaultValue.map { "\($0)" } ?? "nil" == value)
    #expect(attribute.validationRules == [])
    #expect(note.isEmpty ? notes == [] : notes.count == 1 && notes[0].contains(note), "\(notes)")
    #expect(notes.allSatisfy { $0.contains("contents, line 2: ") }, "\(notes)")
    // The part that was left out is in the file that is written.
    let url = folder.url.appending(path: "Again.xcdatamodel")
    try #require(attribute.entity?.model).writeXcodeModel(to: url)
    let text = try String(contentsOf: url.appending(path: "contents"), encoding: .utf8)
    if value == "nil" {
      for field in fields.split(separator: " ").filter({ !$0.hasPrefix("16'") && !$0.hasPrefix("32'") }) {
        guard field.contains("='"), field.hasSuffix("'"), !field.hasSuffix("=''") else { continue }
        if note.contains("read as") || note.contains("no derivation") { continue }
        #expect(text.contains(field.replacing("'", with: "\"")), "\(field): \(text)")
      }
    }
  }

  @Test(arguments: [(".25", "1."), ("-.25", "+1.5"), ("1e-3", "2.e3")])
  func `limits are numbers in each form that an editor writes`(least: String, most: String) throws {
    let fields = "attributeType='Double' minValueString='\(least)' maxValueString='\(most)'"
    let (attribute, notes) = try attribute(fields)
    #expect(notes == [] && attribute.validationRules.count == 1, "\(notes)")
    let numbers =
      try #require(Double(least)).description + " " + Double(most.replacing(".e", with: "e"))!.description
    let rule = "\(attribute.validationRules[0])".split(separator: " ").compactMap { Double($0) }
    #expect(rule.map(\.description).joined(separator: " ") == numbers)
  }

  @Test func `a limit that is far away is in errors as a number, and an infinite one by its name`() {
    func limit(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
    #expect("\(ValidationRule.date(notBefore: limit(-.infinity)))" == "not before the infinite past")
    #expect("\(ValidationRule.date(notAfter: limit(.infinity)))" == "not after the infinite future")
    #expect("\(ValidationRule.date(notBefore: limit(1e300)))" == "not before 1e+300 seconds after 2001")
    #expect("\(ValidationRule.date(notBefore: limit(100.25)))" == "not before 2001-01-01T00:01:40.250Z")
  }

  private static let pair = """
    <entity name="Writer">
      <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Book" MORE/>
    </entity>
    <entity name="Book" OWN>
      <attribute name="title" optional="YES" attributeType="String"/>
      <relationship name="writer" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Writer" OTHER/>
      PARTS
    </entity>
    """

  private func pair(_ more: String = "", _ other: String = "", parts: String = "", own: String = "") throws
    -> (
      books: RelationshipDescription?, writer: RelationshipDescription?, book: EntityDescription,
      notes: [String]
    )
  {
    var text = Self.pair
    for (name, value) in [("MORE", more), ("OTHER", other), ("PARTS", parts), ("OWN", own)] {
      text = text.replacing(name, with: value.replacing("'", with: "\""))
    }
    let (model, notes) = try read(text)
    let book = try #require(model.entitiesByName["Book"])
    return (
      model.entitiesByName["Writer"]?.relationshipsByName["books"], book.relationshipsByName["writer"], book,
      notes
    )
  }

  // MOD-02
  @Test func `flags that a relationship to one cannot have are left out`() throws {
    let (books, writer, _, notes) = try pair("maxCount='1' ordered='YES'", "ordered='YES'")
    #expect(books?.isToMany == false && books?.isOrdered == false)
    #expect(writer?.isToMany == false && writer?.isOrdered == false)
    #expect(
      notes.count == 3 && notes.contains { $0.contains("Writer.books is toMany with a maxCount of 1") },
      "\(notes)")
    let counts = try pair("minCount='5' maxCount='2'", "minCount='1'")
    #expect(counts.books?.minCount == 0 && counts.books?.maxCount == 2 && counts.writer?.minCount == 0)
    #expect(counts.notes.count == 1)
    // Counts of one object that are of several are in the file that is written.
    let (model, said) = try read(
      "<entity name=\"E\"><relationship name=\"r\" minCount=\"2\" maxCount=\"5\" destinationEntity=\"E\"/></entity>"
    )
    let one = model.entities[0].relationshipsByName["r"]
    #expect(one?.isToMany == false && one?.minCount == 1 && one?.maxCount == 1)
    #expect(
      said.count == 2 && said.contains { $0.contains("maxCount=\"5\" of E.r has no effect") }
        && said.contains { $0.contains("minCount=\"2\" of E.r is read as 1") }, "\(said)")
    let url = folder.url.appending(path: "Counts.xcdatamodel")
    try model.writeXcodeModel(to: url)
    let text = try String(contentsOf: url.appending(path: "contents"), encoding: .utf8)
    #expect(text.contains("minCount=\"2\"") && text.contains("maxCount=\"5\""))
  }

  // MOD-02, MOD-34
  @Test func `transient relationships are read, and both sides of a pair are stored if one is`() throws {
    let names = ("inverseName='writer' inverseEntity='Book'", "inverseName='books' inverseEntity='Writer'")
    let both = try pair(names.0 + " transient='YES'", names.1 + " transient='YES'")
    #expect(both.books?.isTransient == true && both.writer?.isTransient == true && both.notes == [])
    let one = try pair(names.0 + " transient='YES'", names.1)
    #expect(one.books?.isTransient == false && one.writer?.isTransient == false)
    #expect(
      one.notes.count == 1
        && one.notes[0].contains("Writer.books is transient, and its inverse Book.writer is not"))
  }

  // MOD-02
  @Test func `an inverse that one side names is that of both, and one that is not there is none`() throws {
    let given = try pair("inverseName='writer' inverseEntity='Book'")
    #expect(given.writer?.inverseRelationship === given.books && given.notes.count == 1)
    for inverse in [
      "inverseName='author' inverseEntity='Book'", "inverseName='title' inverseEntity='Book'",
      "inverseName='books' inverseEntity='Writer'",
    ] {
      let other = try pair(inverse, "inverseName='works' inverseEntity='Writer'")
      #expect(other.books?.inverseRelationship == nil && other.writer?.inverseRelationship == nil)
      #expect(other.notes.count == 2, "\(other.notes)")
    }
    // The entity may be the destination's former name.
    let former = try pair(
      "inverseName='writer' inverseEntity='Work'", "inverseName='books' inverseEntity='Author'")
    #expect(former.writer?.inverseRelationship === former.books && former.books != nil)
    #expect(
      former.notes.count == 2
        && former.notes[0].contains("inverseEntity=\"Work\" of Writer.books has no writer"),
      "\(former.notes)")
    let half = try pair("inverseName='writer'", "inverseEntity='Writer'")
    #expect(half.writer?.inverseRelationship === half.books && half.books != nil)
    for part in [
      "Writer.books names the inverse writer and no inverseEntity: that of Book is meant",
      "inverseEntity=\"Writer\" of Book.writer has no effect, as it has no inverseName",
    ] {
      #expect(half.notes.contains { $0.contains(part) }, "\(half.notes)")
    }
  }

  // MOD-02
  @Test func `what cannot be indexed is left out of an index, and an index of nothing`() throws {
    let (_, _, book, notes) = try pair(
      parts: """
        <relationship name='readers' optional='YES' toMany='YES' deletionRule='Nullify' destinationEntity='Writer'/>
        <fetchIndex name='byBoth'><fetchIndexElement property='readers'/><fetchIndexElement property='title'/></fetchIndex>
        <fetchIndex name='byReaders'><fetchIndexElement property='readers'/></fetchIndex>
        <fetchIndex name='byName'><fetchIndexElement property='name'/></fetchIndex>
        <fetchIndex name='byWriter'><fetchIndexElement property='writer'/></fetchIndex>
        """)
    #expect(book.indexes.map(\.name) == ["byBoth", "byWriter"])
    #expect(book.indexes[0].elements.map(\.property.name) == ["title"])
    #expect(
      notes.count == 5
        && notes[0].contains("readers is left out of the index byBoth of Book: readers leads to several"))
  }

  // MOD-02
  @Test func `a relationship whose destination is gone is left out, with what names it`() throws {
    let (_, _, book, notes) = try pair(
      parts: """
        <relationship name='shop' optional='YES' maxCount='1' deletionRule='Nullify' destinationEntity='Shop'/>
        <fetchIndex name='byShop'><fetchIndexElement property='shop'/></fetchIndex>
        <uniquenessConstraints><uniquenessConstraint><constraint value='shop'/></uniquenessConstraint></uniquenessConstraints>
        """)
    #expect(
      book.relationshipsByName["shop"] == nil && book.indexes.isEmpty && book.uniquenessConstraints.isEmpty)
    #expect(notes.contains { $0.contains("Book.shop leads to \"Shop\", which is no entity of the model") })
  }

  // MOD-02
  @Test func `all mistakes of a file are in one error, with their lines`() throws {
    let error = heartwoodError {
      _ = try read(
        """
        <entity name="Book" parentEntity="Work">
          <attribute name="scan" attributeType="Blob"/>
          <relationship name="writer" deletionRule="Forget" destinationEntity="Book"/>
          <attribute attributeType="String"/>
          <uniquenessConstraints><uniquenessConstraint><constraint value="isbn"/></uniquenessConstraint></uniquenessConstraints>
        </entity>
        <entity name="Book"/>
        """)
    }
    let parts = [
      "\"Work\"", "\"Blob\"", "\"Forget\"", "no attribute name", "names \"isbn\"",
      "two entities of the model are called Book",
    ]
    for part in parts { #expect(error?.message.contains(part) == true, "\(part): \(error?.message ?? "")") }
    #expect(error?.details.count == parts.count && error?.message.contains("it has 6 mistakes") == true)
    #expect(
      error?.message.contains("line 3") == true && error?.message.contains("Library.xcdatamodel") == true)
  }

  // MOD-49
  @Test func `a composite attribute names its description as Xcode's files do`() throws {
    let (model, notes) = try read(
      """
      <entity name="E"><attribute name="place" optional="YES" attributeType="Composite" composite="Point"/></entity>
      <composite name="Point"><attribute name="x" optional="YES" attributeType="Double" defaultValueString="0.0"/></composite>
      """)
    #expect(notes == [])
    let place = try #require(model.entities[0].attributesByName["place"] as? CompositeAttributeDescription)
    #expect(place.elements.map(\.name) == ["x"])
    let url = folder.url.appending(path: "Written.xcdatamodel")
    try model.writeXcodeModel(to: url)
    let text = try String(contentsOf: url.appending(path: "contents"), encoding: .utf8)
    #expect(text.contains("attributeType=\"Composite\" composite=\"Point\""))
  }

  // MARK: Random histories

  // MOD-02
  @Test(arguments: 1...8)
  func `an edited model is read with notes, opens a store, and is the same when written again`(
    seed: UInt64
  ) throws {
    var numbers = SplitMix64(seed: seed)
    for round in 0..<(LongRun.isWanted ? 60 : 25) {
      var root = EditedModel.sound(&numbers)
      let sound = try read(root.children.map(EditedModel.text).joined())
      #expect(sound.notes == [], "seed \(seed), round \(round)")
      for entity in root.children.indices where root.children[entity].name == "entity" {
        for place in root.children[entity].children.indices {
          guard ["attribute", "relationship"].contains(root.children[entity].children[place].name) else {
            continue
          }
          if numbers.below(2) == 0 { EditedModel.age(&root.children[entity].children[place], &numbers) }
        }
      }
      let text = root.children.map(EditedModel.text).joined()
      do {
        let (model, notes) = try read(text)
        #expect(notes.allSatisfy { $0.contains("contents, line ") }, "\(notes)")
        // The transformers belong to programs.
        let coordinator = try PersistentStoreCoordinator(
          checkingStoredProperties: model, keepsBytesWithoutTransformers: true)
        try coordinator.addPersistentStore(type: .inMemory, at: nil)
        let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
        for entity in model.entities
        where entity.compiled.checks.isEmpty && entity.inheritedUniquenessConstraints.isEmpty
          && !entity.isAbstract
        {
          _ = ManagedObject(entity: entity, insertInto: context)
        }
        try context.performAndWait { try context.save() }
        let url = folder.url.appending(path: "Written.xcdatamodel")
        try model.writeXcodeModel(to: url)
        let again = try ManagedObjectModel(contentsOf: url)
        #expect(again.versionChecksum == model.versionChecksum, "seed \(seed), round \(round):\n\(text)")
      } catch {
        Issue.record("seed \(seed), round \(round): \(error)\n\(text)")
        return
      }
    }
  }
}
