import BenchmarkHarness

/// One measurement as a line of text, from the process that took it to the one that asked for it.
struct TurnLine {
  let row: String
  let unit: RowUnit
  let measurement: PeerMeasurement

  var text: String {
    [row, unit.rawValue, "\(measurement.figure)", measurement.digest.map { "\($0)" } ?? "-"]
      .joined(separator: "\t")
  }

  init(row: String, unit: RowUnit, measurement: PeerMeasurement) {
    self.row = row
    self.unit = unit
    self.measurement = measurement
  }

  init?(_ line: Substring) {
    let parts = line.split(separator: "\t").map(String.init)
    guard parts.count == 4, let unit = RowUnit(rawValue: parts[1]), let figure = Double(parts[2]) else {
      return nil
    }
    self.init(
      row: parts[0], unit: unit, measurement: PeerMeasurement(figure: figure, digest: UInt64(parts[3])))
  }
}
