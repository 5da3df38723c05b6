import Heartwood
import HeartwoodEngine

/// The statistics of the engine as text or JSON.
struct EngineFigures {
  let rows: [(String, String)]
  let fields: [(String, JSONValue)]

  init(identifier: String, _ engine: EngineStatistics) {
    rows = [
      ("store", identifier), ("generation", "\(engine.generation.rawValue)"),
      ("checkpoint", engine.checkpoint.rawValue == 0 ? "none" : "\(engine.checkpoint.rawValue)"),
      ("on disk", Amount.bytes(engine.fileBytes)),
      ("log", "\(Amount.bytes(engine.logBytes)) in \(Amount.text(engine.logSegments, "segment"))"),
      ("pages", "\(Amount.bytes(engine.pageBytes)) in \(Amount.text(engine.pageSegments, "segment"))"),
      ("keys", "\(engine.keys), \(Amount.text(engine.treeLevels, "branch level"))"),
    ]
    fields = [
      ("store", .string(identifier)),
      ("generation", .integer(Int64(clamping: engine.generation.rawValue))),
      ("checkpoint", .integer(Int64(clamping: engine.checkpoint.rawValue))),
      ("fileBytes", .integer(engine.fileBytes)),
      ("logBytes", .integer(engine.logBytes)), ("logSegments", .integer(Int64(engine.logSegments))),
      ("pageBytes", .integer(engine.pageBytes)), ("pageSegments", .integer(Int64(engine.pageSegments))),
      ("keys", .integer(Int64(clamping: engine.keys))),
      ("treeLevels", .integer(Int64(engine.treeLevels))),
    ]
  }

  /// Formats names and values as two columns.
  static func text(_ rows: [(String, String)]) -> String {
    let width = rows.map { TextWidth.columns(of: $0.0) }.max() ?? 0
    return rows.map { "\($0.0.padded(toColumns: width))  \($0.1)\n" }.joined()
  }
}
