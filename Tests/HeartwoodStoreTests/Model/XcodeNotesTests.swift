import Foundation
import GraphTestSupport
import HeartwoodFaults
import TestSupport
import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// Nothing of a file is dropped in silence: it is part of the model, or a note or an error names it with its line.
@Suite struct `Notes and mistakes of model files` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func read(_ body: String) throws -> (ManagedObjectModel, notes: [String]) {
    let url = folder.url.appending(path: "Library.xcdatamodel")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data("<model>\n\(body)\n</model>".utf8).write(to: url.appending(path: "contents"))
    var notes: [String] = []
    return (try ManagedObjectModel(contentsOf: url) { notes.append($0) }, notes)
  }

  // MOD-02
  @Test func `mistakes of all kinds are in one error, each with its line`() throws {
    let error = heartwoodError {
      _ = try read(
        """
        <entity name="A" parentEntity="B">
          <attribute name="a" optional="YES" attributeType="String"/>
          <attribute name="a" optional="YES" attributeType="String"/>
          <attribute name="hash" optional="YES" attributeType="String"/>
          <attribute name="1st" optional="YES" attributeType="String"/>
          <attribute name="sum" optional="YES" transient="YES" attributeType="String" derived="YES" derivationExpression="uppercase:(a)"/>
          <attribute name="any" optional="YES" attributeType="Transformable" valueTransformerName="T" derived="YES" derivationExpression="a"/>
          <attribute name="none" optional="YES" attributeType="String" derived="YES" derivationExpression="uppercase:(gone)"/>
          <fetchedProperty name="f"><fetchRequest name="f" entity="A" predicateString="gone == 'x'"/></fetchedProperty>
          <fetchIndex name="byX"><fetchIndexElement expression="lowercase:(gone)" expressionType="String" type="Binary"/></fetchIndex>
          <uniquenessConstraints>
            <uniquenessConstraint><constraint value="gone"/></uniquenessConstraint>
          </uniquenessConstraints>
          <attribute name="place" optional="YES" attributeType="Composite" composite="Point"/>
        </entity>
        <entity name="B" parentEntity="A">
          <attribute name="a" optional="YES" attributeType="String"/>
        </entity>
        <entity name="A"/>
        <composite name="Point">
          <attribute name="x" optional="YES" attributeType="Double"/>
          <attribute name="x" optional="YES" attributeType="Double"/>
          <attribute name="y" optional="YES"/>
        </composite>
        """)
    }
    let expected = [
      "line 2: A inherits from itself", "line 4: A has two properties called a",
      "line 5: A.hash cannot be called so", "line 6: the property name \"1st\" of A cannot be used",
      "line 7: A.sum is derived and transient",
      "line 8: A.any is derived: an attribute of type transformable",
      "line 9: the derived attribute A.none", "line 10: the predicate", "line 11: the index byX of A",
      "line 13: a uniqueness constraint of A names \"gone\"",
      "line 18: B.a has the name of a property that B inherits from A",
      "line 20: two entities of the model are called A", "line 23: A.place has two elements called x",
      "line 24: A.place.y has no type",
    ]
    let messages = error?.details.map(\.message) ?? []
    for part in expected {
      #expect(messages.contains { $0.contains("contents, \(part)") }, "\(part): \(messages)")
    }
    #expect(messages.count == expected.count, "\(messages)")
  }

  // MOD-02
  @Test func `a fetch request whose predicate cannot be used is a mistake with its line`() throws {
    let error = heartwoodError {
      _ = try read(
        """
        <entity name="A"><attribute name="a" optional="YES" attributeType="String"/></entity>
        <fetchRequest name="good" entity="A" predicateString="a == $NAME"/>
        <fetchRequest name="cut" entity="A" predicateString="a =="/>
        <fetchRequest name="gone" entity="A" predicateString="b == 1"/>
        <fetchRequest name="list" entity="A" predicateString="a IN $LIST AND a BETWEEN $ENDS"/>
        <fetchRequest name="wrong" entity="A" predicateString="a IN $LIST OR b LIKE $NAME"/>
        """)
    }
    let messages = error?.details.map(\.message) ?? []
    #expect(messages.count == 3, "\(messages)")
    #expect(messages.contains { $0.contains("line 7: the predicate") })
    #expect(messages.contains { $0.contains("line 4: the predicate \"a ==\" of the fetch request cut") })
    #expect(messages.contains { $0.contains("line 5: the predicate \"b == 1\" of the fetch request gone") })
  }

  @Test(arguments: ["\n=======\n<entity name=\"B\"/>\n</model>", "\n<model/>", "&bogus;<<<", "<!-- --> x"])
  func `what follows the end of a model is an error with its line`(rest: String) throws {
    let url = folder.url.appending(path: "Library.xcdatamodel")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let text =
      "<!DOCTYPE model [<!ENTITY e '</model>'>]>\n<model>\n<!-- </model> --><entity name='A'/>\n</model>"
    try Data((text + rest).utf8).write(to: url.appending(path: "contents"))
    let error = heartwoodError { _ = try ManagedObjectModel(contentsOf: url) }
    let line = 4 + (rest.hasPrefix("\n") ? 1 : 0)
    #expect(
      error?.message.contains("contents, line \(line): there is something after the end of <model>") == true,
      "\(error?.message ?? "none")")
  }

  @Test(arguments: [
    "<?a?><model><entity name='A'/></model>", "<model><?a?><entity name='A'><?b?></entity></model>",
    "<model><entity name='A'/></model><?a?>", "<model><?a ?><?b c?><?d\n?><entity name='A'/></model>",
    "<!DOCTYPE model [<?a?><!ENTITY e '<?b?>']>\n<model>&e;<!-- <?a?> --><entity name='A'/></model>",
    "<?xml version='1.0' encoding='utf-8'?><?a?><model><entity name='A'/></model>",
  ])
  func `a processing instruction that is only a name means nothing`(text: String) throws {
    let url = folder.url.appending(path: "Library.xcdatamodel")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url.appending(path: "contents"))
    let error = heartwoodError {
      let names = try ManagedObjectModel(contentsOf: url).entitiesByName.keys.sorted()
      #expect(names == ["A"])
    }
    // Foundation's parser does not take all of them.
    if text.hasPrefix("<!DOCTYPE") { return }
    #expect(error == nil, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    "<!DOCTYPE m [<!ENTITY e '&#60;?a?&#62;'>]>\n<model>&e;</model>",
    "<?xml version='1.0' encoding='UTF-7'?><model>+ADw-?a?+AD4-</model>",
  ])
  func `a processing instruction that other characters stand for is refused`(text: String) throws {
    let url = folder.url.appending(path: "Library.xcdatamodel")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url.appending(path: "contents"))
    let message = heartwoodMessage { _ = try ManagedObjectModel(contentsOf: url) }
    #expect(message?.contains("is no XML that can be read") == true, "\(message ?? "")")
  }

  @Test func `a file of a model that is empty or in UTF-16 is no XML`() throws {
    let url = folder.url.appending(path: "Library.xcdatamodel")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    for (data, reason) in [
      (Data(), "it is empty"), (try #require("<model/>".data(using: .utf16)), "it is not in UTF-8"),
    ] {
      try data.write(to: url.appending(path: "contents"))
      let error = heartwoodError { _ = try ManagedObjectModel(contentsOf: url) }
      #expect(error?.message.contains("is no XML: \(reason)") == true, "\(error?.message ?? "none")")
    }
  }

  @Test func `an inverse that several name and that names none is that of none`() throws {
    let (model, notes) = try read(
      """
      <entity name="A">
        <relationship name="b" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="B" inverseName="a" inverseEntity="B"/>
        <relationship name="c" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="B" inverseName="a" inverseEntity="B"/>
      </entity>
      <entity name="B"><relationship name="a" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="A"/></entity>
      """)
    let relationships = model.entities.flatMap { $0.relationshipsByName.values }
    #expect(relationships.count == 3 && relationships.allSatisfy { $0.inverseRelationship == nil })
    for part in [
      "line 3: A.b names the inverse B.a, which A.c names, too",
      "line 4: A.c names the inverse B.a, which A.b names, too",
    ] { #expect(notes.contains { $0.contains(part) }, "\(notes)") }
  }

  @Test func `a flag in other words and an odd type of an index are named`() throws {
    let (model, notes) = try read(
      """
      <entity name="A">
        <attribute name="n" optional="true" attributeType="Integer 32"/>
        <attribute name="m" optional="0" attributeType="Integer 32" defaultValueString="1"/>
        <fetchIndex name="byN"><fetchIndexElement expression="n + 1" expressionType="String" type="Binary"/></fetchIndex>
      </entity>
      """)
    let expected = [
      "line 3: optional=\"true\" of A.n is read as YES", "line 4: optional=\"0\" of A.m is read as NO",
      "line 5: expressionType=\"String\" of the index byN of A has no effect",
    ]
    for part in expected { #expect(notes.contains { $0.contains(part) }, "\(part): \(notes)") }
    #expect(notes.count == expected.count, "\(notes)")
    #expect(model.entities[0].attributesByName["n"]?.isOptional == true)
  }

  // MOD-49
  @Test func `composite attributes are not stored outside of rows, which is noted, and written again`() throws
  {
    let (model, notes) = try read(
      """
      <entity name="E">
        <attribute name="place" optional="YES" attributeType="Composite" composite="Point" allowsExternalBinaryDataStorage="YES"/>
      </entity>
      <composite name="Point">
        <attribute name="picture" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
      </composite>
      """)
    let flag = "allowsExternalBinaryDataStorage=\"YES\" of E.place"
    #expect(
      notes.map { String($0[($0.range(of: flag)?.lowerBound ?? $0.startIndex)...]) }.sorted() == [
        "\(flag) has no effect, as its type is composite",
        "\(flag).picture has no effect, as it is an element of a composite attribute",
      ], "\(notes)")
    let place = try #require(model.entities[0].attributesByName["place"] as? CompositeAttributeDescription)
    #expect(!place.allowsExternalBinaryDataStorage && !place.elements[0].allowsExternalBinaryDataStorage)
    _ = try PersistentStoreCoordinator(checking: model)
  }

  // MOD-49
  @Test func `a composite that is not used or not described is named, and so is what it has otherwise`()
    throws
  {
    let (model, notes) = try read(
      """
      <entity name="E">
        <attribute name="place" optional="YES" attributeType="Composite" composite="Gone" compositeName="Point"/>
        <attribute name="lost" optional="YES" attributeType="Composite" composite="Gone"/>
      </entity>
      <composite name="Point" sparkle="YES">
        <attribute name="x" optional="YES" attributeType="Double" usesScalarValueType="YES" indexed="YES"/>
        <relationship name="r"/>
      </composite>
      <composite name="Spare"><attribute name="x" optional="YES" attributeType="Double"/></composite>
      <composite name="Spare"><attribute name="y" optional="YES" attributeType="Double"/></composite>
      <composite/>
      """)
    let expected = [
      "line 3: composite=\"Gone\" of E.place has no effect, as it is not described in the file",
      "line 4: E.lost is composite, and the file does not describe Gone: it is left out",
      "line 6: sparkle=\"YES\" of the composite Point is not known",
      "line 7: indexed=\"YES\" of E.place.x has no effect",
      "line 8: <relationship> of the composite Point is not known, and left out",
      "line 11: two composites are called Spare", "line 11: the composite Spare is that of no attribute",
      "line 12: a <composite> has no name, and is left out",
    ]
    for part in expected { #expect(notes.contains { $0.contains(part) }, "\(part): \(notes)") }
    #expect(notes.count == expected.count, "\(notes)")
    let place = try #require(model.entities[0].attributesByName["place"] as? CompositeAttributeDescription)
    #expect(place.elements.map(\.name) == ["x"] && model.entities[0].attributesByName.count == 1)
    // The attributes of an element of a composite for other tools are in the file that is written.
    let url = folder.url.appending(path: "Written.xcdatamodel")
    try model.writeXcodeModel(to: url)
    let text = try String(contentsOf: url.appending(path: "contents"), encoding: .utf8)
    #expect(
      text.contains("<composite name=\"Point\">") && text.contains("usesScalarValueType=\"YES\""), "\(text)")
  }

  @Test func `composites that refer to one another are read to an end`() throws {
    var root = MarkupElement("model")
    root.children = [MarkupElement("entity", ["name": "E"])]
    func attribute(_ name: String, _ composite: Int) -> MarkupElement {
      MarkupElement(
        "attribute",
        ["name": name, "optional": "YES", "attributeType": "Composite", "composite": "C\(composite)"])
    }
    root.children[0].children = [attribute("a", 0)]
    for number in 0..<15 {
      var composite = MarkupElement("composite", ["name": "C\(number)"])
      composite.children = (0..<8).map { attribute("b\($0)", number + 1) }
      root.children.append(composite)
    }
    var reader = XcodeModelReader(file: "contents")
    reader.elementsLeft = 500
    _ = try reader.document(of: root)
    #expect(reader.mistakes.count == 1 && reader.mistakes[0].contains("elements in all"))
    // A composite of itself ends at once.
    root.children = Array(root.children.prefix(2))
    root.children[1].children = (0..<8).map { attribute("b\($0)", 0) }
    var other = XcodeModelReader(file: "contents")
    _ = try other.document(of: root)
    #expect(other.mistakes == [] && other.notes.count == 9, "\(other.notes)")
  }

  @Test(arguments: 16...17) func `composites of composites are refused where more than sixteen are`(
    count: Int
  ) {
    let composites = (1...count).map { number in
      let inner = number < count ? "Composite\" composite=\"C\(number + 1)" : "Double"
      return
        "<composite name=\"C\(number)\"><attribute name=\"a\" optional=\"YES\" attributeType=\"\(inner)\"/></composite>"
    }
    let entity =
      "<entity name=\"E\"><attribute name=\"a\" optional=\"YES\" attributeType=\"Composite\" composite=\"C1\"/></entity>"
    let described = EntityDescription(name: "E")
    var element = AttributeDescription(name: "a", type: .double)
    for _ in 1...count { element = CompositeAttributeDescription(name: "a", elements: [element]) }
    described.properties = [element]
    let refusals = [
      heartwoodMessage { _ = try read(entity + composites.joined()).0.encodedDocument() },
      heartwoodMessage { _ = try ManagedObjectModel(entities: [described]).encodedDocument() },
    ]
    for refusal in refusals {
      #expect((refusal == nil) == (count == 16), "\(refusal ?? "")")
      #expect(refusal?.contains("in 16 composite attributes, one in the other") != false, "\(refusal ?? "")")
    }
  }

  // MOD-02
  @Test func `what is there twice, or in part, is named`() throws {
    let (model, notes) = try read(
      """
      <entity name="E">
        <attribute name="a" optional="YES" attributeType="String"/>
        <fetchedProperty name="f">
          <fetchRequest name="f" entity="E"/>
          <fetchRequest name="g" entity="E"/>
        </fetchedProperty>
        <fetchIndex name="byIt"><fetchIndexElement property="a" order="descending"/></fetchIndex>
        <fetchIndex name="byIt"><fetchIndexElement property="a" order="descending"/></fetchIndex>
        <fetchIndex name="byIt"><fetchIndexElement property="a" expression="b" order="random"/></fetchIndex>
        <compoundIndexes><compoundIndex><index value="a"/><index/></compoundIndex></compoundIndexes>
        <uniquenessConstraints>
          <uniquenessConstraint><constraint value="a"/><constraint/></uniquenessConstraint>
        </uniquenessConstraints>
        <userInfo><entry key="k" value="1"/><entry key="k" value="2"/>
          <entry value="3"/></userInfo>
      <![CDATA[words]]></entity>
      <fetchRequest name="all" entity="E" includesSubentities="NO" includeSubentities="YES" resultType="2"/>
      <fetchRequest name="all" entity="E"/>
      <configuration name="C"><memberEntity name="E"/><memberEntity name="E"/>
        <memberEntity/></configuration>
      <configuration name="C"/>
      """)
    let expected = [
      "line 2: the text \"words\" of the entity E has no effect",
      "line 6: the fetched property E.f has several <fetchRequest>s",
      "line 9: the index byIt of E is there twice, and is read once",
      "line 10: expression=\"b\" of the index byIt of E has no effect",
      "line 10: order=\"random\" of the index byIt of E is not known",
      "line 10: two indexes of E are called byIt",
      "line 11: a compound index of E has a <index> without a value",
      "line 13: a uniqueness constraint of E has a <constraint> without a value",
      "line 15: the key k is in the user info of E twice",
      "line 16: an <entry> of the user info of E has no key",
      "line 18: includeSubentities=\"YES\" of the fetch request all has no effect",
      "line 18: resultType=\"2\" of the fetch request all has no effect",
      "line 19: two fetch requests are called all", "line 20: E is in the configuration C twice",
      "line 21: a <memberEntity> of the configuration C has no name",
      "line 22: two configurations are called C",
    ]
    for part in expected { #expect(notes.contains { $0.contains(part) }, "\(part): \(notes)") }
    #expect(notes.count == expected.count, "\(notes)")
    let entity = model.entities[0]
    #expect(entity.indexes.map(\.name) == ["byIt", "byIt 2"] && entity.uniquenessConstraints.isEmpty)
    #expect(entity.userInfo == ["k": "2"])
  }

  /// The meaning of a model, and its notes and mistakes.
  private func outcome(_ root: MarkupElement) throws -> (meaning: Data, said: [String]) {
    var reader = XcodeModelReader(file: "contents")
    let document = try reader.document(of: root)
    return (try EditedModel.meaning(of: document), reader.notes + reader.mistakes)
  }

  // MOD-02
  @Test(arguments: 1...4)
  func `what the format does not have is named, at each element`(seed: UInt64) throws {
    var numbers = SplitMix64(seed: seed)
    let sound = EditedModel.sound(&numbers)
    let plain = try outcome(sound)
    #expect(plain.said == [])
    for place in EditedModel.places(in: sound) {
      for way in 0..<3 {
        var root = sound
        var kind = ""
        EditedModel.edit(&root, at: place) { element in
          kind = element.name
          switch way {
          case 0: element.attributes["sparkle"] = "7707"
          case 1: element.children.append(MarkupElement("sparkle", ["name": "s"]))
          default: element.text = "sparkle"
          }
        }
        let (meaning, said) = try outcome(root)
        #expect(meaning == plain.meaning, "seed \(seed): way \(way) at <\(kind)>")
        #expect(
          said.count == 1 && said[0].contains("sparkle"), "seed \(seed): way \(way) at <\(kind)>: \(said)")
      }
    }
  }

  /// A place, an attribute that is read there, and a value for it.
  private func edit(
    _ root: MarkupElement, _ numbers: inout SplitMix64
  ) -> (place: [Int], field: String, value: String)? {
    let places = EditedModel.places(in: root)
    let place = places[numbers.below(places.count)]
    let kind = EditedModel.path(place, in: root).last?.name ?? ""
    let fields = (XcodeFormat.fields[kind] ?? [:]).filter { $0.value == .read }.keys.sorted()
    guard !fields.isEmpty else { return nil }
    let values = ["YES", "7707", "Gone", "-7707"]
    return (place, fields[numbers.below(fields.count)], values[numbers.below(values.count)])
  }

  /// Whether a value is the default of a request, is kept and means nothing, or is a default date in words beside its number, as Xcode writes it.
  private func changesNothing(_ field: String, _ value: String, _ path: [MarkupElement]) -> Bool {
    let isOn = field.hasPrefix("include") || field.hasSuffix("ObjectsAsFaults")
    if isOn, value == "YES" { return true }
    if path.last?.name == "fetchRequest", field == "name" { return path.count > 2 }
    return field == "defaultValueString" && path.last?.attributes["defaultDateTimeInterval"] != nil
  }

  // MOD-02
  @Test(arguments: 1...4)
  func `what is put into a file, sound or edited, is part of the model or named`(seed: UInt64) throws {
    var numbers = SplitMix64(seed: seed)
    for round in 0..<6 {
      var before = EditedModel.sound(&numbers)
      for _ in 0..<numbers.below(9) {
        guard let (place, field, value) = edit(before, &numbers) else { continue }
        EditedModel.edit(&before, at: place) { $0.attributes[field] = value }
      }
      let plain = try outcome(before)
      for _ in 0..<40 {
        guard let (place, field, value) = edit(before, &numbers) else { continue }
        let path = EditedModel.path(place, in: before)
        guard let element = path.last, element.attributes[field] != value, !changesNothing(field, value, path)
        else { continue }
        var root = before
        EditedModel.edit(&root, at: place) { $0.attributes[field] = value }
        let (meaning, said) = try outcome(root)
        // A part that is left out as a whole is named by the one that contains it, and that is named without
        // it, too.
        var names = path.dropFirst(path.dropFirst().first?.name == "entity" ? 2 : 1).compactMap {
          $0.attributes["name"]
        }
        if element.name == "constraint" { names.append("a uniqueness constraint") }
        let isLeftOut = said.contains { note in names.contains { note.contains($0) } }
        #expect(
          meaning != plain.meaning || said != plain.said || isLeftOut,
          "seed \(seed), round \(round): \(field)=\"\(value)\" at <\(element.name)> \(element.attributes): \(said)"
        )
      }
    }
  }
}
