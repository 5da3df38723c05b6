import Testing

import Heartwood
@testable import HeartwoodCommand

private func model(_ entities: String) throws -> DocumentModel {
  let bytes = Array(#"{"model": {"entities": \#(entities)}, "objects": []}"#.utf8)
  return try #require(try ImportDocument(bytes).model)
}

@Test func `a model section is read completely`() throws {
  let model = try model(
    """
    {"Place": {"abstract": true, "attributes": {"name": {"type": "string", "unique": true, "default": "?"}}},
     "City": {"superentity": "Place",
       "attributes": {"size": {"type": "integer32", "optional": true, "indexed": true},
                      "code": {"type": "uuid", "preservesValueInHistoryOnDeletion": true}},
       "relationships": {"parts": {"destination": "Part", "toMany": true, "ordered": true, "inverse": "city",
                                   "deleteRule": "cascade", "min": 1, "max": 5}},
       "uniquenessConstraints": [["size", "name"]]},
     "Part": {"relationships": {"city": {"destination": "City", "inverse": "parts", "optional": false}}}}
    """)
  #expect(model.entities.map(\.name) == ["Place", "City", "Part"])
  let place = try #require(model.entity(named: "Place"))
  #expect(place.isAbstract)
  #expect(
    place.attributes == [
      DocumentAttribute(name: "name", type: .string, isUnique: true, defaultValue: .string("?"))
    ])
  let city = try #require(model.entity(named: "City"))
  #expect(city.superentity == "Place")
  #expect(
    city.attributes[0] == DocumentAttribute(name: "size", type: .integer32, isOptional: true, isIndexed: true)
  )
  #expect(
    city.relationships[0]
      == DocumentRelationship(
        name: "parts", destination: "Part", isToMany: true, isOrdered: true, minimumCount: 1, maximumCount: 5,
        inverse: "city", deleteRule: .cascade))
  #expect(city.uniquenessConstraints == [["size", "name"]])
  #expect(model.entity(named: "Part")?.relationships[0].isOptional == false)
  #expect(model.isKind("City", of: "Place"))
  #expect(!model.isKind("Place", of: "City"))
}

@Test func `a written model is read back unchanged`() throws {
  let bytes = try InputFile.read(Fixture.path("World/world.json"))
  let world = try #require(try ImportDocument(bytes).model)
  let written = JSONPlace(path: "", value: world.json)
  #expect(try DocumentModel(reading: written) == world)
}

@Test func `a full-text index is declared on an attribute, and kept by the model of a store`() throws {
  let notes = try model(
    #"{"Note": {"attributes": {"body": {"type": "string", "indexed": true, "fullText": true}}}}"#)
  let graph = try notes.graphModel()
  #expect(
    graph.entitiesByName["Note"]?.indexes.map { $0.elements.map(\.collationType) } == [[.binary], [.words]])
  #expect(DocumentModel(graph) == notes)
  #expect(try DocumentModel(reading: JSONPlace(path: "", value: notes.json)) == notes)
  #expect(ModelText.text(notes).contains("indexed, full text"))
}

@Test func `a range index is declared on an entity, and kept by the model of a store`() throws {
  let places = try model(
    #"{"Place": {"attributes": {"x": {"type": "double"}, "y": {"type": "integer64"}}, "rangeIndexes": [["x", "y"]]}}"#
  )
  let graph = try places.graphModel()
  #expect(
    graph.entitiesByName["Place"]?.indexes.map { $0.elements.map(\.collationType) } == [[.rTree, .rTree]])
  #expect(DocumentModel(graph) == places)
  #expect(try DocumentModel(reading: JSONPlace(path: "", value: places.json)) == places)
  #expect(ModelText.text(places).contains("indexed by ranges: x, y"))
}

@Test(arguments: [
  (
    #"{"A": {"attributes": {"x": {"type": "integer16", "fullText": true}}}}"#,
    #"model.entities.A.attributes.x: "fullText" is for attributes of type string: there are no words in other values"#
  ),
  (#"{"A": {"attributes": {"x": {}}}}"#, #"model.entities.A.attributes.x: "type" is missing"#),
  (
    #"{"A": {"attributes": {"x": {"type": "int"}}}}"#,
    #"model.entities.A.attributes.x.type: "int" is none of string, integer16, integer32, integer64, double, float, decimal, boolean, date, data, uuid, uri, composite, transformable, undefined"#
  ),
  (
    #"{"A": {"attributes": {"x": {"type": "string", "indexd": true}}}}"#,
    #"model.entities.A.attributes.x: unknown member "indexd", did you mean indexed?"#
  ),
  (
    #"{"A": {"attributes": {"x": {"type": "string", "unique": 1}}}}"#,
    #"model.entities.A.attributes.x.unique: expected true or false, found 1"#
  ),
  (
    #"{"A": {"attributes": {"x": {"type": "integer16", "default": 70000}}}}"#,
    #"model.entities.A.attributes.x.default: 70000 does not fit into 16 bits"#
  ),
  (
    #"{"A": {"relationships": {"x": {"destination": "B"}}}}"#,
    #"model.entities.A: relationships.x: destination "B" is no entity of this model"#
  ),
  (
    #"{"A": {"relationships": {"x": {"destination": "A", "inverse": "y"}}}}"#,
    #"model.entities.A: relationships.x: inverse "y" is no relationship of A"#
  ),
  (
    #"{"A": {"relationships": {"x": {"destination": "A", "inverse": "y"}, "y": {"destination": "A"}}}}"#,
    #"model.entities.A: relationships.x: its inverse A.y does not name it in return"#
  ),
  (
    #"{"A": {"relationships": {"x": {"destination": "A", "ordered": true}}}}"#,
    #"model.entities.A.relationships.x: only a to-many relationship can be ordered"#
  ),
  (#"{"A": {"superentity": "B"}}"#, #"model.entities.A: superentity "B" is no entity of this model"#),
  (
    #"{"A": {"superentity": "B"}, "B": {"superentity": "A"}}"#, "model.entities.A: it inherits from itself"
  ),
  (
    #"{"A": {"attributes": {"x": {"type": "string"}}, "relationships": {"x": {"destination": "A"}}}}"#,
    #"model.entities.A: two properties are called "x""#
  ),
  (
    #"{"C": {"superentity": "B"}, "B": {"superentity": "B"}}"#, "model.entities.C: it inherits from itself"
  ),
  (
    #"{"C": {"superentity": "B", "attributes": {"x": {"type": "date"}}}, "B": {"superentity": "A"}, "#
      + #""A": {"attributes": {"x": {"type": "string"}}}}"#,
    #"model.entities.C: two properties are called "x""#
  ),
  (
    #"{"A": {}, "B": {"superentity": "A", "attributes": {"x": {"type": "date"}}}, "#
      + #""C": {"superentity": "A", "indexes": [["x"]]}}"#,
    #"model.entities.C: indexes: there is no attribute or to-one relationship "x""#
  ),
  (
    #"{"A": {"uniquenessConstraints": [["x"]]}}"#,
    #"model.entities.A: uniquenessConstraints: there is no attribute or to-one relationship "x""#
  ),
  (
    #"{"A": {"attributes": {"description": {"type": "string"}}}}"#,
    #"model.entities.A.attributes.description: "description" can't be a property: every object has a member "#
      + "called so; rename it"
  ),
  (
    #"{"A b": {}}"#,
    #"model.entities.A b: "A b" can't be a name: it has letters, digits, _, - and . only, and no digit first"#
  ),
  (#"[]"#, "model.entities: expected an object, found a list"),
])
func `an invalid model is refused with the place and the reason`(entities: String, message: String) {
  #expect(failure { _ = try model(entities) } == message)
}

@Test
func `two subentities may each have a property of one name, and a deep one uses what the first declares`()
  throws
{
  var entities = (1...250).map { #""E\#($0)": {"superentity": "E\#($0 - 1)"}"# }
  entities.append(#""E0": {"attributes": {"x": {"type": "string"}}}"#)
  entities.append(#""Last": {"superentity": "E250", "uniquenessConstraints": [["x"]], "indexes": [["x"]]}"#)
  for name in ["A", "B"] {
    entities.append(#""\#(name)": {"superentity": "E0", "attributes": {"y": {"type": "date"}}}"#)
  }
  let read = try model("{" + entities.joined(separator: ", ") + "}")
  #expect(read.lineage(of: "Last").count == 252)
  #expect(read.isKind("Last", of: "E0"))
  #expect(try read.graphModel().entities.count == 254)
}
