/// The points of one thread between two switches.
struct ScheduleTurn {
  let thread: Int
  let name: String
  private var first = ""
  private var last = ""
  private var count = 0

  init(thread: Int, name: String) {
    self.thread = thread
    self.name = name
  }

  /// Records that the thread continues from a point.
  mutating func pass(_ point: ScheduledThread.Point?) {
    last = point?.description ?? "start"
    if count == 0 { first = last }
    count += 1
  }

  var description: String {
    count > 1 ? "\(name): \(first) … \(last) (\(count) points)" : "\(name): \(first)"
  }
}
