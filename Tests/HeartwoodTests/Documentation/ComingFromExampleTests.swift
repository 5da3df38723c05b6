import Foundation
import Heartwood
import Testing

private final class Writer: ManagedObject {
  @Attribute(.unique) var name = ""
  @Relationship(inverse: { $0.writer }, deleteRule: .cascade) var works: Set<Work>
}

private final class Work: ManagedObject {
  @Attribute(.indexed) var title = ""
  @Relationship(inverse: { $0.works }) var writer: Writer?
}

private final class Dog: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.dogs }) var owner: Owner?
}

private final class Owner: ManagedObject {
  @Attribute(.unique) var name = ""
  @Relationship(inverse: { $0.owner }) var dogs: [Dog]
}

@Suite struct `Examples of the articles on coming from GRDB and Realm` {
  @Test func `the program of the article on GRDB does what it says`() async throws {
    let container = try PersistentContainer(
      name: "Works", types: [Writer.self, Work.self], at: URL(fileURLWithPath: "/dev/null"))
    try await container.performBackgroundTask { context in
      let borges = Writer(context: context)
      borges.name = "Borges"
      let work = Work(context: context)
      work.title = "Ficciones"
      work.writer = borges
      try context.save()
    }
    let titles = try await container.performBackgroundTask { context in
      let works = try context.fetch(
        Work.self, where: { $0.title.hasPrefix("F") }, sort: [.ascending(\.title)])
      return works.map(\.title)
    }
    #expect(titles == ["Ficciones"])
  }

  @Test func `the program of the article on Realm updates an owner that is stored already`() throws {
    let container = try PersistentContainer(
      name: "Dogs", types: [Dog.self, Owner.self], at: URL(fileURLWithPath: "/dev/null"))
    for _ in 1...2 {
      let context = container.newBackgroundContext()
      context.mergePolicy = .mergeByPropertyObjectTrump
      let rex = Dog(context: context)
      rex.name = "Rex"
      let ann = Owner(context: context)
      ann.name = "Ann"
      ann.dogs = [rex]
      try context.save()
      let owners = try context.fetch(Owner.self, where: { $0.dogs.contains { $0.name == "Rex" } })
      #expect(owners.map(\.name) == ["Ann"])
    }
  }
}
