import Heartwood
import HeartwoodEngine
import Tracing

/// Events as spans, which are made when they are over.
struct StoreSpans: Sendable {
  private let tracer: (any Tracer)?

  /// - Parameter tracer: Nil for that of `InstrumentationSystem`, which a program may set up later.
  init(_ tracer: (any Tracer)?) { self.tracer = tracer }

  func add(_ event: StoreEvent) {
    switch event {
    case .saved(let save):
      add("heartwood.save", save.duration, failure: save.failure) { attributes in
        attributes["heartwood.inserted"] = save.inserted
        attributes["heartwood.updated"] = save.updated
        attributes["heartwood.deleted"] = save.deleted
      }
    case .fetched(let fetch) where fetch.isSlow || fetch.failure != nil:
      add("heartwood.\(fetch.kind.rawValue)", fetch.duration, failure: fetch.failure) { attributes in
        attributes["heartwood.entity"] = fetch.entityName
        attributes["heartwood.rows_read"] = fetch.rowsRead
        attributes["heartwood.rows_returned"] = fetch.rowsReturned
        if let advice = fetch.advice { attributes["heartwood.advice"] = advice }
      }
    case .engine(.committed(let transaction)):
      add("heartwood.transaction", transaction.duration) { attributes in
        attributes["heartwood.generation"] = Int64(clamping: transaction.generation.rawValue)
        attributes["heartwood.log_bytes"] = transaction.logBytes
      }
    case .engine(.checkpointed(let checkpoint)):
      add("heartwood.checkpoint", checkpoint.duration) { $0["heartwood.pages"] = checkpoint.pages }
    case .engine(.compacted(let compaction)):
      add("heartwood.compaction", compaction.duration) { $0["heartwood.moved_bytes"] = compaction.movedBytes }
    default: break
    }
  }

  private func add(
    _ name: String, _ duration: Duration, failure: (any Error)? = nil,
    _ describe: (inout SpanAttributes) -> Void
  ) {
    let tracer = tracer ?? InstrumentationSystem.tracer
    let end = DefaultTracerClock.now.nanosecondsSinceEpoch
    let length = UInt64(clamping: Int((duration / .nanoseconds(1)).rounded()))
    let start = DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end - min(length, end))
    let span = tracer.startSpan(name, context: .current ?? .topLevel, ofKind: .internal, at: start)
    span.updateAttributes(describe)
    if let failure {
      span.recordError(failure)
      span.setStatus(SpanStatus(code: .error))
    }
    span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end))
  }
}
