import HeartwoodFiles
import TestSupport

@testable import HeartwoodEngine

extension StoreFiles {
  /// A small closed store with entries of every kind, and its contents.
  static func small(reading: EngineOptions.Reading = .buffered) throws -> (files: StoreFiles, model: Model) {
    let fileSystem = MemoryFileSystem()
    var options = StoreKind.memoryBuffered.options
    options.reading = reading
    var model: Model = [:]
    let engine = try Engine(at: path, options: options, fileSystem: fileSystem)
    for number in 0..<7 {
      if number == 3 { try engine.checkpoint() }
      try engine.write { transaction in
        for part in 0..<2 {
          let key = [UInt8]("key \(number * 7 % 5) \(part)".utf8)
          let value = [UInt8](repeating: UInt8(number), count: number * 3 + part)
          try transaction.put(key, value)
          model[key] = value
        }
        if number == 5 {
          try transaction.delete("key 0 1")
          model[[UInt8]("key 0 1".utf8)] = nil
        }
      }
    }
    try engine.close()
    return (try StoreFiles(fileSystem), model)
  }
}
