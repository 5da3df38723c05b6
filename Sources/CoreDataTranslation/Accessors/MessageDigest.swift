import Foundation

/// MD5, by which the compiler tells private declarations of files apart.
enum MessageDigest {
  static func hex(_ text: String) -> String {
    var message = Array(text.utf8)
    let length = UInt64(message.count) * 8
    message.append(0x80)
    while message.count % 64 != 56 { message.append(0) }
    for shift in 0..<8 { message.append(UInt8(truncatingIfNeeded: length >> (8 * UInt64(shift)))) }
    var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
    for start in stride(from: 0, to: message.count, by: 64) {
      mix(message[start..<(start + 64)], into: &state)
    }
    let bytes = state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) } }
    let digits = Array("0123456789ABCDEF")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }

  private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
  private static let constants: [UInt32] = (0..<64).map {
    UInt32(truncatingIfNeeded: Int64(abs(sin(Double($0 + 1))) * 4_294_967_296))
  }

  private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
    let words = (0..<16).map { index -> UInt32 in
      (0..<4).reduce(0) { $0 | UInt32(block[block.startIndex + index * 4 + $1]) << (8 * UInt32($1)) }
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    for round in 0..<64 {
      var mixed: UInt32
      let place: Int
      switch round / 16 {
      case 0: (mixed, place) = ((b & c) | (~b & d), round)
      case 1: (mixed, place) = ((d & b) | (~d & c), (5 * round + 1) % 16)
      case 2: (mixed, place) = (b ^ c ^ d, (3 * round + 5) % 16)
      default: (mixed, place) = (c ^ (b | ~d), (7 * round) % 16)
      }
      mixed = mixed &+ a &+ constants[round] &+ words[place]
      let shift = shifts[round / 16 * 4 + round % 4]
      (a, d, c, b) = (d, c, b, b &+ (mixed << shift | mixed >> (32 - shift)))
    }
    state = [state[0] &+ a, state[1] &+ b, state[2] &+ c, state[3] &+ d]
  }
}
