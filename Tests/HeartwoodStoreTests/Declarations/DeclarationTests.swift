import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct `Classes become entities` {
  @Test func `attributes have the names, types, options and defaults that they were declared with`() throws {
    let model = try ManagedObjectModel(types: declaredTypes)
    let country = try #require(model.entitiesByName["Country"])
    let attributes = country.attributesByName
    #expect(attributes["code"]?.type == .string)
    #expect(attributes["code"]?.isOptional == false)
    #expect(attributes["code"]?.defaultValue as? String == "")
    #expect(attributes["population"]?.type == .integer64)
    #expect(attributes["population"]?.isOptional == true)
    #expect(attributes["population"]?.defaultValue == nil)
    #expect(attributes["population"]?.preservesValueInHistoryOnDeletion == true)
    #expect(attributes["continent"]?.defaultValue as? String == "europe")
    #expect(attributes["area"]?.defaultValue as? Double == 0)
    #expect(country.uniquenessConstraints == [["code"]])
    #expect(country.indexes.map(\.name) == ["bypopulation"])
    #expect(country.propertiesByName["drawing"] == nil)
    let city = try #require(model.entitiesByName["City"]).attributesByName
    #expect(city["small"]?.type == .integer16)
    #expect(city["medium"]?.type == .integer32)
    #expect(city["plain"]?.type == .integer64)
    #expect(city["share"]?.type == .float)
    #expect(city["price"]?.type == .decimal)
    #expect(city["isCoastal"]?.type == .boolean)
    #expect(city["founded"]?.type == .date)
    #expect(city["seal"]?.type == .binaryData)
    #expect(city["site"]?.type == .uri)
    #expect(city["token"]?.type == .uuid)
  }

  @Test func `relationships have their shapes, rules, destinations and inverses`() throws {
    let model = try ManagedObjectModel(types: declaredTypes)
    let country = try #require(model.entitiesByName["Country"])
    let city = try #require(model.entitiesByName["City"])
    let cities = try #require(country.relationshipsByName["cities"])
    #expect(cities.isToMany && !cities.isOrdered)
    #expect(cities.deleteRule == .cascade)
    #expect(cities.destinationEntity === city)
    #expect(cities.inverseRelationship === city.relationshipsByName["country"])
    #expect(city.relationshipsByName["country"]?.inverseRelationship === cities)
    #expect(city.relationshipsByName["country"]?.isToMany == false)
    let neighbours = try #require(country.relationshipsByName["neighbours"])
    #expect(neighbours.inverseRelationship === neighbours)
    let notes = try #require(country.relationshipsByName["notes"])
    #expect(notes.isOrdered)
    #expect(notes.inverseRelationship?.displayName == "Note.about")
    #expect(notes.inverseRelationship?.inverseRelationship === notes)
    #expect(country.relationshipsByName["capital"]?.inverseRelationship == nil)
  }

  @Test func `a subclass is a subentity whose slots begin with its superentity's`() throws {
    let model = try ManagedObjectModel(types: declaredTypes)
    let place = try #require(model.entitiesByName["Place"])
    let country = try #require(model.entitiesByName["Country"])
    #expect(country.superentity === place)
    #expect(country.rootEntity === place)
    for slot in place.slots {
      #expect(place.property(at: slot) === country.property(at: slot))
      #expect(place.layout.columns[slot].offset == country.layout.columns[slot].offset)
    }
    #expect(country.properties.map(\.name).prefix(3) == ["title", "rank", "notes"])
  }

  @Test func `a superclass that is not listed gives its properties to each subclass`() throws {
    let model = try ManagedObjectModel(types: [Loner.self])
    #expect(Set(model.entities[0].propertiesByName.keys) == ["first", "second"])
  }

  @Test func `key paths give the names of the properties that they go through`() throws {
    let model = try ManagedObjectModel(types: declaredTypes)
    let city = try #require(model.entitiesByName["City"])
    #expect(try city.propertyNames(of: \City.title) == ["title"])
    #expect(try city.propertyNames(of: \GraphTestSupport.Place.title) == ["title"])
    #expect(try city.propertyNames(of: \City.country?.code) == ["country", "code"])
    #expect(try city.propertyNames(of: \City.country) == ["country"])
    #expect(try city.propertyNames(of: \City.isCoastal) == ["isCoastal"])
    #expect(try city.propertyNames(of: \City.rank) == ["rank"])
    #expect(try city.propertyNames(of: \City.country?.continent) == ["country", "continent"])
    #expect(try city.propertyNames(of: \City.country?.capital?.founded) == ["country", "capital", "founded"])
    #expect(try city.propertyNames(of: \City.alias) == ["title"])
    #expect(try city.propertyNames(of: \City.country?.cities) == ["country", "cities"])
  }

  @Test func `a computed property, a plain one and a foreign one are refused as key paths`() throws {
    let model = try ManagedObjectModel(types: declaredTypes)
    let city = try #require(model.entitiesByName["City"])
    let loud = heartwoodMessage { _ = try city.propertyNames(of: \City.loud) }
    #expect(loud?.contains("is computed from title") == true)
    for path in [\City.quiet, \City.trimmed] {
      let refusal = heartwoodMessage { _ = try city.propertyNames(of: path) }
      #expect(refusal?.contains("is computed from title") == true)
    }
    let label = heartwoodMessage { _ = try city.propertyNames(of: \City.label) }
    #expect(label?.contains("title and rank") == true)
    #expect(
      heartwoodMessage { _ = try city.propertyNames(of: \City.drawing) }?.contains("touches no property")
        == true)
    #expect(heartwoodMessage { _ = try city.propertyNames(of: \Country.code) }?.contains("begins at") == true)
  }

  @Test func `errors in the declarations of classes are named`() {
    #expect(modelError([City.self, Place.self, Note.self])?.contains("add Country.self") == true)
    #expect(modelError([Note.self, Note.self])?.contains("listed twice") == true)
    #expect(modelError([ManagedObject.self])?.contains("is no entity") == true)
    #expect(
      modelError([Twisted.self])?.contains("Twisted.middle names Twisted.left as its inverse, but that one")
        == true)
    #expect(modelError([Hidden.self])?.contains("CustomReflectable") == true)
  }

  // G16
  @Test func `a wrong expression of a derived attribute is an error of what makes the model`() throws {
    final class Misspelt: ManagedObject {
      @Attribute var name = ""
      @Attribute(derived: "canonical:(nme)") var searched = ""
    }
    #expect(modelError([Misspelt.self])?.contains("nme") == true)
    let error = #expect(throws: HeartwoodError.self) {
      try PersistentContainer(name: "Misspelt", types: [Misspelt.self], at: URL(fileURLWithPath: "/dev/null"))
    }
    #expect(error?.message.contains("Misspelt.searched") == true)
  }

  @Test func `a default that differs between objects is not in the model`() throws {
    let model = try ManagedObjectModel(types: declaredTypes)
    let id = try #require(model.entitiesByName["Country"]?.attributesByName["id"])
    #expect(id.defaultValue == nil)
    #expect(id.isOptional == false)
  }
}

class Unlisted: ManagedObject {
  @Attribute var first = 1
}

final class Loner: Unlisted {
  @Attribute var second = 2
}

final class Twisted: ManagedObject {
  @Relationship(inverse: { $0.right }) var left: Set<Twisted>
  @Relationship(inverse: { $0.left }) var middle: Set<Twisted>
  @Relationship(inverse: { $0.left }) var right: Set<Twisted>
}

final class Hidden: ManagedObject, CustomReflectable {
  @Attribute var name = ""
  var customMirror: Mirror { Mirror(self, children: []) }
}

extension City {
  fileprivate var quiet: String { title.lowercased() }
  fileprivate var trimmed: String { title.trimmingCharacters(in: .whitespaces) }
}
