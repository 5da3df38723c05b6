import Foundation
import Heartwood
import HeartwoodBrowser

/// The rows of a table as a file of CSV or JSON, all of them, written as they are read.
struct RowsDownload {
  let store: BrowsedStore

  func response(_ query: PageQuery) throws(CommandFailure) -> Response {
    let rows = try RowsRequest(query)
    let name = query.text("format") ?? "csv"
    guard let format = OutputFormat(rawValue: name), format != .table else {
      throw .usage("\"format\" is csv or json, not \"\(name)\"")
    }
    // Errors are found before the first byte is sent.
    try store.reading(at: rows.generation) { reader in _ = try rows.fetch(in: reader) }
    let type = format == .csv ? "text/csv; charset=utf-8" : "application/json; charset=utf-8"
    var response = Response(
      type: type, .stream { write in try self.write(rows, format, StreamConsole(write)) })
    response.fields = [ValueDownload.disposition("\(rows.entity).\(name)")]
    return response
  }

  private func write(_ rows: RowsRequest, _ format: OutputFormat, _ console: StreamConsole) throws {
    try store.reading(at: rows.generation) { reader in
      let columns = ColumnPath.usual(of: try reader.entity(named: rows.entity), as: format)
      var writer = ResultWriter(columns: columns.map(\.text), format: format, to: console)
      try reader.context.enumerate(rows.fetch(in: reader)) { objects in
        let values = objects.map { object in columns.map { $0.value(of: object) } }
        try reader.checkReadings()
        for row in values { try writer.add(row) }
      }
      try writer.finish()
      try console.flush()
    }
  }
}

/// Passes what a command would print to a client.
private final class StreamConsole: Console {
  let showsProgress = false
  let terminalWidth: Int? = nil
  let usesColors = false
  private let send: ([UInt8]) throws(ClientIsGone) -> Void
  private var pending: [UInt8] = []

  init(_ send: @escaping ([UInt8]) throws(ClientIsGone) -> Void) { self.send = send }

  func write(_ bytes: [UInt8]) throws(CommandFailure) {
    pending += bytes
    if pending.count >= 1 << 16 { try flush() }
  }

  func flush() throws(CommandFailure) {
    defer { pending.removeAll(keepingCapacity: true) }
    do {
      try send(pending)
    } catch {
      throw CommandFailure(.inputOutput, "the browser has closed the connection")
    }
  }

  func writeNote(_ text: String) {}
}
