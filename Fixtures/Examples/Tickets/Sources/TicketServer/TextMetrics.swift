import CoreMetrics
import Synchronization

/// Metrics as text, in the format that Prometheus reads: sums of counters, numbers and sums of everything that is recorded.
final class TextMetrics: MetricsFactory {
  private struct Figure {
    var isCounter = false
    var count: Int64 = 0
    var sum = 0.0
  }

  private let figures = Mutex<[String: Figure]>([:])

  /// One line for each figure, in the order of their names.
  var text: String {
    figures.withLock { $0 }.sorted { $0.key < $1.key }.map { name, figure in
      figure.isCounter
        ? "\(name) \(Int64(figure.sum))\n" : "\(name)_count \(figure.count)\n\(name)_sum \(figure.sum)\n"
    }.joined()
  }

  fileprivate func add(_ value: Double, to name: String, isCounter: Bool = false) {
    figures.withLock { figures in
      figures[name, default: Figure()].isCounter = isCounter
      figures[name, default: Figure()].count += 1
      figures[name, default: Figure()].sum += value
    }
  }

  fileprivate func reset(_ name: String) { figures.withLock { $0[name] = nil } }

  private func handler(_ label: String, _ dimensions: [(String, String)]) -> TextMetric {
    let name = String(label.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    let labels = dimensions.map { "\($0)=\"\($1)\"" }.joined(separator: ",")
    return TextMetric(name: labels.isEmpty ? name : "\(name){\(labels)}", metrics: self)
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    handler(label, dimensions)
  }

  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    handler(label, dimensions)
  }

  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    handler(label + ".seconds", dimensions)
  }

  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
}

/// One figure.
private final class TextMetric: CounterHandler, RecorderHandler, TimerHandler {
  private let name: String
  private let metrics: TextMetrics

  init(name: String, metrics: TextMetrics) { (self.name, self.metrics) = (name, metrics) }

  func increment(by amount: Int64) { metrics.add(Double(amount), to: name, isCounter: true) }
  func reset() { metrics.reset(name) }
  func record(_ value: Int64) { metrics.add(Double(value), to: name) }
  func record(_ value: Double) { metrics.add(value, to: name) }
  func recordNanoseconds(_ duration: Int64) { metrics.add(Double(duration) / 1e9, to: name) }
}
