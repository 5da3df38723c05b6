import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// Holds the reader and the guide to one table of what becomes of each attribute of a file.
@Suite struct `The table of Xcode's format` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let sample = """
    <model userDefinedModelVersionIdentifier="">
      <entity name="Base" isAbstract="YES"><attribute name="b" optional="YES" attributeType="String"/></entity>
      <entity name="Host" parentEntity="Base">
        <attribute name="text" optional="YES" attributeType="String"/>
        <attribute name="number" optional="YES" attributeType="Integer 16"/>
        <attribute name="other" optional="YES" attributeType="Double"/>
        <attribute name="moment" optional="YES" attributeType="Date"/>
        <attribute name="bytes" optional="YES" attributeType="Binary"/>
        <attribute name="thing" optional="YES" attributeType="Transformable" valueTransformerName="T"/>
        <attribute name="place" optional="YES" attributeType="Composite"/>
        <attribute name="spot" optional="YES" attributeType="Composite" composite="Spot"/>
        <relationship name="one" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Host"/>
        <relationship name="many" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Host"/>
        <fetchedProperty name="found" optional="YES"><fetchRequest name="found" entity="Base" predicateString="b == 'a'"/></fetchedProperty>
        <fetchIndex name="byText"><fetchIndexElement property="text" type="Binary" order="ascending"/></fetchIndex>
        <fetchIndex name="byLength"><fetchIndexElement expression="length:(text)" expressionType="Integer 64" type="Binary"/></fetchIndex>
        <uniquenessConstraints><uniquenessConstraint><constraint value="text"/></uniquenessConstraint></uniquenessConstraints>
        <compoundIndexes><compoundIndex><index value="text"/></compoundIndex></compoundIndexes>
        <userInfo><entry key="k" value="v"/></userInfo>
      </entity>
      <fetchRequest name="all" entity="Host"/>
      <configuration name="Core"><memberEntity name="Host"/></configuration>
      <composite name="Place"><attribute name="x" optional="YES" attributeType="Double"/></composite>
      <composite name="Point"><attribute name="y" optional="YES" attributeType="Double"/></composite>
      <compositeAttribute name="Spot"><attribute name="z" optional="YES" attributeType="Double"/></compositeAttribute>
      <elements><element name="Host" positionX="1" positionY="2" width="3" height="4"/></elements>
    </model>
    """

  /// Where an attribute shows what it means, and a value that means something else there than its absence.
  private static let shown: [String: [String: (host: String, value: String)]] = [
    "model": ["userDefinedModelVersionIdentifier": ("", "2")],
    "configuration": ["name": ("Core", "Other")], "memberEntity": ["name": ("Host", "Base")],
    "entity": [
      "name": ("Host", "Changed"), "representedClassName": ("Host", "Thing"), "parentEntity": ("Host", ""),
      "isAbstract": ("Host", "YES"), "elementID": ("Host", "Former"), "versionHashModifier": ("Host", "2"),
    ],
    "attribute": [
      "name": ("other", "changed"), "optional": ("number", "NO"), "attributeType": ("other", "Float"),
      "elementID": ("text", "former"), "versionHashModifier": ("text", "2"), "indexed": ("number", "YES"),
      "defaultValueString": ("text", "a"), "defaultDateTimeInterval": ("moment", "1"),
      XcodeModel.defaultData: ("bytes", "AAE="), "minValueString": ("number", "1"),
      "maxValueString": ("number", "2"), "minDateTimeInterval": ("moment", "1"),
      "maxDateTimeInterval": ("moment", "2"), "regularExpressionString": ("text", "a+"),
      "valueTransformerName": ("thing", "U"), "customClassName": ("thing", "Thing"),
      "allowsExternalBinaryDataStorage": ("bytes", "YES"), "preserveAfterDeletion": ("text", "YES"),
      "transient": ("other", "YES"), "composite": ("place", "Point"),
      "compositeAttributeName": ("place", "Point"), "compositeName": ("place", "Point"),
      "elementName": ("place", "Point"),
    ],
    "relationship": [
      "name": ("one", "changed"), "optional": ("one", "NO"), "transient": ("one", "YES"),
      "elementID": ("one", "former"), "versionHashModifier": ("one", "2"), "toMany": ("many", "NO"),
      "minCount": ("many", "2"), "maxCount": ("many", "3"), "ordered": ("many", "YES"),
      "deletionRule": ("one", "Cascade"), "destinationEntity": ("one", "Base"),
    ],
    "fetchedProperty": [
      "name": ("found", "changed"), "optional": ("found", "NO"), "elementID": ("found", "former"),
      "versionHashModifier": ("found", "2"),
    ],
    "fetchRequest": [
      "name": ("all", "changed"), "entity": ("all", "Base"), "predicateString": ("all", "b == 'a'"),
      "fetchLimit": ("all", "3"), "fetchBatchSize": ("all", "4"), "returnDistinctResults": ("all", "YES"),
    ],
    "fetchIndex": ["name": ("byText", "changed")],
    "fetchIndexElement": [
      "property": ("text", "number"), "expression": ("length:(text)", "uppercase:(text)"),
      "expressionType": ("length:(text)", "String"), "order": ("text", "descending"),
    ],
    "constraint": ["value": ("text", "number")], "index": ["value": ("text", "number")],
    "entry": ["key": ("k", "changed"), "value": ("k", "changed")],
  ]

  /// The attributes that have a meaning together with others only: a host's attributes, with the one and without
  /// it.
  private static let together: [String: [String: (host: String, others: [String: String], value: String)]] = [
    "attribute": [
      "derived": ("text", ["derivationExpression": "uppercase:(b)"], "YES"),
      "derivationExpression": ("text", ["derived": "YES"], "uppercase:(b)"),
    ],
    "relationship": [
      "inverseName": ("one", [:], "many"), "inverseEntity": ("one", ["inverseName": "many"], "Host"),
    ],
    "fetchIndexElement": ["type": ("number", [:], "RTree")], "composite": ["name": ("Place", [:], "Place")],
    "compositeAttribute": ["name": ("Spot", [:], "Spot")],
  ]

  private func root() throws -> MarkupElement {
    try MarkupElement(document: Data(Self.sample.utf8), file: "sample")
  }

  /// The model of the sample with an edit, as a document, and the file that is written of it.
  private func result(_ edit: (inout MarkupElement) -> Void) throws -> (read: Data, written: MarkupElement) {
    var root = try root()
    edit(&root)
    var reader = XcodeModelReader(file: "contents")
    let document = try reader.document(of: root)
    #expect(reader.mistakes == [])
    var writer = XcodeModelWriter()
    let text = try writer.text(of: document)
    return (
      try EditedModel.meaning(of: document), try MarkupElement(document: Data(text.utf8), file: "written")
    )
  }

  private static func name(of element: MarkupElement) -> String {
    element.attributes["name"] ?? element.attributes["property"] ?? element.attributes["expression"]
      ?? element.attributes["value"] ?? element.attributes["key"] ?? ""
  }

  /// The first element of a kind and name, which is given to `body`.
  @discardableResult
  private static func edit(
    _ kind: String, _ host: String, in element: inout MarkupElement, _ body: (inout MarkupElement) -> Void
  ) -> Bool {
    if element.name == kind, host.isEmpty || name(of: element) == host || element.attributes["key"] == host {
      body(&element)
      return true
    }
    for place in element.children.indices where edit(kind, host, in: &element.children[place], body) {
      return true
    }
    return false
  }

  private static func first(_ kind: String, _ host: String, in element: MarkupElement) -> MarkupElement? {
    var (element, found) = (element, MarkupElement?.none)
    edit(kind, host, in: &element) { found = $0 }
    return found
  }

  /// Sets an attribute together with those without which it means nothing.
  private static func set(
    _ field: String, to value: String?, with others: [String: String], of element: String, _ host: String,
    in root: inout MarkupElement
  ) -> Bool {
    if field.hasPrefix("inverse") {
      edit("relationship", "many", in: &root) {
        ($0.attributes["inverseName"], $0.attributes["inverseEntity"]) = ("one", "Host")
      }
    }
    if field == "type" {
      edit("fetchIndex", "byText", in: &root) { index in
        index.children = ["number", "other"].map {
          MarkupElement("fetchIndexElement", ["property": $0, "type": value ?? "Binary"])
        }
      }
    }
    return edit(element, host, in: &root) { found in
      found.attributes.merge(others) { _, other in other }
      found.attributes[field] = value
      if field == "inverseName" { found.attributes["inverseEntity"] = "Host" }
    }
  }

  @Test func `what is read means something`() throws {
    let plain = try result { _ in }
    for (element, fields) in XcodeFormat.fields.sorted(by: { $0.key < $1.key }) {
      for field in fields.keys.sorted() where fields[field] == .read {
        if let (host, value) = Self.shown[element]?[field] {
          let changed = try result { root in
            #expect(Self.edit(element, host, in: &root) { $0.attributes[field] = value })
          }
          #expect(changed.read != plain.read, "\(element).\(field)")
        } else if let (host, others, value) = Self.together[element]?[field] {
          let results = try [nil, value].map { value in
            try result { root in
              let isThere = Self.set(field, to: value, with: others, of: element, host, in: &root)
              #expect(isThere)
            }.read
          }
          let meansNothing = field == "inverseEntity" || field == "inverseName"
          #expect(meansNothing || results[0] != results[1], "\(element).\(field)")
        } else {
          let isFlagOfRequest =
            element == "fetchRequest" && (field.hasPrefix("include") || field.hasPrefix("return"))
          #expect(isFlagOfRequest, "\(element).\(field) is not shown")
          let changed = try result { root in
            Self.edit("fetchRequest", "all", in: &root) { $0.attributes[field] = "NO" }
          }
          #expect(changed.read != plain.read, "\(element).\(field)")
        }
      }
    }
  }

  @Test
  func `what is kept is in the file that is written, and changes nothing, and what is dropped is not there`()
    throws
  {
    let plain = try result { _ in }
    let hosts = [
      "entity": "Host", "attribute": "text", "relationship": "one", "fetchedProperty": "found",
      "configuration": "Core", "fetchRequest": "all",
    ]
    for (element, fields) in XcodeFormat.fields.sorted(by: { $0.key < $1.key }) where element != "element" {
      for field in fields.keys.sorted() where fields[field] != .read {
        let changed = try result { root in
          Self.edit(element, hosts[element] ?? "", in: &root) { $0.attributes[field] = "7" }
        }
        #expect(changed.read == plain.read, "\(element).\(field)")
        let written = try #require(Self.first(element, hosts[element] ?? "", in: changed.written))
        #expect(written.attributes[field] == (fields[field] == .kept ? "7" : nil), "\(element).\(field)")
      }
    }
    #expect(Self.first("element", "", in: plain.written) == nil)
  }

  @Test func `the guide's table has each attribute, and what becomes of it`() throws {
    let page = try PackageFolder.text(of: "Sources/Heartwood/Documentation.docc/XcodeModels.md")
    var listed: [String: [String: String]] = [:]
    for line in page.split(separator: "\n")
    where line.hasPrefix("| `") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 3 else { continue }
      for field in cells[1].split(separator: ", ") {
        let name = field.trimmingCharacters(in: ["`"])
        #expect(
          listed[cells[0].trimmingCharacters(in: ["`"]), default: [:]].updateValue(cells[2], forKey: name)
            == nil)
      }
    }
    #expect(listed == XcodeFormat.fields.mapValues { $0.mapValues(\.rawValue) })
  }
}
