import Foundation

/// One line on where and when the figures were taken.
public func machineDescription() -> String {
  let date = Date.now.formatted(.iso8601.year().month().day())
  let cores = ProcessInfo.processInfo.activeProcessorCount
  return
    "\(date), \(processorName()), \(cores) cores, \(ProcessInfo.processInfo.operatingSystemVersionString)"
}

private func processorName() -> String {
  guard let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8) else {
    return "processor unknown"
  }
  let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
  return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "processor unknown"
}
