import Foundation
import HeartwoodFaults

@testable import Heartwood
@testable import HeartwoodModel

/// Model files by chance, for tests.
enum EditedModel {
  /// A model without a fault: each element of the format, and attributes of many types.
  static func sound(_ numbers: inout SplitMix64) -> MarkupElement {
    let examples: [(type: String, fields: [String: String])] = [
      ("Integer 16", ["defaultValueString": "3", "minValueString": "1", "maxValueString": "9"]),
      ("Integer 32", ["defaultValueString": "0", "usesScalarValueType": "YES"]),
      ("Integer 64", ["defaultValueString": "-5"]),
      ("Decimal", ["defaultValueString": "1.50", "minValueString": "0"]),
      ("Double", ["defaultValueString": "0.0", "maxValueString": "2.5"]),
      ("Float", ["defaultValueString": "0.5"]),
      ("String", ["defaultValueString": "abc", "minValueString": "1", "regularExpressionString": "[a-z]+"]),
      ("Boolean", ["defaultValueString": "NO"]),
      ("Date", ["defaultDateTimeInterval": "600", "minDateTimeInterval": "0"]),
      ("Binary", ["allowsExternalBinaryDataStorage": "YES"]),
      ("UUID", ["defaultValueString": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"]),
      ("URI", ["defaultValueString": "https://example.org"]),
      ("Transformable", ["valueTransformerName": "NSSecureUnarchiveFromData"]),
      ("Composite", ["composite": "Point"]),
    ]
    var root = MarkupElement("model")
    let count = 3
    for number in 0..<count {
      var entity = MarkupElement("entity", ["name": "E\(number)", "syncable": "YES"])
      if number == 2, numbers.below(2) == 0 { entity.attributes["parentEntity"] = "E1" }
      for place in 0..<(2 + numbers.below(5)) {
        let (type, fields) = examples[numbers.below(examples.count)]
        var attribute = MarkupElement("attribute", fields)
        attribute.attributes["name"] = "a\(number)\(place)"
        attribute.attributes["attributeType"] = type
        attribute.attributes["optional"] = "YES"
        entity.children.append(attribute)
        guard numbers.below(3) == 0, !["Transformable", "Composite", "Binary"].contains(type) else {
          continue
        }
        var index = MarkupElement("fetchIndex", ["name": "by\(number)\(place)"])
        index.children = [
          MarkupElement("fetchIndexElement", ["property": "a\(number)\(place)", "type": "Binary"])
        ]
        entity.children.append(index)
        guard numbers.below(2) == 0 else { continue }
        var constraints = MarkupElement("uniquenessConstraints")
        constraints.children = [MarkupElement("uniquenessConstraint")]
        constraints.children[0].children = [MarkupElement("constraint", ["value": "a\(number)\(place)"])]
        entity.children.append(constraints)
      }
      root.children.append(entity)
    }
    for pair in 0..<3 {
      let ends = (numbers.below(count), numbers.below(count))
      for (name, other, owner, destination) in [
        ("r\(pair)", "s\(pair)", ends.0, ends.1), ("s\(pair)", "r\(pair)", ends.1, ends.0),
      ] {
        var side = MarkupElement(
          "relationship",
          [
            "name": name, "optional": "YES", "deletionRule": "Nullify",
            "destinationEntity": "E\(destination)",
            "inverseName": other, "inverseEntity": "E\(destination)",
          ])
        if numbers.below(2) == 0 {
          side.attributes["toMany"] = "YES"
        } else {
          side.attributes["maxCount"] = "1"
        }
        root.children[owner].children.append(side)
      }
    }
    addRest(&root)
    return root
  }

  private static func element(
    _ name: String, _ attributes: [String: String] = [:], _ children: [MarkupElement] = []
  ) -> MarkupElement {
    var element = MarkupElement(name, attributes)
    element.children = children
    return element
  }

  /// Adds what a model has once.
  private static func addRest(_ root: inout MarkupElement) {
    let info = element("userInfo", [:], [element("entry", ["key": "k", "value": "v"])])
    let names = ["c1", "c2"]
    root.children[0].children += names.map { name in
      element("attribute", ["name": name, "optional": "YES", "attributeType": "String"], [info])
    }
    root.children[0].children += [
      element(
        "attribute", ["name": "point", "optional": "YES", "attributeType": "Composite", "composite": "Point"]),
      element(
        "relationship",
        [
          "name": "next", "optional": "YES", "maxCount": "1", "deletionRule": "Nullify",
          "destinationEntity": "E1",
        ],
        [info]),
      element(
        "fetchedProperty", ["name": "found"],
        [
          element("fetchRequest", ["name": "found", "entity": "E1", "predicateString": "TRUEPREDICATE"]),
          info,
        ]),
      element(
        "compoundIndexes", [:], [element("compoundIndex", [:], names.map { element("index", ["value": $0]) })]
      ),
      element(
        "uniquenessConstraints", [:],
        [element("uniquenessConstraint", [:], names.map { element("constraint", ["value": $0]) })]),
      info,
    ]
    root.children += [
      element("fetchRequest", ["name": "all", "entity": "E0"]),
      element("configuration", ["name": "Core"], [element("memberEntity", ["name": "E0"])]),
      element(
        "composite", ["name": "Point"],
        [element("attribute", ["name": "x", "optional": "YES", "attributeType": "Double"])]),
      element("elements", [:], [element("element", ["name": "E0", "positionX": "1"])]),
    ]
  }

  /// Changes a property as an editor does, with the traces that it leaves in the file.
  static func age(_ property: inout MarkupElement, _ numbers: inout SplitMix64) {
    let texts = ["NO", "YES", "0.0", "", "70000", "-1", "1e9", "x", "now", "1.5", "2024-01-01", "nil", "ünï"]
    func any(_ list: [String]) -> String { list[numbers.below(list.count)] }
    let isAttribute = property.name == "attribute"
    for _ in 0..<(1 + numbers.below(3)) {
      switch numbers.below(isAttribute ? 10 : 9) {
      case 0:
        let names = [
          "transient", "indexed", "ordered", "toMany", "syncable", "spotlightIndexingEnabled",
          "preserveAfterDeletion",
        ]
        let left =
          property.attributes["attributeType"] == nil
          ? names : names.filter { !["ordered", "toMany"].contains($0) }
        property.attributes[any(left)] = any(["YES", "NO"])
      case 1 where isAttribute:
        let types = XcodeModel.types.map(\.name)
        property.attributes["attributeType"] = any(types)
      case 2 where isAttribute: property.attributes["defaultValueString"] = any(texts)
      case 3 where isAttribute:
        property.attributes[
          any(["minValueString", "maxValueString", "minDateTimeInterval", "maxDateTimeInterval"])] = any(
            texts)
      case 4 where isAttribute: property.attributes["regularExpressionString"] = any(["[", "a+", "("])
      case 5 where isAttribute: property.attributes["defaultDateTimeInterval"] = any(texts)
      case 6 where isAttribute:
        property.attributes["valueTransformerName"] = any(["NSSecureUnarchiveFromData", ""])
        property.attributes[any(["customClassName", "composite"])] = any(["Point", "[String]", "Gone"])
      case 7 where isAttribute: property.attributes["allowsExternalBinaryDataStorage"] = any(["YES", "NO"])
      case 8 where isAttribute: property.attributes["derived"] = "YES"
      case 1: property.attributes["destinationEntity"] = any(["E0", "E1", "E2", "Gone", ""])
      case 2: property.attributes["inverseName"] = any(["r0", "s0", "r1", "s1", "r2", "gone", ""])
      case 3: property.attributes["inverseEntity"] = any(["E0", "E1", "E2", "Gone"])
      case 4: property.attributes["maxCount"] = any(["0", "1", "2", "-1", "many"])
      case 5: property.attributes["minCount"] = any(["0", "1", "5", "-1"])
      case 6: property.attributes[any(["inverseName", "inverseEntity"])] = nil
      case 7: property.attributes["deletionRule"] = any(["Cascade", "Deny", "No Action", "Nullify"])
      default: property.attributes["sparkle"] = "YES"
      }
    }
  }

  static func text(_ element: MarkupElement) -> String {
    let fields = element.attributes.sorted { $0.key < $1.key }.map { " \($0)=\"\($1)\"" }.joined()
    return "<\(element.name)\(fields)>\(element.text)" + element.children.map(text).joined(separator: "\n")
      + "</\(element.name)>\n"
  }

  /// The meaning of a document, without the parts that are kept for other tools.
  static func meaning(of document: ModelDocument) throws -> Data {
    func plain(_ property: ModelDocument.Property) -> ModelDocument.Property {
      let elements = property.attribute?.elements?.map(plain)
      var property = property
      property.modelFile = nil
      property.attribute?.elements = elements
      return property
    }
    var document = document
    (document.modelFile, document.configurationFiles) = (nil, nil)
    for entity in document.entities.indices {
      document.entities[entity].modelFile = nil
      document.entities[entity].properties = document.entities[entity].properties.map(plain)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode(document)
  }

  /// The places of an element and of all inside of it: the numbers of elements on the way to each.
  static func places(in element: MarkupElement) -> [[Int]] {
    [[]]
      + element.children.indices.flatMap { number in
        places(in: element.children[number]).map { [number] + $0 }
      }
  }

  /// The elements on the way to a place.
  static func path(_ place: some Collection<Int>, in element: MarkupElement) -> [MarkupElement] {
    guard let number = place.first else { return [element] }
    return [element] + path(place.dropFirst(), in: element.children[number])
  }

  static func edit(
    _ element: inout MarkupElement, at place: some Collection<Int>, _ body: (inout MarkupElement) -> Void
  ) {
    guard let number = place.first else { return body(&element) }
    edit(&element.children[number], at: place.dropFirst(), body)
  }
}
