import Foundation
import SwiftData
import Testing

struct SchemaTests {
  // SWD-02, SWD-03, SWD-07, SWD-08, SWD-10, SWD-11
  @Test func `a schema describes entities, attributes and relationships`() throws {
    let schema = Schema([Author.self], version: Schema.Version(1, 2, 3))
    #expect(schema.version == Schema.Version(1, 2, 3) && Schema.Version(1, 2, 3) < Schema.Version(1, 10, 0))
    #expect(schema.entities.map(\.name) == ["Author", "Book", "Profile", "Shelf"])
    let book = try #require(schema.entity(for: Book.self))
    #expect(Schema.entityName(for: Book.self) == "Book" && schema.entitiesByName["Book"] === book)
    #expect(
      book.attributesByName["rating"]?.isOptional == true
        && book.attributesByName["pages"]?.isOptional == false)
    #expect(book.attributesByName["pages"]?.defaultValue as? Int == 100)
    #expect(book.attributesByName["summary"]?.originalName == "text")
    #expect(
      book.indices == [["title"], ["year", "title"]] && book.uniquenessConstraints == [["title", "year"]])
    let author = try #require(schema.entity(for: Author.self))
    #expect(author.attributesByName["name"]?.isUnique == true && author.uniquenessConstraints == [["name"]])
    let books = try #require(author.relationshipsByName["books"])
    #expect(books.deleteRule == .cascade && !books.isToOneRelationship && books.destination == "Book")
    #expect(book.relationshipsByName["author"]?.isToOneRelationship == true)
    #expect(schema.entity(for: Node.self) == nil)
  }

  // SWD-09, SWD-10
  @Test func `structures are composite attributes, subclasses have superentities`() throws {
    let schema = Schema([Values.self, SportsCar.self])
    let address = try #require(
      schema.entity(for: Values.self)?.attributesByName["address"] as? Schema.CompositeAttribute)
    #expect(address.properties.map(\.name).sorted() == ["city", "place", "street", "zip"])
    #expect(!(schema.entity(for: Values.self)?.attributesByName["opaque"] is Schema.CompositeAttribute))
    let sports = try #require(schema.entity(for: SportsCar.self))
    #expect(sports.superentity?.name == "Car" && sports.superentity?.superentityName == "Vehicle")
    #expect(
      sports.properties.map(\.name).contains("wheels") && sports.storedProperties.map(\.name) == ["topSpeed"])
    #expect(schema.entity(for: Vehicle.self)?.subentities.map(\.name) == ["Car"])
  }

  // SWD-10
  @Test func `an attribute may be made optional, and mandatory`() {
    let attribute = Schema.Attribute(name: "year", valueType: Int.self)
    attribute.isOptional = true
    #expect(attribute.isOptional && attribute.valueType == Int?.self)
    attribute.isOptional = false
    #expect(!attribute.isOptional && attribute.valueType == Int.self)
  }

  // SWD-07, SWD-08, SWD-10
  @Test func `what #Unique and #Index say is among the properties that a class describes`() throws {
    let described = Book.schemaMetadata
    let unique = try #require(described.compactMap { $0.metadata as? Schema.Unique<Book> }.first)
    let index = try #require(described.compactMap { $0.metadata as? Schema.Index<Book> }.first)
    #expect(unique.constraints == [[\.title, \.year]] && unique.isUnique && !unique.isAttribute)
    #expect(index.indices.count == 2 && !index.isUnique && !index.isRelationship)
    #expect(
      described.map(\.name).filter { $0.hasPrefix("SwiftData.") } == [
        "SwiftData.Schema.Index", "SwiftData.Schema.Unique",
      ])
    let decoded = try JSONDecoder().decode(Schema.Unique<Book>.self, from: JSONEncoder().encode(unique))
    #expect(decoded == unique && decoded.hashValue == unique.hashValue)
    #expect(try JSONDecoder().decode(Schema.Index<Book>.self, from: JSONEncoder().encode(index)) == index)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Schema.Unique<Node>.self, from: JSONEncoder().encode(unique))
    }
    let entity = Schema.Entity(
      "Book", properties: Schema.Attribute(name: "title", valueType: String.self), unique, index)
    #expect(
      entity.uniquenessConstraints == [["title", "year"]] && entity.properties.map(\.name) == ["title"])
    #expect(entity.indices == [["title"], ["year", "title"]])
  }

  // SWD-10
  @Test func `properties of an entity may be set`() throws {
    let base = Schema.Entity("Base", properties: Schema.Attribute(name: "id", valueType: Int.self))
    let made = Schema.Entity(
      "Made", properties: Schema.Attribute(name: "b", valueType: Int.self), Schema.Relationship(),
      Schema.Attribute(name: "a", valueType: Int.self))
    made.superentity = base
    #expect(made.inheritedPropertiesByName.keys.sorted() == ["id"])
    made.attributesByName["b"] = nil
    made.attributes.insert(Schema.Attribute(name: "c", valueType: String.self))
    #expect(made.storedProperties.map(\.name) == ["", "a", "c"])
    made.relationships = []
    made.storedPropertiesByName["a"] = Schema.Attribute(name: "a", valueType: Double.self)
    #expect(made.storedProperties.map(\.name) == ["a", "c"])
    #expect(made.attributesByName["a"]?.valueType == Double.self)
    made.inheritedProperties = [Schema.Attribute(name: "other", valueType: Int.self)]
    #expect(made.properties.map(\.name) == ["other", "a", "c"])
    let decoded = try JSONDecoder().decode(Schema.Entity.self, from: JSONEncoder().encode(made))
    made.superentityName = nil
    #expect(decoded.properties.map(\.name) == ["other", "a", "c"])
  }

  // SWD-10
  @Test func `a schema is saved and loaded`() throws {
    try Library.inFolder { folder in
      let url = folder.appending(path: "schema.json")
      let schema = Schema(Library.models, version: Schema.Version(4, 5, 6))
      try schema.save(to: url)
      let loaded = try Schema.load(from: url)
      #expect(loaded.version == schema.version && loaded.entities.map(\.name) == schema.entities.map(\.name))
      for entity in schema.entities {
        let other = try #require(loaded.entitiesByName[entity.name])
        #expect(
          other.attributesByName.mapValues(\.isOptional) == entity.attributesByName.mapValues(\.isOptional))
        #expect(other.relationships == entity.relationships)
        #expect(
          other.uniquenessConstraints == entity.uniquenessConstraints && other.indices == entity.indices)
      }
      let again = try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(loaded))
      #expect(again == loaded)
    }
  }

  // SWD-12, SWD-13, SWD-40
  @Test func `a container refuses what it cannot open, and says why`() throws {
    try Library.inFolder { folder in
      let url = folder.appending(path: "a.store")
      let (one, two) = (ModelConfiguration("one", url: url), ModelConfiguration("two", url: url))
      #expect { try ModelContainer(for: Author.self, configurations: one, two) } throws: {
        SwiftDataError.duplicateConfiguration ~= $0
      }
      let link = folder.appending(path: "link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
      let same = ModelConfiguration("two", url: link.appending(path: "a.store"))
      #expect { try ModelContainer(for: Author.self, configurations: one, same) } throws: {
        SwiftDataError.duplicateConfiguration ~= $0
      }
      #expect { try ModelContainer(for: Author.self, configurations: ModelConfiguration("a/b")) } throws: {
        SwiftDataError.configurationFileNameContainsInvalidCharacters ~= $0
      }
      let long = String(repeating: "x", count: 300)
      #expect { try ModelContainer(for: Author.self, configurations: ModelConfiguration(long)) } throws: {
        SwiftDataError.configurationFileNameTooLong ~= $0
      }
      let foreign = ModelConfiguration(schema: Schema([Node.self]), url: url)
      #expect { try ModelContainer(for: Author.self, configurations: foreign) } throws: {
        SwiftDataError.configurationSchemaNotFoundInContainerSchema ~= $0
      }
      try Data("no store".utf8).write(to: url)
      #expect { try ModelContainer(for: Author.self, configurations: ModelConfiguration(url: url)) } throws: {
        SwiftDataError.loadIssueModelContainer ~= $0 && "\($0)".contains("a.store")
      }
    }
  }

  // SWD-12, SWD-13
  @Test func `several configurations are several stores`() throws {
    try Library.inFolder { folder in
      let (first, second) = (folder.appending(path: "a.store"), folder.appending(path: "b.store"))
      let configurations = [
        ModelConfiguration("a", schema: Schema([Author.self]), url: first),
        ModelConfiguration("b", schema: Schema([Node.self]), url: second),
      ]
      let schema = Schema([Author.self, Node.self])
      do {
        let container = try ModelContainer(for: schema, configurations: configurations)
        let context = ModelContext(container)
        context.insert(Author(name: "A"))
        context.insert(Node("N"))
        try context.save()
        #expect(container.configurations == Set(configurations))
      }
      let nodes = try ModelContainer(for: Node.self, configurations: ModelConfiguration(url: second))
      #expect(try ModelContext(nodes).fetch(FetchDescriptor<Node>()).map(\.name) == ["N"])
    }
  }

  // SWD-12
  @Test func `a store that allows no saves refuses them`() throws {
    try Library.inFolder { folder in
      let url = folder.appending(path: "a.store")
      do {
        let context = ModelContext(
          try ModelContainer(for: Node.self, configurations: ModelConfiguration(url: url)))
        context.insert(Node("N"))
        try context.save()
      }
      let configuration = ModelConfiguration(url: url, allowsSave: false)
      let context = ModelContext(try ModelContainer(for: Node.self, configurations: configuration))
      #expect(try context.fetch(FetchDescriptor<Node>()).map(\.name) == ["N"])
      context.insert(Node("M"))
      #expect(throws: (any Error).self) { try context.save() }
    }
  }
}
