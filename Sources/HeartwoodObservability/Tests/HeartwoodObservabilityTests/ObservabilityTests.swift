import Foundation
import Heartwood
import HeartwoodObservability
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import Testing
import Tracing

private final class Note: ManagedObject {
  @Attribute(.unique) var number: Int64 = 0
  @Attribute var text = ""
}

@Suite struct `Logs, metrics and traces of a store` {
  private let handler = InMemoryLogHandler()
  private let metrics = TestMetrics()
  private let tracer = InMemoryTracer()
  private let coordinator: PersistentStoreCoordinator
  private let context: ManagedObjectContext

  init() throws {
    var logger = Logger(label: "store") { [handler] _ in handler }
    logger.logLevel = .trace
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    description.observer = .observability(
      logger: logger, metrics: metrics, tracer: tracer, slowFetches: .zero)
    coordinator = PersistentStoreCoordinator(managedObjectModel: try ManagedObjectModel(types: [Note.self]))
    try coordinator.addPersistentStore(with: description)
    context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    for number in 0..<2000 { Note(context: context).number = Int64(number) }
    try context.save()
  }

  private func messages(_ level: Logger.Level) -> [String] {
    handler.entries.filter { $0.level == level }.map { "\($0.message)" }
  }

  @Test func `a store is opened as the article on observing says`() throws {
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    description.observer = .observability(logger: Logger(label: "store"))
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: [Note.self]))
    try coordinator.addPersistentStore(with: description)
    try coordinator.close()
  }

  @Test func `saves, fetches and transactions are counted and timed`() throws {
    #expect(try context.fetch(Note.self, where: { $0.text == "x" }).isEmpty)
    #expect(metrics.counterTotal(label: "heartwood.saves") == 1)
    #expect(metrics.counterTotal(label: "heartwood.objects.written") == 2000)
    #expect(metrics.counterTotal(label: "heartwood.rows.read") == 2000)
    #expect(metrics.counterTotal(label: "heartwood.rows.returned") == 0)
    #expect(metrics.counterTotal(label: "heartwood.log.bytes") > 10_000)
    #expect(metrics.counterTotal(label: "heartwood.saves.failed") == 0)
    for timer in ["save.duration", "fetch.duration", "transaction.duration", "transaction.wait"] {
      #expect(try metrics.expectTimer("heartwood.\(timer)").lastValue.map { $0 >= 0 } == true, "\(timer)")
    }
  }

  @Test func `a slow fetch is a warning with the index that would help, and a span`() throws {
    #expect(try context.fetch(Note.self, where: { $0.text == "x" }).isEmpty)
    let warnings = messages(.warning)
    #expect(warnings.count == 1 && warnings[0].hasPrefix("slow fetch of Note: scan: Note"), "\(warnings)")
    #expect(warnings[0].contains("advice: an index on Note.text"), "\(warnings)")
    let span = try #require(tracer.finishedSpans.first { $0.operationName == "heartwood.fetch" })
    #expect(span.attributes.get("heartwood.rows_read") == .int64(2000))
    #expect(span.startInstant.nanosecondsSinceEpoch <= span.endInstant.nanosecondsSinceEpoch)
  }

  @Test func `a save that fails is a warning, and a span with the error`() throws {
    Note(context: context).number = 1
    #expect(throws: HeartwoodError.self) { try context.save() }
    #expect(messages(.warning) == ["a save failed"] && messages(.info).contains("conflicts of a save"))
    #expect(metrics.counterTotal(label: "heartwood.saves.failed") == 1)
    #expect(metrics.counterTotal(label: "heartwood.conflicts") == 1)
    #expect(tracer.finishedSpans.last?.errors.count == 1)
  }

  @Test func `the spans of a context are children of the caller's`() async throws {
    tracer.clearFinishedSpans()
    let parent = try await tracer.withSpan("request") { span in
      try await context.performTraced {
        Note(context: context).number = 5000
        try context.save()
      }
      return span.spanID
    }
    let spans = tracer.finishedSpans
    #expect(spans.map(\.operationName) == ["heartwood.transaction", "heartwood.save", "request"])
    #expect(spans.prefix(2).map(\.parentSpanID) == [parent, parent])
  }
}
