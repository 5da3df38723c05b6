/// One measurement as a line of text, from the process that took it to the one that asked for it.
struct TurnLine {
  let row: String
  let unit: Unit
  let measurement: Measurement

  var text: String {
    [row, unit.rawValue, "\(measurement.figure)", measurement.digest.map { "\($0)" } ?? "-"]
      .joined(separator: "\t")
  }

  init(row: String, unit: Unit, measurement: Measurement) {
    self.row = row
    self.unit = unit
    self.measurement = measurement
  }

  init?(_ line: Substring) {
    let parts = line.split(separator: "\t").map(String.init)
    guard parts.count == 4, let unit = Unit(rawValue: parts[1]), let figure = Double(parts[2]) else {
      return nil
    }
    self.init(row: parts[0], unit: unit, measurement: Measurement(figure: figure, digest: UInt64(parts[3])))
  }
}
