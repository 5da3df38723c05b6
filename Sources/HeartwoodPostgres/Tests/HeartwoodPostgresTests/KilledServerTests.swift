import Dispatch
import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// The answers that writers have got to their saves.
private final class Acknowledgements: @unchecked Sendable {
  private let condition = NSCondition()
  private var acknowledged: Set<Int> = []
  private var running = 0

  func begin(_ writers: Int) { condition.withLock { running = writers } }

  func note(_ save: Int) {
    condition.withLock {
      acknowledged.insert(save)
      condition.broadcast()
    }
  }

  func end() {
    condition.withLock {
      running -= 1
      condition.broadcast()
    }
  }

  var saves: Set<Int> { condition.withLock { acknowledged } }

  func wait(for count: Int) {
    condition.lock()
    while acknowledged.count < count, running > 0 { condition.wait() }
    condition.unlock()
  }

  func waitForEnd() {
    condition.lock()
    while running > 0 { condition.wait() }
    condition.unlock()
  }
}

@Suite(.serialized) struct `A server that is killed` {
  @Test func `each acknowledged save is there, and no save is half there`() throws {
    let server = try PostgresServer(isDurable: true)
    let url = server.url(schema: "killed")
    let world = try PostgresWorld(at: url)
    let acknowledgements = Acknowledgements()
    var random = SplitMix64(seed: 3)
    // A save has a company and its people, and a change of a row that all saves of the writer change.
    let (writers, people, rounds) = (3, 40, 4)
    do {
      let context = world.context()
      for writer in 0..<writers { context.makeCompany("W\(writer)").size = -1 }
      try context.save()
    }
    for round in 0..<rounds {
      let before = acknowledgements.saves.count
      acknowledgements.begin(writers)
      for writer in 0..<writers {
        Thread.detachNewThread {
          defer { acknowledgements.end() }
          let context = world.context()
          var save = round * 30_000 + writer * 10_000
          while true {
            do {
              try context.performAndWait {
                let company = context.makeCompany("S\(save)")
                for number in 0..<people { _ = context.makePerson("\(number)", in: company) }
                try context.fetch(Company.self, where: { $0.code == "W\(writer)" }).first?.size = Int64(save)
                try context.save()
              }
            } catch {
              #expect((error as? HeartwoodError)?.code.rawValue ?? 0 >= 134_000, "\(error)")
              return
            }
            acknowledgements.note(save)
            save += 1
          }
        }
      }
      acknowledgements.wait(for: before + Int.random(in: 5..<40, using: &random))
      try server.kill()
      acknowledgements.waitForEnd()
      try server.restart()
      let context = world.context()
      let found = try context.fetch(Company.self, where: { $0.code.hasPrefix("S") })
      let saved = Set(found.compactMap { Int($0.code.dropFirst()) })
      #expect(saved.isSuperset(of: acknowledgements.saves))
      #expect(try context.count(Person.self) == found.count * people)
      let counts = try world.sql(
        "SELECT count(*)::bigint FROM \"killed\".\"Person\" GROUP BY company ORDER BY 1")
      #expect((0..<counts.count).allSatisfy { counts.integer($0, 0) == people })
      // The last save of a writer is that which its own row names.
      for writer in 0..<writers {
        let last = try context.fetch(Company.self, where: { $0.code == "W\(writer)" }).first?.size
        let own = saved.filter { $0 / 30_000 == round && $0 % 30_000 / 10_000 == writer }.max()
        if let own { #expect(last == Int64(own)) }
      }
    }
  }

  @Test func `a store goes on after the server was restarted, and says that it was gone`() throws {
    let server = try PostgresServer(isDurable: true)
    let world = try PostgresWorld(at: server.url(schema: "restarted"))
    let context = world.context()
    _ = context.makePerson("a")
    try context.save()
    try server.kill()
    let gone = heartwoodError { _ = try world.context().fetch(Person.self) }
    #expect(gone?.code == .persistentStoreOperation && gone?.message.contains("connection") == true)
    _ = context.makePerson("b")
    #expect(heartwoodError { try context.save() }?.code == .persistentStoreSave)
    try server.restart()
    try context.save()
    #expect(try world.context().count(Person.self) == 2)
  }
}
