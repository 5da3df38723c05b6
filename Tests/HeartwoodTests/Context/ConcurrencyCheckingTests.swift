import Dispatch
import Foundation
import GraphTestSupport
import Heartwood
import Testing

/// Expects the process to end with a message on standard error.
private func text(_ result: ExitTest.Result?) -> String {
  String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}

@Suite struct `Concurrency checking` {
  @Test func `eight threads in one context end the process with a message, and not with a damaged heap`()
    async
  {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      // The default in debug builds only.
      ManagedObjectContext.concurrencyChecking = .standard
      let context = try makeContainer().newBackgroundContext()
      context.name = "shop"
      DispatchQueue.concurrentPerform(iterations: 8) { thread in
        for index in 0..<2000 {
          let person = context.makePerson("P\(thread).\(index)", age: Int64(index))
          person.name += "!"
          if index % 50 == 0 { try? context.save() }
        }
      }
    }
    #expect(text(result).contains("while another thread was using the context"))
    #expect(text(result).contains("called \"shop\""))
  }

  @Test func `a read while a block of perform runs is refused, and names object, property and context`() async
  {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      // The default in debug builds only.
      ManagedObjectContext.concurrencyChecking = .standard
      let context = try makeContainer().newBackgroundContext()
      let inside = DispatchSemaphore(value: 0)
      let never = DispatchSemaphore(value: 0)
      nonisolated(unsafe) let person = try context.performAndWait {
        let person = context.makePerson("Ada")
        try context.save()
        return person
      }
      context.perform {
        inside.signal()
        never.wait()
      }
      inside.wait()
      _ = person.name
    }
    #expect(text(result).contains("reading Person.name of Person x-coredata://"))
    #expect(text(result).contains("/Person/p1 while another thread was using the context"))
    #expect(text(result).contains("a context of a private queue"))
  }

  @Test func `after perform was used, an object may not be used outside of it`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      // The default in debug builds only.
      ManagedObjectContext.concurrencyChecking = .standard
      let context = try makeContainer().newBackgroundContext()
      let person = context.performAndWait { context.makePerson("Ada") }
      person.name = "Grace"
    }
    #expect(text(result).contains("setting Person.name of Person"))
    #expect(text(result).contains("outside perform and performAndWait"))
  }

  @Test func `strict checking refuses a use outside perform from the beginning`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ManagedObjectContext.concurrencyChecking = .strict
      let context = try makeContainer().newBackgroundContext()
      context.performAndWait {}
      _ = try context.count(Person.self)
    }
    #expect(text(result).contains("counting outside perform and performAndWait"))
  }

  @Test func `without checking, a context is used outside perform`() async {
    await #expect(processExitsWith: .success) {
      ManagedObjectContext.concurrencyChecking = .off
      let context = try makeContainer().newBackgroundContext()
      let person = context.performAndWait { context.makePerson("Ada") }
      person.name = "Grace"
      try context.save()
      exit(try context.fetch(Person.self).map(\.name) == ["Grace"] ? 0 : 1)
    }
  }

  @Test func `a context without perform is used by one thread after another`() async throws {
    let context = try makeContainer().newBackgroundContext()
    for index in 0..<4 {
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          _ = context.makePerson("P\(index)")
          continuation.resume()
        }
      }
    }
    try context.save()
    #expect(try context.count(Person.self) == 4)
  }

  @Test func `a block of one context uses objects of another whose block it is inside of`() throws {
    let container = try makeContainer()
    let (outer, inner) = (container.newBackgroundContext(), container.newBackgroundContext())
    let name = try outer.performAndWait {
      let person = outer.makePerson("Ada")
      try outer.save()
      return try inner.performAndWait { try inner.fetch(Person.self)[0].name + person.name }
    }
    #expect(name == "AdaAda")
  }
}
