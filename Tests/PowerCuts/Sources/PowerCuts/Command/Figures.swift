import Foundation

/// Prints a line without buffering, also to a file.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// The counts and findings of one file system.
struct Figures {
  var cuts = 0
  var kills = 0
  var images = 0
  /// The number of full commits that were acknowledged before the cut, summed over the images.
  var acknowledgements = 0
  /// The numbers of uncertain writes that survived in whole, in part, and not at all.
  var (whole, torn, lost) = (0, 0, 0)
  /// The number of images whose file system could not be mounted.
  var unmountable = 0
  /// The failures of the engine.
  var findings: [String] = []

  mutating func add(_ other: Figures) {
    cuts += other.cuts
    kills += other.kills
    images += other.images
    acknowledgements += other.acknowledgements
    (whole, torn, lost) = (whole + other.whole, torn + other.torn, lost + other.lost)
    unmountable += other.unmountable
    findings += other.findings
  }
}

extension Figures: CustomStringConvertible {
  var description: String {
    "\(cuts) cuts, \(kills) of them kills; \(images) images with \(whole) uncertain writes whole, \(torn) torn, \(lost) lost; "
      + "\(acknowledgements) acknowledged commits looked for; \(unmountable) images not mountable; "
      + "\(findings.count) findings"
  }
}
