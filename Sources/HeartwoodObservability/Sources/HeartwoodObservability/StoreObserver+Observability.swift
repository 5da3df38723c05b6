import CoreMetrics
import Heartwood
import Logging
import Tracing

extension StoreObserver {
  /// An observer that passes what a store does on to logs, metrics and traces.
  ///
  /// - Parameters:
  ///   - logger: Gets messages; nil for none. The plans of slow fetches have the values of their conditions.
  ///   - metrics: Makes counters and timers; nil for those of `MetricsSystem`.
  ///   - tracer: Makes spans; nil for that of `InstrumentationSystem`.
  ///   - slowFetches: A fetch that takes at least this long is logged with its plan, and is a span.
  public static func observability(
    logger: Logger? = nil, metrics: (any MetricsFactory)? = nil, tracer: (any Tracer)? = nil,
    slowFetches: Duration = .milliseconds(100)
  ) -> StoreObserver {
    let log = logger.map(StoreLog.init)
    let counters = StoreMetrics(metrics ?? MetricsSystem.factory)
    let spans = StoreSpans(tracer)
    return StoreObserver(slowFetches: slowFetches) { event in
      counters.count(event)
      spans.add(event)
      log?.write(event)
    }
  }
}
