import Testing

@testable import HeartwoodCommand

private func inferred(_ objects: String) throws -> DocumentModel {
  try ImportDocument(Array(objects.utf8)).givenOrInferredModel()
}

@Test func `a model is inferred from values and references`() throws {
  let model = try inferred(
    """
    [{"@id": "Country/FR", "name": "France", "people": 66, "area": 1, "member": true, "founded": "1958-10-04",
      "capital": {"@ref": "City/Paris"}, "neighbours": []},
     {"@id": "Country/BE", "name": "Belgium", "people": null, "area": 30.5, "member": true, "founded": "1830-10-04",
      "neighbours": [{"@ref": "Country/FR"}]},
     {"@id": "City/Paris", "nickname": null}]
    """)
  #expect(model.entities.map(\.name) == ["Country", "City"])
  let country = try #require(model.entity(named: "Country"))
  #expect(
    country.attributes == [
      DocumentAttribute(name: "name", type: .string),
      DocumentAttribute(name: "people", type: .integer64, isOptional: true),
      DocumentAttribute(name: "area", type: .double),
      DocumentAttribute(name: "member", type: .boolean),
      DocumentAttribute(name: "founded", type: .string),
    ])
  #expect(
    country.relationships == [
      DocumentRelationship(name: "capital", destination: "City"),
      DocumentRelationship(name: "neighbours", destination: "Country", isToMany: true),
    ])
  #expect(
    model.entity(named: "City")?.attributes
      == [DocumentAttribute(name: "nickname", type: .string, isOptional: true)])
}

@Test(arguments: [
  (
    #"[{"@id": "A/1", "x": 1}, {"@id": "A/2", "x": "one"}]"#,
    #"objects[1].x: found "one", which does not go with objects[0].x; give the file a model"#
  ),
  (
    #"[{"@id": "A/1", "x": true}, {"@id": "A/2", "x": 1}]"#,
    "objects[1].x: found 1, which does not go with objects[0].x; give the file a model"
  ),
  (
    #"[{"@id": "A/1", "x": {"y": 1}}]"#,
    #"objects[0].x: an object inside an object; write it on its own and refer to it with {"@ref": ...}"#
  ),
  (
    #"[{"@id": "A/1", "x": [1, 2]}]"#, #"objects[0].x[0]: found 1; a list holds references, {"@ref": ...}"#
  ),
  (
    #"[{"@id": "A/1", "x": []}]"#,
    "objects[0].x: every list is empty, so what it refers to can't be told; give the file a model"
  ),
  (
    #"[{"@id": "A/1", "x": [{"@ref": "A/1"}, {"@ref": "B/1"}]}]"#,
    "objects[0].x[1]: refers to another entity than objects[0].x[0]; give the file a model"
  ),
  (#"[{"@id": "A/1", "x": {"@ref": "B/1"}}]"#, "objects[0].x: there is no object of B in this file"),
  (
    #"[{"@id": "A/1", "x": 12345678901234567890}]"#,
    "objects[0].x: 12345678901234567890 does not fit into 64 bits; give the file a model, with type decimal here"
  ),
  (
    #"[{"@id": "A/1", "hash": 1}]"#,
    #"objects[0].hash: "hash" can't be a property: every object has a member called so; rename it"#
  ),
  (
    #"[{"@id": "A/1", "a-b": 1}]"#,
    #"objects[0].a-b: "a-b" can't be a name: it has letters, digits and _ only, and no digit first"#
  ),
])
func `values that imply no model are refused with their place`(objects: String, message: String) {
  #expect(failure { _ = try inferred(objects) } == message)
}
