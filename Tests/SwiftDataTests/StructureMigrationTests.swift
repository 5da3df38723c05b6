import Foundation
import SwiftData
import Testing

/// A structure that was optional, and is mandatory with a default.
private enum Cask {
  struct Size: Codable, Equatable {
    var litres = 0
    var note: String?
    var lid: Lid?
  }
  struct Lid: Codable, Equatable {
    var colour = "red"
  }

  enum First {
    @Model final class Barrel {
      var number: Int
      var size: Size?
      init(_ number: Int, _ size: Size?) { (self.number, self.size) = (number, size) }
    }
  }

  enum Second {
    @Model final class Barrel {
      var number: Int
      var size = Size(litres: 225, note: "usual", lid: Lid(colour: "blue"))
      init(_ number: Int) { self.number = number }
    }
  }

  /// Without a default.
  enum Third {
    @Model final class Barrel {
      var number: Int
      var size: Size
      init(_ number: Int, _ size: Size) { (self.number, self.size) = (number, size) }
    }
  }
}

struct StructureMigrationTests {
  private func write(_ configuration: ModelConfiguration) throws {
    let context = ModelContext(try ModelContainer(for: Cask.First.Barrel.self, configurations: configuration))
    context.insert(Cask.First.Barrel(1, Cask.Size(litres: 50, note: nil, lid: nil)))
    context.insert(Cask.First.Barrel(2, nil))
    try context.save()
  }

  // SWD-29
  @Test func `models without a structure that becomes mandatory have the default, as stored values`() throws {
    try Library.inFolder { folder in
      let configuration = ModelConfiguration(url: folder.appending(path: "a.store"))
      try write(configuration)
      for note in ["usual", "changed"] {
        let context = ModelContext(
          try ModelContainer(for: Cask.Second.Barrel.self, configurations: configuration))
        let barrels = try context.fetch(
          FetchDescriptor<Cask.Second.Barrel>(sortBy: [SortDescriptor(\.number)]))
        #expect(barrels.first?.size == Cask.Size(litres: 50, note: nil, lid: nil))
        #expect(barrels.last?.size == Cask.Size(litres: 225, note: note, lid: Cask.Lid(colour: "blue")))
        func numbers(_ predicate: Predicate<Cask.Second.Barrel>) throws -> [Int] {
          try context.fetch(FetchDescriptor(predicate: predicate)).map(\.number)
        }
        #expect(try numbers(#Predicate { $0.size.litres == 225 }) == [2])
        #expect(try numbers(#Predicate { $0.size.lid?.colour == "blue" }) == [2])
        #expect(try numbers(#Predicate { $0.size.note == nil }) == [1])
        barrels.last?.size.note = "changed"
        try context.save()
      }
    }
  }

  // SWD-29
  @Test func `a structure that becomes mandatory without a default can be set and stops no save`() throws {
    try Library.inFolder { folder in
      let configuration = ModelConfiguration(url: folder.appending(path: "a.store"))
      try write(configuration)
      let context = ModelContext(
        try ModelContainer(for: Cask.Third.Barrel.self, configurations: configuration))
      let barrel = try #require(
        context.fetch(FetchDescriptor<Cask.Third.Barrel>(predicate: #Predicate { $0.number == 2 })).first)
      _ = barrel.size
      barrel.number = 3
      try context.save()
      barrel.size = Cask.Size(litres: 7)
      try context.save()
      let found = try ModelContext(context.container).fetch(
        FetchDescriptor<Cask.Third.Barrel>(predicate: #Predicate { $0.size.litres == 7 }))
      #expect(found.map(\.number) == [3])
    }
  }
}
