import Dispatch
import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood
@testable import HeartwoodModel

private actor Reader: ModelActor {
  let modelExecutor: ContextExecutor
  init(_ context: ManagedObjectContext) { modelExecutor = ContextExecutor(context) }

  func pages() async throws -> [Int64] {
    let request = FetchRequest<Book>(where: { _ in .true }, sort: [.ascending(\.pages)])
    request.relationshipKeyPathsForPrefetching = ["author"]
    return try await modelContext.fetchAsynchronously(request).map(\.pages)
  }
}

@Suite struct `Asynchronous fetches` {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try makeLibrary()
    let writer = container.newBackgroundContext()
    for number in 0..<3000 { writer.makeBook("\(number)", "t", pages: Int64(number)) }
    try writer.save()
    context = container.newBackgroundContext()
  }

  /// Returns the value that the completion block makes of the result.
  private func execute<Value: Sendable>(
    _ request: @escaping @Sendable () -> FetchRequest<Book>, estimate: Int = 0,
    meanwhile: @escaping @Sendable (AsynchronousFetchResult<Book>) -> Void = { _ in },
    _ value: @escaping @Sendable (AsynchronousFetchResult<Book>) -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      context.perform { [context] in
        do {
          let request = AsynchronousFetchRequest(fetchRequest: request()) { result in
            #expect(context.isOnQueue)
            continuation.resume(returning: value(result))
          }
          request.estimatedResultCount = estimate
          let result = try context.execute(request)
          #expect(result.finalResult == nil && result.operationError == nil)
          meanwhile(result)
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }

  // FET-21, FET-22
  @Test
  func `the completion block gets the objects on the context's queue, with the unsaved changes of the call`()
    async throws
  {
    try await context.perform { [context] in
      for book in try context.fetch(Book.self, where: { $0.pages < 10 }) { book.pages += 5000 }
      context.makeBook("new", "n", pages: 4000)
    }
    let pages = try await execute(
      { FetchRequest<Book>(where: { $0.pages >= 2990 }, sort: [.ascending(\.pages)]) },
      meanwhile: { result in
        // Saved between: the new book gets a permanent identifier.
        result.managedObjectContext.makeBook("later", "n", pages: 3500)
        try? result.managedObjectContext.save()
      },
      { $0.finalResult?.map(\.pages) })
    #expect(pages == Array(2990..<3000) + [4000] + Array(5000..<5010))
  }

  // FET-21
  @Test func `the progress counts rows against the estimate`() async throws {
    let counts = try await execute(
      { FetchRequest<Book>(where: { $0.pages >= 500 }) }, estimate: 5000,
      meanwhile: { #expect($0.progress.totalUnitCount == 5000 && $0.progress.completedUnitCount == 0) },
      { [Int64($0.finalResult?.count ?? -1), $0.progress.totalUnitCount, $0.progress.completedUnitCount] })
    #expect(counts == [2500, 2500, 2500])
  }

  // FET-22
  @Test(arguments: [true, false])
  func `a cancelled fetch stops its scan, and has an error and no objects`(byProgress: Bool) async throws {
    let view = try await context.perform { [context] in try CountingView.pin(context) }
    let (reached, cancelled) = view.stop(atRow: 100)
    let isCancelled = try await execute(
      { FetchRequest<Book>(where: { $0.pages >= 0 }) },
      meanwhile: { result in
        reached.wait()
        if byProgress { result.progress.cancel() } else { result.cancel() }
        // Foundation may call the handler of a progress on another thread.
        while !result.control.isCancelled { sched_yield() }
        cancelled.signal()
      },
      { $0.finalResult == nil && $0.operationError is CancellationError })
    #expect(isCancelled && view.scannedRows == 100)
  }

  // FET-22
  @Test func `a request that does not fit the model throws at once`() async throws {
    await #expect(throws: HeartwoodError.self) {
      try await execute({
        let request = FetchRequest<Book>()
        request.predicate = try? FormatPredicate("nothing == 1")
        return request
      }) { $0.finalResult?.count }
    }
  }

  // FET-21
  @Test func `an actor fetches while its context is free, and the cancellation of a task ends the scan`()
    async throws
  {
    #expect(try await Reader(context).pages() == Array(0..<3000))
    let view = try await context.perform { [context] in try CountingView.pin(context) }
    let (reached, cancelled) = view.stop(atRow: 100)
    let task = Task { [context] in try await Reader(context).pages() }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        reached.wait()
        continuation.resume()
      }
    }
    task.cancel()
    cancelled.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(view.scannedRows == 100)
  }

  @Test func `batches come as a sequence of what is made of them`() async throws {
    let request = FetchRequest<Book>(where: { $0.pages % 2 == 0 }, sort: [.descending(\.pages)])
    var sums: [Int64] = []
    var writer = Optional(container.newBackgroundContext())
    for try await sum in context.batches(of: request, size: 400, { $0.map(\.pages).reduce(0, +) }) {
      sums.append(sum)
      // Objects that are deleted meanwhile are left out.
      try await writer?.perform { [writer] in
        for book in try writer?.fetch(Book.self, where: { $0.pages < 100 }) ?? [] { writer?.delete(book) }
        try writer?.save()
      }
      writer = nil
    }
    let pages = stride(from: 2998, through: 100, by: -2).map { Int64($0) }
    #expect(sums.count == 4 && sums.reduce(0, +) == pages.reduce(0, +))
    #expect(sums.first == pages.prefix(400).reduce(0, +))
  }

  @Test func `an error of a batch is thrown by the sequence`() async throws {
    struct Stop: Error {}
    var count = 0
    await #expect(throws: Stop.self) {
      for try await _ in context.batches(
        of: FetchRequest<Book>(), size: 1000, { if $0[0].pages >= 1000 { throw Stop() } })
      { count += 1 }
    }
    #expect(count == 1)
  }
}
